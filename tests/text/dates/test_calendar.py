"""Calendar arithmetic: every number here can be checked with a calendar on the wall."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.dates import calendar
from memorata.text.dates.calendar import Days

TODAY = date(2023, 11, 15)  # a Wednesday
DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def days(first: str, after: str, tolerance: int = 0) -> Days:
    return Days(date.fromisoformat(first), date.fromisoformat(after), tolerance)


def test_a_period_runs_from_midnight_to_midnight_of_its_zone() -> None:
    period = calendar.one_day(date(2023, 5, 7), 1).period(timezone(timedelta(hours=2)))
    assert period.start == datetime(2023, 5, 6, 22, tzinfo=UTC)
    assert period.end == datetime(2023, 5, 7, 22, tzinfo=UTC)
    assert period.tolerance == timedelta(days=1)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (calendar.month(2024, 2), days("2024-02-01", "2024-03-01")),
        (calendar.month(2023, 12), days("2023-12-01", "2024-01-01")),
        (calendar.quarter(2023, 4), days("2023-10-01", "2024-01-01")),
        (calendar.season(2023, 0), days("2023-03-01", "2023-06-01", 15)),
        (calendar.season(2023, 3), days("2023-12-01", "2024-03-01", 15)),
        (calendar.years(1990, 10), days("1990-01-01", "2000-01-01")),
        (calendar.week_of_month(calendar.month(2023, 6), 1), days("2023-06-01", "2023-06-08")),
        (calendar.week_of_month(calendar.month(2023, 6), 4), days("2023-06-22", "2023-06-29")),
        (calendar.week_of_month(calendar.month(2023, 6), -1), days("2023-06-24", "2023-07-01")),
        (calendar.weekend_of_month(calendar.month(2023, 8), 1), days("2023-08-05", "2023-08-07")),
        (calendar.weekend_of_month(calendar.month(2023, 8), -1), days("2023-08-26", "2023-08-28")),
        (calendar.weekend_of_month(calendar.month(2023, 7), 1), days("2023-07-01", "2023-07-03")),
        (
            calendar.one_day(calendar.weekday(date(2022, 10, 25), 6, -1).first),
            days("2022-10-23", "2022-10-24"),
        ),
        (
            calendar.one_day(calendar.weekday(date(2023, 10, 28), 5, 1).first),
            days("2023-11-04", "2023-11-05"),
        ),
    ],
)
def test_what_the_calendar_names(found: Days, expected: Days) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("unit", "count", "back", "tolerance"),
    [
        ("day", 3, 3, 2),
        ("week", 2, 14, 5),
        ("month", 2, 60, 10),
        ("fortnight", 1, 14, 5),
        ("quarter", 1, 91, 14),
    ],
)
def test_some_time_ago_is_the_table_of_section_6(unit: str, count: int, back: int, tolerance: int) -> None:
    assert calendar.shifted(TODAY, unit, -count) == calendar.one_day(TODAY - timedelta(days=back), tolerance)
    assert calendar.stretch(TODAY, unit, count) == Days(TODAY - timedelta(days=back), date(2023, 11, 16))


def test_years_keep_the_date_but_for_29_february() -> None:
    assert calendar.shifted(TODAY, "year", -3) == days("2020-11-15", "2020-11-16", 60)
    assert calendar.shifted(date(2024, 2, 29), "year", -1) == days("2023-02-28", "2023-03-01", 60)
    assert calendar.shifted(TODAY, "decade", -2) == days("2003-11-15", "2003-11-16", 365)


@pytest.mark.parametrize(
    ("unit", "last", "this", "following"),
    [
        ("week", days("2023-11-06", "2023-11-13", 3), "2023-11-13", "2023-11-20"),
        ("weekend", days("2023-11-11", "2023-11-13", 1), "2023-11-18", "2023-11-25"),
        ("month", days("2023-10-01", "2023-11-01", 7), "2023-11-01", "2023-12-01"),
        ("quarter", days("2023-07-01", "2023-10-01", 14), "2023-10-01", "2024-01-01"),
        ("year", days("2022-01-01", "2023-01-01", 30), "2023-01-01", "2024-01-01"),
        ("decade", days("2010-01-01", "2020-01-01", 365), "2020-01-01", "2030-01-01"),
    ],
)
def test_last_this_and_next(unit: str, last: Days, this: str, following: str) -> None:
    assert calendar.calendar_unit(TODAY, unit, -1) == last
    assert calendar.calendar_unit(TODAY, unit, 0).first.isoformat() == this
    assert calendar.calendar_unit(TODAY, unit, 0).tolerance == 0
    assert calendar.calendar_unit(TODAY, unit, 1).first.isoformat() == following


@given(today=DAYS)
def test_last_week_holds_the_day_the_table_points_to(today: date) -> None:
    week = calendar.calendar_unit(today, "week", -1)
    assert week.first <= today - timedelta(days=7) < week.after


@given(today=DAYS, number=st.integers(0, 6), which=st.sampled_from([-1, None, 1]))
def test_a_weekday_is_the_first_one_met_walking(today: date, number: int, which: int | None) -> None:
    step = timedelta(days=1 if which == 1 else -1)
    day = today if which is None else today + step
    while day.weekday() != number:
        day += step
    assert calendar.weekday(today, number, which) == calendar.one_day(day, 1)


@given(today=DAYS, number=st.integers(0, 6))
def test_a_weekday_of_this_week_and_the_nearest(today: date, number: int) -> None:
    monday = today - timedelta(days=today.weekday())
    assert calendar.weekday(today, number, 0).first == monday + timedelta(days=number)
    near = calendar.weekday(today, number, None, nearest=True).first
    assert near.weekday() == number
    assert abs((near - today).days) <= 3


@given(today=DAYS, number=st.integers(1, 12), nearest=st.booleans())
def test_a_month_is_the_first_one_met_walking_back(today: date, number: int, nearest: bool) -> None:
    day = today
    while day.month != number:
        day -= timedelta(days=1)
    found = calendar.recurring(lambda year: calendar.month(year, number), today, None, nearest)
    if not nearest:
        assert found == calendar.month(day.year, number)
    else:
        assert found.first - timedelta(days=184) <= today <= found.after + timedelta(days=184)


def test_recurring_days_with_last_this_and_next() -> None:
    def christmas(year: int) -> Days:
        return calendar.one_day(date(year, 12, 25))

    assert calendar.recurring(christmas, TODAY, -1).first.year == 2022
    assert calendar.recurring(christmas, TODAY, 0).first.year == 2023
    assert calendar.recurring(christmas, TODAY, 1).first.year == 2023
    assert calendar.recurring(christmas, date(2023, 12, 25), None).first.year == 2023
    assert calendar.recurring(christmas, date(2023, 12, 25), -1).first.year == 2022
    assert calendar.recurring(christmas, date(2023, 12, 25), 1).first.year == 2024


def test_this_winter_is_the_one_that_is_on() -> None:
    winter = calendar.recurring(lambda year: calendar.season(year, 3), date(2024, 1, 10), 0)
    assert winter.first == date(2023, 12, 1)


def test_what_no_year_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no such day"):
        calendar.recurring(lambda year: calendar.one_day(date(year, 2, 30)), TODAY, None)


@given(first=DAYS, length=st.integers(3, 4000))
def test_parts_make_up_the_whole(first: date, length: int) -> None:
    whole = Days(first, first + timedelta(days=length), 7)
    early, middle, late = (calendar.part(whole, which) for which in (0, 1, 2))
    assert (early.first, early.after, middle.after) == (whole.first, middle.first, late.first)
    assert late.after == whole.after
    assert max(abs((each.after - each.first).days - length / 3) for each in (early, middle, late)) <= 1


def test_open_sides_end_today_or_at_the_ends_of_the_calendar() -> None:
    may, december = calendar.month(2023, 5), calendar.month(2023, 12)
    assert calendar.bounded(may, "since", TODAY) == days("2023-05-01", "2023-11-16")
    assert calendar.bounded(may, "after", TODAY) == days("2023-06-01", "2023-11-16")
    assert calendar.bounded(may, "before", TODAY) == Days(calendar.FIRST_DAY, date(2023, 5, 1))
    assert calendar.bounded(may, "until", TODAY) == Days(calendar.FIRST_DAY, date(2023, 6, 1))
    assert calendar.bounded(december, "since", TODAY) == Days(date(2023, 12, 1), calendar.LAST_DAY)
    assert calendar.bounded(december, "after", TODAY) == Days(date(2024, 1, 1), calendar.LAST_DAY)
