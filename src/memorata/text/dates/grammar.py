"""A language read from its file in ``languages/``: its words, its prepositions and its rules.

``[words]`` and ``[prepositions]`` have the fields of :class:`~memorata.text.dates.language.Vocabulary` and
:class:`~memorata.text.dates.language.Prepositions`. In a table of words a semicolon ends what means the same, a
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
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import DIGITS, DateLanguage, Prepositions, Rule, Vocabulary, single_words

_FOLDER: Final = Path(__file__).with_name("languages")
_OPTIONAL: Final = re.compile(r"\((?:\?:)?[^()]*\)\?")
_SEGMENT: Final = re.compile(r"\(\?:([^()]*)\)|([^\W\d_]+)")


def read_language(name: str) -> DateLanguage:
    """Return the language that the file of its name describes."""
    file = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
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
    """Return what each word of a table means, counted from `first`.

    >>> numbered("one; two, couple; 10: ten(|s)", first=1)
    {'one': 1, 'two': 2, 'couple': 2, 'ten': 10, 'tens': 10}
    """
    table: dict[str, int] = {}
    for several in words.split(";"):
        meaning, colon, forms = several.rpartition(":")
        value = int(meaning) if colon else first
        table |= dict.fromkeys(_spellings(forms), value)
        first = value + 1
    return table


def named(words: str) -> dict[str, str]:
    """Return what each word of a table means, by name.

    >>> named("day: day, days; week: week(|s)")
    {'day': 'day', 'days': 'day', 'week': 'week', 'weeks': 'week'}
    """
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
    reader: read.Reader = getattr(read, name.rstrip("!"))
    pattern = _joined(pattern)
    for key, expression in expressions.items():
        pattern = pattern.replace(key, expression)
    return Rule(read.surely(reader) if name.endswith("!") else reader, pattern, *triggers)


def _shared_rules(phrases: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[Rule, ...]:
    """Return the rules that several European languages share."""
    of, day = phrases["of"], rf"{{day}}{phrases['day']}"
    # A unit alone is no sign of a time ("an" is a year, and an English article); "last" beside it is.
    which = " ".join(sorted(single_words(vocabulary.which)))

    def announced(reader: read.Reader, name: str, rest: str = "") -> Iterator[Rule]:
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
