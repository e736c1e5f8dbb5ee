"""What the parts of a matched time phrase mean together: month and year to a month, number and unit to a day.

Each reader takes a match of one rule and returns a :class:`Reading`, or None where the words turn out not to
name a time. Readers know groups ("month", "which", "number"), never words: the vocabulary of a language turns
what was matched into numbers. Dates that the calendar does not hold raise ValueError or OverflowError, and
are left out by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from memorata._frozen import frozen
from memorata.text.dates import calendar
from memorata.text.dates.calendar import Days

if TYPE_CHECKING:
    from memorata.text.dates.language import Vocabulary

_CLAUSE: Final = 80
"""How many characters before and after a phrase may say that it is still to come."""
_SENTENCE_END: Final = re.compile(r"[.!?\n]")
_BESIDE: Final = re.compile(
    r",?\s+(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:de\s+|of\s+)?(?P<word>[^\W\d]+)"
)
"""What may stand between a weekday and the month of its date."""
_OPENING: Final = 2
"""How many words may stand before a phrase that opens its clause: "and on"."""
_CLAUSE_END: Final = re.compile(r"[,;:.!?\n]")


class Reading(NamedTuple):
    """What a phrase means: its kind, its days, and whether it needs a preposition to be believed."""

    kind: str
    days: Days
    strong: bool = True
    every_year: Callable[[int], Days] | None = None
    """Its days in another year, where the phrase names none: "June" of "between June and August 2024"."""


@frozen
class Phrase:
    """A match, and what it is read with."""

    match: re.Match[str]
    original: str
    vocabulary: Vocabulary
    today: date
    nearest: bool

    def value(self, group: str) -> int:
        """Return the number that the words of `group` stand for."""
        return self.vocabulary.value(group, self.match[group])

    def number(self, group: str) -> int:
        """Return a number in figures or, in a language that writes it so, in numerals."""
        figure = self.match[group]
        return int(figure) if figure.isdecimal() else self.vocabulary.number[figure]

    def count(self) -> int:
        """Return the number of units; a unit alone, as in «неделю назад», is one of them."""
        return self.value("number") if self.has("number") else 1

    def unit(self) -> str:
        """Return the unit that was matched, such as week; a word that counts days by itself needs none."""
        return self.vocabulary.units[self.match["unit"]] if self.has("unit") else "day"

    def which(self) -> int | None:
        """Return -1 for "last", 0 for "this", 1 for "next"; None where none of them occurs."""
        return self.value("which") if self.has("which") else None

    def has(self, group: str) -> bool:
        """Return whether `group` is part of the rule and was matched."""
        return self.match.groupdict().get(group) is not None

    def year(self) -> int | None:
        """Return the year in digits, or by "last year"; None where none is named."""
        if self.has("year"):
            return int(self.match["year"])
        return self.today.year + self.value("of_year") if self.has("of_year") else None

    def written(self, group: str) -> str:
        """Return `group` in the case in which it was written."""
        return self.original[self.match.start(group) : self.match.end(group)]

    def doubtful(self, group: str) -> bool:
        """Return whether a word such as "may" stands in the case of its other meaning."""
        word = self.match[group]
        if word in self.vocabulary.only_title:
            return not self.written(group).istitle()
        return word in self.vocabulary.never_title and self.written(group).istitle()

    def tense(self) -> int:
        """Return 1 where its clause puts it in the future, -1 where in the past, 0 where in neither.

        "Will be on Monday" and "comes on Monday" are about the next, "came on Monday" is about the last.
        "On Monday we came" has its verb behind it.
        """
        start, end = self.match.span()
        before = _CLAUSE_END.split(self.original[max(0, start - _CLAUSE) : start])[-1]
        opens = len(before.split()) <= _OPENING
        rest = self.original[end : end + _CLAUSE]
        # A comma after what opens a clause does not end it: "On Monday, we came".
        after = _CLAUSE_END.split(rest.lstrip(", ") if opens else rest)[0]
        words = self.vocabulary
        if words.says(words.perfect, f"{before}{self.original[start:end]} {after}"):
            return -1
        if re.search(rf"(?:{words.ahead})$", before):
            return 1
        if words.says(words.told, before):
            return -1
        if re.search(rf"(?:{words.present})$", before):
            return 1
        if words.says(words.told, after):
            return -1
        if not opens:
            return 0
        # "On Monday we come" is read as "we come on Monday".
        opening = f"{after.strip()} {before.strip().lower()} "
        return int(re.search(rf"(?:{words.ahead}|{words.present})$", opening) is not None)

    def names_appointment(self) -> bool:
        """Return whether a statement, such as "dinner on Friday", has no word of the past and no date."""
        start, end = self.match.span()
        before = _SENTENCE_END.split(self.original[max(0, start - _CLAUSE) : start])[-1]
        after = _SENTENCE_END.split(self.original[end : end + _CLAUSE])[0]
        words = self.vocabulary
        beside = _BESIDE.match(after)
        dated = beside is not None and beside["word"].lower() in words.month
        told = any(words.says(words.told, part) for part in (before, after))
        return words.tells_tense and not dated and not told


Reader = Callable[[Phrase], Reading | None]


def fixed(phrase: Phrase) -> Reading | None:
    """Read "yesterday", "the day after tomorrow", „vorgestern"."""
    if phrase.doubtful("fixed") and not _begins_a_sentence(phrase):
        return None
    offset = phrase.value("fixed")
    return Reading("day", calendar.shifted(phrase.today, "day", offset)._replace(tolerance=int(offset != 0)))


