"""Calendar arithmetic: which days a month, a season, "two weeks ago" or "next Tuesday" are.

Everything here counts in whole days, and knows no words: the languages of :mod:`memorata.text.dates` bring
those. Weeks begin on Monday (ISO 8601), weekends are Saturday and Sunday. Seasons are the meteorological ones
of the north, three whole months each; a winter bears the year in which it begins.

How far around a phrase still counts is the second number of ALGORITHMS.md, section 6, where the phrase is
listed there: N days ago 2 days, yesterday 1, N weeks ago 5, last week 3, N months ago 10, last month 7, last
year 30, recently 14. Its first number, how many days back, is kept for "N days, weeks, months ago" and
"recently"; last week, month and year are the calendar's, which hold the day that the table points to (but for
the 31st of a month, and the first two days of March).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple

from memorata.model.entity import Period

FIRST_DAY: Final = date(1, 1, 2)
"""Where "before 2020" begins: the first day that exists in every time zone."""
LAST_DAY: Final = date(9999, 12, 30)
"""Where "after Friday", said on Monday, ends: the last day that exists in every time zone."""

_YEARS: Final = 8
"""How many years around today hold a 29 February, whatever the century."""
_DAY: Final = timedelta(days=1)

_SHIFTS: Final = {"day": (1, 2), "week": (7, 5), "fortnight": (14, 5), "month": (30, 10), "quarter": (91, 14)}
"""The days of a unit, and the tolerance of "N of them ago"."""
_CALENDAR_TOLERANCE: Final = {"week": 3, "month": 7, "quarter": 14, "year": 30, "weekend": 1, "decade": 365}
"""The tolerance of "last" and "next" with a unit; "this" has none."""
_YEAR_TOLERANCE: Final = 60
"""Of "N years ago": proximity then ends half a year away, where the neighbouring year begins."""
SEASON_TOLERANCE: Final = 15
WEEKDAY_TOLERANCE: Final = 1


class Days(NamedTuple):
    """The days from `first` up to, not including, `after`, and the tolerance in days around them."""

    first: date
    after: date
    tolerance: int = 0

    def period(self, zone: tzinfo) -> Period:
        """Return the instants from the first midnight to the last, in `zone`."""
        start, end = (datetime.combine(day, time(), zone).astimezone(UTC) for day in self[:2])
        return Period(start, end, timedelta(days=self.tolerance))


def one_day(day: date, tolerance: int = 0) -> Days:
    """Return a single day."""
    return Days(day, day + _DAY, tolerance)


def month(year: int, number: int, count: int = 1) -> Days:
    """Return a month of a year, or `count` months that begin with it."""
    return Days(date(year, number, 1), _months_later(year, number, count))


def quarter(year: int, number: int) -> Days:
    """Return a quarter, 1 to 4, of a year."""
    return month(year, 3 * number - 2, 3)


def season(year: int, number: int) -> Days:
    """Return spring (0), summer, autumn or winter (3); the winter begins in December of the year."""
    return month(year, 3 * number + 3, 3)._replace(tolerance=SEASON_TOLERANCE)


def years(year: int, count: int = 1) -> Days:
    """Return whole years."""
    return Days(date(year, 1, 1), date(year + count, 1, 1))


def week_of_month(of: Days, number: int) -> Days:
    """Return the days 1 to 7 of a month for its first week, 8 to 14 for the second; -1 is the last seven."""
    if number < 0:
        return Days(of.after - 7 * _DAY, of.after)
    first = of.first + 7 * (number - 1) * _DAY
    return Days(first, min(first + 7 * _DAY, of.after))


def weekend_of_month(of: Days, number: int) -> Days:
    """Return a weekend of a month by its Saturday, the first being 1 and the last -1."""
    saturday = of.first if number > 0 else of.after - 7 * _DAY
    saturday += (5 - saturday.weekday()) % 7 * _DAY + 7 * (max(number, 1) - 1) * _DAY
    return Days(saturday, saturday + 2 * _DAY)


def shifted(today: date, unit: str, count: int) -> Days:
    """Return the day `count` units from today: -2 weeks is "two weeks ago", 3 days "in three days"."""
    if unit == "weekend":
        # The weekend of one week ago is the last one.
        return calendar_unit(today, "weekend", count)._replace(tolerance=_SHIFTS["week"][1])
    if unit in ("year", "decade"):
        many = count if unit == "year" else 10 * count
        try:
            day = today.replace(year=today.year + many)
        except ValueError:  # 29 February, and the other year has none
            day = today.replace(year=today.year + many, day=28)
        return one_day(day, _YEAR_TOLERANCE if unit == "year" else _CALENDAR_TOLERANCE["decade"])
    days, tolerance = _SHIFTS[unit]
    return one_day(today + days * count * _DAY, tolerance)


def stretch(today: date, unit: str, count: int) -> Days:
    """Return the days from `count` units ago up to and including today: "the last two weeks"."""
    return Days(shifted(today, unit, -count).first, today + _DAY)


def calendar_unit(today: date, unit: str, which: int) -> Days:
    """Return the last (-1), this (0) or next (1) week, weekend, month, quarter, year or decade."""
    monday = today - today.weekday() * _DAY
    tolerance = _CALENDAR_TOLERANCE[unit] if which else 0
    if unit in ("week", "weekend"):
        first, after = (
            (monday, monday + 7 * _DAY) if unit == "week" else (monday + 5 * _DAY, monday + 7 * _DAY)
        )
        days = Days(first + 7 * which * _DAY, after + 7 * which * _DAY)
    elif unit == "year":
        days = years(today.year + which)
    elif unit == "decade":
        days = years(today.year // 10 * 10 + 10 * which, 10)
    else:
        length = 1 if unit == "month" else 3
        first = _months_later(today.year, (today.month - 1) // length * length + 1, length * which)
        days = month(first.year, first.month, length)
    return days._replace(tolerance=tolerance)


def weekday(today: date, number: int, which: int | None, nearest: bool = False) -> Days:
    """Return a day by its weekday, Monday being 0.

    Without `which` it is the latest one up to today (or the nearest, on request); -1 the latest before today,
    0 that of this week, 1 the first after today.
    """
    back = (today.weekday() - number) % 7
    if which == 0:
        day = today + (number - today.weekday()) * _DAY
    elif which == 1 or (which is None and nearest and back > 3):
        day = today + (7 - back) * _DAY
    else:
        day = today - (back or (7 if which else 0)) * _DAY
    return one_day(day, WEEKDAY_TOLERANCE)


def recurring(make: Callable[[int], Days], today: date, which: int | None, nearest: bool = False) -> Days:
    """Return one occurrence of what comes every year, where `make` gives that of a year.

    Without `which` it is the latest that has begun (or the nearest, on request); -1 the latest that is over,
    0 the one of now or of this year, 1 the first that has not begun. Years without it (29 February) are
    passed over.
    """
    occurrences = []
    for year in range(max(1, today.year - _YEARS), min(9998, today.year + _YEARS) + 1):
        try:
            occurrences.append(make(year))
        except ValueError:
            continue
    if which == 0:
        fitting = [
            days for days in occurrences if days.first <= today < days.after or days.first.year == today.year
        ][:1]
    elif which == 1:
        fitting = [days for days in occurrences if days.first > today][:1]
    elif which == -1:
        fitting = [days for days in occurrences if days.after <= today]
    elif nearest:
        fitting = sorted(occurrences, key=lambda days: _away(days, today), reverse=True)
    else:
        fitting = [days for days in occurrences if days.first <= today]
    if not fitting:
        raise ValueError(f"no such day around {today.isoformat()}")
    return fitting[-1]


def part(of: Days, which: int) -> Days:
    """Return the first (0), middle (1) or last (2) third of some days: "early May", "the end of 2022"."""
    length = (of.after - of.first).days
    first, after = (of.first + round(length * third / 3) * _DAY for third in (which, which + 1))
    return Days(first, after, of.tolerance)


def bounded(days: Days, bound: str, today: date) -> Days:
    """Return what is since, after, before or until some days.

    What begins with them or after them goes on up to today, or without an end if it begins later.
    """
    if bound in ("before", "until"):
        return Days(FIRST_DAY, days.first if bound == "before" else days.after, days.tolerance)
    first = days.first if bound == "since" else days.after
    return Days(first, today + _DAY if first <= today else LAST_DAY, days.tolerance)


def _away(days: Days, today: date) -> timedelta:
    """Return how far today is from some days; nothing on one of them."""
    return max(days.first - today, today - days.after + _DAY, timedelta(0))


def _months_later(year: int, number: int, count: int) -> date:
    ahead = 12 * year + number - 1 + count
    return date(ahead // 12, ahead % 12 + 1, 1)
