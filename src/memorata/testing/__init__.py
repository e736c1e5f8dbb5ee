"""Test suites for those who add an embedder or a database: what each of them promises.

Subclass one in a test module and give it a fixture called ``embedder``, or ``database``::

    class TestMine(EmbedderConformance):
        @pytest.fixture
        def embedder(self) -> Embedder:
            return MyEmbedder()

pytest, which must be installed, then runs every method that begins with ``test_``.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from memorata.embed.port import Embedder, Vectors
from memorata.model.errors import InvalidArgument
from memorata.testing.databases import DatabaseConformance

__all__ = ["DatabaseConformance", "EmbedderConformance"]

TEXTS = (
    "Alice moved to Lisbon in March.",
    "The invoice was paid twice by mistake.",
    "She is allergic to hazelnuts.",
    "Я живу в Москве, I work in Bern.",
    "日本語の文章です",
    "👩‍🚀🚀",
)
ODD = ("", " ", "\n\t", "\x00", "a\x00b", "\ud83d", "'\"`;--", "‮ right to left ‬", "￿", "x" * 5000)


class EmbedderConformance:
    """What an :class:`~memorata.embed.port.Embedder` promises.

    Tolerances allow for the order in which floating-point sums are taken, and no more.
    """

    tolerance = 1e-5

    def test_it_has_the_names_of_the_port(self, embedder: Embedder) -> None:
        """Check that the class is an embedder at all."""
        assert isinstance(embedder, Embedder)
        assert embedder.name
        assert embedder.dimension >= 1
        assert embedder.max_tokens is None or embedder.max_tokens >= 1
        assert -1 <= embedder.similarity_threshold <= 1

    def test_documents_are_unit_rows_of_float32(self, embedder: Embedder) -> None:
        """Check shape, type and length."""
        rows = embedder.embed_documents(TEXTS)
        assert rows.shape == (len(TEXTS), embedder.dimension)
        assert rows.dtype == np.float32
        assert _unit_or_zero(rows)

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        """Check the empty list."""
        assert embedder.embed_documents([]).shape == (0, embedder.dimension)
        assert embedder.embed_passages([]) == []

    def test_a_query_is_one_unit_vector(self, embedder: Embedder) -> None:
        """Check the form of a query's vector."""
        vector = embedder.embed_query("Where does Alice live?")
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert _unit_or_zero(vector[None])

    def test_any_text_is_accepted(self, embedder: Embedder) -> None:
        """Check that nothing a person may type breaks it."""
        assert _unit_or_zero(embedder.embed_documents(ODD))
        for text in ODD:
            assert _unit_or_zero(embedder.embed_query(text)[None])

    def test_a_text_has_one_vector_whatever_stands_beside_it(self, embedder: Embedder) -> None:
        """Check that batches do not leak: alone, in company and in another order, a text is the same."""
        together = embedder.embed_documents(TEXTS)
        for text, row in zip(TEXTS, together, strict=True):
            assert np.allclose(embedder.embed_documents([text])[0], row, atol=self.tolerance)
        assert np.allclose(embedder.embed_documents(TEXTS[::-1])[::-1], together, atol=self.tolerance)

    def test_a_short_text_is_one_passage(self, embedder: Embedder) -> None:
        """Check that passages are the text itself when it fits."""
        assert embedder.passages(TEXTS[0]) == [TEXTS[0]]
        (rows,) = embedder.embed_passages([TEXTS[0]])
        assert np.allclose(rows, embedder.embed_documents([TEXTS[0]]), atol=self.tolerance)

    def test_the_vectors_of_passages_are_those_of_their_texts(self, embedder: Embedder) -> None:
        """Check that a long text is embedded passage by passage, between two short ones."""
        long = long_text()
        first, rows, last = embedder.embed_passages([TEXTS[0], long, TEXTS[1]])
        passages = embedder.passages(long)
        assert len(rows) == len(passages)
        assert len(first) == len(last) == 1
        assert np.allclose(rows, embedder.embed_documents(passages), atol=self.tolerance)
        mean = rows.mean(axis=0)
        whole = embedder.embed_documents([long])[0]
        assert np.allclose(whole, mean / np.linalg.norm(mean), atol=self.tolerance)

    def test_no_word_of_a_long_text_is_lost(self, embedder: Embedder) -> None:
        """Check that the passages hold every word, in order, each passage taking up where one left off."""
        long = long_text()
        passages = embedder.passages(long)
        words = [passage.split() for passage in passages]
        assert set(itertools.chain.from_iterable(words)) == set(long.split())
        for before, after in itertools.pairwise(words):
            assert int(after[0][1:]) <= int(before[-1][1:]) + 1, "a word between two passages is missing"

    def test_the_end_of_a_long_text_counts(self, embedder: Embedder) -> None:
        """Check that nothing is truncated: another ending is another vector."""
        long = long_text()
        one, other = embedder.embed_documents([long + " hazelnuts", long + " invoices"])
        assert not np.array_equal(one, other)
        assert not np.array_equal(embedder.embed_query(long + " hazelnuts"), embedder.embed_query(long))

    def test_threads_get_the_same_vectors(self, embedder: Embedder) -> None:
        """Check that several threads may embed at once."""
        expected = embedder.embed_documents(TEXTS)
        with ThreadPoolExecutor(4) as pool:
            for rows in pool.map(lambda _: embedder.embed_documents(TEXTS), range(8)):
                assert np.allclose(rows, expected, atol=self.tolerance)

    def test_what_is_not_text_is_refused(self, embedder: Embedder) -> None:
        """Check that mistakes are named."""
        for call in (
            lambda: embedder.embed_documents("a bare string"),
            lambda: embedder.embed_documents([b"bytes"]),  # type: ignore[list-item]
            lambda: embedder.embed_query(None),  # type: ignore[arg-type]
            lambda: embedder.passages(7),  # type: ignore[arg-type]
        ):
            try:
                call()
            except InvalidArgument:
                continue
            raise AssertionError("an argument that is not text was accepted")


def long_text(words: int = 600) -> str:
    """Return a text longer than any model reads at once, every word of it different."""
    return " ".join(f"w{number}" for number in range(words))


def _unit_or_zero(rows: Vectors) -> bool:
    lengths = np.linalg.norm(rows, axis=1)
    return bool(((np.abs(lengths - 1) < 1e-4) | (lengths == 0)).all())
