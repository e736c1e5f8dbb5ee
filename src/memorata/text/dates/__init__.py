"""When a text speaks of: "yesterday", "in May 2023", «две недели назад», „letzten Dienstag" as periods.

Temporal expressions are found by rules and resolved against the time of the text, as in the rule-based
tradition of temporal tagging (Strötgen and Gertz 2010, "HeidelTime"; Chang and Manning 2012, "SUTime"). The
rules here are few and careful: a time that is not there pulls the wrong memories up, so precision counts
more than recall, and what could as well be something else ("may", "June" as a name, 2,000) is left alone.

How it is decided, where it could be decided otherwise:

* A month, a season, a holiday or a day without a year is the latest that has begun. A weekday after "on" is
  the latest up to today; "last" is before today, "next" after today, "this" of this week.
* A statement, where `nearest` is asked for, lies ahead after "will", "going to" and their like in the
  same clause, where it "is on" a day, and with a verb in the present ("comes on Monday", "on Monday we
  come"); with one in the past it is the latest weekday. Without either a weekday is the coming one in the
  languages with words for the past ("dinner on Friday"); everything else is the nearest.
* "before" ends where the phrase begins and starts at :data:`~memorata.text.dates.calendar.FIRST_DAY`;
  "after" begins where the phrase ends, "since" where it begins, and both go on through today, or if they lie
  ahead to :data:`~memorata.text.dates.calendar.LAST_DAY`; "until" includes the phrase.
* "a couple" is two, "a few" three, "several" four. Tolerances are in
  :mod:`memorata.text.dates.calendar`. Hours and minutes are read in
  queries (:mod:`memorata.text.dates.phrases`).
* A year needs a preposition ("in 1984" is read even where the book is meant).
* 7/5/2023 is read only where a language is given that puts the day first: any but English.
* A season without a year ("in spring") is every one, but in a question about the past the latest.
* Days are those of the zone of `now`.

:func:`date_terms` is the way back: the words of a period, so that a lexical search finds what a text only
hints at.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Final, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.lang import languages_with
from memorata.model import checks
from memorata.model.entity import Period
from memorata.model.errors import InvalidArgument
from memorata.text.dates import phrases
from memorata.text.dates.calendar import FIRST_DAY
from memorata.text.dates.language import DIGITS, NUMERIC, NUMERIC_DAY_FIRST, DateLanguage, read_language
from memorata.text.dates.phrases import DateSpan, clock_time
from memorata.text.language import detect
from memorata.text.word_lists import shared

DATE_LANGUAGES: Final = languages_with("dates")
"""The languages whose time phrases are read."""
_TOLD_BY_FUNCTION_WORDS: Final = frozenset(languages_with("dates", "times_look_foreign"))
"""Languages whose time words are those of others, too («mars», "mayo"): read where the text is in them."""

_ALSO_ENGLISH, _ENGLISH_OR_NAMES = (
    shared("dates", name) for name in ("german_or_english", "english_or_names")
)
"""Time words of German, and of other languages, that are also English ones."""
# "I am 25. November is cold." names no day.
_GERMAN_DAY: Final = re.compile(r"(?<![\w'’])(?<!I )(?:am|bis|vom|zum) \d{1,2}\. ?[A-Z]")
_HANGUL, _KANA, _HAN = (
    re.compile(span) for span in ("[\uac00-\ud7af]", "[\u3040-\u30ff]", "[\u3040-\u9fff]")
)
_MIN_WINDOWED: Final = 400
"""From how many characters on it pays to read only around the trigger words."""

# Not strftime's names: those change with the locale of the process.
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MAX_NAMED: Final = 3
"""How many days, months or years are named one by one."""
_INSTANT: Final = timedelta(microseconds=1)
_DAY_TOLERANCE, _MONTH_TOLERANCE, _YEAR_TOLERANCE = (timedelta(days=days) for days in (1, 10, 60))
"""Up to which tolerance the day, the month and the year are worth naming."""


@frozen
class TimeExpression:
    """A time that a text names: ``text[start:end] == phrase``, and the period it means."""

    start: int
    end: int
    phrase: str
    period: Period
    vague: bool = False
    """Whether it names no stretch that one could keep to: "recently"."""

    def __post_init__(self) -> None:
        checks.whole("start", self.start)
        if checks.whole("end", self.end) <= self.start:
            raise InvalidArgument("end", self.end, f"after start ({self.start})")
        if len(checks.text("phrase", self.phrase)) != self.end - self.start:
            raise InvalidArgument("phrase", self.phrase, f"{self.end - self.start} characters")
        if not isinstance(self.period, Period):
            raise InvalidArgument("period", self.period, "a Period")


@runtime_checkable
class AnchorExtractor(Protocol):
    """Anything that can tell the time a query asks about: rules, or a language model."""

    def anchor(self, text: str, now: datetime) -> TimeExpression | None:
        """Return the time that `text`, asked at `now`, asks about; None where it names none."""
        ...


@frozen
class AnchorReading:
    """The time a query asks about, and why it was not read as it should have been, if so."""

    expression: TimeExpression | None
    failure: str = ""


@runtime_checkable
class FallibleAnchors(AnchorExtractor, Protocol):
    """An extractor that depends on something which may fail, and then says so instead of raising."""

    def read(self, text: str, now: datetime) -> AnchorReading:
        """Return what :meth:`anchor` does, and what went wrong."""
        ...


@frozen
class RuleAnchors:
    """The rules of this module as an :class:`AnchorExtractor`.

    >>> from datetime import UTC, datetime
    >>> asked = datetime(2026, 11, 15, tzinfo=UTC)
    >>> anchor = RuleAnchors().anchor("Where did we eat in May?", asked)
    >>> anchor.phrase, anchor.period.start.date().isoformat(), anchor.period.end.date().isoformat()
    ('May', '2026-05-01', '2026-06-01')
    >>> RuleAnchors().anchor("May I ask what we ate?", asked) is None
    True
    """

    language: str | None = None
    nearest: bool = False

    def __post_init__(self) -> None:
        if self.language is not None:
            checks.one_of("language", self.language, DATE_LANGUAGES)
        checks.flag("nearest", self.nearest)

    def anchor(self, text: str, now: datetime) -> TimeExpression | None:
        """Return the narrowest time that `text`, asked at `now`, names, the first of equals; None if none.

        Of a day and a time of the clock, that time of that day.
        """
        narrowest = min(
            time_expressions(text, now, self.language, nearest=self.nearest),
            key=lambda one: one.period.end - one.period.start + 2 * one.period.tolerance,
            default=None,
        )
        day = None
        if narrowest is not None and narrowest.period.end - narrowest.period.start <= timedelta(days=1):
            day = narrowest.period
        clock = clock_time(text, now, day)
        if clock is None:
            return narrowest
        start, end = clock.start, clock.end
        if narrowest is not None and day is not None and narrowest.start < start <= narrowest.end + 2:
            start = narrowest.start
        return TimeExpression(start, end, text[start:end], clock.period)


def time_expressions(
    text: str, now: datetime, language: str | None = None, *, nearest: bool = False
) -> tuple[TimeExpression, ...]:
    """Return the times that `text` names, in order and without overlap.

    - `text`: a memory or a query.
    - `now`: the time of the text or query; its time zone says when days begin.
    - `language`: one of :data:`DATE_LANGUAGES`; all of them are read where it is not given.
    - `nearest`: whether a month, day, holiday or weekday without a year may lie ahead, so that the nearest
      one is meant: right for plans ("we marry in June"). Otherwise it is the latest that has begun.

    >>> from datetime import UTC, datetime
    >>> said = datetime(2023, 5, 8, 14, 30, tzinfo=UTC)
    >>> for found in time_expressions("Yesterday we met; next month we may meet again.", said):
    ...     print(found.phrase, found.period.start.date(), found.period.end.date())
    Yesterday 2023-05-07 2023-05-08
    next month 2023-06-01 2023-07-01
    >>> [found.phrase for found in time_expressions("Seit März, und vor zwei Wochen", said)]
    ['Seit März', 'vor zwei Wochen']
    """
    checks.text("text", text)
    checks.instant("now", now)
    if language is not None:
        checks.one_of("language", language, DATE_LANGUAGES)
    checks.flag("nearest", nearest)
    if phrases.has_no_trigger(text, triggers()):
        return ()
    lower = phrases.lowered(text)
    windows = phrases.windows(lower, triggers()) if len(text) > _MIN_WINDOWED else [(0, len(text))]
    spans: list[DateSpan] = []
    for start, end in windows:
        inside = _spans(text[start:end], lower[start:end], now.date(), language, nearest)
        spans += [span._replace(start=span.start + start, end=span.end + start) for span in inside]
    expressions = (_expression(text, span, now) for span in spans)
    return tuple(expression for expression in expressions if expression is not None)


def tells_past(text: str) -> bool:
    """Return whether a word of a text puts it in the past: "did", "war", "fue"."""
    language = languages().get(detect(text))
    if language is None:
        return False
    words = rf"(?<!\w)(?:{language.vocabulary.past}|{language.vocabulary.told})(?!\w)"
    return re.search(words, text, re.IGNORECASE) is not None


def date_terms(period: Period, zone: tzinfo = UTC) -> str:
    """Return the words of a period, such as "7 may 2023 sunday", each once.

    "Yesterday", said on 8 May 2023, shares no word with "What happened on 7 May 2023?"; the words of the day
    it means do. They are English whatever the language of the text, so that «7 мая» and "7 May" meet. Up to
    three days are named with a tolerance of at most a day, up to three months with at most ten days, up to
    three years with at most sixty days; longer or vaguer periods have none.

    - `period`: as :func:`time_expressions` gives it.
    - `zone`: where its days begin: the zone of the `now` it was found with.

    >>> from datetime import UTC, datetime
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
    bounds = _first_and_last(period, zone)
    if bounds is None:
        return ""
    first, last = bounds
    if (last - first).days < _MAX_NAMED and period.tolerance <= _DAY_TOLERANCE:
        days = [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
        weekdays = [WEEKDAYS[day.weekday()] for day in days]
        return _alternatives([str(day.day) for day in days], *_months_and_years(days), weekdays)
    months = 12 * (last.year - first.year) + last.month - first.month
    if months < _MAX_NAMED and period.tolerance <= _MONTH_TOLERANCE:
        numbers = [12 * first.year + first.month - 1 + ahead for ahead in range(months + 1)]
        return _alternatives(
            *_months_and_years([date(number // 12, number % 12 + 1, 1) for number in numbers])
        )
    if last.year - first.year < _MAX_NAMED and period.tolerance <= _YEAR_TOLERANCE:
        return _alternatives([str(year) for year in range(first.year, last.year + 1)])
    return ""


NAMES_A_TIME: Final = "@"
"""The key that everything has whose text names a time."""
_MAX_DAY_KEYS, _MAX_MONTH_KEYS, _MAX_YEAR_KEYS = 14, 13, 40
"""How many days, months and years of a period are keys: a memory of a decade is of none of its months."""
_MAX_DAYS_LOOKED_UP, _MAX_MONTHS_LOOKED_UP = 20, 24


def date_keys(period: Period, zone: tzinfo = UTC) -> tuple[str, ...]:
    """Return the keys of a time that a text names, with its tolerance: its days, months and years.

    A search for a period looks up :func:`looked_up_keys`, and finds what names a time of it.

    >>> from datetime import UTC, datetime
    >>> date_keys(Period(datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC)))
    ('@', '@2023', '@2023-05', '@2023-05-07')
    """
    days = _first_and_last(period, zone, period.tolerance)
    if days is None:
        return (NAMES_A_TIME,)
    parts = zip((_years, _months, _days), (_MAX_YEAR_KEYS, _MAX_MONTH_KEYS, _MAX_DAY_KEYS), strict=True)
    levels = [keys for part, most in parts if len(keys := part(*days, most + 1)) <= most]
    return (NAMES_A_TIME, *(key for keys in levels for key in keys))


def looked_up_keys(period: Period, zone: tzinfo = UTC) -> tuple[str, ...]:
    """Return the keys of which a memory that speaks of a period has one.

    Days of up to 20 days, the tolerance included; months of up to two years; years of what is longer, the
    40 next to its end where that is open to the past, otherwise the first 40.

    >>> from datetime import UTC, datetime
    >>> looked_up_keys(Period(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)))
    ('@2023-05',)
    >>> looked_up_keys(Period(datetime(2020, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)))
    ('@2020', '@2021', '@2022', '@2023')
    """
    around, exactly = _first_and_last(period, zone, period.tolerance), _first_and_last(period, zone)
    if around is None or exactly is None:
        return ()
    if (around[1] - around[0]).days < _MAX_DAYS_LOOKED_UP:
        return _days(*around, _MAX_DAYS_LOOKED_UP)
    if len(months := _months(*exactly, _MAX_MONTHS_LOOKED_UP + 1)) <= _MAX_MONTHS_LOOKED_UP:
        return months
    first, last = exactly
    if first <= FIRST_DAY + timedelta(days=1):
        # What ends in the middle of a year is not all that is of that year.
        last = last if (last.month, last.day) == (12, 31) else last.replace(year=max(1, last.year - 1), day=1)
        first = last.replace(year=max(1, last.year - _MAX_YEAR_KEYS + 1), day=1)
    return _years(first, last, _MAX_YEAR_KEYS)


def _first_and_last(
    period: Period, zone: tzinfo, around: timedelta = timedelta(0)
) -> tuple[date, date] | None:
    """Return the first and the last day of a period; None at the ends of the calendar."""
    try:
        first = (period.start - around).astimezone(zone).date()
        # The end is the next midnight, but for a single instant.
        return first, max(first, (period.end + around - _INSTANT).astimezone(zone).date())
    except OverflowError:
        return None


def _days(first: date, last: date, most: int) -> tuple[str, ...]:
    count = min((last - first).days + 1, most)
    return tuple(f"@{(first + timedelta(days=ahead)).isoformat()}" for ahead in range(count))


def _months(first: date, last: date, most: int) -> tuple[str, ...]:
    start, count = 12 * first.year + first.month - 1, 12 * (last.year - first.year) + last.month - first.month
    return tuple(f"@{at // 12:04}-{at % 12 + 1:02}" for at in range(start, start + min(count + 1, most)))


def _years(first: date, last: date, most: int) -> tuple[str, ...]:
    return tuple(f"@{year:04}" for year in range(first.year, min(last.year + 1, first.year + most)))


def _months_and_years(days: list[date]) -> tuple[list[str], list[str]]:
    return [MONTHS[day.month - 1] for day in days], [str(day.year) for day in days]


def _alternatives(*words: list[str]) -> str:
    return " ".join(dict.fromkeys(word for several in words for word in several))


@cache
def triggers() -> frozenset[str]:
    """Return the words, and the mark of digits, without which no language finds anything."""
    return frozenset[str]().union({DIGITS}, *(language.triggers for language in languages().values()))


@cache
def languages() -> dict[str, DateLanguage]:
    """Return the languages by name, read when the first text needs them."""
    return {name: read_language(name) for name in DATE_LANGUAGES}


def _spans(text: str, lower: str, today: date, language: str | None, nearest: bool) -> list[DateSpan]:
    """Return the phrases of a text or of a window of it."""
    words = phrases.date_words(lower)
    numeric = (NUMERIC if language in (None, "english") else NUMERIC_DAY_FIRST,) if DIGITS in words else ()
    spans: list[DateSpan] = []
    for date_language in _languages_of(text, words, language):
        spans += phrases.find(text, lower, words, date_language, numeric, today, nearest)
    return phrases.longest(spans)


def _languages_of(text: str, words: set[str], language: str | None) -> list[DateLanguage]:
    """Return the languages that have time words in a text; for figures alone, any one will do."""
    if language is not None:
        return [languages()[language]]
    if east := _east_asian(text):
        return [languages()[east]]
    candidates, detected = [], ""
    for name, candidate in languages().items():
        triggers = (candidate.beside_digits if DIGITS in words else candidate.triggers) & words
        doubtful = name == "german" and triggers <= _ALSO_ENGLISH and not _GERMAN_DAY.search(text)
        if name in _TOLD_BY_FUNCTION_WORDS:
            doubtful = triggers.isdisjoint(_own_words(name))
        if triggers and doubtful:
            detected = detected or detect(text)
            triggers = triggers if detected == name else frozenset()
        if triggers:
            candidates.append(candidate)
    if len(candidates) > 1:
        # Its words may look like those of others: «sept jours» is not September.
        detected = detected or detect(text)
        if detected in _TOLD_BY_FUNCTION_WORDS:
            candidates = [candidate for candidate in candidates if candidate is languages()[detected]]
    return candidates or [languages()["english"]]


def _east_asian(text: str) -> str:
    """Return the language of a text with Korean, Japanese or Chinese characters; empty for one without."""
    if text.isascii():
        return ""
    if _HANGUL.search(text):
        return "korean"
    return ("japanese" if _KANA.search(text) else "chinese") if _HAN.search(text) else ""


@cache
def _own_words(name: str) -> frozenset[str]:
    """Return the time words of a language that no other has, and English least of all."""
    triggers_elsewhere = (
        candidate.triggers for other_name, candidate in languages().items() if other_name != name
    )
    return languages()[name].triggers.difference(_ENGLISH_OR_NAMES, *triggers_elsewhere)


def _expression(text: str, span: DateSpan, now: datetime) -> TimeExpression | None:
    """Return a span with its instants; None at the ends of the calendar."""
    try:
        period = span.days.period(now.tzinfo or UTC)
    except OverflowError:
        return None
    return TimeExpression(span.start, span.end, text[span.start : span.end], period, span.vague)
