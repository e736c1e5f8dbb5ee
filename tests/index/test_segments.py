from collections.abc import Iterator

import numpy as np
import pytest

from memorata.index import segments
from memorata.index.codes import Codes
from memorata.index.postings import SegmentLists, parts_of
from memorata.index.segments import stored_vectors
from memorata.store.dialects import SqliteStore
from memorata.store.memory import memories as writing
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, direction, entry


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """Segments of 4 and up, eight of a size become one, at most 64 slots long."""
    monkeypatch.setattr(writing, "TAIL", 4)
    monkeypatch.setattr(segments, "TAIL", 4)
    monkeypatch.setattr(segments, "SPAN", 64)
    opened = SqliteStore(":memory:")
    opened.use_embedder(EMBEDDER, DIMENSION)
    yield opened
    opened.close()


def spans(store: SqliteStore) -> list[tuple[int, int]]:
    query = "SELECT first, slots FROM segments ORDER BY first"
    return [(first, slots) for first, slots in connection(store).execute(query)]


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def tea(store: SqliteStore) -> list[int]:
    """The slots that the segments list under "tea"."""
    return [slot for first, lists in segments_in(store) for slot in listed(lists, first).get("tea", ())]


def listed(lists: SegmentLists, first: int) -> dict[str, list[int]]:
    """The slots of each word of the contents."""
    keys = enumerate(map(parts_of, lists.keys()))
    return {
        word: (lists.postings(at)[0].astype(int) + first).tolist()
        for at, (field, word) in keys
        if field == "content"
    }


def segments_in(store: SqliteStore) -> list[tuple[int, SegmentLists]]:
    """The first slot and the lists of every segment."""
    rows = connection(store).execute("SELECT first, lists FROM segments ORDER BY first")
    return [(first, SegmentLists.decoded(value)) for first, value in rows]


def words(store: SqliteStore) -> list[str]:
    """The words of all segments."""
    return [word for first, lists in segments_in(store) for word in listed(lists, first)]


def add(store: SqliteStore, first: int, count: int) -> None:
    store.add([entry(f"m{n}", f"tea cup{n}", direction(1, n)) for n in range(first, first + count)])


def waiting(store: SqliteStore) -> int:
    return int(connection(store).execute("SELECT count(terms) FROM records").fetchone()[0])


def test_memories_wait_until_there_are_enough(store: SqliteStore) -> None:
    for number in range(3):
        add(store, number, 1)
    assert (spans(store), waiting(store)) == ([], 3)
    add(store, 3, 1)
    assert (spans(store), waiting(store)) == ([(0, 4)], 0)
    assert tea(store) == [0, 1, 2, 3]


def test_eight_of_a_size_become_one(store: SqliteStore) -> None:
    for number in range(7):
        add(store, number * 4, 4)
    assert spans(store) == [(number * 4, 4) for number in range(7)]
    add(store, 28, 4)
    assert spans(store) == [(0, 32)]
    assert tea(store) == list(range(32))


def test_no_segment_is_longer_than_the_span(store: SqliteStore) -> None:
    add(store, 0, 150)
    assert spans(store) == [(0, 64), (64, 64), (128, 22)]
    for number in range(40):
        add(store, 150 + number * 4, 4)
    assert all(slots <= 64 for _, slots in spans(store))
    assert sum(slots for _, slots in spans(store)) == 310
    assert tea(store) == list(range(310))


def test_no_list_is_left_behind_by_a_merge(store: SqliteStore) -> None:
    for number in range(20):
        add(store, number * 4, 4)
    assert words(store).count("cup7") == 1


def test_a_purge_leaves_no_word_and_no_code(store: SqliteStore) -> None:
    add(store, 0, 8)
    store.purge(HERE, ["m3", "m6"])
    assert tea(store) == [0, 1, 2, 4, 5, 7]
    assert "cup3" not in words(store)
    assert "cup4" in words(store)
    owners = [
        owner
        for (blob,) in connection(store).execute("SELECT codes FROM vector_codes ORDER BY first")
        for owner in Codes.decoded(blob).owners.tolist()
    ]
    assert owners == [0, 1, 2, 4, 5, 7]


def test_stored_vectors_come_with_their_owners(store: SqliteStore) -> None:
    both = np.concatenate([direction(1), direction(0, 1)])
    store.add([entry("a", "tea", both), entry("b", "tea"), entry("c", "tea", direction(0, 0, 1))])
    owners, rows = stored_vectors(connection(store), 1, (1, DIMENSION), 0, 3)
    assert owners.tolist() == [0, 0, 2]
    assert rows.tolist() == [*both.tolist(), direction(0, 0, 1)[0].tolist()]
    owners, rows = stored_vectors(connection(store), 1, (1, DIMENSION), 1, 2)
    assert (owners.size, rows.shape) == (0, (0, DIMENSION))


def test_rebuilding_writes_the_same_lists_in_few_segments(store: SqliteStore) -> None:
    for number in range(10):
        add(store, number * 7, 7)
    store.purge(HERE, [f"m{n}" for n in range(64)])
    store.rebuild(HERE, lambda memory: {"content": {"tea": 1}})
    assert spans(store) == [(0, 64), (64, 6)]
    assert tea(store) == list(range(64, 70))
