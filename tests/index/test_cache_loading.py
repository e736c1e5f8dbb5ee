"""Catching up: a second store on the same file sees every kind of write, and only reads what is new."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memorata.index import cache, segments
from memorata.index import partition as index_partition
from memorata.index.codes import Floats
from memorata.index.record import Records
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry, Terms
from memorata.store.filters import parse
from memorata.store.memory import memories as writing
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    THERE,
    direction,
    entry,
    found_ids,
    query,
    words,
)

AIM = direction(*range(1, DIMENSION + 1))[0]


def vectors(number: int) -> Floats:
    rows = np.random.default_rng(number).normal(size=(1 + number % 2, DIMENSION))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


def numbered(first: int, count: int, **fields: object) -> list[Entry]:
    return [
        entry(f"m{n}", f"tea number{n % 7} cup{n % 3}", vectors(n), **fields)
        for n in range(first, first + count)
    ]


@pytest.fixture(params=["exact", "codes"])
def pair(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Two stores on one file, with segments of 8 and up, merged by twos."""
    for module, name, value in ((writing, "TAIL", 8), (segments, "TAIL", 8), (segments, "_FAN_OUT", 2)):
        monkeypatch.setattr(module, name, value)
    if request.param == "codes":
        monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 5)
    stores = [SqliteStore(tmp_path / "m.db", durable=False) for _ in range(2)]
    for store in stores:
        store.use_embedder(EMBEDDER, DIMENSION)
    yield stores[0], stores[1]
    for store in stores:
        store.close()


def answer(store: SqliteStore) -> tuple[object, ...]:
    with store.view(HERE, NOW) as look:
        worded = look.search(query("tea", "number3", "cup1"), 30)
        near = look.search(AIM, 30)
        filtered = None
        with store.view(HERE, NOW, filter=parse({"confidence": {"<": 1}})) as some:
            filtered = found_ids(some, some.search(AIM, 30))
        return (
            list(zip(found_ids(look, worded), worded.scores.tolist(), strict=True)),
            list(zip(found_ids(look, near), near.scores.round(6).tolist(), strict=True)),
            filtered,
            look.document_frequencies(["tea", "number3", "cup1"]),
            look.status.count,
            look.status.pending,
        )


WRITES: list[Callable[[SqliteStore], object]] = [
    lambda store: store.add(numbered(100, 1)),
    lambda store: store.add(numbered(110, 5)),
    lambda store: store.add(numbered(115, 3, confidence=0.4)),
    lambda store: store.add(numbered(120, 40)),
    lambda store: [store.add(numbered(200 + n, 1)) for n in range(20)],
    lambda store: store.add([entry("x1", "tea without a vector")]),
    lambda store: store.add(numbered(300, 3, namespace=THERE)),
    lambda store: store.forget(HERE, ["m1", "m2"], NOW),
    lambda store: store.restore(HERE, ["m1"]),
    lambda store: store.purge(HERE, ["m3"]),
    lambda store: store.purge(HERE, ["m19"]),
    lambda store: store.add([entry("y1", "tea corrected", vectors(9), supersedes=("m5",))]),
    lambda store: store.purge(HERE, ["y1"]),
    lambda store: store.update(replace(store.get(HERE, ["m7"])[0], confidence=0.5), 1),
    lambda store: store.add(numbered(400, 1, expires_at=NOW + timedelta(seconds=1))),
    lambda store: store.rebuild(HERE, terms_of),
    lambda store: store.vacuum(),
]


@pytest.mark.untraced
def test_each_sees_what_the_other_wrote(pair: tuple[SqliteStore, SqliteStore], tmp_path: Path) -> None:
    one, other = pair
    one.add(numbered(0, 20))
    for number, write in enumerate(WRITES):
        writer, reader = (one, other) if number % 2 else (other, one)
        answer(reader)
        write(writer)
        fresh = SqliteStore(tmp_path / "m.db")
        fresh.use_embedder(EMBEDDER, DIMENSION)
        expected = answer(fresh)
        fresh.close()
        assert answer(reader) == expected, number
        assert answer(writer) == expected, number


