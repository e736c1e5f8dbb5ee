"""A language that can name a time: its words, its prepositions, and its rules as regular expressions.

A rule is a reader (:mod:`memorata.text.dates.readers`) and a pattern such as ``{number} {unit} ago``: a word
in braces stands for all words of that table, a space for one to three characters of white space, an
apostrophe for either apostrophe. Patterns are matched against text in lower case, between word boundaries
that digits cannot trick: the 05 of 2,05 or of a telephone number begins nothing.

Expressions are compiled when a text first needs them: all of them take a third of a second.

A language is read from its file in ``languages/``. ``[words]`` and ``[prepositions]`` have the fields of
:class:`Vocabulary` and :class:`Prepositions`. In a table of words a semicolon ends what means the same, a
comma a spelling, and ``März(|es)`` are two spellings; what stands before a colon is the meaning, which is one
more than the one before where it is left out.

``[rules]`` has under ``plain`` the rules of a language: a reader of :mod:`memorata.text.dates.readers` (with
an exclamation mark, one that needs no preposition to be believed), a pattern, and words of which a match
holds one, where the pattern names no table. A name in capitals stands for one of ``[expressions]``. In
Chinese, Japanese and Korean, where words have no spaces between them and what opens a phrase to one side
stands behind it (五月以来, 2020年から, 3월부터), ``dates`` are the rules that each of the ``endings`` may
follow, and the triggers are single characters.

Most European languages have the rules below, made from ``[phrases]``, which are patterns:

- ``recently``, ``ago``, ``ahead``, ``stretch``: "lately"; "{number} {unit} ago"; "in {number} {unit}"; "the
  last {number} {unit}".
- ``of``, ``day``: what stands between day, month and year, and behind the number of a day.
- ``day_ranges``: "from {day} to {last} {month}", without the year.
- ``weekend``, ``years``: the weekend, in words that stand alone; what a year is announced by: "the year".
- ``decades``: "the nineties", with a group ``decade``.
- ``year_start``, ``year_end``: the beginning and the end of the year that it is.
- ``parts_of_day``, ``not_fixed``: what may follow "yesterday", and what may not stand before "tomorrow": «la
  mañana» is the morning.
- ``question_seasons``: what a season follows in a question about the last one: "in", "au".
- ``this``: what may follow "this week": "-ci".

Lines of an expression are joined, without the blanks that they begin with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import starmap
from typing import Any, Final, NamedTuple

from memorata.lang import LANGUAGES
from memorata.text.dates import readers as read
from memorata.text.dates.readers import Reader

DIGITS: Final = "0"
"""What stands among the words of a text for "it has digits"."""

_LEFT: Final = r"(?<![\w@#$€£+/\\])(?<!\d[.,:–-])"
_RIGHT: Final = r"(?!\w)(?![.,:/–-]\d)(?!\s?[%°])"
_NEVER: Final = "(?!)"
"""An expression that nothing matches."""
_TABLES: Final = ("month", "weekday", "season", "holiday", "fixed", "unit", "which", "ordinal")
_NUMBERS: Final = {
    "day": r"(?P<day>3[01]|[12]\d|0?[1-9])",
    "last": r"(?P<last>3[01]|[12]\d|0?[1-9])",
    "year": r"(?P<year>(?:1[5-9]|20)\d\d)",
    "last_year": r"(?P<last_year>(?:1[5-9]|20)\d\d)",
}


class Rule(NamedTuple):
    """A reader, its pattern, and where the pattern names no table the words of which a match holds one."""

    reader: Reader
    pattern: str
    triggers: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The time words of one language.

    - `month`, `weekday`, `season`, `holiday`, `fixed`, `number`, `ordinal`, `which`, `decade`: what each word
      stands for: months from 1, weekdays from Monday as 0, seasons from spring as 0, holidays as month and
      day (1225), days from today, counts, -1 for last, 0 for this, 1 for next.
    - `units`: the unit that each form means: day, week, fortnight, month, year, weekend, quarter, decade.
    - `only_title`, `never_title`: words that mean a time only with a capital (May), or only without one
      (morgen, марта).
    - `counted`: an expression for what is counted: a number before it is not a year.
    - `denial`: an expression for words after which "in two weeks" is how long, not when: "have not met in two
      weeks".
    - `ahead`: an expression for the end of what stands before a phrase that is still to come: "will meet on
      ".
    - `present`: the same of a statement in the present: "comes on ".
    - `told`: an expression for words that tell what happened: "came".
    - `perfect`: the same for two words with the phrase between them: „ist am Montag gekommen".
    """

    month: Mapping[str, int] = field(default_factory=dict)
    weekday: Mapping[str, int] = field(default_factory=dict)
    season: Mapping[str, int] = field(default_factory=dict)
    holiday: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    number: Mapping[str, int] = field(default_factory=dict)
    ordinal: Mapping[str, int] = field(default_factory=dict)
    which: Mapping[str, int] = field(default_factory=dict)
    decade: Mapping[str, int] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    only_title: frozenset[str] = frozenset()
    never_title: frozenset[str] = frozenset()
    counted: str = _NEVER
    denial: str = _NEVER
    ahead: str = _NEVER
    present: str = _NEVER
    told: str = _NEVER
    perfect: str = _NEVER
    past: str = _NEVER
    """An expression for words that put a question in the past: "did"."""
    boundaries: Sequence[str] = (_LEFT, _RIGHT)
    """What may stand before and after a phrase; where words have no spaces between them, another word."""

    @property
    def tells_tense(self) -> bool:
        """Whether it has words for the past, so that a clause without them is not of it."""
        return self.told is not _NEVER

    @staticmethod
    def says(expression: str, clause: str) -> bool:
        """Return whether a clause has the words of an expression."""
        return re.search(rf"(?<!\w)(?:{expression})(?!\w)", clause) is not None

    def value(self, group: str, matched: str) -> int:
        """Return the number that the words matched by `group` stand for."""
        word = " ".join(matched.replace("’", "'").split())
        if word.isdigit():
            return int(word)
        values: Mapping[str, int] = getattr(self, "which" if group == "of_year" else group)
        return values[word]

    def compiled(self, pattern: str, *, whole: bool = True) -> re.Pattern[str]:
        """Return a pattern with its tables filled in, after a word boundary and, if `whole`, before one."""
        filled = _spaced(pattern).replace("{uncounted}", rf"(?!\s?(?:{self.counted})(?!\w))")
        for name, expression in _NUMBERS.items():
            filled = filled.replace(f"{{{name}}}", expression)
        filled = filled.replace("{number}", rf"(?P<number>\d{{1,4}}|{_any_of(self.number)})")
        filled = filled.replace("{of_year}", f"(?P<of_year>{_any_of(self.which)})")
        filled = filled.replace("{decade}", f"(?P<decade>{_any_of(self.decade)})")
        for name in _TABLES:
            words = self.units if name == "unit" else getattr(self, name)
            filled = filled.replace(f"{{{name}}}", f"(?P<{name}>{_any_of(words)})")
        left, right = self.boundaries
        return re.compile(f"{left}(?:{filled}){right if whole else ''}")

    def triggers(self, pattern: str) -> frozenset[str]:
        """Return words of which a match of `pattern` holds at least one, as single words."""
        named = next((name for name in (*_TABLES, "decade") if f"{{{name}}}" in pattern), None)
        return self._single_words[named] if named is not None else frozenset({DIGITS})

    @cached_property
    def _single_words(self) -> Mapping[str, frozenset[str]]:
        return {
            name: single_words(self.units if name == "unit" else getattr(self, name))
            for name in (*_TABLES, "decade")
        }


