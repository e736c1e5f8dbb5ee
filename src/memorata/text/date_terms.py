"""The words of a date, so that a search by words finds what a text only hints at.

"Yesterday", said on 8 May 2023, shares no word with "What happened on 7 May 2023?"; the words of the day it
means do. The words are English whatever the language of the text, so that «7 мая» and "7 May" meet in the
index. How much is said depends on how much is known: a day, its month, or only its year.
"""

from __future__ import annotations

from datetime import UTC, date, timedelta, tzinfo
from typing import Final

from memorata.model.errors import InvalidArgument
from memorata.model.period import Period

# Not strftime's names: those change with the locale of the process.
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MOST: Final = 3
"""How many days, months or years are named one by one."""
_DAY_TOLERANCE, _MONTH_TOLERANCE, _YEAR_TOLERANCE = (timedelta(days=days) for days in (1, 10, 60))
"""Up to which tolerance the day, the month and the year are worth naming."""


def date_terms(period: Period, zone: tzinfo = UTC) -> str:
    """Return the words of a period, such as "7 may 2023 sunday".

    Up to three days are named with a tolerance of at most a day, up to three months with at most ten days,
    up to three years with at most sixty days; nothing is said of what is longer or vaguer. No word occurs
    twice.

    Parameters
    ----------
    period
        As :func:`~memorata.text.dates.time_expressions` gives it.
    zone
        Where its days begin: the zone of the `now` it was found with.

    Examples
    --------
    >>> from datetime import datetime
    >>> from memorata.text.dates import time_expressions
    >>> said = datetime(2023, 5, 8, 14, 30, tzinfo=UTC)
    >>> text = "yesterday, last week, between June and August 2022, before 2020"
    >>> for found in time_expressions(text, said):
    ...     print(date_terms(found.period))
    7 may 2023 sunday
    may 2023
    june july august 2022
    <BLANKLINE>
    """
    if not isinstance(period, Period):
        raise InvalidArgument("period", period, "a Period")
    if not isinstance(zone, tzinfo):
        raise InvalidArgument("zone", zone, "a time zone")
    try:
        first = period.start.astimezone(zone).date()
        # The end is the next midnight, but for a single instant.
        last = max(first, (period.end.astimezone(zone) - timedelta(microseconds=1)).date())
    except OverflowError:  # at the ends of the calendar, where the zone has no such day
        return ""
    if (last - first).days < _MOST and period.tolerance <= _DAY_TOLERANCE:
        days = [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
        return _named([[str(day.day) for day in days], _months(days), _years(days), _weekdays(days)])
    months = 12 * (last.year - first.year) + last.month - first.month
    if months < _MOST and period.tolerance <= _MONTH_TOLERANCE:
        numbers = [12 * first.year + first.month - 1 + ahead for ahead in range(months + 1)]
        begun = [date(number // 12, number % 12 + 1, 1) for number in numbers]
        return _named([_months(begun), _years(begun)])
    if last.year - first.year < _MOST and period.tolerance <= _YEAR_TOLERANCE:
        return _named([[str(year) for year in range(first.year, last.year + 1)]])
    return ""


def _months(days: list[date]) -> list[str]:
    return [_MONTHS[day.month - 1] for day in days]


def _weekdays(days: list[date]) -> list[str]:
    return [_WEEKDAYS[day.weekday()] for day in days]


def _years(days: list[date]) -> list[str]:
    return [str(day.year) for day in days]


def _named(words: list[list[str]]) -> str:
    return " ".join(dict.fromkeys(word for several in words for word in several))
