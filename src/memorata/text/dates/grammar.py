"""Rules that several European languages share, made from what is different in each.

A language gives its words (:class:`~memorata.text.dates.language.Vocabulary`), its prepositions, and the few
turns of phrase below; what is left is the same everywhere: a number before a month, a year after it, "last"
beside a unit, a weekday or a month.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import DIGITS, DateLanguage, Prepositions, Rule, Vocabulary, single_words


@dataclass(frozen=True)
class Grammar:
    """What a language says around its words; every pattern is one of :mod:`memorata.text.dates.language`.

    Attributes
    ----------
    recently, ago, ahead, stretch
        "lately"; "{number} {unit} ago"; "in {number} {unit}"; "the last {number} {unit}".
    of
        What stands between day, month and year.
    day
        What may stand behind the number of a day.
    day_ranges
        "from {day} to {last} {month}", without the year.
    weekend
        The weekend, in words that stand alone.
    years
        What a year is announced by: "the year".
    decades
        "the nineties", with a group ``decade``.
    year_start, year_end
        The beginning and the end of the year that it is.
    parts_of_day
        What may follow or go before "yesterday".
    question_seasons
        What a season follows in a question about the last one: "in", "au".
    this
        What may follow "this week": "-ci".
    not_fixed
        What may not stand before "tomorrow": «la mañana» is the morning.
    """

    recently: str
    ago: tuple[str, ...]
    ahead: tuple[str, ...]
    stretch: tuple[str, ...]
    of: str
    day: str
    day_ranges: tuple[str, ...]
    weekend: str
    years: str
    decades: str
    year_start: str
    year_end: str
    parts_of_day: str
    question_seasons: tuple[str, ...] = ()
    this: str = ""
    not_fixed: str = ""

    def language(self, words: Vocabulary, prepositions: Prepositions) -> DateLanguage:
        """Return the language that these words, prepositions and turns of phrase make."""
        return DateLanguage(words, prepositions, self._rules(words))

    def _rules(self, words: Vocabulary) -> tuple[Rule, ...]:
        of, day = self.of, rf"{{day}}{self.day}"
        # A unit alone is no sign of a time ("an" is a year, and an English article); "last" beside it is.
        which, parts = " ".join(sorted(single_words(words.which))), self.parts_of_day
        return (
            (read.fixed, rf"{self.not_fixed}{{fixed}}(?: (?:{parts}))?(?!-\w)"),
            (read.recently, self.recently, _words(self.recently)),
            *((read.ago, pattern, _words(pattern)) for pattern in self.ago),
            *((read.ahead, pattern, _words(pattern)) for pattern in self.ahead),
            *((read.stretch, pattern, _words(pattern)) for pattern in self.stretch),
            (read.which_unit, rf"{{which}} {{unit}}{self.this}", which),
            (read.which_unit, r"{unit} {which}", which),
            (read.bare_weekend, self.weekend, _words(self.weekend)),
            (read.weekday, r"{which} {weekday}"),
            (read.weekday, r"{weekday} {which}"),
            (read.weekday, r"{weekday}"),
            (read.day, rf"{day}{of}{{month}},?{of}{{year}}"),
            (read.day, rf"{day}{of}{{month}}"),
            *((read.day_range, rf"{pattern}(?:{of}{{year}})?") for pattern in self.day_ranges),
            (read.month, rf"{{month}},?{of}{{year}}"),
            (read.month, r"{which} {month}(?! \d)"),
            (read.month, r"{month} {which}"),
            (read.month, r"{month}"),
            (read.season, rf"{{season}}{of}{{year}}{{uncounted}}"),
            (read.season, r"{which} {season}"),
            (read.season, r"{season} {which}"),
            *((read.season_of_question, rf"(?<={word}\x20){{season}}") for word in self.question_seasons),
            (read.season, r"{season}"),
            (read.holiday, rf"{{holiday}}{of}{{year}}"),
            (read.holiday, r"{holiday}"),
            (read.year, rf"(?:{self.years}) {{year}}", _words(self.years)),
            (read.bare_year, r"{year}{uncounted}"),
            (read.year_range, r"{year}\s?[-–—]\s?{last_year}"),
            (read.decade, self.decades, DIGITS),
            (read.start_of_year, self.year_start, _words(self.year_start)),
            (read.end_of_year, self.year_end, _words(self.year_end)),
        )  # fmt: skip


_OPTIONAL: Final = re.compile(r"\((?:\?:)?[^()]*\)\?")
_SEGMENT: Final = re.compile(r"\(\?:([^()]*)\)|([^\W\d_]+)")


def _words(pattern: str) -> str:
    """Return words of which a match of a pattern holds one: of each alternative the longest it must have."""
    words: set[str] = set()
    for alternative in re.split(r"\|(?![^()]*\))", pattern.replace("{number}", " ").replace("{unit}", " ")):
        required = _OPTIONAL.sub(" ", alternative)
        segments = [single_words((match[1] or match[2]).split("|")) for match in _SEGMENT.finditer(required)]
        words |= max(segments, key=lambda each: min(map(len, each)))
    return " ".join(sorted(words))
