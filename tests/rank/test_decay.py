import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import CURVES, corroborated, decayed, half_life_decay, importance_decay, linear_decay

DISTANCE = st.floats(0, 10_000)
IMPORTANCE = st.floats(1, 5) | st.integers(1, 5).map(float)
HITS = st.integers(0, 1_000)
ROWS = st.lists(st.tuples(DISTANCE, IMPORTANCE, HITS, st.booleans()), max_size=8)
EVERY = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())


def slow_importance(distance: float, importance: float, hits: int, transient: bool) -> float:
    """The formula read off the page."""
    fading = 0.05 / importance**2 * max(0.5, 1 / (1 + 0.1 * hits))
    if transient:
        fading *= 5
    left = importance * math.exp(-fading * distance)
    return 5.0 if importance == 5 else left


def slow_half_life(distance: float, importance: float, hits: int, half_life: float) -> float:
    return importance * math.pow(0.5, distance / (half_life * (1 + math.log(1 + hits))))


def slow_linear(distance: float, importance: float, horizon: float) -> float:
    return importance * (1 - distance / horizon) if distance < horizon else 0.0


def test_importance_by_hand() -> None:
    # Importance 1: λ = 0.05, so 20 steps leave 1/e. Importance 2: λ = 0.0125, so 80 steps leave 2/e.
    found = importance_decay([20, 80, 0], [1, 2, 3], [0, 0, 0])
    assert found.tolist() == pytest.approx([1 / math.e, 2 / math.e, 3.0], abs=1e-15)


def test_use_slows_forgetting_down_to_half_the_pace_and_no_further() -> None:
    # 5 hits: λ / 1.5. From 10 hits on: λ / 2.
    found = importance_decay([30, 40, 40, 40], [1, 1, 1, 1], [5, 10, 11, 10_000])
    assert found.tolist() == pytest.approx([1 / math.e] * 4, abs=1e-15)


def test_passing_remarks_fade_five_times_as_fast() -> None:
    found = importance_decay([4, 20], [1, 1], [0, 0], transient=[True, False])
    assert found.tolist() == pytest.approx([1 / math.e, 1 / math.e], abs=1e-15)


def test_only_the_most_important_has_a_floor() -> None:
    far = importance_decay([0, 1e9, 1e9, 1e9], [5, 5, 4.999, 1], [0, 0, 0, 0])
    assert far.tolist() == [5.0, 5.0, 0.0, 0.0]
    assert importance_decay([1e9], [5], [0], transient=[True]).tolist() == [5.0]
    assert importance_decay([1e9, 0], [5, 5], [0, 0], floor=2.5).tolist() == [2.5, 5.0]
    assert importance_decay([1e9], [5], [0], floor=0).tolist() == [0.0]


@given(ROWS)
def test_importance_is_the_formula_one_memory_at_a_time(rows: list[tuple[float, float, int, bool]]) -> None:
    found = importance_decay(
        [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], transient=[r[3] for r in rows]
    )
    assert found.tolist() == pytest.approx([slow_importance(*row) for row in rows], rel=1e-9, abs=1e-300)


@given(st.lists(st.tuples(DISTANCE, IMPORTANCE, HITS), max_size=8), st.floats(1, 1_000))
def test_half_life_and_linear_are_their_formulas_one_memory_at_a_time(
    rows: list[tuple[float, float, int]], unit: float
) -> None:
    columns = [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]
    halves = half_life_decay(*columns, half_life=unit).tolist()
    assert halves == pytest.approx([slow_half_life(*row, unit) for row in rows], rel=1e-9, abs=1e-300)
    lines = linear_decay(*columns, horizon=unit).tolist()
    assert lines == pytest.approx([slow_linear(d, i, unit) for d, i, _ in rows], abs=1e-12)


def test_half_life_by_hand() -> None:
    # Used once, the half-life of a week is 168·(1 + ln 2) hours.
    found = half_life_decay([168, 336, 168 * (1 + math.log(2)), 0], [1, 4, 1, 3], [0, 0, 1, 7])
    assert found.tolist() == pytest.approx([0.5, 1.0, 0.5, 3.0], abs=1e-15)
    # With days for distance and a half-life of ten days.
    assert half_life_decay([30], [1], [0], half_life=10).tolist() == [0.125]


def test_linear_by_hand() -> None:
    found = linear_decay([0, 180, 720, 721], [2, 2, 2, 2], [0, 0, 0, 0])
    assert found.tolist() == [2.0, 1.5, 0.0, 0.0]
    assert linear_decay([180], [2], [9_999]).tolist() == [1.5]


@EVERY
@given(st.lists(DISTANCE, min_size=2, max_size=8), IMPORTANCE, HITS)
def test_what_lies_further_back_is_never_stronger(
    curve: Callable[..., FloatArray], distances: list[float], importance: float, hits: int
) -> None:
    back = sorted(distances)
    left = curve(back, [importance] * len(back), [hits] * len(back)).tolist()
    assert all(near >= far for near, far in pairwise(left))
    assert 0 <= left[-1] <= left[0] <= importance


