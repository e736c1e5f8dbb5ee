"""Known names in a text: where they stand, whom they mean, and where the same letters are a common word.

Names are compared folded (:mod:`memorata.text.tokens`), word by word, the longest first, by a table from
each name's first word. A name in a script without spaces is looked for as it stands. Short names and names
that are also common words ("Will", "May") must be written as they were given.

What folding cannot know, a person can say: a merge keeps a redirect from the old name to the new one, as
encyclopaedias do, so nothing that points to the old name is rewritten, and removing the redirect undoes it.

For what cannot be undone, a name must stand as a name (:class:`NameMatcher`): "Will you mark it in May?"
names neither Will nor Mark nor May. A name that is no common word counts wherever it stands, in any case. One
that is must be written with a capital where a capital says something, not as a part of a longer name, nor as
a month, nor behind an article; at the start of a sentence, where a capital says nothing, a verb of a person
acting has to follow. What is left out so is little, and for a person to decide: texts that merely have the
word can be asked for as such. Where too much is better than too little, :func:`may_mention` takes any word of
a name for the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from functools import cache, lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.text.language import detect
from memorata.text.tokens import WORD, WordSpans, contains_any, folded, is_unspaced
from memorata.text.word_lists import (
    CALENDAR,
    DATE_PREPOSITIONS,
    NAMES_AND_WORDS,
    STOP_WORD_LANGUAGES,
    TITLES,
    common_words,
    shared,
)

_WORD: Final = re.compile(r"[\w\u0300-\u036f]+")
_SYMBOLS: Final = re.compile(r"([^\w\s]*)(.*?)([^\w\s]*)$", re.DOTALL)
_MAX_EXACT_LENGTH: Final = 2
_MAX_GAP: Final = 3


class _Name(NamedTuple):
    words: tuple[str, ...]
    written: str
    before: str
    after: str
    exact: bool
    calendar: bool


class Gazetteer:
    """The names and aliases of a namespace's entities; the first entity that has a name keeps it.

    >>> gazetteer = Gazetteer([Entity("Bank of England", aliases=("BoE",)), Entity("Zoë")])
    >>> gazetteer.spans("zoe left the BANK OF ENGLAND")
    [(0, 3), (13, 28)]
    """

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self._owners: dict[str, Entity] = {}
        self._names: dict[str, list[_Name]] = {}
        self._unspaced_names: list[str] = []
        self._unspaced: re.Pattern[str] | None = None
        self._add(entities)

    def added(self, entities: Iterable[Entity]) -> Gazetteer:
        """Return the same names and those of more entities, at the cost of a few copies."""
        more = Gazetteer()
        more._owners, more._names = dict(self._owners), dict(self._names)
        more._unspaced_names, more._unspaced = list(self._unspaced_names), self._unspaced
        more._add(entities)
        return more

    def _add(self, entities: Iterable[Entity]) -> None:
        if isinstance(entities, str | bytes) or not isinstance(entities, Iterable):
            raise InvalidArgument("entities", entities, "a list of entities")
        touched: set[str] = set()
        before = len(self._unspaced_names)
        for position, entity in enumerate(entities):
            if not isinstance(entity, Entity):
                raise InvalidArgument(f"entities[{position}]", entity, "an Entity")
            for name in (entity.name, *entity.aliases):
                key = folded(name)
                if key and key not in self._owners:
                    self._owners[key] = entity
                    if any(map(is_unspaced, name)):
                        self._unspaced_names.append(name.strip())
                    elif shape := _shaped(name.strip()):
                        first = shape.words[0]
                        # The list may be another table's as well.
                        shapes = self._names.get(first, [])
                        self._names[first] = [*shapes, shape]
                        touched.add(first)
        for first in touched:
            self._names[first].sort(key=lambda shape: (-len(shape.words), -len(shape.written)))
        if len(self._unspaced_names) > before:
            longest_first = sorted(self._unspaced_names, key=len, reverse=True)
            self._unspaced = re.compile("|".join(map(re.escape, longest_first)))

    def __len__(self) -> int:
        return len(self._owners)

    def owner(self, name: str) -> Entity | None:
        """Return the entity that has this name or alias."""
        return self._owners.get(folded(name))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where known names stand in `text`, in order and apart from each other."""
        spans: list[tuple[int, int]] = []
        if self._names:
            words_at = [(match.start(), match.end()) for match in _WORD.finditer(text)]
            words = [folded(text[start:end]) for start, end in words_at]
            at = 0
            while at < len(words):
                shape = next(
                    (s for s in self._names.get(words[at], ()) if _fits(s, text, words, words_at, at)), None
                )
                if shape is None:
                    at += 1
                    continue
                last = at + len(shape.words) - 1
                spans.append((words_at[at][0] - len(shape.before), words_at[last][1] + len(shape.after)))
                at = last + 1
        if self._unspaced is not None:
            runs = [match.span() for match in self._unspaced.finditer(text)]
            free = [run for run in runs if all(run[1] <= start or end <= run[0] for start, end in spans)]
            spans = sorted(spans + free)
        return spans


