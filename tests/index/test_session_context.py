import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.lexical import Neighbours, Part, TermList, distinct, in_context, saturated
from memorata.index.record import GONE, RECORD, Records
from memorata.rank.bm25 import BM25, ContextWindow, window_bm25

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


TERMS = ("tea", "milk", "cup")
FIELDS = ("content", "speaker")
turn = st.tuples(
    st.integers(-1, 2),
    st.integers(0, 3),
    st.booleans(),
    st.fixed_dictionaries({field: st.lists(st.sampled_from(TERMS), max_size=5) for field in FIELDS}),
)
Turn = tuple[int, int, bool, dict[str, list[str]]]


def seen_lengths(turns: list[Turn], field: str) -> list[int]:
    return [len(fields[field]) for _, _, seen, fields in turns if seen and fields[field]]


def parts_of(turns: list[Turn], scorer: BM25) -> list[Part]:
    """The lists of every term in every field, with nothing that may not be seen."""
    parts = []
    for field in FIELDS:
        lengths = np.array([len(fields[field]) for *_, fields in turns], np.float32)
        for weight, term in enumerate(TERMS, 1):
            times = {slot: fields[field].count(term) for slot, (*_, fields) in enumerate(turns)}
            slots = [slot for slot, count in times.items() if count and turns[slot][2]]
            if not slots:
                continue
            average = float(np.mean(seen_lengths(turns, field)))
            listed = TermList(np.array(slots, np.int32), np.array([times[slot] for slot in slots], np.uint16))
            (worth,) = saturated([listed], [lengths], [average], scorer)
            parts.append(Part(field, term, worth, float(weight), lengths, average, len(slots)))
    return parts


def neighbour(turns: list[Turn], slot: int, steps: int) -> int | None:
    """Who was said so many steps after a memory, if they may be seen."""
    session = turns[slot][0]
    members = [other for other, (where, *_) in enumerate(turns) if where == session and session >= 0]
    at = members.index(slot) + steps if slot in members else -1
    other = members[at] if 0 <= at < len(members) else None
    return other if other is not None and turns[other][2] else None


def slow(
    turns: list[Turn], slots: list[int], part: Part, count: int, scorer: BM25, reading: ContextWindow
) -> object:
    """What a part adds to every candidate, each looked at by itself."""
    idf = math.log((count - part.frequency + 0.5) / (part.frequency + 0.5) + 1)
    steps = (-1, -2, 1, 2) if part.field == "content" else ()
    who = [[neighbour(turns, slot, step) for slot in slots] for step in steps]
    said = [[turns[slot][3][part.field] for slot in slots]]
    said += [[[] if other is None else turns[other][3][part.field] for other in row] for row in who]
    hours = [
        [
            math.inf if other is None else abs(turns[other][1] - turns[slot][1])
            for other, slot in zip(row, slots, strict=True)
        ]
        for row in who
    ]
    own = np.array([float(len(words)) for words in said[0]])
    weights = reading.weights(own, np.array(hours)) if steps else np.zeros((0, len(slots)))
    tf = np.array([[float(words.count(part.term)) for words in row] for row in said])
    lengths = np.array([[float(len(words)) for words in row] for row in said])
    return window_bm25(
        tf[:1],
        [row[np.newaxis] for row in tf[1:]],
        own,
        lengths[1:],
        weights,
        np.array([part.weight * idf]),
        part.average_length,
        scorer.k1,
        scorer.b,
    )[0]


@given(
    st.lists(turn, min_size=1, max_size=14), st.data(), st.sampled_from([BM25(), BM25(0, 0), BM25(1.2, 1)])
)
def test_candidates_score_as_if_each_window_were_read_by_itself(
    turns: list[Turn], data: st.DataObject, scorer: BM25
) -> None:
    parts = parts_of(turns, scorer)
    visible = [slot for slot, (_, _, seen, _) in enumerate(turns) if seen]
    slots = data.draw(st.lists(st.sampled_from(visible), unique=True)) if visible else []
    if not parts or not slots:
        return
    records = np.zeros(len(turns), RECORD)
    for slot, (session, hour, _, _) in enumerate(turns):
        records[slot]["session"], records[slot]["position"], records[slot]["created"] = (
            session,
            slot,
            3600 * hour,
        )
    neighbours = Neighbours()
    neighbours.grow(records)
    mask = np.array([seen for _, _, seen, _ in turns])
    columns = np.full(len(turns) + 1, -1, np.int32)
    reading = ContextWindow(before=0.7, after=0.3, words=2)
    found = in_context(
        parts,
        np.array(slots),
        neighbours,
        None if mask.all() else mask,
        len(visible),
        scorer,
        reading,
        columns,
    )
    assert (columns == -1).all()
    assert found.names == [f"{part.term} in {part.field}" for part in parts]
    for row, part in zip(found.table, parts, strict=True):
        assert row.tolist() == pytest.approx(slow(turns, slots, part, len(visible), scorer, reading))
    assert found.scores.tolist() == found.table.sum(axis=0).tolist()
    detail = found.detail(np.array(slots[::-1]))
    assert detail.scores.tolist() == found.scores[::-1].tolist()


def test_an_answer_is_found_by_the_words_of_the_question_before_it() -> None:
    turns: list[Turn] = [
        (0, 0, True, {"content": ["tea"], "speaker": []}),
        (0, 0, True, {"content": ["milk"], "speaker": []}),
        (-1, 0, True, {"content": ["milk"], "speaker": []}),
    ]
    records = np.zeros(3, RECORD)
    records["session"], records["position"] = [0, 0, -1], [0, 1, 0]
    neighbours = Neighbours()
    neighbours.grow(records)
    scorer = BM25(1.0, 0.0)
    (tea,) = [part for part in parts_of(turns, scorer) if part.term == "tea"]
    found = in_context(
        [tea],
        np.arange(3),
        neighbours,
        None,
        3,
        scorer,
        ContextWindow(before=0.5, after=0.0),
        np.full(4, -1, np.int32),
    )
    # idf = ln(2.5/1.5 + 1); with tf = 1 it counts once, with half of a neighbour's 0.5 · 2 / 1.5.
    idf = math.log(2.5 / 1.5 + 1)
    assert found.scores.tolist() == pytest.approx([idf, idf * 2 / 3, 0.0])
