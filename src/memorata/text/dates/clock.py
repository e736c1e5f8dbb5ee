"""Hours and minutes that a query names: "two hours ago", "in the last 30 minutes", "yesterday at 3 pm".

Read in queries alone: what a memory tells of is kept by the day. English, German, French and Spanish.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from memorata.model.period import Period

_NUMBERS: Final = {
    **dict.fromkeys(("a", "an", "one", "einer", "eine", "une", "un", "una"), 1),
    **dict.fromkeys(("two", "zwei", "deux", "dos", "a couple of"), 2),
    **dict.fromkeys(("three", "drei", "trois", "tres", "a few"), 3),
    **dict.fromkeys(("four", "vier", "quatre", "cuatro"), 4),
    **dict.fromkeys(("five", "fünf", "cinq", "cinco"), 5),
    **dict.fromkeys(("six", "sechs", "seis"), 6),
    **dict.fromkeys(("ten", "zehn", "dix", "diez"), 10),
    **dict.fromkeys(("half an", "einer halben", "une demi", "media"), 0.5),
}  # fmt: skip
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT: Final = (
    r"(?:(?P<hours>hours?|hrs?|stunden?|heures?|horas?)|(?P<minutes>minutes?|mins?|minuten?|minutos?))"
)
_AGO: Final = re.compile(rf"(?<!\w)(?:{_COUNT}[\s-]{_UNIT} ago|(?:vor|il y a|hace) {_COUNT.replace('count', 'count2')}[\s-]"
                         rf"{_UNIT.replace('hours', 'hours2', 1).replace('<minutes', '<minutes2')})(?!\w)", re.I)  # fmt: skip
_LAST: Final = re.compile(
    rf"(?<!\w)(?:the |den |les |las |los )?(?:last|past|letzten|dernières|últimas|últimos) (?:{_COUNT} )?{_UNIT}(?!\w)",
    re.I,
)
_AT: Final = re.compile(
    r"(?<!\w)(?:at|um|à|a las?) (?P<hour>2[0-3]|1\d|0?\d)(?::(?P<minute>[0-5]\d))?"
    r"\s?(?P<half>am|pm|a\.m\.|p\.m\.|o['’]clock|uhr|h|heures?)?(?![\w%:])",
    re.I,
)


class ClockTime(NamedTuple):
    """Where a text names a time of the clock, and the period it means."""

    start: int
    end: int
    period: Period


def clock_time(text: str, now: datetime, day: Period | None = None) -> ClockTime | None:
    """Return the time of the clock that a query, asked at `now`, names; None if it names none.

    Hours and minutes ago have a quarter of themselves around; "at 3 pm" is that hour of the day that is named
    beside it, or the latest one.

    Examples
    --------
    >>> from datetime import UTC
    >>> asked = datetime(2026, 5, 7, 16, 30, tzinfo=UTC)
    >>> clock_time("What did I say two hours ago?", asked).period.start.isoformat()
    '2026-05-07T14:30:00+00:00'
    >>> clock_time("Who called at 3 pm?", asked).period.start.isoformat()
    '2026-05-07T15:00:00+00:00'
    >>> clock_time("Who is 30?", asked) is None
    True
    """
    if match := _AGO.search(text):
        span = _span(match["count"] or match["count2"], bool(match["hours"] or match["hours2"]))
        return ClockTime(*match.span(), Period.around(now - span, span / 4))
    if match := _LAST.search(text):
        return ClockTime(*match.span(), Period(now - _span(match["count"] or "1", bool(match["hours"])), now))
    match = _AT.search(text)
    if match is None or not (match["half"] or match["minute"]):
        return None
    hour = int(match["hour"])
    if (match["half"] or "").lower().startswith("p") and hour < 12:
        hour += 12
    base = (now if day is None else day.start.astimezone(now.tzinfo)).replace(
        minute=0, second=0, microsecond=0
    )
    start = base.replace(hour=hour % 24, minute=int(match["minute"] or 0))
    if day is None and start > now:
        start -= timedelta(days=1)
    length = timedelta(minutes=15) if match["minute"] else timedelta(hours=1)
    return ClockTime(*match.span(), Period(start, start + length, length))


def _span(count: str, hours: bool) -> timedelta:
    number = float(count) if count.isdecimal() else float(_NUMBERS[count.lower()])
    return timedelta(hours=number) if hours else timedelta(minutes=number)
