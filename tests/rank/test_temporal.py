from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Period
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import (
    Combination,
    boosted_additive,
    boosted_multiplicative,
    composite_additive,
    proximity,
)

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400.0
BOTH = pytest.mark.parametrize("form", [boosted_additive, boosted_multiplicative])
ROWS = st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 1)), max_size=8)


def slow_proximity(at: float, start: float, end: float, tolerance: float) -> float:
    """One time against one interval, case by case, in days."""
    away = start - at if at < start else at - end if at > end else 0.0
    if away <= tolerance:
        return 1.0
    if away >= 3 * tolerance:
        return 0.0
    return 1 - (away - tolerance) / (2 * tolerance)


def test_proximity_by_hand() -> None:
    # Day 10 with a tolerance of 2 days: full to 2 days away, half at 4, nothing from 6 on, on either side.
    target = Period.around(EPOCH + timedelta(days=10), timedelta(days=2))
    away = [0, 1, 2, 3, 4, 5, 6, 7, 1_000]
    expected = [1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0]
    assert proximity([(10 + days) * DAY for days in away], target).tolist() == expected
    assert proximity([(10 - days) * DAY for days in away], target).tolist() == expected


def test_the_whole_interval_is_the_target_not_its_middle() -> None:
    may = Period(
        datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC), tolerance=timedelta(days=1)
    )
    days = [(4, 29), (4, 30), (5, 1), (5, 17), (6, 1), (6, 2), (6, 3), (6, 4)]
    times = [datetime(2023, month, day, tzinfo=UTC).timestamp() for month, day in days]
    assert proximity(times, may).tolist() == [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0]


def test_without_tolerance_it_is_inside_or_outside() -> None:
    day = Period(EPOCH, EPOCH + timedelta(days=1))
    assert proximity([-1.0, 0.0, DAY / 2, DAY, DAY + 1], day).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


def test_no_times_and_times_beyond_all_calendars() -> None:
    moment = Period.around(NOW, timedelta(microseconds=1))
    assert proximity([], moment).tolist() == []
    assert proximity([1e308, -1e308, NOW.timestamp()], moment).tolist() == [0.0, 0.0, 1.0]


@given(
    st.lists(st.floats(-10_000, 10_000), max_size=8),
    st.integers(-3_000, 3_000),
    st.integers(0, 400),
    st.integers(0, 60),
)
def test_proximity_is_the_rule_one_time_at_a_time(
    days: list[float], start: int, length: int, tolerance: int
) -> None:
    since = EPOCH + timedelta(days=start)
    period = Period(since, since + timedelta(days=length), timedelta(days=tolerance))
    found = proximity([at * DAY for at in days], period).tolist()
    if tolerance:
        slow = [slow_proximity(at, start, start + length, tolerance) for at in days]
    else:
        # A step has no slope to forgive a rounding of days to seconds, so the seconds are compared.
        slow = [float(start * DAY <= at * DAY <= (start + length) * DAY) for at in days]
    assert found == pytest.approx(slow, abs=1e-9)
    assert all(0 <= value <= 1 for value in found)


def test_boosts_by_hand() -> None:
    assert boosted_additive([0.5, 0.5, 0.5], [0.0, 0.5, 1.0]).scores.tolist() == pytest.approx(
        [0.5, 0.7, 0.9]
    )
    product = boosted_multiplicative([0.5, 0.5, 0.5], [0.0, 0.5, 1.0])
    assert product.scores.tolist() == pytest.approx([0.5, 0.6, 0.7])


def test_only_the_additive_boost_lifts_what_had_no_score() -> None:
    assert boosted_additive([0.0], [1.0]).scores.tolist() == [0.4]
    assert boosted_multiplicative([0.0], [1.0]).scores.tolist() == [0.0]


@given(ROWS, st.floats(0, 3))
def test_boosts_are_their_parts_to_the_last_bit(rows: list[tuple[float, float]], boost: float) -> None:
    composite, near = [c for c, _ in rows], [n for _, n in rows]
    added = boosted_additive(composite, near, boost=boost)
    scaled = boosted_multiplicative(composite, near, boost=boost)
    for item, (score, close) in enumerate(rows):
        why = added.explain(item, "score")
        assert [(part.label, part.value) for part in why.parts] == [
            ("composite", score),
            ("time", boost * close),
        ]
        assert why.value == added.scores[item] == score + boost * close
        assert why.adds_up()
        why = scaled.explain(item, "score")
        assert [(part.label, part.value) for part in why.parts] == [
            ("composite", score),
            ("time factor", 1 + boost * close),
        ]
        assert why.value == scaled.scores[item] == score * (1 + boost * close)
        assert why.adds_up()


@BOTH
@given(ROWS, st.floats(-10, 0))
def test_a_boost_of_zero_or_less_is_exactly_the_composite(
    form: Callable[..., Combination], rows: list[tuple[float, float]], boost: float
) -> None:
    composite = composite_additive([abs(c) for c, _ in rows], [n for _, n in rows]).scores
    for scores in (composite.tolist(), [c for c, _ in rows]):
        assert form(scores, [n for _, n in rows], boost=boost).scores.tolist() == scores


@BOTH
@given(ROWS)
def test_far_from_the_time_nothing_changes(
    form: Callable[..., Combination], rows: list[tuple[float, float]]
) -> None:
    composite = [c for c, _ in rows]
    assert form(composite, [0.0] * len(rows)).scores.tolist() == composite


@BOTH
def test_the_default_and_its_declaration(form: Callable[..., Combination]) -> None:
    assert {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(form)} == {
        "boost": (float, 0.40, 0, 1)
    }


@BOTH
def test_boosts_are_checked(form: Callable[..., Combination]) -> None:
    with pytest.raises(InvalidArgument, match=r"near\[0\] must be a number from 0 to 1"):
        form([0.5], [1.5])
    with pytest.raises(InvalidArgument, match="near must be as long as composite"):
        form([0.5, 0.5], [0.5])
    with pytest.raises(InvalidArgument, match="boost must be a finite number"):
        form([0.5], [0.5], boost=float("-inf"))
