"""Hours and minutes that a query names: "two hours ago", "in the last 30 minutes", "yesterday at 3 pm".

Read in queries alone, in the twelve languages that dates are read in: what a memory tells of is kept by the
day.

Also times that a query names by an event: "before my trip to Porto", „nach der Hochzeit". Which time that was
only a memory can tell. What follows the preposition has to begin with a word that makes it one thing in
particular, an article or a possessive: "before dinner" is any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from memorata.model.entity import Period

_NUMBERS: Final = {
    word: number
    for number, words in {
        0.5: "half an|einer halben|une demi|media|mezz'|meia|een half|en halv|полчаса|半|반",
        1: "a|an|one|einer|eine|une|un|una|uma|een|en|один|одну|一|한",
        2: "two|zwei|deux|dos|a couple of|due|duas|dois|twee|två|два|две|两|兩|二|두",
        3: "three|drei|trois|tres|a few|tre|três|drie|три|三|세",
        4: "four|vier|quatre|cuatro|quattro|quatro|fyra|четыре|四|네",
        5: "five|fünf|cinq|cinco|cinque|vijf|fem|пять|五|다섯",
        6: "six|sechs|seis|sei|zes|sex|шесть|六|여섯",
        7: "七|일곱",
        8: "八|여덟",
        9: "九|아홉",
        10: "ten|zehn|dix|diez|dieci|dez|tien|tio|десять|十|열",
        11: "十一|열한",
        12: "十二|열두",
    }.items()
    for word in words.split("|")
}
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT: Final = (
    r"(?:(?P<hours>hours?|hrs?|stunden?|heures?|horas?|or[ae]|uur|timm(?:e|ar)|час(?:а|ов)?)|"
    r"minut(?:e|en|er|es|i|o|os|ы|у|)|mins?|минут[уы]?)"
)
_EAST_UNIT: Final = r"\s?(?:个|個)?(?:(?P<hours>小时|小時|钟头|時間|시간)|分钟|分鐘|分間?|분)"
_AGO: Final = (
    # What tells that it is past stands after the time in some languages, before it in others.
    rf"(?i)(?<!\w)(?:för )?{_COUNT}[\s-]{_UNIT} (?:ago|fa|atrás|geleden|sedan|назад)(?!\w)",
    rf"(?i)(?<!\w)(?:vor|il y a|hace|há) {_COUNT}[\s-]{_UNIT}(?!\w)",
    rf"{_COUNT}{_EAST_UNIT}\s?(?:之前|以前|前|전)",
)
_LAST: Final = (
    r"(?i)(?<!\w)(?:(?:the|den|les|las|los|le|as|os|gli|de) )?(?:last|past|letzten|dernières|últim[ao]s|ultim[ei]|"
    rf"laatste|senaste|последни[ех]) (?:{_COUNT} )?{_UNIT}(?!\w)",
    rf"(?:最近|过去|過去|この|지난|최근)(?:的|の)?\s?{_COUNT}{_EAST_UNIT}",
)
_AT: Final = (
    r"(?i)(?<!\w)(?:at|um|à|a las?|all[ae']|às?|om|klockan|kl\.?|в) ?(?P<hour>2[0-3]|1\d|0?\d)(?:[:.](?P<minute>[0-5]\d))?"
    r"\s?(?P<half>am|pm|a\.m\.|p\.m\.|o['’]clock|uhr|h|heures?|horas?|uur|час(?:а|ов)?)?(?![\w%:])",
    r"(?P<half>上午|早上|凌晨|中午|下午|晚上|午前|午後|夜|朝|오전|오후|저녁|밤)の?\s?"
    rf"{_COUNT.replace('count', 'hour')}\s?(?:点|點|時(?!間)|시(?!간)|:)\s?(?P<minute>半|반|[0-5]?\d(?=分|분)|(?<=:)[0-5]\d)?",
)
_ASCII_CUE: Final = re.compile(rf"\d|[\s-]{_UNIT}", re.I)
"""One of these stands in every plain text that names a time of the clock."""
_AFTERNOON: Final = ("p", "下", "晚", "午後", "夜", "오후", "저녁", "밤")
_HALF_HOUR: Final = ("半", "반")


class ClockTime(NamedTuple):
    """Where a text names a time of the clock, and the period it means."""

    start: int
    end: int
    period: Period


def clock_time(text: str, now: datetime, day: Period | None = None) -> ClockTime | None:
    """Return the time of the clock that a query, asked at `now`, names; None if it names none.

    Hours and minutes ago have a quarter of themselves around; "at 3 pm" is that hour of the day that is named
    beside it, or the latest one.

    >>> from datetime import UTC
    >>> asked = datetime(2026, 5, 7, 16, 30, tzinfo=UTC)
    >>> clock_time("What did I say two hours ago?", asked).period.start.isoformat()
    '2026-05-07T14:30:00+00:00'
    >>> clock_time("Who called at 3 pm?", asked).period.start.isoformat()
    '2026-05-07T15:00:00+00:00'
    >>> clock_time("Who is 30?", asked) is None
    True
    """
    if text.isascii() and not _ASCII_CUE.search(text):
        return None
    if match := _first(_AGO, text):
        span = _span(match["count"], bool(match["hours"]))
        return ClockTime(*match.span(), Period.around(now - span, span / 4))
    if match := _first(_LAST, text):
        return ClockTime(*match.span(), Period(now - _span(match["count"] or "1", bool(match["hours"])), now))
    match = _first(_AT, text)
    if match is None:
        return None
    half, hour = (match["half"] or "").lower(), int(_number(match["hour"]))
    # A number alone is an hour where it can be nothing else: in the afternoon of a day that is named.
    if not (half or match["minute"] or (day is not None and hour > _NOON)):
        return None
    if half.startswith(_AFTERNOON) and hour < _NOON:
        hour += 12
    minute = 30 if match["minute"] in _HALF_HOUR else int(match["minute"] or 0)
    base = (now if day is None else day.start.astimezone(now.tzinfo)).replace(
        minute=0, second=0, microsecond=0
    )
    start = base.replace(hour=hour % 24, minute=minute)
    if day is None and start > now:
        start -= timedelta(days=1)
    length = timedelta(minutes=15) if match["minute"] else timedelta(hours=1)
    return ClockTime(*match.span(), Period(start, start + length, length))


_NOON: Final = 12


def _first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := _compiled(pattern).search(text))), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled when a query first needs it: all of them take ten milliseconds."""
    return re.compile(pattern)


