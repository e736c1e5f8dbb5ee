"""Vectors that come later, on the SQLite file: codes of segments, the change feed, and large namespaces."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memorata.index import cache
from memorata.index.codes import Floats
from memorata.index.segments import TAIL
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry, Terms
from memorata.store.memory.embedding import Embedded

NOW = datetime(2026, 5, 7, tzinfo=UTC)
COUNT = TAIL + 20
OLD = np.random.default_rng(1).normal(size=(COUNT, 1, 8)).astype(np.float32)
NEW = np.random.default_rng(2).normal(size=(COUNT, 1, 8)).astype(np.float32)
OLD /= np.linalg.norm(OLD, axis=2, keepdims=True)
NEW /= np.linalg.norm(NEW, axis=2, keepdims=True)


def words(memory: Memory) -> Terms:
    return {"content": {memory.content: 1}}


def embedded(numbers: range) -> list[Embedded]:
    return [Embedded("default", f"m{number}", NEW[number], b"%d" % number) for number in numbers]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A store with a segment and a tail, searched by codes, all of it by the old embedder."""
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 50)
    opened = SqliteStore(tmp_path / "m.db")
    opened.use_embedder("old", 8)
    memories = [Memory(id=f"m{number}", content=f"w{number}", created_at=NOW) for number in range(COUNT)]
    entries = [Entry(memory, words(memory), OLD[number]) for number, memory in enumerate(memories)]
    opened.add(entries[:TAIL])
    opened.add(entries[TAIL:])
    yield opened
    opened.close()


def nearest(store: SqliteStore, vector: Floats) -> tuple[int, float]:
    with store.view("default", NOW) as view:
        found = view.search(vector, 1)
        return (int(found.slots[0]), round(float(found.scores[0]), 5)) if found.slots.size else (-1, 0.0)


def coded_by(store: SqliteStore) -> list[str | None]:
    rows = store._connection.execute(
        "SELECT e.name FROM vector_codes c LEFT JOIN embedders e ON e.number = c.embedder ORDER BY c.first"
    )
    return [name for (name,) in rows]


def test_codes_are_those_of_one_embedder_at_every_step(store: SqliteStore) -> None:
    assert coded_by(store) == ["old"]
    store.use_embedder("new", 8)
    assert store.put_vectors(embedded(range(200))) == 200
    # The codes are the old one's still, and whoever uses it goes on with them.
    assert coded_by(store) == ["old"]
    assert nearest(store, NEW[150, 0]) == (150, 1.0)
    assert nearest(store, NEW[250, 0])[0] != 250
    assert store.renew_codes()
    assert not store.renew_codes()
    assert coded_by(store) == ["new"]
    assert store.check(words) == []
    # More vectors of the embedder that made the codes: the codes would be too few.
    assert store.put_vectors(embedded(range(200, COUNT))) == COUNT - 200
    assert coded_by(store) == [None]
    assert store.check(words) == []
    assert nearest(store, NEW[250, 0]) == (250, 1.0)
    assert store.renew_codes()
    assert coded_by(store) == ["new"]
    assert nearest(store, NEW[250, 0]) == (250, 1.0)
    assert store.check(words) == []


def test_another_process_sees_new_vectors_at_once_and_that_the_old_are_gone(store: SqliteStore) -> None:
    other = SqliteStore(store.path)
    other.use_embedder("old", 8)
    assert nearest(other, OLD[5, 0]) == (5, 1.0)
    store.use_embedder("new", 8)
    assert nearest(store, NEW[5, 0]) == (-1, 0.0)
    store.put_vectors(embedded(range(COUNT)))
    assert nearest(store, NEW[5, 0]) == (5, 1.0)
    assert nearest(other, OLD[5, 0]) == (5, 1.0)
    while store.renew_codes():
        pass
    assert nearest(other, OLD[5, 0]) == (5, 1.0)
    store.drop_vectors(10**6)
    assert nearest(other, OLD[5, 0]) == (-1, 0.0)
    assert other.check(words) == []
    other.close()


@pytest.mark.untraced
def test_codes_that_the_old_embedder_made_in_the_meantime_go_with_its_vectors(store: SqliteStore) -> None:
    other = SqliteStore(store.path)
    other.use_embedder("old", 8)
    store.use_embedder("new", 8)
    store.put_vectors(embedded(range(COUNT)))
    while store.renew_codes():
        pass
    more = [Memory(id=f"x{number}", content=f"x{number}", created_at=NOW) for number in range(TAIL)]
    other.add([Entry(memory, words(memory), OLD[0]) for memory in more])
    assert coded_by(store) == ["new", "old"]
    assert store.drop_vectors(10**6) == COUNT + TAIL
    assert coded_by(store) == ["new", None]
    assert store.check(words) == []
    assert store.renew_codes()
    assert store.check(words) == []
    other.close()


def test_the_change_feed_tells_whose_vectors_changed(store: SqliteStore) -> None:
    store.use_embedder("new", 8)
    before = store.changes(0, 10**6)[-1].number
    store.put_vectors(embedded(range(3, 5)))
    assert [(change.memory_id, change.kind) for change in store.changes(before, 10)] == [
        ("m3", "vectors"),
        ("m4", "vectors"),
    ]


def test_records_say_how_many_passages_there_are(store: SqliteStore) -> None:
    store.use_embedder("new", 8)
    store.put_vectors([Embedded("default", "m0", np.concatenate([NEW[0], NEW[1]]), b"two")])
    with store.view("default", NOW) as view:
        assert view.records(np.array([0, 1]))["vectors"].tolist() == [2, 1]