@frozen
class Redirects:
    """Which names were merged: the name given up, and the name to read instead.

    >>> Redirects({"Bob": "Robert", "Robert": "Robert Miles"}).follow("BOB")
    'Robert Miles'
    """

    entries: Mapping[str, str] = field(default_factory=dict)
    _next: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.entries, Mapping):
            raise InvalidArgument("entries", self.entries, "a mapping from names to names")
        following: dict[str, str] = {}
        for source, target in self.entries.items():
            key = _key("entries", source)
            if key in following:
                raise InvalidArgument("entries", source, "names that are each given up once")
            following[key] = checks.text(f"entries[{source!r}]", target)
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))
        object.__setattr__(self, "_next", MappingProxyType(following))
        for source, target in self.entries.items():
            if self._leads(_key("entries", target), _key("entries", source)):
                raise InvalidArgument("entries", source, "names that do not lead back to themselves")

    def follow(self, name: str) -> str:
        """Return the name to read instead of `name`: itself, unless it was merged."""
        key = _key("name", name)
        while key in self._next:
            name = self._next[key]
            key = folded(name)
        return name

    def merged_into(self, name: str) -> tuple[str, ...]:
        """Return every name that leads to `name`, directly or not, in the order they were merged."""
        target = _key("name", name)
        return tuple(source for source in self.entries if self._leads(folded(self.entries[source]), target))

    def _leads(self, key: str, target: str) -> bool:
        """Return whether following `key` comes past `target`; a table under test may still hold a cycle."""
        seen: set[str] = set()
        while key != target:
            if key in seen or key not in self._next:
                return False
            seen.add(key)
            key = folded(self._next[key])
        return True


def _shaped(name: str) -> _Name | None:
    match = _SYMBOLS.match(name)
    before, middle, after = match.groups() if match else ("", name, "")
    words = tuple(folded(word) for word in _WORD.findall(middle))
    if not words:
        return None
    alone = words[0] if len(words) == 1 else ""
    common = bool(alone) and any(alone in common_words(language) for language in ("english", "german"))
    exact = len(name) <= _MAX_EXACT_LENGTH or common or alone in CALENDAR
    return _Name(words, name, before, after, exact, alone in CALENDAR)


def _fits(shape: _Name, text: str, words: list[str], places: list[tuple[int, int]], at: int) -> bool:
    count = len(shape.words)
    if tuple(words[at : at + count]) != shape.words:
        return False
    start, end = places[at][0] - len(shape.before), places[at + count - 1][1] + len(shape.after)
    if start < 0 or text[start : places[at][0]] != shape.before:
        return False
    if text[places[at + count - 1][1] : end] != shape.after:
        return False
    # Between the words of a name stand blanks, hyphens, apostrophes and the like, and only few of them.
    gaps = [(before[1], after[0]) for before, after in pairwise(places[at : at + count])]
    if any(start + _MAX_GAP < end or "\n" in text[start:end] for start, end in gaps):
        return False
    if shape.exact and text[start:end] != shape.written:
        return False
    if shape.calendar:
        return not ((at and words[at - 1] in DATE_PREPOSITIONS) or text[end : end + 2].strip().isdigit())
    return True


def _key(argument: str, name: object) -> str:
    key = folded(checks.text(argument, name))
    if not key:
        raise InvalidArgument(argument, name, "a name that is not blank")
    return key