@EVERY
@given(DISTANCE, st.lists(IMPORTANCE, min_size=2, max_size=6), st.lists(HITS, min_size=2, max_size=6))
def test_what_matters_more_or_was_used_more_is_never_weaker(
    curve: Callable[..., FloatArray], distance: float, importances: list[float], hits: list[int]
) -> None:
    def rises(left: list[float]) -> bool:
        return all(low <= high * (1 + 1e-12) for low, high in pairwise(left))

    by_importance = sorted(importances)
    assert rises(curve([distance] * len(by_importance), by_importance, [3] * len(by_importance)).tolist())
    by_use = sorted(hits)
    assert rises(curve([distance] * len(by_use), [2.0] * len(by_use), by_use).tolist())


@EVERY
def test_nothing_is_forgotten_at_once_and_no_memories_give_none(curve: Callable[..., FloatArray]) -> None:
    assert curve([0, 0, 0], [1, 3, 5], [0, 5, 50]).tolist() == [1.0, 3.0, 5.0]
    assert curve([], [], []).tolist() == []


def test_the_curves_by_name() -> None:
    assert dict(CURVES) == {
        "importance": importance_decay,
        "half_life": half_life_decay,
        "linear": linear_decay,
    }


def test_the_defaults_and_their_declarations() -> None:
    declared = {
        name: {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(curve)}
        for name, curve in CURVES.items()
    }
    assert declared == {
        "importance": {
            "rate": (float, 0.05, 0, 1),
            "transient_factor": (float, 5.0, 1, 20),
            "floor": (float, 5.0, 0, 5),
        },
        "half_life": {"half_life": (float, 168.0, 1, 720)},
        "linear": {"horizon": (float, 720.0, 1, 10_000)},
    }


def test_the_parameters_do_what_they_say() -> None:
    assert importance_decay([10], [1], [0], rate=0.1).tolist() == pytest.approx([1 / math.e])
    assert importance_decay([1e9], [1], [0], rate=0).tolist() == [1.0]
    twice = importance_decay([10], [1], [0], transient=[True], transient_factor=2)
    assert twice.tolist() == pytest.approx([1 / math.e])


@EVERY
def test_arguments_are_checked(curve: Callable[..., FloatArray]) -> None:
    with pytest.raises(InvalidArgument, match=r"distance\[0\] must be a number of at least 0"):
        curve([-1], [1], [0])
    with pytest.raises(InvalidArgument, match=r"importance\[0\] must be a number from 1 to 5"):
        curve([1], [0.5], [0])
    with pytest.raises(InvalidArgument, match="hits must be as long as distance"):
        curve([1, 2], [1, 1], [0])


@pytest.mark.parametrize(
    ("named", "call"),
    [
        ("rate", lambda: importance_decay([1], [1], [0], rate=-1)),
        ("transient_factor", lambda: importance_decay([1], [1], [0], transient_factor=0.5)),
        ("floor", lambda: importance_decay([1], [1], [0], floor=5.1)),
        ("transient", lambda: importance_decay([1], [1], [0], transient=[True, False])),
        ("half_life", lambda: half_life_decay([1], [1], [0], half_life=0)),
        ("horizon", lambda: linear_decay([1], [1], [0], horizon=0)),
    ],
)
def test_parameters_are_checked(named: str, call: Callable[[], FloatArray]) -> None:
    with pytest.raises(InvalidArgument, match=f"^{named} must be"):
        call()


SAID = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
SECOND = timedelta(seconds=1)
SURE = st.floats(0, 1)


def left(confidence: float, since: timedelta, **options: float) -> float:
    """Return what is left of one confidence."""
    return float(decayed([confidence], [since / DAY], **options)[0])


def slow_decay(confidence: float, days: float) -> float:
    """Count the days after the grace week, each a seventh of 0.05."""
    if confidence < 0.05 or days <= 7:
        return confidence
    return max(0.05, confidence - (days - 7) * 0.05 / 7)


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.1), (0.5, 0.55), (0.6, 0.64), (0.9, 0.91), (1.0, 1.0)])
def test_support_removes_a_tenth_of_the_doubt(before: float, after: float) -> None:
    assert corroborated(before, SAID, SAID + DAY) == pytest.approx(after, abs=1e-15)


def test_support_counts_once_a_day() -> None:
    for too_soon in (timedelta(0), SECOND, DAY - SECOND, -DAY):
        assert corroborated(0.6, SAID, SAID + too_soon) == 0.6
    assert corroborated(0.6, SAID, SAID + DAY) == corroborated(0.6, SAID, SAID + 30 * DAY) > 0.6


def test_support_day_after_day_comes_near_certainty_and_never_past_it() -> None:
    sure, days = 0.5, []
    for day in range(1, 400):
        sure = corroborated(sure, SAID + (day - 1) * DAY, SAID + day * DAY)
        days.append(sure)
    assert days[9] == pytest.approx(1 - 0.5 * 0.9**10, abs=1e-12)
    assert all(one <= next_one <= 1 for one, next_one in pairwise(days))


