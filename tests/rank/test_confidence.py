from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import corroborated, decayed

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


def test_the_defaults_and_their_declarations() -> None:
    rules = {
        p.name: (p.type, p.default, p.low, p.high) for f in (corroborated, decayed) for p in parameters_of(f)
    }
    assert rules == {
        "gain": (float, 0.1, 0, 1),
        "weekly_loss": (float, 0.05, 0, 1),
        "floor": (float, 0.05, 0, 1),
    }


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"confidence must be a number from 0 to 1, got 1\.1"):
        corroborated(1.1, SAID, SAID)
    with pytest.raises(InvalidArgument, match="now must be a datetime with a time zone"):
        corroborated(0.5, SAID, datetime(2026, 5, 4))
    with pytest.raises(InvalidArgument, match="last_support must be a datetime with a time zone"):
        corroborated(0.5, datetime(2026, 5, 4), SAID)


def test_parameters_are_checked() -> None:
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
