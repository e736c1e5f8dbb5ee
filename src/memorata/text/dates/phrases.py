"""Time phrases in a text: days by the rules of a language, and in queries hours, minutes and events.

The rules find phrases, and of those that overlap the longest stays: "the last week of June" is not also "last
week". Then the words before and between phrases count. Two phrases become one range where "between … and …"
or "from … to …" holds them. "Since", "before" and "after" open a phrase to one side, "early" and "the end of"
cut it, "two days before" moves it. And a phrase that could be something else (June, 2020, Friday, summer) is
accepted only after a preposition that goes with its kind: June alone is also a name, and 2020 a number.

Hours and minutes ("two hours ago", "in the last 30 minutes", "yesterday at 3 pm") are read in queries alone,
in the twelve languages that dates are read in: what a memory tells of is kept by the day. So are times that a
query names by an event: "before my trip to Porto", „nach der Hochzeit". Which time that was only a memory can
tell. What follows the preposition has to begin with a word that makes it one thing in particular, an article
or a possessive: "before dinner" is any.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple, TypeVar

from memorata.lang import SHARED
from memorata.model.entity import Period
from memorata.text.dates import calendar
from memorata.text.dates.calendar import Days
from memorata.text.dates.language import DIGITS, DateLanguage, Prepositions, Vocabulary
from memorata.text.dates.readers import Phrase, Reading

_WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_DIGIT: Final = re.compile(r"\d")
_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+")
_ASCII_LETTERS: Final = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else ord(" ") for code in range(256)
)
_NO_DIGITS: Final = bytes(code for code in range(256) if not (code < 128 and chr(code).isdecimal()))
_MARGIN_LETTERS: Final = 100
"""How far from its trigger word a phrase, with all that decides about it, can reach."""
_PREPOSITION_REACH: Final = 40
"""How many characters before a phrase can hold its preposition."""
_DIVISIBLE: Final = ("month", "year", "decade", "quarter", "season")
"""What has an early and a late part."""
_DAY: Final = timedelta(days=1)
_Span = TypeVar("_Span", "RuleMatch", "DateSpan")


class DateSpan(NamedTuple):
    """Where a time phrase stands in a text, and which days it means."""

    start: int
    end: int
    days: Days
    vague: bool = False


class RuleMatch(NamedTuple):
    """A phrase as its rule read it, before prepositions."""

    start: int
    end: int
    reading: Reading


_NO_SUCH_DAY: Final = Reading("none", Days(date.min, date.min), strong=False)
"""Of a day that the calendar does not have: it still hides what stands inside it."""


def lowered(text: str) -> str:
    """Return `text` in lower case, every character where it was (İ has a lower form of two)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def date_words(lower: str) -> set[str]:
    """Return the words of a text in lower case; a mark stands for all digits."""
    return set(_words_and_mark(lower))


def has_no_trigger(text: str, triggers: frozenset[str]) -> bool:
    """Return whether a text has none of some words, in any case, nor digits if their mark is one of them."""
    return triggers.isdisjoint(_words_and_mark(text if text.isascii() else lowered(text)))


def _words_and_mark(text: str) -> list[str]:
    """Return the words of a text in lower case, and the mark of digits; one that is not ASCII is lower."""
    if text.isascii():
        # Tables and a cut at blanks: every text that is remembered comes by here, and few name a time.
        encoded = text.encode()
        words = encoded.translate(_ASCII_LETTERS).decode().split()
        digits = bool(encoded.translate(None, _NO_DIGITS))
    else:
        words = _WORD.findall(text)
        # Words of these scripts have no spaces between them, or endings: their characters stand for them.
        if _UNSPACED.search(text):
            words += [character for word in words for run in _UNSPACED.findall(word) for character in run]
        digits = _DIGIT.search(text) is not None
    if digits:
        words.append(DIGITS)
    return words


def windows(lower: str, triggers: frozenset[str]) -> list[tuple[int, int]]:
    """Return the stretches of a text around its digits and trigger words, cut between words.

    Every phrase holds one of these words and is shorter than the margin, so that nothing is lost by reading
    only there, and a long text with one date costs little more than the date.
    """
    around: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(lower):
        word = match.group()
        has_trigger = word in triggers or (_UNSPACED.match(word) and not triggers.isdisjoint(word))
        if not has_trigger and not word.isdecimal():
            continue
        if around and match.start() < around[-1][1]:
            around[-1] = (around[-1][0], match.end() + _MARGIN_LETTERS)
        else:
            around.append((max(0, match.start() - _MARGIN_LETTERS), match.end() + _MARGIN_LETTERS))
    merged: list[tuple[int, int]] = []
    for start, end in around:
        while start > 0 and not lower[start - 1].isspace():
            start -= 1
        while end < len(lower) and not lower[end].isspace():
            end += 1
        end = min(end, len(lower))
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def find(
    text: str,
    lower: str,
    words: set[str],
    language: DateLanguage,
    more: Iterable[DateLanguage],
    today: date,
    nearest: bool,
) -> list[DateSpan]:
    """Return the time phrases of `text` in one language, with the rules of `more` added, in order."""
    matches: list[RuleMatch] = []
    for source in (language, *more):
        for rule in source.compiled_rules:
            if rule.triggers.isdisjoint(words):
                continue
            for match in rule.expression.finditer(lower):
                try:
                    reading = rule.reader(Phrase(match, text, source.vocabulary, today, nearest))
                except (ValueError, OverflowError):  # 30 February, 5000 years ago
                    reading = _NO_SUCH_DAY
                if reading is not None:
                    matches.append(RuleMatch(match.start(), match.end(), reading))
    spans_kept = longest(matches, lambda match: match.reading.strong)
    real = [match for match in spans_kept if match.reading is not _NO_SUCH_DAY]
    return apply_prepositions(real, lower, language, today)


