"""Relations: what is asked of somebody, and other words that tell it ("live", "moved"; "job", "hired").

To static token vectors and small embedders "live" is no nearer to "moved" than to "drinks". The words are in
``relations.toml`` beside this file, by relation and language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from memorata._frozen import frozen
from memorata.text.tokens import folded, is_unspaced

_WORD: Final = re.compile(r"\w+")
_OPENING_LETTERS: Final = 3
"""By how many letters the beginnings of words are looked up; none is shorter."""


class _Lexicon:
    """Words of relations: whole ones, beginnings, words that are needed together, and runs of characters."""

    def __init__(self) -> None:
        self._whole: dict[str, set[str]] = {}
        self._beginnings: dict[str, list[tuple[str, str]]] = {}
        self._together: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._runs: list[tuple[str, str]] = []

    def add(self, relation: str, entries: str) -> None:
        """Add the words of a relation, between blanks."""
        for entry in entries.split():
            if is_unspaced(entry) or "\uac00" <= entry[0] <= "\ud7a3":
                # Korean has blanks, but what follows a word is written with it.
                self._runs.append((entry, relation))
            elif "+" in entry:
                first, *rest = entry.split("+")
                self._together.setdefault(first, []).append((frozenset(rest), relation))
            elif entry.endswith("*"):
                opening = entry[:_OPENING_LETTERS]
                self._beginnings.setdefault(opening, []).append((entry[:-1], relation))
            else:
                self._whole.setdefault(entry, set()).add(relation)

    def relations(self, words: Sequence[str]) -> set[str]:
        """Return the relations that the words of a text, in small letters, stand for."""
        found: set[str] = set()
        for word in words:
            if word in self._whole:
                found |= self._whole[word]
            for beginning, relation in self._beginnings.get(word[:_OPENING_LETTERS], ()):
                if word.startswith(beginning):
                    found.add(relation)
            for others, relation in self._together.get(word, ()):
                if others.issubset(words):
                    found.add(relation)
        row = " ".join(words)
        if not row.isascii():
            found |= {relation for run, relation in self._runs if run in row}
        return found


@cache
def _lexicons() -> tuple[_Lexicon, _Lexicon]:
    """Return the words that ask for relations, and those that tell them; read with the first query."""
    asked, told = _Lexicon(), _Lexicon()
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for relation, by_language in texts.items():
        for text in by_language.values():
            asks, _, tells = text.partition("|")
            asked.add(relation, asks)
            told.add(relation, f"{asks} {tells}")
    return asked, told


def asked_relations(query: str) -> frozenset[str]:
    """Return the relations that a query asks for.

    >>> asked_relations("Where does Lea live?"), asked_relations("Is the door red?")
    (frozenset({'residence'}), frozenset())
    """
    return frozenset(_lexicons()[0].relations(_WORD.findall(query.lower())))


_MIN_NAME_LETTERS, _MAX_ENDING_LETTERS, _UNSPACED_NAME_LETTERS = 3, 2, 2
"""How many letters of a name are compared, and how many are left to its ending: "Katrins", "Полину"."""


@frozen
class AskedRelations:
    """The relations that a query asks for, and the beginnings of the names in it, folded."""

    relations: frozenset[str]
    names: tuple[str, ...]

    @classmethod
    def of(cls, relations: frozenset[str], names: Iterable[str]) -> AskedRelations:
        """Return what a query asks of somebody, by words of the query that may be names."""
        return cls(relations, tuple(map(_name_beginning, names)))

    def told_share(self, speaker: str, text: str, words: Sequence[str]) -> float:
        """Return the share of the relations that a text tells; 0 if the query has names and the text none.

        >>> asked = AskedRelations.of(asked_relations("Where does Lea live?"), ["Lea"])
        >>> asked.told_share("", "Lea moved to Bergen", ["lea", "moved", "to", "bergen"])
        1.0
        >>> asked.told_share("", "Tom lives in Oslo", ["tom", "lives", "in", "oslo"])
        0.0
        """
        told = self.relations & _lexicons()[1].relations(words)
        if told and self.names:
            spoken = folded(f"{speaker} {text}")
            if not any(name in spoken for name in self.names):
                return 0.0
        return len(told) / len(self.relations)


def _name_beginning(word: str) -> str:
    """Return what the forms of a name have in common; where words are not apart, what a query begins with."""
    name = folded(word)
    if is_unspaced(name):
        return name[:_UNSPACED_NAME_LETTERS]
    return name[: max(_MIN_NAME_LETTERS, len(name) - _MAX_ENDING_LETTERS)]