@dataclass(frozen=True)
class Prepositions:
    """The words before a time phrase, and what they do.

    - `licences`: for each preposition the kinds of phrases that it makes believable: "in" a month, "on" a
      weekday.
    - `bounds`: for each of "since", "before", "after", "until" which of these four it is.
    - `ranges`: for each word that opens a range an expression for the word between its ends.
    - `joins`, `lists`: expressions for what joins two dates to a range that nothing opens, and for what lists
      them, so that the preposition of the first goes for the second: "in March and April".
    - `articles`, `parts`, `measures`: an expression for articles; words for the first (0), middle (1) and
      last (2) part; an expression for words after which "before" and the like bound nothing: "shortly
      before", "not until".
    """

    licences: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    joins: str = _NEVER
    lists: str = _NEVER
    articles: str = _NEVER
    parts: Mapping[str, int] = field(default_factory=dict)
    measures: str = _NEVER

    @cached_property
    def before(self) -> re.Pattern[str]:
        """What stands before a phrase: a preposition, an article, a part, or nothing of these."""
        words = _any_of({*self.licences, *self.bounds, *self.ranges})
        return re.compile(
            rf"(?:(?<!\w)(?P<preposition>{words})\s{{1,3}})?(?:(?<!\w)(?P<article>{self.articles})\s{{1,3}})?"
            rf"(?:(?<!\w)(?P<part>{_any_of(self.parts)})[\s-]{{1,3}}(?:(?:{self.articles})\s{{1,3}})?)?$"
        )


