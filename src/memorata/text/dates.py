"""When a text speaks of: "yesterday", "in May 2023", «две недели назад», „letzten Dienstag" as periods.

Temporal expressions are found by rules and resolved against the moment they were said, as in the rule-based
tradition of temporal tagging (Strötgen and Gertz 2010, "HeidelTime"; Chang and Manning 2012, "SUTime"). The
rules here are few and careful: a time that is not there pulls the wrong memories up, so precision counts
more than recall, and what could as well be something else ("may", "June" as a name, 2,000) is left alone.

How it is decided, where it could be decided otherwise:

* A month, a season, a holiday or a day without a year is the latest that has begun. A weekday after "on" is
  the latest up to today; "last" is before today, "next" after today, "this" of this week.
* What somebody tells, where `nearest` is asked for, lies ahead after "will", "going to" and their like in the
  same clause, and where it "is on" a day; otherwise it is the nearest.
* "before" ends where the phrase begins and starts at :data:`~memorata.text.calendar_periods.FIRST_DAY`;
  "after" begins where the phrase ends, "since" where it begins, and both go on through today, or if they lie
  ahead to :data:`~memorata.text.calendar_periods.LAST_DAY`; "until" includes the phrase.
* "a couple" is two, "a few" three, "several" four. Tolerances are in
  :mod:`memorata.text.calendar_periods`. Hours and minutes are not read.
* A year needs a preposition ("in 1984" is read even where the book is meant).
* 7/5/2023 is read only in German and Russian, where the day comes first.
* Days are those of the zone of `now`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from typing import Final, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.period import Period
from memorata.text import date_phrases
from memorata.text.date_prepositions import Found
from memorata.text.date_tongue import Tongue
from memorata.text.date_vocabulary import DIGITS
from memorata.text.dates_de import GERMAN
from memorata.text.dates_en import ENGLISH
from memorata.text.dates_numeric import DAY_FIRST, NUMERIC
from memorata.text.dates_ru import RUSSIAN
from memorata.text.language import detect

_TONGUES: Final = {"english": ENGLISH, "russian": RUSSIAN, "german": GERMAN}
DATE_LANGUAGES: Final = tuple(_TONGUES)
"""The languages whose time phrases are read."""

_ALSO_ENGLISH: Final = frozenset(
    {"am", "an", "in", "ab", "von", "die", "aus", "zu", "tag", "ende"}
    | {"april", "august", "september", "november", "winter", "halloween"}
)
"""German words that are also English ones: "I am 7.5. And you?" is not the seventh of May."""
_LONG: Final = 400
"""From how many characters on it pays to read only around the words that can name a time."""


@frozen
class TimeExpression:
    """A time that a text names: where it stands, its words, and the period they mean.

    Parameters
    ----------
    start, end
        The characters from `start` up to, not including, `end`.
    phrase
        What stands there.
    period
        What it means.
    """

    start: int
    end: int
    phrase: str
    period: Period

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
    """Anything that can tell the time a question asks about: rules, or a language model."""

    def anchor(self, text: str, now: datetime) -> TimeExpression | None:
        """Return the time that `text`, asked at `now`, asks about; None where it names none."""
        ...


@frozen
class AnchorReading:
    """The time a question asks about, and why it was not read as it should have been, if so."""

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

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> RuleAnchors().anchor("What did I do yesterday?", datetime(2023, 5, 8, tzinfo=UTC)).phrase
    'yesterday'
    """

    language: str | None = None

    def __post_init__(self) -> None:
        if self.language is not None:
            checks.one_of("language", self.language, DATE_LANGUAGES)

    def anchor(self, text: str, now: datetime) -> TimeExpression | None:
        """Return the time that `text`, asked at `now`, asks about; None where it names none."""
        return _narrowest(time_expressions(text, now, self.language))


def time_expressions(
    text: str, now: datetime, language: str | None = None, *, nearest: bool = False
) -> tuple[TimeExpression, ...]:
    """Return the times that `text` names, in order and without overlap.

    Parameters
    ----------
    text
        A memory or a question.
    now
        When it was said or asked; its time zone says when days begin.
    language
        One of :data:`DATE_LANGUAGES`; all of them are read where it is not given.
    nearest
        Whether a month, day, holiday or weekday without a year may lie ahead, so that the nearest one is
        meant: right for plans ("we marry in June"). Otherwise it is the latest that has begun.

    Examples
    --------
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
    if date_phrases.names_none(text, _triggers()):
        return ()
    lower = date_phrases.lowered(text)
    stretches = date_phrases.windows(lower, _triggers()) if len(text) > _LONG else [(0, len(text))]
    found: list[Found] = []
    for start, end in stretches:
        inside = _found(text[start:end], lower[start:end], now.date(), language, nearest)
        found += [Found(each.start + start, each.end + start, each.days) for each in inside]
    expressions = (_expression(text, each, now) for each in found)
    return tuple(each for each in expressions if each is not None)


def anchor(text: str, now: datetime) -> TimeExpression | None:
    """Return the time that a question asks about: the narrowest it names, the first of equals.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> asked = datetime(2026, 11, 15, tzinfo=UTC)
    >>> found = anchor("Where did we eat in May?", asked)
    >>> found.phrase, found.period.start.date().isoformat(), found.period.end.date().isoformat()
    ('May', '2026-05-01', '2026-06-01')
    >>> anchor("May I ask what we ate?", asked) is None
    True
    """
    return _narrowest(time_expressions(text, now))


@cache
def _triggers() -> frozenset[str]:
    """Return the words, and the mark of digits, without which no language finds anything."""
    return frozenset[str]().union({DIGITS}, *(tongue.triggers for tongue in _TONGUES.values()))


def _found(text: str, lower: str, today: date, language: str | None, nearest: bool) -> list[Found]:
    """Return the phrases of a text or of a stretch of it."""
    words = date_phrases.words_within(lower)
    numeric = (DAY_FIRST if language in ("german", "russian") else NUMERIC,) if DIGITS in words else ()
    found: list[Found] = []
    for tongue in _spoken(text, words, language):
        found += date_phrases.find(text, lower, words, tongue, numeric, today, nearest)
    return date_phrases.longest(found)


def _spoken(text: str, words: set[str], language: str | None) -> list[Tongue]:
    """Return the languages that have time words in a text; for figures alone, any one will do."""
    if language is not None:
        return [_TONGUES[language]]
    spoken = []
    for name, tongue in _TONGUES.items():
        telling = (tongue.beside_digits if DIGITS in words else tongue.triggers) & words
        if name == "german" and telling <= _ALSO_ENGLISH:
            telling = telling if telling and detect(text) == "german" else frozenset()
        if telling:
            spoken.append(tongue)
    return spoken or [ENGLISH]


def _expression(text: str, found: Found, now: datetime) -> TimeExpression | None:
    """Return what was found with its instants; nothing at the ends of the calendar."""
    try:
        period = found.days.period(now.tzinfo or UTC)
    except OverflowError:
        return None
    return TimeExpression(found.start, found.end, text[found.start : found.end], period)


def _narrowest(expressions: tuple[TimeExpression, ...]) -> TimeExpression | None:
    return min(
        expressions,
        key=lambda each: each.period.end - each.period.start + 2 * each.period.tolerance,
        default=None,
    )