def recently(phrase: Phrase) -> Reading:
    """Read "recently": two weeks ago, and two weeks around."""
    return Reading("recently", calendar.shifted(phrase.today, "day", -14)._replace(tolerance=14))


def ago(phrase: Phrase) -> Reading:
    """Read "two weeks ago", 이틀 전."""
    return Reading("shift", calendar.shifted(phrase.today, phrase.unit(), -phrase.count()))


def half_year_ago(phrase: Phrase) -> Reading:
    """Read "half a year ago": 182 days, and 30 around."""
    return Reading("shift", calendar.shifted(phrase.today, "day", -182)._replace(tolerance=30))


def ahead(phrase: Phrase) -> Reading | None:
    """Read "in two weeks", unless something is denied for so long."""
    start = phrase.match.start()
    sentence = re.split(r"[.!?]", phrase.match.string[max(0, start - _CLAUSE) : start])[-1]
    if re.search(rf"(?<!\w)(?:{phrase.vocabulary.denial})(?!\w)", sentence):
        return None
    return Reading("shift", calendar.shifted(phrase.today, phrase.unit(), phrase.count()))


def stretch(phrase: Phrase) -> Reading:
    """Read "the last two weeks": from then until today."""
    return Reading("stretch", calendar.stretch(phrase.today, phrase.unit(), phrase.count()))


def which_unit(phrase: Phrase) -> Reading | None:
    """Read "last week", "this month", "next year"; there is no calendar's "last day"."""
    if phrase.unit() in ("day", "fortnight"):
        return None
    return Reading("unit", calendar.calendar_unit(phrase.today, phrase.unit(), phrase.value("which")))


def bare_weekend(phrase: Phrase) -> Reading:
    """Read "the weekend", which needs a preposition: the latest that has begun."""
    this = calendar.calendar_unit(phrase.today, "weekend", 0)
    begun = this.first <= phrase.today or phrase.nearest
    days = this if begun else calendar.calendar_unit(phrase.today, "weekend", -1)
    return Reading("weekday", days._replace(tolerance=1), strong=False)


def weekday(phrase: Phrase) -> Reading:
    """Read "last Tuesday"; "Tuesday" alone needs a preposition."""
    which = phrase.which()
    days = calendar.weekday(phrase.today, phrase.value("weekday"), which, phrase.nearest)
    if which is None:
        tense = phrase.tense()
        appointment = phrase.nearest and tense == 0 and phrase.names_appointment()
        if (tense > 0 or appointment) and days.after <= phrase.today:
            days = calendar.weekday(phrase.today, phrase.value("weekday"), 1)
        elif phrase.nearest and tense < 0 and days.first > phrase.today:
            days = calendar.weekday(phrase.today, phrase.value("weekday"), None)
    return Reading("weekday", days, strong=which is not None)


def weekday_of_week(phrase: Phrase) -> Reading:
    """Read "Tuesday of last week"."""
    week = calendar.calendar_unit(phrase.today, "week", phrase.value("which"))
    day = week.first.fromordinal(week.first.toordinal() + phrase.value("weekday"))
    return Reading("day", calendar.one_day(day, calendar.WEEKDAY_TOLERANCE))