_DETERMINERS: Final = shared("names", "determiners")
_SUBJECT_VERBS: Final = shared("names", "verbs_of_persons")
_BEFORE_SUBJECT: Final = re.compile(
    r"\s+(?:i|you|he|she|it|we|they|the|this|that|these|those|there|my|your|his|her|its|our|their|any(?:one|body|thing)"
    r"|someone|somebody|everyone|everybody|not)\b"
)
"""The object after a verb that asks or tells to do something."""
_SENTENCE_ENDS: Final = (*".!?…\"“”'’:;", "")
_MAX_HEADLINE_CAPITALS: Final = 1
_MIN_NAME_WORD: Final = 3
_WORD_RUN: Final = re.compile(r"\w+")


class NameMatcher:
    """Tells whether one of the names of a person or a thing stands in a text as a name.

    >>> will = NameMatcher(["Will"])
    >>> [will.matches(text) for text in ("I met Will.", "Will drinks tea.", "Will you come?", "I will.")]
    [True, True, False, False]
    >>> NameMatcher(["Marigold"]).matches("in the evening marigold sang")
    True
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._written = {name.strip() for name in names if name.strip()}
        spellings = {folded(name) for name in self._written}
        self.also_words = frozenset(name for name in spellings if is_also_word(name))
        self._plain = spellings - self.also_words

    def matches(self, text: str) -> bool:
        """Return whether one of the names stands in a text as a name."""
        if self._plain and contains_any(text, self._plain):
            return True
        return bool(self.also_words) and contains_any(text, self.also_words) and self._is_named(text)

    def _is_named(self, text: str) -> bool:
        spans = WordSpans(text)
        language = detect(text)
        alone = {name for name in self.also_words if " " not in name}
        return any(
            folded(word.text) in alone
            and self._stands_as_name(spans, at, language)
            and not (folded(word.text) in CALENDAR and _has_number_beside(text, spans, at))
            for at, word in enumerate(spans.words)
        ) or any(name in text for name in self._written if " " in name and name != folded(name))

    def _stands_as_name(self, spans: WordSpans, at: int, language: str) -> bool:
        words, word = spans.words, spans.words[at].text
        if not word[0].isupper() or (word.isupper() and len(word) > 1 and word not in self._written):
            return False
        before = words[at - 1] if at and spans.gaps[at] in (" ", ". ") else None
        after = words[at + 1] if at + 1 < len(words) and spans.gaps[at + 1] == " " else None
        if before is not None and before.lower in TITLES:
            return True
        if spans.starts(at):
            possessive = spans.gaps[at + 1 : at + 2] in (["'"], ["’"]) and words[at + 1].text == "s"
            return possessive or (after is not None and after.lower in _SUBJECT_VERBS)
        if before is not None and (
            before.lower in _DETERMINERS
            or (word.lower() in CALENDAR and before.lower in DATE_PREPOSITIONS)
            or (before.text[0].isupper() and not spans.starts(at - 1))
        ):
            return False
        if after is not None and after.text[0].isupper() and after.text != "I":
            return False
        # A German noun has a capital wherever it stands, and a headline's words have, too.
        return language != "german" and not _is_headline(spans, at)


def name_words(names: Iterable[str], language: str = "english") -> frozenset[str]:
    """Return the folded words of some names that can stand for the whole of one in a text of a language."""
    candidates = {word for name in checks.texts("names", names) for word in _WORD_RUN.findall(folded(name))}
    return frozenset(
        word for word in candidates if len(word) >= _MIN_NAME_WORD and word not in _unnamed(language)
    )


def may_mention(text: str, names: Collection[str]) -> bool:
    """Return whether a name, spelt in any way, or a word that can stand for it is in a text."""
    spellings = {folded(name) for name in checks.texts("names", names)}
    return contains_any(text, spellings | name_words(spellings, detect(text)))


_MIN_NICKNAME, _MIN_MISSPELT, _MIN_TWICE_MISSPELT = 2, 4, 8
"""How many letters a nickname has at least, and a name in which one or two letters may be wrong."""


def alias_of(word: str, names: Iterable[str]) -> str:
    """Return the word of one of some names that a word is short for or misspells; empty for none or several.

    A nickname is how the name begins (Mel for Melanie); a spelling may differ by one letter that is missing,
    too many, another or in its neighbour's place, by two in a name of eight letters or more, and must begin
    alike. What is a common word as well ("May" for Maya) stands for itself.

    >>> people = ["Melanie", "Caroline", "Priya Raman", "Maya"]
    >>> alias_of("Mel", people), alias_of("Pryia", people), alias_of("May", people)
    ('Melanie', 'Priya', '')
    >>> alias_of("Ann", ["Anna", "Annette"])
    ''
    """
    short = folded(checks.text("word", word))
    if len(short) < _MIN_NICKNAME or is_unspaced(short) or _is_word(short) or short in NAMES_AND_WORDS:
        return ""
    return _stands_for(short, frozenset(names))


@lru_cache(maxsize=1_024)
def _stands_for(short: str, names: frozenset[str]) -> str:
    own = _words_by_letter(names).get(short[0], ())
    for fits in (_begins, _misspells):
        matches = [(part, key) for part, key in own if fits(short, key)]
        if len({key for _, key in matches}) == 1:
            return min(part for part, _ in matches)
        if matches:
            return ""
    return ""


@lru_cache(maxsize=16)
def _words_by_letter(names: frozenset[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the words of some names, as they are written and folded, by their first letter."""
    words: dict[str, list[tuple[str, str]]] = {}
    for part in {part for name in checks.texts("names", list(names)) for part in _WORD_RUN.findall(name)}:
        if key := folded(part):
            words.setdefault(key[0], []).append((part, key))
    return words


