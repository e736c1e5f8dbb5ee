"""Quality of memories, and what the best of a session say for the whole of it."""

import math
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.rank import TIER_SALIENCE, quality, salience, usage
from memorata.rank.records import SHORT_LIVED, best_sessions, session_means

Row: TypeAlias = tuple[str, float, float, int, float]
"""Tier, importance, confidence, accesses, age in days."""

ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from(["working", "episodic", "semantic", "procedural"]),
        st.floats(0, 1),
        st.floats(0, 1),
        st.integers(0, 1_000),
        st.floats(0, 5_000),
    ),
    max_size=8,
)


def slow_quality(rows: list[Row]) -> list[float]:
    """The formula read off the page, one memory at a time."""
    tiers = {"working": 0.30, "episodic": 0.55, "semantic": 0.90, "procedural": 0.95}
    raw = []
    for tier, importance, confidence, accesses, age in rows:
        used = 1 + math.log(1 + accesses)
        value = tiers[tier] * (0.5 + 0.5 * importance) * confidence * used
        if tier in ("working", "episodic"):
            value *= math.exp(-age / (7 * used))
        raw.append(value)
    best = max(raw, default=0.0)
    return [value / best for value in raw] if best > 0 else raw


def of(rows: list[Row]) -> list[float]:
    tiers, importance, confidence, accesses, age = (list(column) for column in zip(*rows, strict=True))
    return list(map(float, quality(tiers, importance, confidence, accesses, age)))


def test_the_tiers() -> None:
    assert TIER_SALIENCE == {"working": 0.30, "episodic": 0.55, "semantic": 0.90, "procedural": 0.95}
    assert {"working", "episodic"} == SHORT_LIVED


def test_salience_by_hand() -> None:
    found = salience(["working", "episodic", "semantic", "procedural"], [0.0, 0.5, 1.0, 0.2])
    assert found.tolist() == pytest.approx([0.15, 0.4125, 0.9, 0.57], abs=1e-15)


def test_usage_by_hand() -> None:
    assert usage([0, 1, 9]).tolist() == pytest.approx([1.0, 1 + math.log(2), 1 + math.log(10)], abs=1e-15)


def test_quality_by_hand() -> None:
    # A fresh semantic memory: 0.9·0.75 = 0.675. An episodic one a week old: 0.55·0.75/e = 0.151750...
    found = of([("semantic", 0.5, 1.0, 0, 0.0), ("episodic", 0.5, 1.0, 0, 7.0)])
    assert found == pytest.approx([1.0, 0.55 / 0.9 / math.e], abs=1e-15)


@given(ROWS.filter(bool))
def test_quality_is_the_formula_one_memory_at_a_time(rows: list[Row]) -> None:
    assert of(rows) == pytest.approx(slow_quality(rows), rel=1e-9, abs=1e-300)


@given(ROWS.filter(bool))
def test_the_best_has_one_and_none_has_less_than_zero(rows: list[Row]) -> None:
    found = of(rows)
    assert min(found) >= 0
    assert max(found) in (0.0, 1.0)


def test_long_lived_tiers_do_not_age() -> None:
    young, old = of([("semantic", 0.5, 0.9, 3, 0.0), ("semantic", 0.5, 0.9, 3, 3_650.0)])
    assert young == old == 1.0


@pytest.mark.parametrize("tier", sorted(SHORT_LIVED))
def test_short_lived_tiers_age_the_slower_the_more_they_are_used(tier: str) -> None:
    young, old = of([(tier, 0.5, 0.9, 0, 0.0), (tier, 0.5, 0.9, 0, 7.0)])
    used_young, used_old = of([(tier, 0.5, 0.9, 10, 0.0), (tier, 0.5, 0.9, 10, 7.0)])
    assert [young, old] == pytest.approx([1.0, math.exp(-1)])
    assert [used_young, used_old] == pytest.approx([1.0, math.exp(-1 / (1 + math.log(11)))])


def test_nothing_of_any_quality_stays_at_zero() -> None:
    assert of([("semantic", 1.0, 0.0, 5, 0.0), ("working", 1.0, 0.0, 0, 1.0)]) == [0.0, 0.0]
    assert of([("working", 1.0, 1.0, 0, 1e9)]) == [0.0]