def day(phrase: Phrase) -> Reading:
    """Read "7 May 2023" and "May 7th"; lower-case "may 7" needs a preposition."""
    number, month = phrase.number("day"), phrase.value("month")
    strong = phrase.has("year") or not phrase.doubtful("month")
    return _recurring(phrase, "day", lambda year: calendar.one_day(date(year, month, number)), strong)


def day_range(phrase: Phrase) -> Reading:
    """Read "3 to 5 March"."""
    first, last, month = int(phrase.match["day"]), int(phrase.match["last"]), phrase.value("month")
    if last < first:
        raise ValueError(f"{last} before {first}")

    def days(year: int) -> Days:
        return Days(date(year, month, first), calendar.one_day(date(year, month, last)).after)

    return _recurring(phrase, "day", days, phrase.has("year") or not phrase.doubtful("month"))


def month(phrase: Phrase) -> Reading | None:
    """Read "May 2023", "last May"; "May" alone needs a preposition."""
    number = phrase.value("month")
    strong = phrase.has("which") or phrase.year() is not None
    never_title = phrase.match["month"] in phrase.vocabulary.never_title
    if phrase.doubtful("month") and (phrase.has("which") or (never_title and not strong)):
        return None
    return _recurring(phrase, "month", lambda year: calendar.month(year, number), strong)


def _of_month(make: Callable[[Days, int], Days]) -> Reader:
    def read(phrase: Phrase) -> Reading:
        ordinal, number = phrase.value("ordinal"), phrase.value("month")
        return _recurring(phrase, "week", lambda year: make(calendar.month(year, number), ordinal), True)

    return read


# "The first week of June", "the first weekend of June".
week_of_month, weekend_of_month = map(_of_month, (calendar.week_of_month, calendar.weekend_of_month))


def season(phrase: Phrase) -> Reading:
    """Read "last summer", "summer of 2021"; "summer" alone needs a preposition."""
    number = phrase.value("season")
    strong = phrase.has("which") or phrase.year() is not None
    return _recurring(phrase, "season", lambda year: calendar.season(year, number), strong)


def season_of_question(phrase: Phrase) -> Reading | None:
    """Read "in spring" in a question about the past, where it is the latest; elsewhere it is every one."""
    asks = "?" in phrase.original[phrase.match.end() :]
    if not asks or not re.search(rf"(?<!\w)(?:{phrase.vocabulary.past})(?!\w)", phrase.match.string):
        return None
    return season(phrase)._replace(strong=True)


def last_weekday(phrase: Phrase) -> Reading:
    """Read «i måndags»: the latest before today."""
    return Reading("weekday", calendar.weekday(phrase.today, phrase.value("weekday"), -1))


def last_year(phrase: Phrase) -> Reading:
    """Read a word that means last year."""
    return Reading("unit", calendar.calendar_unit(phrase.today, "year", -1))


def this_year(phrase: Phrase) -> Reading:
    """Read a word that means this year."""
    return Reading("unit", calendar.calendar_unit(phrase.today, "year", 0))


def start_of_year(phrase: Phrase, part: int = 0) -> Reading:
    """Read "the beginning of the year"."""
    return Reading("unit", calendar.part(calendar.years(phrase.today.year + (phrase.which() or 0)), part))


end_of_year = partial(start_of_year, part=2)


def day_of_month(phrase: Phrase) -> Reading:
    """Read "the 15th of next month": 下个月十五号."""
    of = calendar.calendar_unit(phrase.today, "month", phrase.value("which")).first
    return Reading("day", calendar.one_day(of.replace(day=phrase.number("day"))))


def surely(reader: Reader) -> Reader:
    """Return a reader of the same that needs no preposition to be believed."""

    def read(phrase: Phrase) -> Reading | None:
        reading = reader(phrase)
        return reading and reading._replace(strong=True)

    return read


def bounded(reader: Reader, bound: str) -> Reader:
    """Return a reader of what is since, before or after what another reads."""

    def read(phrase: Phrase) -> Reading | None:
        reading = reader(phrase)
        return reading and Reading("range", calendar.bounded(reading.days, bound, phrase.today))

    return read


