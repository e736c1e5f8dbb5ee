"""The words by which claims are compared: attributes, classes, polarity, change; in several languages.

They are in ``claim_words.toml``. English, German, Spanish, French, Chinese, and Russian where
:mod:`~memorata.dedupe.cue_words` has it. General words of a language, not those of any data set: what is
listed is a closed class (negations, pronouns, words of change), or one of the few attributes of which a
person or a thing has one value at a time.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from memorata._frozen import frozen
from memorata.dedupe.cue_words import CHANGES, FIRST_PERSON, LIGHT, NEGATIONS, SLOTS, SPEAKER, SPEAKERS, WEEK

_DATA: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_NUMBERS: Final = {
    word: value for value, words in enumerate(_DATA["numbers"]["words"]) for word in words.split()
}
_UNITS: Final[list[str]] = _DATA["numbers"]["units"].split()
_HAN_WEEK: Final = [f"{week}{day}" for week in ("周", "星期", "礼拜") for day in "一二三四五六日天"]
ATTRIBUTES: Final = tuple(dict.fromkeys((*_DATA["attributes"], *SLOTS.values())))
CLASSES: Final = tuple(_DATA["classes"])


@frozen
class Sense:
    """What a word means to a comparison of claims."""

    attributes: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    light: bool = False


class _Lexicon:
    """Words and beginnings of words, each with what it stands for."""

    def __init__(self) -> None:
        self.words: dict[str, set[tuple[str, str]]] = {}
        self.starts: dict[str, set[tuple[str, str]]] = {}
        self.openings: set[str] = set()
        """The first three letters of all beginnings; shorter ones are found nowhere."""

    def add(self, kind: str, name: str, words: str) -> None:
        for word in words.split():
            table, key = (self.starts, word[:-1]) if word.endswith("*") else (self.words, word)
            table.setdefault(key, set()).add((kind, name))
            if table is self.starts:
                self.openings.add(key[:3])

    def look_up(self, word: str) -> set[tuple[str, str]]:
        senses = set(self.words.get(word, ()))
        if word[:3] in self.openings:
            for end in range(3, len(word) + 1):
                senses |= self.starts.get(word[:end], set())
        return senses


def _lexicon() -> _Lexicon:
    lexicon = _Lexicon()
    for kind in ("attributes", "lacks", "flags"):
        for name, words in _DATA[kind].items():
            lexicon.add(kind, name, words)
    for name, words in _DATA["classes"].items():
        heads, _, members = words.partition("|")
        lexicon.add("heads", name, heads)
        lexicon.add("classes", name, heads + members)
    for name, also in (
        ("negative", NEGATIONS), ("changed", CHANGES), ("me", SPEAKER | SPEAKERS), ("light", LIGHT),
        ("week", WEEK), ("week", _HAN_WEEK), ("first", FIRST_PERSON),
    ):  # fmt: skip
        lexicon.add("flags", name, " ".join(also))
    for word, slot in SLOTS.items():
        if not word.isascii() and re.match("[а-яё]", word):
            lexicon.words.setdefault(word, set()).add(("attributes", slot))
    return lexicon


_LEXICON: Final = _lexicon()


@lru_cache(maxsize=256)
def plain_words(kind: str, name: str) -> tuple[str, ...]:
    """Return the words of plain letters that stand for something; one that may go on ends in ``*``."""
    listed = [
        word + end
        for table, end in ((_LEXICON.words, ""), (_LEXICON.starts, "*"))
        for word, senses in table.items()
        if word.isascii() and (kind, name) in senses
    ]
    return tuple(listed)


PLAIN: Final = Sense()
"""That of a word which is not listed."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
HAN_WORDS: Final = frozenset(word for word in (*_LEXICON.words, *_UNITS, *_NUMBERS) if _HAN.match(word))
"""Words of Chinese that are read as one; any other character stands for itself."""
MAX_HAN: Final = max(map(len, HAN_WORDS))


@lru_cache(maxsize=16_384)
def sense(word: str) -> Sense:
    """Return what a folded word means to a comparison of claims."""
    entry = _LEXICON.look_up(word)
    if not entry:
        return PLAIN

    def names_of(kind: str) -> frozenset[str]:
        return frozenset(name for of, name in entry if of == kind)

    flags = names_of("flags")
    return Sense(
        names_of("attributes"),
        names_of("classes"),
        names_of("heads"),
        names_of("lacks"),
        flags,
        "light" in flags,
    )


def number(word: str) -> str | None:
    """Return the value of a number, in digits or in words; None for any other word."""
    if word[:1].isdigit():
        return word
    value = _NUMBERS.get(word)
    return None if value is None else str(value)