def longest(spans: Iterable[_Span], strong: Callable[[_Span], bool] = lambda one: True) -> list[_Span]:
    """Return, in order, the longest of spans that overlap; of equally long ones a strong one."""
    chosen: list[_Span] = []
    starts: list[int] = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, not strong(one), one.start)):
        position = bisect_left(starts, span.start)
        clear_before = position == 0 or chosen[position - 1].end <= span.start
        if clear_before and (position == len(chosen) or span.end <= chosen[position].start):
            starts.insert(position, span.start)
            chosen.insert(position, span)
    return chosen


def apply_prepositions(
    matches: list[RuleMatch], lower: str, language: DateLanguage, today: date
) -> list[DateSpan]:
    """Return the phrases that rule matches make with the words before and between them."""
    prepositions = language.prepositions
    spans: list[DateSpan] = []
    position, carried = 0, ""
    while position < len(matches):
        match = matches[position]
        before = prepositions.before.search(lower, max(0, match.start - _PREPOSITION_REACH), match.start)
        assert before is not None  # it matches nothing at all, too
        after = matches[position + 1] if position + 1 < len(matches) else None
        pair = None if after is None else _pair(match, after, lower, prepositions, before["preposition"])
        if after is not None and pair is not None:
            opened = before["preposition"] in prepositions.ranges and pair.kind == "range"
            start = before.start("preposition") if opened else match.start
            spans.append(DateSpan(start, after.end, pair.days))
            position, carried = position + 2, ""
            continue
        if spans and not before["preposition"] and _lists(lower[spans[-1].end : match.start], prepositions):
            preposition = carried
        else:
            preposition = carried = before["preposition"] or ""
        single = _single(match, lower, language, before, preposition, today)
        if single is not None:
            spans.append(single)
        position += 1
    return spans


def _pair(
    first: RuleMatch, last: RuleMatch, lower: str, prepositions: Prepositions, opener: str | None
) -> Reading | None:
    """Return what two phrases mean together; None where they have nothing to do with each other."""
    try:
        return _range(first, last, lower, prepositions, opener) or _weekday_beside(
            first, last, lower, prepositions
        )
    except (ValueError, OverflowError):  # 29 February of a year that has none, the week before the year 1
        return None


def _range(
    first: RuleMatch, last: RuleMatch, lower: str, prepositions: Prepositions, opener: str | None
) -> Reading | None:
    """Return the days from one phrase to the next where they are the ends of a range."""
    between = lower[first.end : last.start].strip()
    if len(between) > 12:
        return None
    opened = opener in prepositions.ranges
    alike = last.reading.strong and first.reading.kind == last.reading.kind
    joiner = prepositions.ranges[opener or ""] if opened else prepositions.joins
    if not (opened or alike) or not re.fullmatch(joiner, between):
        return None
    start, end = first.reading.days, last.reading.days
    if first.reading.every_year is not None:
        start = first.reading.every_year(end.first.year)
        if start.first > end.first:
            start = first.reading.every_year(end.first.year - 1)
    elif first.reading.kind == "weekday" and start.first > end.first:
        start = Days(start.first - 7 * _DAY, start.after - 7 * _DAY)
    if start.first > end.first:
        return None
    return Reading("range", Days(start.first, end.after, max(start.tolerance, end.tolerance)))


def _weekday_beside(
    first: RuleMatch, last: RuleMatch, lower: str, prepositions: Prepositions
) -> Reading | None:
    """Return the weekday next to a day: "the Sunday before 25 October 2022"."""
    bound = prepositions.bounds.get(" ".join(lower[first.end : last.start].split()))
    if bound not in ("before", "after") or first.reading.kind != "weekday" or last.reading.kind != "day":
        return None
    if (first.reading.days.after - first.reading.days.first).days > 1:
        return None
    number, day = first.reading.days.first.weekday(), last.reading.days
    beside = calendar.weekday(day.first, number, -1 if bound == "before" else 1).first
    return Reading("beside", calendar.one_day(beside))