def holiday(phrase: Phrase) -> Reading:
    """Read "last Christmas"; "Christmas" alone needs a preposition. The days next to it still count."""
    number, of_month = phrase.value("holiday") % 100, phrase.value("holiday") // 100
    strong = phrase.has("which") or phrase.year() is not None
    return _recurring(
        phrase, "holiday", lambda year: calendar.one_day(date(year, of_month, number), 1), strong
    )


def quarter(phrase: Phrase) -> Reading | None:
    """Read "Q3 2024", "the third quarter of 2024"; a quarter without a year needs a preposition."""
    number = phrase.value("ordinal")
    if not 1 <= number <= 4:
        return None
    return _recurring(
        phrase, "quarter", lambda year: calendar.quarter(year, number), phrase.year() is not None
    )


def year(phrase: Phrase) -> Reading:
    """Read "the year 2022"."""
    return Reading("year", calendar.years(int(phrase.match["year"])))


def bare_year(phrase: Phrase) -> Reading:
    """Read "2022", which needs a preposition."""
    return Reading("year", calendar.years(int(phrase.match["year"])), strong=False)


def year_range(phrase: Phrase) -> Reading:
    """Read "2020–2022", which needs a preposition."""
    first, last = int(phrase.match["year"]), int(phrase.match["last_year"])
    if last < first:
        raise ValueError(f"{last} before {first}")
    return Reading("year", calendar.years(first, last - first + 1), strong=False)


def decade(phrase: Phrase) -> Reading:
    """Read "the 1990s"; "the 90s" and "the nineties" need a preposition, and mean the latest begun."""
    figure = phrase.match["decade"]
    number = int(figure) if figure.isdigit() else phrase.value("decade")
    if number < 100:
        century = phrase.today.year // 100 * 100
        first = century + number if century + number <= phrase.today.year else century - 100 + number
        return Reading("decade", calendar.years(first, 10), strong=False)
    # Before 2000 a round hundred is the century: "in the 1800s".
    return Reading("decade", calendar.years(number, 100 if number % 100 == 0 and number < 2000 else 10))


def iso_day(phrase: Phrase) -> Reading:
    """Read "2023-05-07", "7.5.2023"."""
    day_number, month_number = int(phrase.match["day"]), int(phrase.match["month_number"])
    return _recurring(
        phrase, "day", lambda year: calendar.one_day(date(year, month_number, day_number)), True
    )


def iso_month(phrase: Phrase) -> Reading:
    """Read "2023-05"."""
    return Reading("month", calendar.month(int(phrase.match["year"]), int(phrase.match["month_number"])))


def slashed_day(phrase: Phrase) -> Reading | None:
    """Read "13/5/2023" and "5/13/2023", where only one order is possible; not "7/5/2023"."""
    first, second = int(phrase.match["first"]), int(phrase.match["second"])
    if first <= 12 and second <= 12 and first != second:
        return None
    day_number, month_number = (first, second) if first > 12 or first == second else (second, first)
    return Reading("day", calendar.one_day(date(int(phrase.match["year"]), month_number, day_number)))


def slashed_day_first(phrase: Phrase) -> Reading:
    """Read "7/5/2023" in a language that puts the day first."""
    day_number, month_number = int(phrase.match["first"]), int(phrase.match["second"])
    return Reading("day", calendar.one_day(date(int(phrase.match["year"]), month_number, day_number)))


def _recurring(phrase: Phrase, kind: str, make: Callable[[int], Days], strong: bool) -> Reading:
    """Return the reading of what comes every year, in the year that is named or the one that is meant."""
    year = phrase.year()
    if year is not None:
        return Reading(kind, make(year), strong)
    which = phrase.which()
    days = calendar.recurring(make, phrase.today, which, phrase.nearest)
    if which is None and phrase.nearest and days.after <= phrase.today and phrase.tense() > 0:
        days = calendar.recurring(make, phrase.today, 1)
    return Reading(kind, days, strong, make if which is None else None)


def _begins_a_sentence(phrase: Phrase) -> bool:
    """Return whether the word begins a sentence that goes on, so that its capital says nothing."""
    start, end = phrase.match.span()
    before = phrase.original[max(0, start - 4) : start].rstrip()
    after = phrase.original[end : end + 2]
    return (not before or before[-1] in ".!?") and after[:1].isspace() and after[1:].islower()
