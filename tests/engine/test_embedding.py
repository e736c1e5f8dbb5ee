import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.embedding import Embedding
from memorata.model import InvalidArgument, Memory
from memorata.model.errors import EmbedderError, MissingExtra
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry

WHOSE = "default"


class Counting(LexicalEmbedder):
    """An embedder that counts what it is asked, and can be told to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fails = False

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.fails:
            raise EmbedderError("it is down")
        self.asked += texts
        return super().embed_passages(texts)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    yield opened
    opened.close()


@pytest.fixture
def embedder(store: SqliteStore) -> Counting:
    made = Counting()
    store.use_embedder(made.name, made.dimension)
    return made


def test_a_text_the_store_knows_is_not_embedded_again(store: SqliteStore, embedder: Counting) -> None:
    meaning = Embedding(embedder, store)
    now = datetime(2026, 5, 7, tzinfo=UTC)
    [(digest, rows)] = meaning.documents(["tea"], [WHOSE])
    store.add([Entry(Memory(id="m1", content="tea", created_at=now), {}, rows, digest)])
    again = meaning.documents(["tea", "coffee", "coffee"], [WHOSE] * 3)
    assert embedder.asked == ["tea", "coffee"]
    assert rows is not None
    assert again[0][1] is not None
    np.testing.assert_array_equal(again[0][1], rows)
    assert again[1][0] == again[2][0]


def test_what_another_namespace_holds_saves_no_time(store: SqliteStore, embedder: Counting) -> None:
    """Whoever may write could tell by the time it takes which texts others hold."""
    meaning = Embedding(embedder, store)
    now = datetime(2026, 5, 7, tzinfo=UTC)
    [(digest, rows)] = meaning.documents(["the code is 4711"], ["victim"])
    victim = Memory(id="m1", content="the code is 4711", created_at=now, namespace="victim")
    store.add([Entry(victim, {}, rows, digest)])
    embedder.asked.clear()
    [(_, again)] = meaning.documents(["the code is 4711"], ["attacker"])
    assert embedder.asked == ["the code is 4711"]
    np.testing.assert_array_equal(again, rows)
    # Not even in one batch with the namespace that holds it.
    meaning.documents(["the code is 4711"] * 2, ["victim", "attacker"])
    assert embedder.asked == ["the code is 4711"] * 2
    meaning.documents(["the code is 4711"], ["victim"])
    assert embedder.asked == ["the code is 4711"] * 2


def test_a_failure_leaves_them_waiting_and_is_logged(
    store: SqliteStore, embedder: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    embedder.fails = True
    with caplog.at_level(logging.WARNING):
        [(digest, rows)] = Embedding(embedder, store).documents(["tea"], [WHOSE])
        Embedding(embedder, store).documents(["tea", "coffee"], [WHOSE] * 2)
    assert (len(digest), rows) == (16, None)
    assert "1 memory is stored without vectors for now: it is down" in caplog.text
    assert "2 memories are stored without vectors for now: it is down" in caplog.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([[0.0] * 512], "gave list, not an array"),
        (np.zeros(512, np.float32), "gave vectors of 512 dimensions|not of length 1, or none"),
        (np.zeros((1, 3), np.float32), "gave vectors of 3 dimensions where 512 were expected"),
        (np.full((1, 512), np.nan, np.float32), "not finite"),
        (np.zeros((0, 512), np.float32), "or none"),
    ],
)
def test_an_embedder_that_gives_something_else_than_it_promises_fails(
    store: SqliteStore, embedder: Counting, given: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "embed_passages", lambda texts: [given for _ in texts])
    meaning = Embedding(embedder, store)
    with pytest.raises(EmbedderError, match=says):
        meaning.computed(["tea"])
    assert meaning.documents(["tea"], [WHOSE])[0][1] is None


def test_a_package_that_does_not_load_is_a_failure_too(
    store: SqliteStore, embedder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(texts: object) -> None:
        raise MissingExtra("A neural model", "onnxruntime")

    for name in ("embed_passages", "embed_query"):
        monkeypatch.setattr(embedder, name, missing)
    meaning = Embedding(embedder, store)
    assert meaning.documents(["tea"], [WHOSE])[0][1] is None
    vector, wrong = meaning.query("tea", None)
    assert vector is None
    assert "words only: A neural model needs a package" in wrong


def test_questions(store: SqliteStore, embedder: Counting) -> None:
    meaning = Embedding(embedder, store)
    vector, wrong = meaning.query("tea", None)
    assert vector is not None
    assert not wrong
    assert meaning.query("", None) == (None, "")
    np.testing.assert_array_equal(meaning.query("x", vector)[0], vector)
    np.testing.assert_array_equal(meaning.query("x", vector.tolist())[0], vector)
    np.testing.assert_array_equal(meaning.query("x", 0 * vector)[0], 0 * vector)
    with pytest.raises(InvalidArgument, match=r"vector must be of shape \(512,\), got \(3,\)"):
        meaning.query("x", np.zeros(3, np.float32))
    with pytest.raises(InvalidArgument, match=r"vector\[0\] must be a finite number, got nan"):
        meaning.query("x", np.full(512, np.nan, np.float32))
    for length in (0.5, 2.0, 1e30):
        with pytest.raises(InvalidArgument, match="vector must be one whose norm is 1"):
            meaning.query("x", length * vector)
    not_numbers: Any = "tea"
    with pytest.raises(InvalidArgument, match="vector must be a list of finite numbers"):
        meaning.query("x", not_numbers)
    assert meaning.threshold == embedder.similarity_threshold


def test_a_vector_that_was_given_may_be_written_over(store: SqliteStore, embedder: Counting) -> None:
    given = embedder.embed_query("tea").copy()
    taken, _ = Embedding(embedder, store).query("", given)
    given[:] = embedder.embed_query("coffee")
    np.testing.assert_array_equal(taken, embedder.embed_query("tea"))


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (np.ones(3, np.float32), "3 dimensions where 512 were expected"),
        (np.ones((1, 512), np.float32), "512 dimensions where 512 were expected"),
        (np.full(512, np.nan, np.float32), "not finite, or not of length 1"),
        (np.full(512, 1e30, np.float32), "not finite, or not of length 1"),
        (np.full(512, 0.5, np.float32), "not finite, or not of length 1"),
    ],
)
def test_an_embedder_that_breaks_its_promise_leaves_words(
    store: SqliteStore, embedder: Counting, monkeypatch: pytest.MonkeyPatch, row: Vectors, wrong: str
) -> None:
    monkeypatch.setattr(embedder, "embed_query", lambda text: row)
    vector, why = Embedding(embedder, store).query("tea", None)
    assert vector is None
    assert why.startswith("the embedder failed, words only: ")
    assert wrong in why
    if row.ndim == 1:
        monkeypatch.setattr(embedder, "embed_passages", lambda texts: [row[None, :]])
        with pytest.raises(EmbedderError, match=wrong):
            Embedding(embedder, store).computed(["tea"])


def test_without_an_embedder(store: SqliteStore) -> None:
    meaning = Embedding(None, store)
    assert meaning.documents(["tea"], [WHOSE])[0][1] is None
    for vector in (None, np.ones(3, np.float32)):
        assert meaning.query("tea", vector) == (None, "no embedder: words only")
    assert meaning.threshold == 0.0


class Laid(LexicalEmbedder):
    """Gives its numbers as they may lie in memory: of another type, backwards, across a larger table."""

    lay: Any = staticmethod(lambda row: row)

    def embed_query(self, text: str) -> Vectors:
        laid: Vectors = self.lay(super().embed_query(text))
        return laid

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        table = np.asfortranarray(self.embed_documents([*texts, "beside"]))
        return [table[at : at + 1] for at in range(len(texts))]


@pytest.mark.parametrize(
    "lay",
    [
        lambda row: row.astype(np.float64),
        lambda row: row[::-1].copy()[::-1],
        lambda row: np.repeat(row, 3)[::3],
        lambda row: row.astype(">f4"),
    ],
)
def test_vectors_are_compared_however_they_lie_in_memory(lay: Any) -> None:
    embedder = Laid(dimension=64)
    embedder.lay = lay
    with memorata.open(":memory:", embedder=embedder) as memory:
        tea = memory.remember("Anna drinks green tea in the morning")
        memory.remember("The server was moved to another room")
        best = memory.recall("Anna drinks green tea in the morning", recipe="vector").hits[0]
    assert best.memory.id == tea.id
    assert best.score == pytest.approx(1, abs=1e-5)


def test_a_vector_that_nearly_vanishes_is_no_direction(store: SqliteStore, embedder: Counting) -> None:
    meaning = Embedding(embedder, store)
    tiny = np.full(embedder.dimension, 1e-30, np.float32)
    with pytest.raises(InvalidArgument, match="whose norm is 1"):
        meaning.query("tea", tiny)