def _lists(between: str, prepositions: Prepositions) -> bool:
    return len(between) < 12 and re.fullmatch(prepositions.lists, between.strip()) is not None


def _single(
    match: RuleMatch, lower: str, language: DateLanguage, before: re.Match[str], preposition: str, today: date
) -> DateSpan | None:
    """Return a phrase opened or cut by what stands before it; None if nothing makes it acceptable."""
    prepositions = language.prepositions
    kind, days, strong, _ = match.reading
    start = match.start
    # "in the 2022 film": an article makes a year part of a name; a part without one is an age, "her mid-30s".
    article = before["article"] is not None
    # "How early may we meet?" asks for leave; "in early may" and "early may, I think" name a month.
    doubtful = lower[match.start : match.end] in language.vocabulary.only_title and not preposition
    if doubtful and not strong and lower[match.end : match.end + 2].strip().isalpha():
        return None
    if before["part"] is not None and kind in _DIVISIBLE and (strong or kind != "decade" or article):
        days, strong = calendar.part(days, prepositions.parts[" ".join(before["part"].split())]), True
        start = before.start("part")
    elif kind in prepositions.licences.get(preposition, "").split() and not (kind == "year" and article):
        strong = True
    bound = prepositions.bounds.get(before["preposition"] or "")
    if bound is not None and kind != "recently":
        at = before.start("preposition")
        measure = language.measure.search(lower, max(0, at - _PREPOSITION_REACH), at)
        try:
            if measure is None:
                days = calendar.bounded(days, bound, today)
                start, strong = at, True
            elif measure["unit"] is not None and bound in ("before", "after"):
                days = _shifted(days, measure, bound, language.vocabulary)
                start, strong = measure.start(), True
        except (OverflowError, ValueError):
            return None
    if not strong or days.first >= days.after:
        return None
    return DateSpan(start, match.end, days, vague=kind == "recently")


def _shifted(days: Days, measure: re.Match[str], bound: str, vocabulary: Vocabulary) -> Days:
    """Return the time some days, weeks or months before or after others: "two days before Christmas"."""
    count = vocabulary.value("number", measure["number"]) if measure["number"] is not None else 1
    unit = vocabulary.units[measure["unit"]]
    if bound == "before":
        return calendar.shifted(days.first, unit, -count)
    return calendar.shifted(days.after - _DAY, unit, count)


_QUERY_TIMES: Final = SHARED["query_times"]
_NUMBERS: Final = {
    word: float(number) for number, words in _QUERY_TIMES["numbers"].items() for word in words.split("|")
}
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"


def _clock_patterns(name: str) -> tuple[str, ...]:
    parts = {"count": _COUNT, "hour": _COUNT.replace("count", "hour")}
    parts |= {part: _QUERY_TIMES[part] for part in ("unit", "east_unit")}
    patterns: list[str] = _QUERY_TIMES[name]
    for part, expression in parts.items():
        patterns = [pattern.replace(f"{{{part}}}", expression) for pattern in patterns]
    return tuple(patterns)


_AGO, _LAST, _AT = map(_clock_patterns, ("ago", "last", "at"))
_ASCII_CUE: Final = re.compile(rf"\d|[\s-]{_QUERY_TIMES['unit']}", re.I)
"""One of these stands in every plain text that names a time of the clock."""
_AFTERNOON, _HALF_HOUR = (tuple(_QUERY_TIMES[name]) for name in ("afternoon", "half_hour"))


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


_BOUNDS: Final = ("before", "after", "since", "during")
_EVENT_CUES: Final = tuple(word for table in _QUERY_TIMES["events"] for word in table["words"])
_PATTERNS: Final = tuple(
    (
        bound,
        table.get("clause", False),
        rf"(?i)(?<!\w){word}\s{{1,3}}(?:{table['particular']})\s{{1,3}}(?P<event>[^,;.!?¿]{{3,80}})",
    )
    for table in _QUERY_TIMES["events"]
    for bound, word in zip(_BOUNDS, table["words"], strict=True)
)


class EventReference(NamedTuple):
    """Where a text names a time by an event, on which side of it, and the words of the event."""

    start: int
    end: int
    bound: str
    event: str
    clause: bool = False
    """Whether a verb tells the event, as in "before we moved", and not a noun."""


def event_reference(text: str) -> EventReference | None:
    """Return the first time that a text names by an event; None if it names none.

    >>> event_reference("What did I buy before my trip to Porto?")
    EventReference(start=15, end=38, bound='before', event='trip to Porto', clause=False)
    >>> event_reference("What did I eat before dinner?") is None
    True
    """
    lower = text.lower()
    if not any(cue in lower for cue in _EVENT_CUES):
        return None
    references = [
        EventReference(match.start(), match.end(), bound, match["event"].strip(), clause)
        for bound, clause, pattern in _PATTERNS
        if (match := _compiled(pattern).search(text)) is not None
    ]
    return min(references, default=None)
