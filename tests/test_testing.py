from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Embedder, Vectors
from memorata.embed.vectors import unit_rows
from memorata.testing import EmbedderConformance, long_text


class Scaled(LexicalEmbedder):
    """Vectors that are not of unit length."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents(texts) * np.float32(2)


class Truncating(LexicalEmbedder):
    """Reads the first five hundred characters and says nothing."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents([text[:500] for text in texts])


class Leaking(LexicalEmbedder):
    """Vectors that depend on the other texts of the batch."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        rows = super().embed_documents(texts)
        rows[:, 0] += np.float32(len(texts) / 100)
        return unit_rows(rows)


class Dropping(LexicalEmbedder):
    """Loses a word between two passages."""

    def passages(self, text: str) -> list[str]:
        words = text.split()
        return [" ".join(words[:100]), " ".join(words[101:])] if len(words) > 100 else [text]


class Believing(LexicalEmbedder):
    """Takes a bare string for a list of texts."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents([str(text) for text in texts])


SUITE = EmbedderConformance()


@pytest.mark.parametrize(
    ("embedder", "check"),
    [
        (Scaled(), SUITE.test_documents_are_unit_rows_of_float32),
        (Truncating(), SUITE.test_the_end_of_a_long_text_counts),
        (Leaking(), SUITE.test_a_text_has_one_vector_whatever_stands_beside_it),
        (Dropping(), SUITE.test_no_word_of_a_long_text_is_lost),
        (Believing(), SUITE.test_what_is_not_text_is_refused),
    ],
)
def test_the_suite_notices_an_embedder_that_breaks_its_promise(
    embedder: Embedder, check: Callable[[Embedder], None]
) -> None:
    with pytest.raises(AssertionError):
        check(embedder)
    check(LexicalEmbedder())


def test_the_long_text_is_longer_than_models_read() -> None:
    assert len(long_text().split()) == 600