def test_everything_written_at_once_is_caught_up_with_at_once(
    pair: tuple[SqliteStore, SqliteStore], tmp_path: Path
) -> None:
    one, other = pair
    one.add(numbered(0, 20))
    answer(other)
    for write in WRITES:
        write(one)
    fresh = SqliteStore(tmp_path / "m.db")
    fresh.use_embedder(EMBEDDER, DIMENSION)
    assert answer(other) == answer(fresh) == answer(one)
    fresh.close()


def test_records_are_read_one_by_one_where_they_do_not_come_as_they_are(
    pair: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    one.add(numbered(0, 20))
    expected = answer(one)
    # As if this SQLite ended a text at its first nought.
    monkeypatch.setattr(SqliteDialect, "joined", lambda _, sql: f"SELECT count(*), x'00' FROM ({sql})")
    assert answer(other) == expected


def test_nothing_is_read_again_when_nothing_was_written(
    pair: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    one.add(numbered(0, 20))
    before = answer(other)

    def refuse(*_: object) -> None:
        raise AssertionError("read again")

    for name in ("_loaded", "_load_records", "_load_tail", "_load_vectors", "stored_vectors"):
        monkeypatch.setattr(cache, name, refuse)
    one.add(numbered(500, 2, namespace=THERE))
    assert answer(other) == before


def test_a_few_more_memories_do_not_load_the_rest_again(
    pair: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    one.add(numbered(0, 20))
    before = answer(other)
    appended = []
    append = index_partition.Partition.append

    def counted(self: index_partition.Partition, records: Records) -> None:
        appended.append(len(records))
        append(self, records)

    monkeypatch.setattr(index_partition.Partition, "append", counted)
    one.add(numbered(20, 2))
    after = answer(other)
    assert after != before
    assert appended == [2]


def test_passages_count_when_it_is_decided_how_to_search(
    pair: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    # Six memories, three of which have two passages: too many to keep in full, and nothing has codes yet.
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 8)
    one.add(numbered(0, 6))
    answer(other)
    assert not other._cache._kept["", HERE][0].vectors.exact
    monkeypatch.setattr(cache, "_loaded", lambda *arguments: pytest.fail("it was loaded again"))
    one.add(numbered(6, 1))
    answer(other)


def test_codes_and_owners_stay_aligned_through_purges_and_merges(
    pair: tuple[SqliteStore, SqliteStore],
) -> None:
    one, _ = pair
    one.add(numbered(0, 60))
    living = dict.fromkeys(range(60))
    for victim in (0, 59, 30, 31, 7, 8, 9):
        one.purge(HERE, [f"m{victim}"])
        del living[victim]
        one.add(numbered(100 + victim * 10, 3))
        living |= dict.fromkeys(range(100 + victim * 10, 103 + victim * 10))
        with one.view(HERE, NOW) as look:
            found = look.search(AIM, 1_000)
            got = dict(zip(found_ids(look, found), found.scores.tolist(), strict=True))
        wanted = {f"m{n}": float((vectors(n) @ AIM).max()) for n in living}
        assert got == pytest.approx(wanted, abs=1e-6)


def test_merging_segments_of_different_embedders_mixes_nothing(
    pair: tuple[SqliteStore, SqliteStore], tmp_path: Path
) -> None:
    one, other = pair
    one.add(numbered(0, 10))
    other.use_embedder("second", 3)
    short = np.array([[0.6, 0.8, 0.0]], np.float32)
    other.add([entry(f"s{n}", "tea", short) for n in range(10)])
    one.add(numbered(20, 10))
    for store, dimension, own in ((one, DIMENSION, "m"), (other, 3, "s")):
        with store.view(HERE, NOW) as look:
            aim = AIM if dimension == DIMENSION else short[0]
            ids = found_ids(look, look.search(aim, 100))
            assert {id_[0] for id_ in ids} == {own}
            assert len(ids) == (20 if own == "m" else 10)
            assert look.status.pending == 30 - len(ids)
    assert one.check(terms_of) == []


def test_changed_records_are_looked_up_by_their_slots() -> None:
    # By a range of slots, a file of a million memories took 100 ms of a processor at every write.
    store = SqliteStore(":memory:")
    plan = store._connection.execute(f"EXPLAIN QUERY PLAN {cache._CHANGED_RECORDS}", (1, 1, 1, 0)).fetchall()
    assert "SEARCH records USING PRIMARY KEY (namespace=? AND slot=?)" in {row[-1] for row in plan}
    store.close()