@given(SURE, SURE)
def test_support_never_lowers_and_never_passes_one(confidence: float, gain: float) -> None:
    assert confidence <= corroborated(confidence, SAID, SAID + DAY, gain=gain) <= 1


def test_the_gain_can_be_chosen() -> None:
    assert corroborated(0.5, SAID, SAID + DAY, gain=0.5) == 0.75
    assert corroborated(0.5, SAID, SAID + DAY, gain=0) == 0.5
    assert corroborated(0.5, SAID, SAID + DAY, gain=1) == 1.0


@pytest.mark.parametrize(
    ("weeks", "expected"),
    [(0, 0.9), (0.5, 0.9), (1, 0.9), (1.5, 0.875), (2, 0.85), (3, 0.80), (11, 0.40), (18, 0.05), (520, 0.05)],
)
def test_silence_wears_after_a_grace_week(weeks: float, expected: float) -> None:
    assert left(0.9, weeks * WEEK) == pytest.approx(expected, abs=1e-12)


@given(SURE, st.integers(-100, 5_000))
def test_wear_is_a_seventh_of_the_loss_for_each_silent_day(confidence: float, days: int) -> None:
    assert left(confidence, days * DAY) == pytest.approx(slow_decay(confidence, days), abs=1e-12)


@given(SURE, st.lists(st.integers(0, 10_000), min_size=2, max_size=6), SURE, SURE)
def test_wear_never_raises_and_stops_at_the_floor(
    confidence: float, hours: list[int], loss: float, floor: float
) -> None:
    values = [left(confidence, timedelta(hours=h), weekly_loss=loss, floor=floor) for h in sorted(hours)]
    assert all(earlier >= later for earlier, later in pairwise(values))
    assert min(confidence, floor) <= values[-1] <= values[0] <= confidence


def test_what_was_below_the_floor_stays_as_it_was() -> None:
    assert left(0.02, 52 * WEEK) == 0.02
    assert left(0.0, 52 * WEEK) == 0.0


def test_a_clock_that_runs_behind_is_no_silence() -> None:
    assert left(0.9, -52 * WEEK) == 0.9


def test_loss_and_floor_can_be_chosen() -> None:
    assert left(0.9, 3 * WEEK, weekly_loss=0.2) == pytest.approx(0.5)
    assert left(0.9, 99 * WEEK, floor=0.4) == 0.4
    assert left(0.9, 99 * WEEK, weekly_loss=0) == 0.9


def test_zones_do_not_matter() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert corroborated(0.6, SAID, (SAID + DAY).astimezone(tokyo)) == corroborated(0.6, SAID, SAID + DAY)


def test_the_defaults_and_their_declarations_of_confidence() -> None:
    rules = {
        p.name: (p.type, p.default, p.low, p.high) for f in (corroborated, decayed) for p in parameters_of(f)
    }
    assert rules == {
        "gain": (float, 0.1, 0, 1),
        "weekly_loss": (float, 0.05, 0, 1),
        "floor": (float, 0.05, 0, 1),
    }


def test_arguments_are_checked_of_confidence() -> None:
    with pytest.raises(InvalidArgument, match=r"confidence must be a number from 0 to 1, got 1\.1"):
        corroborated(1.1, SAID, SAID)
    with pytest.raises(InvalidArgument, match="now must be a datetime with a time zone"):
        corroborated(0.5, SAID, datetime(2026, 5, 4))
    with pytest.raises(InvalidArgument, match="last_support must be a datetime with a time zone"):
        corroborated(0.5, datetime(2026, 5, 4), SAID)


def test_parameters_are_checked_of_confidence() -> None:
    with pytest.raises(InvalidArgument, match="gain must be"):
        corroborated(0.5, SAID, SAID, gain=1.5)
    with pytest.raises(InvalidArgument, match="weekly_loss must be"):
        left(0.5, DAY, weekly_loss=-0.1)
    with pytest.raises(InvalidArgument, match="floor must be"):
        left(0.5, DAY, floor=2)


@given(st.lists(st.tuples(SURE, st.floats(-100, 5000)), max_size=8), SURE, SURE)
def test_many_at_once_wear_as_each_alone(lives: list[tuple[float, float]], loss: float, floor: float) -> None:
    together = decayed(
        [sure for sure, _ in lives], [days for _, days in lives], weekly_loss=loss, floor=floor
    )
    alone = [left(sure, days * DAY, weekly_loss=loss, floor=floor) for sure, days in lives]
    assert together.tolist() == pytest.approx(alone, abs=1e-9)


def test_many_at_once_are_checked() -> None:
    for sure, days in (([1.1], [1]), ([0.5], [float("nan")]), ([0.5], [1, 2]), (0.5, [1])):
        with pytest.raises(InvalidArgument):
            decayed(sure, days)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="floor"):
        decayed([0.5], [1], floor=2)
