"""Who was said before and after whom."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.neighbours import Neighbours, distinct
from memorata.index.record import GONE, RECORD, Records

turns = st.lists(
    st.tuples(st.integers(-1, 3), st.integers(-1, 5), st.integers(0, 3), st.booleans()), max_size=30
)


def records_of(rows: list[tuple[int, int, int, bool]]) -> Records:
    records = np.zeros(len(rows), RECORD)
    for slot, (session, position, created, gone) in enumerate(rows):
        records[slot]["session"], records[slot]["position"] = session, position
        records[slot]["created"], records[slot]["state"] = created, GONE if gone else 0
    return records


def oracle(rows: list[tuple[int, int, int, bool]], slot: int, steps: int) -> int:
    """Return the slot `steps` after this one in its session; -1 if there is none."""
    session = rows[slot][0]
    if session < 0 or rows[slot][3]:
        return -1
    members = sorted(
        (position, created, other)
        for other, (where, position, created, gone) in enumerate(rows)
        if where == session and not gone
    )
    at = [member[2] for member in members].index(slot) + steps
    return members[at][2] if 0 <= at < len(members) else -1


@given(turns, st.integers(0, 30))
def test_neighbours_are_those_of_the_sorted_session_however_the_namespace_grew(
    rows: list[tuple[int, int, int, bool]], cut: int
) -> None:
    records = records_of(rows)
    links = Neighbours()
    links.grow(records[:cut])
    links.grow(records)
    assert len(links) == len(rows)
    slots = np.arange(len(rows))
    around = links.around(slots, 2)
    for slot in range(len(rows)):
        expected = [oracle(rows, slot, steps) for steps in (-1, -2, 1, 2)]
        assert around[:, slot].tolist() == expected


def test_an_empty_namespace_has_no_neighbours() -> None:
    links = Neighbours()
    links.grow(np.zeros(0, RECORD))
    assert links.around(np.zeros(0, np.intp), 2).shape == (4, 0)


@given(turns)
def test_pauses_are_seconds_between_a_slot_and_its_neighbours(
    rows: list[tuple[int, int, int, bool]],
) -> None:
    links = Neighbours()
    links.grow(records_of(rows))
    slots = np.arange(len(rows))
    around = links.around(slots, 2)
    pauses = links.pauses(slots, around)
    for step, slot in zip(*np.nonzero(around >= 0), strict=True):
        assert pauses[step, slot] == abs(rows[slot][2] - rows[around[step, slot]][2])
    assert bool(links) == bool((around >= 0).any())


@given(st.lists(st.integers(0, 9)))
def test_distinct_is_each_once_ascending(slots: list[int]) -> None:
    assert distinct(np.array(slots, np.intp)).tolist() == sorted(set(slots))
