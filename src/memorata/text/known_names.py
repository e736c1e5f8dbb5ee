"""The names a namespace already knows, found again in a text however they are spelt.

Names are compared folded (:mod:`memorata.text.folding`), word by word, the longest first, by a table from
each name's first word. A name in a script without spaces is looked for as it stands. Short names and names
that are also ordinary words ("Will", "May") must be written as they were given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.text.folding import folded
from memorata.text.ordinary_words import AFTER_THESE_A_DATE, CALENDAR, ordinary_words
from memorata.text.tokens import is_unspaced

_WORD = re.compile(r"[\w\u0300-\u036f]+")
_SYMBOLS = re.compile(r"([^\w\s]*)(.*?)([^\w\s]*)$", re.DOTALL)
_SHORT = 2


class _Name(NamedTuple):
    words: tuple[str, ...]
    given: str
    before: str
    after: str
    exact: bool
    calendar: bool


class KnownNames:
    """The names and aliases of a namespace's entities.

    Parameters
    ----------
    entities
        The entities; a later one does not take a name from an earlier one.

    Examples
    --------
    >>> known = KnownNames([Entity("Bank of England", aliases=("BoE",)), Entity("Zoë")])
    >>> known.spans("zoe left the BANK OF ENGLAND")
    [(0, 3), (13, 28)]
    """

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        if isinstance(entities, str | bytes) or not isinstance(entities, Iterable):
            raise InvalidArgument("entities", entities, "a list of entities")
        self._owners: dict[str, Entity] = {}
        self._names: dict[str, list[_Name]] = {}
        self._unspaced_names: list[str] = []
        self._unspaced: re.Pattern[str] | None = None
        self._add(entities)

    def added(self, entities: Iterable[Entity]) -> KnownNames:
        """Return the same names and those of more entities, at the cost of a few copies.

        Examples
        --------
        >>> first = KnownNames([Entity("Zoë")])
        >>> first.added([Entity("Ben")]).spans("Ben met Zoe"), first.spans("Ben met Zoe")
        ([(0, 3), (8, 11)], [(8, 11)])
        """
        if isinstance(entities, str | bytes) or not isinstance(entities, Iterable):
            raise InvalidArgument("entities", entities, "a list of entities")
        more = KnownNames()
        more._owners, more._names = dict(self._owners), dict(self._names)
        more._unspaced_names, more._unspaced = list(self._unspaced_names), self._unspaced
        more._add(entities)
        return more

    def _add(self, entities: Iterable[Entity]) -> None:
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
            self._names[first].sort(key=lambda shape: (-len(shape.words), -len(shape.given)))
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
        found: list[tuple[int, int]] = []
        if self._names:
            places = [(match.start(), match.end()) for match in _WORD.finditer(text)]
            words = [folded(text[start:end]) for start, end in places]
            at = 0
            while at < len(words):
                shape = next(
                    (s for s in self._names.get(words[at], ()) if _fits(s, text, words, places, at)), None
                )
                if shape is None:
                    at += 1
                    continue
                last = at + len(shape.words) - 1
                found.append((places[at][0] - len(shape.before), places[last][1] + len(shape.after)))
                at = last + 1
        if self._unspaced is not None:
            runs = [match.span() for match in self._unspaced.finditer(text)]
            free = [run for run in runs if all(run[1] <= start or end <= run[0] for start, end in found)]
            found = sorted(found + free)
        return found


def _shaped(name: str) -> _Name | None:
    match = _SYMBOLS.match(name)
    before, middle, after = match.groups() if match else ("", name, "")
    words = tuple(folded(word) for word in _WORD.findall(middle))
    if not words:
        return None
    alone = words[0] if len(words) == 1 else ""
    ordinary = bool(alone) and any(alone in ordinary_words(language) for language in ("english", "german"))
    exact = len(name) <= _SHORT or ordinary or alone in CALENDAR
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
    if any(
        here[1] + 3 < there[0] or "\n" in text[here[1] : there[0]] for here, there in _gaps(places, at, count)
    ):
        return False
    if shape.exact and text[start:end] != shape.given:
        return False
    if shape.calendar:
        return not ((at and words[at - 1] in AFTER_THESE_A_DATE) or text[end : end + 2].strip().isdigit())
    return True


def _gaps(
    places: list[tuple[int, int]], at: int, count: int
) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    return zip(places[at : at + count - 1], places[at + 1 : at + count], strict=True)
