import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from recollect.embed import LexicalEmbedder
from recollect.embed.port import Vectors
from recollect.engine.meaning import Meaning
from recollect.model import InvalidArgument, Memory
from recollect.model.errors import EmbedderError
from recollect.store.port import Entry
from recollect.store.sqlite.store import SqliteStore


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
    meaning = Meaning(embedder, store)
    now = datetime(2026, 5, 7, tzinfo=UTC)
    [(digest, rows)] = meaning.of_documents(["tea"])
    store.add([Entry(Memory(id="m1", content="tea", created_at=now), {}, rows, digest)])
    again = meaning.of_documents(["tea", "coffee", "coffee"])
    assert embedder.asked == ["tea", "coffee"]
    assert rows is not None
    assert again[0][1] is not None
    np.testing.assert_array_equal(again[0][1], rows)
    assert again[1][0] == again[2][0]


def test_a_failure_leaves_them_waiting_and_is_logged(
    store: SqliteStore, embedder: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    embedder.fails = True
    with caplog.at_level(logging.WARNING):
        [(digest, rows)] = Meaning(embedder, store).of_documents(["tea"])
    assert (len(digest), rows) == (16, None)
    assert "1 memories are stored without vectors for now: it is down" in caplog.text


def test_questions(store: SqliteStore, embedder: Counting) -> None:
    meaning = Meaning(embedder, store)
    vector, wrong = meaning.of_question("tea", None)
    assert vector is not None
    assert not wrong
    assert meaning.of_question("", None) == (None, "")
    assert meaning.of_question("x", vector)[0] is vector
    with pytest.raises(InvalidArgument, match=r"vector must be of shape \(512,\), got \(3,\)"):
        meaning.of_question("x", np.zeros(3, np.float32))
    with pytest.raises(InvalidArgument, match="vector must be finite numbers"):
        meaning.of_question("x", np.full(512, np.nan, np.float32))
    assert meaning.threshold == embedder.similarity_threshold


def test_without_an_embedder(store: SqliteStore) -> None:
    meaning = Meaning(None, store)
    assert meaning.of_documents(["tea"])[0][1] is None
    assert meaning.of_question("tea", None) == (None, "no embedder: words only")
    assert meaning.threshold == 0.0
