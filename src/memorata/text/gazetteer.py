"""The names of a namespace's entities, found in a text however they are spelt, and the merges of names.

Names are compared folded (:mod:`memorata.text.tokens`), word by word, the longest first, by a table from
each name's first word. A name in a script without spaces is looked for as it stands. Short names and names
that are also common words ("Will", "May") must be written as they were given.

What folding cannot know, a person can say: a merge keeps a redirect from the old name to the new one, as
encyclopaedias do, so nothing that points to the old name is rewritten, and removing the redirect undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.text.tokens import folded, is_unspaced
from memorata.text.word_lists import CALENDAR, DATE_PREPOSITIONS, common_words

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

    Examples
    --------
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
    """Which names were merged: the name given up, and the name to read instead. A change gives a new table.

    Examples
    --------
    >>> table = Redirects().merge("Bob", "Robert").merge("Robert", "Robert Miles")
    >>> table.follow("BOB")
    'Robert Miles'
    >>> table.undo("Robert").follow("Bob")
    'Robert'
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

    def merge(self, name: str, into: str) -> Redirects:
        """Return a table in which `name` is read as `into`."""
        source, target = _key("name", name), _key("into", into)
        if source in self._next:
            expected = f"a name not merged yet (it is part of {self.follow(name)!r})"
            raise InvalidArgument("name", name, expected)
        if self._leads(target, source):
            raise InvalidArgument("into", into, f"a name that does not lead back to {name!r}")
        return Redirects({**self.entries, name: into})

    def undo(self, name: str) -> Redirects:
        """Return a table in which `name` stands for itself again; what was merged into it stays with it."""
        source = _key("name", name)
        if source not in self._next:
            raise InvalidArgument("name", name, "a name that was merged")
        return Redirects(
            {written: into for written, into in self.entries.items() if folded(written) != source}
        )

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
