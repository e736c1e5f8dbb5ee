from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.index.codes import Codes
from memorata.index.record import FORGOTTEN, GONE, unpacked
from memorata.index.vector_rows import sealed
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.rows import find, find_namespace
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import HERE, NOW, THERE, entry


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    yield opened
    opened.close()


def record(store: SqliteStore, slot: int) -> dict[str, float]:
    connection: SqliteSession = store._connection
    (blob,) = connection.execute("SELECT record FROM records WHERE slot = ?", (slot,)).fetchone()
    (found,) = unpacked([blob])
    return {name: found[name] for name in ("state", "superseded", "session", "position")}


def test_slots_are_given_out_in_order_and_never_again(store: SqliteStore) -> None:
    store.add([entry("a", "tea"), entry("b", "tea")])
    store.purge(HERE, ["b"])
    store.add([entry("c", "tea")])
    connection: SqliteSession = store._connection
    assert connection.execute("SELECT id, slot FROM memories ORDER BY slot").fetchall() == [
        ("a", 0),
        ("c", 2),
    ]
    assert record(store, 1)["state"] == GONE
    namespace = find_namespace(connection, HERE)
    assert namespace is not None
    assert (namespace.slots, namespace.flushed) == (3, 0)
    assert find_namespace(connection, "nobody") is None
    assert find(connection, HERE, "c")[2] == 2


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 1, 1, 2]), min_size=1, max_size=4),
    st.sampled_from([0, 300]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([1.0, 3e38]),
)
def test_vectors_lie_beside_their_memories_however_many_each_has(
    passages: list[int], more: int, kind: type[np.floating[Any]], size: float
) -> None:
    """From 256 on they are also coded; a square of 3e38 is no float32, and it is finite all the same."""
    counts = [*passages, *[1] * more]
    rows = np.arange(1, 2 * sum(counts) + 1).reshape(-1, 2).astype(kind)
    rows *= kind(size) / rows.max(initial=1)
    each = np.split(rows, np.cumsum(counts)[:-1])
    store = SqliteStore(":memory:")
    store.use_embedder("pairs", 2)
    store.add(
        [
            Entry(entry(f"m{number}", "tea").memory, {"content": {"tea": 1}}, own if len(own) else None, b"d")
            for number, own in enumerate(each)
        ]
    )
    connection: SqliteSession = store._connection
    found = dict(connection.execute("SELECT slot, vectors FROM vectors").fetchall())
    assert found == {
        slot: sealed(own.astype(np.float32)).tobytes() for slot, own in enumerate(each) if len(own)
    }
    for (blob,) in connection.execute("SELECT codes FROM vector_codes").fetchall():
        expected = Codes.of(np.repeat(np.arange(len(each), dtype=np.int32), counts), rows.astype(np.float32))
        assert blob == expected.encoded()
    store.close()


def test_sessions_are_numbered_by_namespace(store: SqliteStore) -> None:
    names = ["monday", "", "tuesday", "monday"]
    store.add([entry(f"m{n}", "tea", source=Source(session=name)) for n, name in enumerate(names)])
    store.add([entry("x", "tea", namespace=THERE, source=Source(session="tuesday"))])
    assert [record(store, slot)["session"] for slot in range(1, 4)] == [-1, 1, 0]
    store.add([entry("y", "tea", source=Source(session="friday", position=5))])
    assert (record(store, 4)["session"], record(store, 4)["position"]) == (2, 5)


def test_a_memory_stops_being_believed_when_the_newer_one_was_learnt(store: SqliteStore) -> None:
    learnt = NOW + timedelta(days=3)
    store.add([entry("a", "tea"), entry("b", "tea", created_at=learnt, supersedes=("a",))])
    assert record(store, 0)["superseded"] == learnt.timestamp()


@pytest.mark.parametrize(
    ("old", "new", "ended"),
    [
        ({}, {}, NOW),
        ({}, {"valid_from": NOW + timedelta(days=9)}, NOW + timedelta(days=9)),
        ({"valid_to": NOW - timedelta(days=1)}, {}, NOW - timedelta(days=1)),
        ({"valid_from": NOW + timedelta(days=5)}, {}, NOW + timedelta(days=5)),
    ],
)
def test_when_a_corrected_memory_ends_in_the_world(
    store: SqliteStore, old: dict[str, Any], new: dict[str, Any], ended: object
) -> None:
    store.add([entry("a", "tea", **old), entry("b", "tea", supersedes=("a",), **new)])
    assert store.get(HERE, ["a"])[0].valid_to == ended


def test_one_memory_may_replace_several(store: SqliteStore) -> None:
    store.add([entry("a", "tea"), entry("b", "tea"), entry("c", "tea", supersedes=("a", "b"))])
    assert [each.superseded_by for each in store.get(HERE, ["a", "b"])] == ["c", "c"]
    store.purge(HERE, ["c"])
    assert [each.superseded_by for each in store.get(HERE, ["a", "b"])] == [None, None]


def test_forgetting_keeps_the_first_moment_and_says_it_once(store: SqliteStore) -> None:
    store.add([entry("a", "tea")])
    store.forget(HERE, ["a"], NOW)
    before = store.changes(0, 10)
    store.forget(HERE, ["a"], NOW + timedelta(days=1))
    assert store.changes(0, 10) == before
    connection: SqliteSession = store._connection
    assert connection.execute("SELECT forgotten_at FROM memories").fetchone() == (
        int(NOW.timestamp() * 1_000_000),
    )
    assert record(store, 0)["state"] == FORGOTTEN


def test_the_first_taken_id_is_named(store: SqliteStore) -> None:
    store.add([entry("a", "tea")])
    with pytest.raises(InvalidArgument, match="got 'a'"):
        store.add([entry("b", "tea"), entry("a", "tea")])
    with pytest.raises(InvalidArgument, match="got 'c'"):
        store.add([entry("c", "tea"), entry("d", "tea"), entry("c", "tea")])


def test_the_same_id_may_be_in_two_namespaces(store: SqliteStore) -> None:
    store.add([entry("a", "tea"), entry("a", "milk", namespace=THERE)])
    found: list[Memory] = [*store.get(HERE, ["a"]), *store.get(THERE, ["a"])]
    assert [memory.content for memory in found] == ["tea", "milk"]