@dataclass(frozen=True)
class CompiledRule:
    """A rule with the words of which a text must hold one, and its expression."""

    reader: Reader
    pattern: str
    triggers: frozenset[str]
    vocabulary: Vocabulary

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """What finds its phrases in a text in lower case."""
        return self.vocabulary.compiled(self.pattern)


@dataclass(frozen=True)
class DateLanguage:
    """A language that can name a time."""

    vocabulary: Vocabulary
    prepositions: Prepositions
    rules: tuple[Rule, ...]

    @cached_property
    def compiled_rules(self) -> tuple[CompiledRule, ...]:
        """The rules, ready to search with."""
        compiled = []
        for reader, pattern, words in self.rules:
            triggers = frozenset(words.split()) or self.vocabulary.triggers(pattern)
            compiled.append(CompiledRule(reader, pattern, triggers, self.vocabulary))
        return tuple(compiled)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words without which, and without digits, the language finds nothing."""
        return frozenset[str]().union(*(rule.triggers for rule in self.compiled_rules)) - {DIGITS}

    @cached_property
    def beside_digits(self) -> frozenset[str]:
        """Words that make a number worth reading in this language."""
        prepositions = self.prepositions
        words = (*prepositions.licences, *prepositions.bounds, *prepositions.ranges, *prepositions.parts)
        return single_words(words) | self.triggers

    @cached_property
    def measure(self) -> re.Pattern[str]:
        """What can stand before "before": how long, or that it is none."""
        measure = rf"(?:{{number}}\s{{1,3}})?{{unit}}|(?:{self.prepositions.measures})"
        return self.vocabulary.compiled(rf"(?:{measure})\s{{1,3}}$", whole=False)


def single_words(phrases: Iterable[str]) -> frozenset[str]:
    """Return the longest word of each phrase, as the words of a text are cut; one of figures has the mark."""
    return frozenset(max(re.findall(r"[^\W\d_]+", phrase), key=len, default=DIGITS) for phrase in phrases)


def _any_of(words: Iterable[str]) -> str:
    """Return an alternation that prefers the longest."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(_spaced(word.replace(".", r"\.")) for word in ordered) or _NEVER


def _spaced(pattern: str) -> str:
    return pattern.replace(" ", r"\s{1,3}").replace("'", "['’]")