def _number(text: str) -> float:
    return float(text) if text.isdecimal() else _NUMBERS[text.lower()]


def _span(count: str, hours: bool) -> timedelta:
    return timedelta(hours=_number(count)) if hours else timedelta(minutes=_number(count))


_TABLES: Final = (
    # English, German, French, Spanish: before, after, since, during; then what makes it one in particular.
    (("before", "after", "since", "during"), r"my|our|his|her|their|your|the|\w+['’]s"),
    (("vor", "nach", "seit", "während"), r"mein\w*|unser\w*|sein\w*|ihr\w*|de[rmns]|dies\w+"),
    (("avant", "après", "depuis", "pendant"), r"mon|ma|mes|notre|nos|son|sa|ses|leur|le|la|les"),
    (("antes de", "después de", "desde", "durante"), r"mis?|nuestr[oa]s?|sus?|el|la|los|las"),
)
_BOUNDS: Final = ("before", "after", "since", "during")
_EVENT_CUES: Final = tuple(word for words, _ in _TABLES for word in words)
_PATTERNS: Final = tuple(
    (bound, rf"(?i)(?<!\w){word}\s{{1,3}}(?:{particular})\s{{1,3}}(?P<event>[^,;.!?¿]{{3,80}})")
    for words, particular in _TABLES
    for bound, word in zip(_BOUNDS, words, strict=True)
)


class EventReference(NamedTuple):
    """Where a text names a time by an event, on which side of it, and the words of the event."""

    start: int
    end: int
    bound: str
    event: str


def event_reference(text: str) -> EventReference | None:
    """Return the first time that a text names by an event; None if it names none.

    >>> event_reference("What did I buy before my trip to Porto?")
    EventReference(start=15, end=38, bound='before', event='trip to Porto')
    >>> event_reference("What did I eat before dinner?") is None
    True
    """
    lower = text.lower()
    if not any(cue in lower for cue in _EVENT_CUES):
        return None
    references = [
        EventReference(match.start(), match.end(), bound, match["event"].strip())
        for bound, pattern in _PATTERNS
        if (match := _compiled(pattern).search(text)) is not None
    ]
    return min(references, default=None)
