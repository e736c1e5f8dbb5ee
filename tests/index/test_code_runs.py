"""Codes of vectors in runs of slots: short ones are joined, long ones stay, and all lie end to end."""

from collections.abc import Iterator

import numpy as np
import pytest

from memorata.index import cache, codes, segments
from memorata.index.codes import Codes
from memorata.index.segments import stored_vectors
from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Terms
from memorata.store.memory import memories as writing
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, direction, entry


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """Segments of 4 and up, two of a size become one; runs of 8 and more stay as they are."""
    monkeypatch.setattr(writing, "TAIL", 4)
    monkeypatch.setattr(segments, "TAIL", 4)
    monkeypatch.setattr(segments, "_FAN_OUT", 2)
    monkeypatch.setattr(codes, "SHORT_RUN_SLOTS", 8)
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 0)
    opened = SqliteStore(":memory:")
    opened.use_embedder(EMBEDDER, DIMENSION)
    yield opened
    opened.close()


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def add(store: SqliteStore, first: int, count: int) -> None:
    store.add([entry(f"m{n}", "tea", direction(1, n)) for n in range(first, first + count)])


def terms_of(memory: Memory) -> Terms:
    return {"content": {memory.content: 1}}


def spans(store: SqliteStore, table: str = "vector_codes") -> list[tuple[int, int]]:
    return connection(store).execute(f"SELECT first, slots FROM {table} ORDER BY first").fetchall()


def coded(store: SqliteStore) -> list[bytes | None]:
    rows = connection(store).execute("SELECT codes FROM vector_codes ORDER BY first")
    return [blob for (blob,) in rows]


def test_short_runs_are_joined_with_their_segments_and_long_ones_stay(store: SqliteStore) -> None:
    add(store, 0, 4)
    assert spans(store) == [(0, 4)]
    add(store, 4, 4)
    assert spans(store) == spans(store, "segments") == [(0, 8)]
    add(store, 8, 8)
    assert spans(store, "segments") == [(0, 16)]
    assert spans(store) == [(0, 8), (8, 8)]
    assert coded(store) == [
        Codes.of(*stored_vectors(connection(store), 1, (1, DIMENSION), first, first + 8)).encoded()
        for first in (0, 8)
    ]
    assert store.check(terms_of) == []


def join_short(store: SqliteStore, span: tuple[int, int, int]) -> None:
    runs = codes.runs_within(connection(store), *span).fetchall()
    codes.join_short_runs(connection(store), span[0], runs)


def test_only_neighbours_are_joined(store: SqliteStore) -> None:
    add(store, 0, 1)
    for first, slots in ((0, 3), (3, 9), (12, 2), (14, 2), (16, 8), (24, 1)):
        codes.write_run(connection(store), (1, first, slots), None)
    join_short(store, (1, 0, 25))
    assert spans(store) == [(0, 3), (3, 9), (12, 4), (16, 8), (24, 1)]
    join_short(store, (2, 0, 25))
    join_short(store, (1, 16, 9))
    assert spans(store) == [(0, 3), (3, 9), (12, 4), (16, 8), (24, 1)]


def test_codes_of_two_embedders_are_not_joined(store: SqliteStore) -> None:
    add(store, 0, 4)
    store.use_embedder("other", DIMENSION)
    add(store, 4, 4)
    assert spans(store) == [(0, 8)]
    assert coded(store) == [None]
    with store.view(HERE, NOW) as view:
        assert sorted(view.search(direction(1)[0], 10).slots.tolist()) == [4, 5, 6, 7]
    assert store.check(terms_of) == []


def test_memories_without_vectors_have_a_run_without_codes() -> None:
    store = SqliteStore(":memory:")
    store.add([entry(f"m{n}", "tea") for n in range(300)])
    assert (spans(store), coded(store)) == ([(0, 300)], [None])
    assert store.check(terms_of) == []
    store.close()


def test_a_purge_writes_only_the_runs_anew_that_held_it(store: SqliteStore) -> None:
    add(store, 0, 8)
    add(store, 8, 8)
    before = coded(store)
    store.purge(HERE, ["m9", "m15"])
    after = coded(store)
    assert after[0] == before[0]
    assert after[1] is not None
    assert Codes.decoded(after[1]).owners.tolist() == [8, 10, 11, 12, 13, 14]
    assert store.check(terms_of) == []


def test_a_namespace_takes_its_codes_with_it(store: SqliteStore) -> None:
    add(store, 0, 8)
    store.purge_namespace(HERE)
    assert spans(store) == []


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vector_codes WHERE first = 0",
        "DELETE FROM vector_codes WHERE first = 8",
        "UPDATE vector_codes SET first = 4 WHERE first = 8",
        "UPDATE vector_codes SET slots = 9 WHERE first = 8",
    ],
)
def test_runs_that_do_not_lie_end_to_end_are_found_and_mended(store: SqliteStore, damage: str) -> None:
    add(store, 0, 8)
    add(store, 8, 8)
    connection(store).execute(damage)
    assert store.check(terms_of) == [f"{HERE}: vector codes do not lie end to end from slot 0 to 16"]
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == []


def test_a_gap_is_not_searched_over(store: SqliteStore) -> None:
    add(store, 0, 8)
    add(store, 8, 8)
    connection(store).execute("DELETE FROM vector_codes WHERE first = 0")
    with pytest.raises(IndexCorrupt, match="the codes of slot 0"), store.view(HERE, NOW):
        pass


def test_codes_of_runs_find_what_vectors_find(store: SqliteStore) -> None:
    for first in range(0, 44, 4):
        add(store, first, 4)
    aim = direction(1, 7)[0]
    with store.view(HERE, NOW) as view:
        found = view.search(aim, 5)
    rows = np.concatenate([direction(1, n) for n in range(44)])
    assert sorted(found.scores.tolist()) == pytest.approx(np.sort(rows @ aim)[-5:].tolist(), abs=1e-6)