# Dates in figures, in no language: 2023-05-07, 2023-05, 7.5.2023, 13/5/2023, Q3 2024. Points put the day
# first, everywhere. Slashes do so in most of the world and the month first in the United States: 13/5/2023
# and 5/13/2023 can only mean one day, 7/5/2023 could be two and is read only in a language that puts the day
# first.
_MONTH: Final = r"(?P<month_number>1[0-2]|0?[1-9])"
_CLOCK: Final = r"(?:[t\s]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:z|[+-]\d\d:?\d\d)?)?"
_NO_WORDS: Final = Vocabulary()
_DASHES: Final = Prepositions(joins="-|–|—")
_NUMERIC_RULES: Final = (
    (read.iso_day, r"{year}-(?P<month_number>1[0-2]|0[1-9])-(?P<day>3[01]|[12]\d|0[1-9])" + _CLOCK),
    (read.iso_day, rf"{{year}}/{_MONTH}/{{day}}"),
    (read.iso_day, rf"{{day}}\.\s?{_MONTH}\.\s?{{year}}"),
    (read.iso_month, r"{year}-(?P<month_number>1[0-2]|0[1-9])(?!-)"),
    (read.quarter, r"q(?P<ordinal>[1-4])[\s/-]?(?:of )?{year}", DIGITS),
    (read.quarter, r"{year}[\s/-]?q(?P<ordinal>[1-4])", DIGITS),
    (read.quarter, r"q(?P<ordinal>[1-4])", DIGITS),
)
_SLASHED: Final = r"(?P<first>3[01]|[12]\d|0?[1-9])/(?P<second>3[01]|[12]\d|0?[1-9])/{year}"
NUMERIC: Final = DateLanguage(
    _NO_WORDS, _DASHES, tuple(starmap(Rule, (*_NUMERIC_RULES, (read.slashed_day, _SLASHED))))
)
NUMERIC_DAY_FIRST: Final = DateLanguage(
    _NO_WORDS, _DASHES, tuple(starmap(Rule, (*_NUMERIC_RULES, (read.slashed_day_first, _SLASHED))))
)


_OPTIONAL: Final = re.compile(r"\((?:\?:)?[^()]*\)\?")
_SEGMENT: Final = re.compile(r"\(\?:([^()]*)\)|([^\W\d_]+)")


def read_language(name: str) -> DateLanguage:
    """Return the language that the file of its name describes."""
    file = LANGUAGES[name]["dates"]
    vocabulary = Vocabulary(**_fields(file["words"]))
    rules = file.get("rules", {})
    expressions = {f"{{{key}}}": _joined(value) for key, value in file.get("expressions", {}).items()}
    own = [_rule(rule, expressions) for rule in rules.get("plain", ())]
    dates = [_rule(rule, expressions) for rule in rules.get("dates", ())]
    shared = _shared_rules(file["phrases"], vocabulary) if "phrases" in file else ()
    opened = [
        Rule(read.bounded(rule.reader, bound), rf"{rule.pattern}\s?(?:{words})", rule.triggers)
        for bound, words in rules.get("endings", {}).items()
        for rule in dates
    ]
    return DateLanguage(
        vocabulary, Prepositions(**_fields(file["prepositions"])), (*own, *shared, *opened, *dates)
    )


def numbered(words: str, first: int = 0) -> dict[str, int]:
    """Return what each word of a table means, counted from `first`."""
    table: dict[str, int] = {}
    for several in words.split(";"):
        meaning, colon, forms = several.rpartition(":")
        value = int(meaning) if colon else first
        table |= dict.fromkeys(_spellings(forms), value)
        first = value + 1
    return table


def named(words: str) -> dict[str, str]:
    """Return what each word of a table means, by name."""
    entries = (several.partition(":") for several in words.split(";"))
    return {form: name.strip() for name, _, forms in entries for form in _spellings(forms)}


def _spellings(forms: str) -> Iterator[str]:
    for form in forms.split(","):
        stem, opened, endings = " ".join(form.split()).partition("(")
        if opened:
            yield from (stem + ending for ending in endings.removesuffix(")").split("|"))
        else:
            yield stem


def _joined(expression: str) -> str:
    lines = expression.split("\n")
    return expression if len(lines) == 1 else "".join(map(str.lstrip, lines))


def _count_from(first: int) -> Callable[[str], dict[str, int]]:
    return lambda words: numbered(words, first)