def test_no_memories() -> None:
    assert quality([], [], [], [], []).tolist() == []
    assert salience([], []).tolist() == usage([]).tolist() == []


def test_arrays_are_not_written_to() -> None:
    confidence = np.array([0.5, 1.0])
    quality(["semantic", "working"], confidence, confidence, confidence, confidence)
    assert confidence.tolist() == [0.5, 1.0]


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"tiers\[1\] must be one of 'working', .*, got 'eternal'"):
        salience(["working", "eternal"], [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="importance must be as long as tiers"):
        salience(["working"], [0.5, 0.5])
    with pytest.raises(InvalidArgument, match=r"accesses\[0\] must be a number of at least 0"):
        usage([-1])
    with pytest.raises(InvalidArgument, match=r"age_days\[0\] must be a number of at least 0"):
        of([("working", 0.5, 0.5, 0, -1.0)])
    with pytest.raises(InvalidArgument, match="age_days must be as long as tiers"):
        quality(["working"], [0.5], [0.5], [0], [])


@given(ROWS.filter(bool))
def test_records_have_the_quality_of_the_memories(rows: list[Row]) -> None:
    tiers, importance, confidence, accesses, age = (list(column) for column in zip(*rows, strict=True))
    numbers = np.array([list(TIER_SALIENCE).index(tier) for tier in tiers])
    arrays = [np.array(column, np.float64) for column in (importance, confidence, accesses, age)]
    np.testing.assert_array_equal(
        quality(numbers, *arrays), quality(tiers, importance, confidence, accesses, age)
    )


turns = st.lists(st.tuples(st.integers(-1, 3), st.floats(0, 10)), max_size=20)


@given(turns, st.integers(1, 4))
def test_it_is_the_sum_of_the_best_of_each_session_over_how_many_could_speak(
    rows: list[tuple[int, float]], best: int
) -> None:
    numbers = np.array([session for session, _ in rows], np.int32)
    got = session_means(numbers.astype(np.intp), np.array([score for _, score in rows], np.float64), best)
    for position, (session, score) in enumerate(rows):
        mates = [other for number, other in rows if number == session] if session >= 0 else [score]
        assert got[position] == pytest.approx(sum(sorted(mates, reverse=True)[:best]) / best)


def test_nothing_gives_nothing() -> None:
    assert session_means(np.zeros(0, np.intp), np.zeros(0)).size == 0


@pytest.mark.parametrize(
    ("sessions", "scores", "best", "argument"),
    [
        ([1], [0.5, 0.5], 3, "sessions"),
        ([1.5], [0.5], 3, "sessions"),
        ([1], [-0.5], 3, "scores"),
        ([1], [float("nan")], 3, "scores"),
        ([1], [0.5], 0, "best"),
    ],
)
def test_what_makes_no_sense_is_refused(
    sessions: list[float], scores: list[float], best: int, argument: str
) -> None:
    with pytest.raises(InvalidArgument, match=argument):
        best_sessions(sessions, scores, 5, best=best)


@given(turns, st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_best_sessions_are_those_of_the_largest_sums_with_their_best_memories(
    rows: list[tuple[int, float]], limit: int, fade: float
) -> None:
    numbers = np.array([session for session, _ in rows], np.int32)
    scores = [score for _, score in rows]
    found = best_sessions(numbers, scores, limit, fade=fade)
    names = {session if session >= 0 else -1 - place for place, (session, _) in enumerate(rows)}
    assert len(found) == min(limit, len(names))
    assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
    for score, who in found:
        session = rows[who[0]][0]
        mates = (
            [place for place in range(len(rows)) if rows[place][0] == session] if session >= 0 else [who[0]]
        )
        best = sorted((scores[place] for place in mates), reverse=True)[:3]
        assert [scores[place] for place in who] == best
        assert set(who.tolist()) <= set(mates)
        worth = [1, fade, fade * fade]
        assert score == pytest.approx(sum(map(float.__mul__, best, map(float, worth))) / sum(worth))
    if found and len(names) > limit:
        assert found[-1][0] == pytest.approx(
            sorted((score for score, _ in best_sessions(numbers, scores, 99, fade=fade)), reverse=True)[
                limit - 1
            ]
        )