def _begins(short: str, name: str) -> bool:
    return len(short) < len(name) and name.startswith(short)


def _misspells(word: str, name: str) -> bool:
    shorter = min(len(word), len(name))
    if shorter < _MIN_MISSPELT or word[0] != name[0] or word == name:
        return False
    return _edits(word, name) <= (2 if shorter >= _MIN_TWICE_MISSPELT else 1)


def _edits(first: str, second: str) -> int:
    """Return how many letters are inserted, left out, changed or swapped with their neighbour (OSA)."""
    if abs(len(first) - len(second)) > 2:
        return 3
    before, above = list[int](), list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 < column and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, above = above, current
    return above[-1]


def is_only_word(name: str, text: str) -> bool:
    """Return whether a name that is also a word stands in a text only as that word: before a subject.

    >>> [is_only_word("Will", text) for text in ("Will you come?", "Will fixed it.", "Will he? Ask Will.")]
    [True, False, False]
    """
    if not is_also_word(folded(name)):
        return False
    places = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return all(
        text[: place.start()].rstrip()[-1:] in _SENTENCE_ENDS and _BEFORE_SUBJECT.match(text, place.end())
        for place in places
    )


def is_also_word(name: str) -> bool:
    """Return whether a folded name could be a common word, or nothing but common words.

    >>> [is_also_word(name) for name in ("will", "mark", "the who", "anna", "will hart")]
    [True, True, True, False, False]
    """
    if any(map(is_unspaced, name)):
        return False
    words = [folded(word) for word in WORD.findall(name)]
    return bool(words) and all(map(_is_word, words))


def _is_word(word: str) -> bool:
    return (
        len(word) < 2
        or word in CALENDAR
        or word in NAMES_AND_WORDS
        or any(word in common_words(language) for language in STOP_WORD_LANGUAGES)
    )


def _has_number_beside(text: str, spans: WordSpans, at: int) -> bool:
    start, end = spans.span(at, at)
    return any(map(str.isdigit, text[max(0, start - 4) : start] + text[end : end + 3]))


def _is_headline(spans: WordSpans, at: int) -> bool:
    """Return whether common words other than the one at a place have capitals, too, for no reason."""
    common = common_words("english")
    capitals = [
        other
        for other, word in enumerate(spans.words)
        if other != at and len(word.text) > 1 and word.text[0].isupper() and word.lower in common
    ]
    return sum(not spans.starts(other) for other in capitals) > _MAX_HEADLINE_CAPITALS


@cache
def _unnamed(language: str) -> frozenset[str]:
    """Return the folded words of a language that are no part of a name."""
    return frozenset(folded(word) for word in CALENDAR | common_words(language))
