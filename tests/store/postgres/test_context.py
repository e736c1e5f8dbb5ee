"""Who was said before and after whom, by an index of sessions."""

from datetime import timedelta

import numpy as np

from memorata.model.memory import Source
from memorata.store.postgres.context import around, nearby
from memorata.store.postgres.namespaces import find
from memorata.store.postgres.store import PostgresStore
from memorata.store.samples import HERE, NOW, entry


def sides(store: PostgresStore, slots: list[int], reach: int) -> dict[int, tuple[list[int], list[int]]]:
    with store._database.reading() as connection:
        namespace = find(connection, HERE)
        assert namespace is not None
        records, found = around(connection, namespace.number, slots, reach)
    assert sorted(records) == sorted(slots)
    return {slot: (before.tolist(), after.tolist()) for slot, (before, after) in found.items()}


def test_the_closest_come_first_on_either_side_and_no_more_than_are_wanted(store: PostgresStore) -> None:
    store.add([entry(f"m{n}", "tea", source=Source("Anna", "s", n)) for n in range(7)])
    assert sides(store, [3], 2) == {3: ([2, 1], [4, 5])}
    assert sides(store, [0, 6], 9) == {0: ([], [1, 2, 3, 4, 5, 6]), 6: ([5, 4, 3, 2, 1, 0], [])}


def test_positions_come_before_times_and_times_before_the_order_of_writing(store: PostgresStore) -> None:
    store.add(
        [
            entry("last", "tea", source=Source("Anna", "s", 9), created_at=NOW - timedelta(1)),
            entry("later", "tea", source=Source("Anna", "s", 5), created_at=NOW),
            entry("earlier", "tea", source=Source("Anna", "s", 5), created_at=NOW - timedelta(1)),
            entry("same", "tea", source=Source("Anna", "s", 5), created_at=NOW),
            entry("nowhere", "tea", source=Source("Anna", "s"), created_at=NOW),
        ]
    )
    # Without a position it is before all that have one.
    assert sides(store, [1], 9) == {1: ([2, 4], [3, 0])}


def test_outside_a_session_nobody_is_near(store: PostgresStore) -> None:
    store.add([entry("a", "tea"), entry("b", "tea"), entry("c", "tea", source=Source("Anna", "s", 1))])
    assert sides(store, [0, 1, 2], 3) == {0: ([], []), 1: ([], []), 2: ([], [])}


def test_all_who_are_near_are_told_once_in_order() -> None:
    known = {
        1: (np.array([0], np.int32), np.array([2, 3], np.int32)),
        2: (np.array([1, 0], np.int32), np.array([], np.int32)),
    }
    assert nearby(known, np.array([1, 2])).tolist() == [0, 1, 2, 3]
    assert nearby(known, np.array([], np.intp)).tolist() == []