_FIELDS: Final[Mapping[str, Callable[[Any], object]]] = {
    **dict.fromkeys(("month", "number", "ordinal"), _count_from(1)),
    **dict.fromkeys(("weekday", "season", "holiday", "fixed", "which", "decade", "parts"), numbered),
    **dict.fromkeys(("units", "licences", "bounds"), named),
    **dict.fromkeys(("only_title", "never_title"), lambda words: frozenset(_spellings(words))),
    **dict.fromkeys(("ranges", "boundaries"), lambda value: value),
}
"""How each field is read; the others are expressions."""


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _FIELDS.get(name, _joined)(value) for name, value in table.items()}


def _rule(columns: Sequence[str], expressions: Mapping[str, str]) -> Rule:
    name, pattern, *triggers = columns
    reader: Reader = getattr(read, name.rstrip("!"))
    pattern = _joined(pattern)
    for key, expression in expressions.items():
        pattern = pattern.replace(key, expression)
    return Rule(read.surely(reader) if name.endswith("!") else reader, pattern, *triggers)


def _shared_rules(phrases: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[Rule, ...]:
    """Return the rules that several European languages share."""
    of, day = phrases["of"], rf"{{day}}{phrases['day']}"
    # A unit alone is no sign of a time ("an" is a year, and an English article); "last" beside it is.
    which = " ".join(sorted(single_words(vocabulary.which)))

    def announced(reader: Reader, name: str, rest: str = "") -> Iterator[Rule]:
        patterns = phrases[name]
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            yield Rule(reader, f"(?:{pattern}){rest}" if rest else pattern, _words(pattern))

    rules = (
        (read.fixed, rf"{phrases.get('not_fixed', '')}{{fixed}}(?: (?:{phrases['parts_of_day']}))?(?!-\w)"),
        *announced(read.recently, "recently"),
        *announced(read.ago, "ago"),
        *announced(read.ahead, "ahead"),
        *announced(read.stretch, "stretch"),
        (read.which_unit, rf"{{which}} {{unit}}{phrases.get('this', '')}", which),
        (read.which_unit, r"{unit} {which}", which),
        *announced(read.bare_weekend, "weekend"),
        (read.weekday, r"{which} {weekday}"),
        (read.weekday, r"{weekday} {which}"),
        *((read.surely(read.weekday), f"{guard}{{weekday}}") for guard in phrases.get("bare_weekday", ())),
        (read.weekday, r"{weekday}"),
        (read.day, rf"{day}{of}{{month}},?{of}{{year}}"),
        (read.day, rf"{day}{of}{{month}}"),
        *((read.day_range, rf"{pattern}(?:{of}{{year}})?") for pattern in phrases["day_ranges"]),
        (read.month, rf"{{month}},?{of}{{year}}"),
        (read.month, r"{which} {month}(?! \d)"),
        (read.month, r"{month} {which}"),
        (read.month, r"{month}"),
        (read.season, rf"{{season}}{of}{{year}}{{uncounted}}"),
        (read.season, r"{which} {season}"),
        (read.season, r"{season} {which}"),
        *(
            (read.season_of_question, rf"(?<={word}\x20){{season}}")
            for word in phrases.get("question_seasons", ())
        ),
        (read.season, r"{season}"),
        (read.holiday, rf"{{holiday}}{of}{{year}}"),
        (read.holiday, r"{holiday}"),
        *announced(read.year, "years", " {year}"),
        (read.bare_year, r"{year}{uncounted}"),
        (read.year_range, r"{year}\s?[-–—]\s?{last_year}"),
        (read.decade, phrases["decades"], DIGITS),
        *announced(read.start_of_year, "year_start"),
        *announced(read.end_of_year, "year_end"),
    )
    return tuple(starmap(Rule, rules))


def _words(pattern: str) -> str:
    """Return words of which a match of a pattern holds one: of each alternative the longest it must have."""
    words: set[str] = set()
    for alternative in re.split(r"\|(?![^()]*\))", pattern.replace("{number}", " ").replace("{unit}", " ")):
        required = _OPTIONAL.sub(" ", alternative)
        segments = [single_words((match[1] or match[2]).split("|")) for match in _SEGMENT.finditer(required)]
        words |= max(segments, key=lambda segment: min(map(len, segment)))
    return " ".join(sorted(words))
