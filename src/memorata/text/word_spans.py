"""The words of a text where they stand, with their capitals: what names are made of.

What a word is by itself (its lower case, its capital) is found out once and remembered in a bounded table;
where it stands, and whether a sentence starts there, is found out only for the few words that are asked for.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from memorata._frozen import frozen
from memorata.text.ordinary_words import CALENDAR, TITLES, listed

WORD: Final = re.compile(r"[^\W\d_][\w\u0300-\u036f]*")
ABBREVIATIONS: Final = listed("st mt ft jr sr no")
PARTICLES: Final = listed("van von de da di du der den ter ibn bin")
"""Lower-case words that a family name can begin with: van Gogh, von Neumann, da Vinci."""

_APART = re.compile(f"({WORD.pattern})")
_ASCII_APART = re.compile(r"([A-Za-z][A-Za-z0-9_]*)")
"""The same for plain text: a set of characters is searched in two thirds of the time of a set of kinds."""
_STARTS = re.compile(r"[.!?…。！？]['\"’”»)\]]*\s+|\n|[:;]\s|[\"“„«(\[]\s*$|[-*•–—]\s+$|^\s*\d+[.)]\s")
_REMEMBERED_WORDS = 50_000
_LONGEST_REMEMBERED = 64


@frozen
class Word:
    """A word, wherever it stands.

    A brand like iPhone counts as capitalised; a month or a day of the week does not. What may belong to a
    name has a capital, or is a particle of one.
    """

    text: str
    lower: str
    capital: bool
    of_name: bool


class WordSpans:
    """The words of a text that begin with a letter, in order.

    Attributes
    ----------
    words
        The words.
    gaps
        What lies between each word and the word before it.

    Examples
    --------
    >>> spans = WordSpans("So did I. Bye")
    >>> [(word.text, word.capital, spans.starts(at)) for at, word in enumerate(spans.words)]
    [('So', True, True), ('did', False, False), ('I', True, False), ('Bye', True, False)]
    >>> spans.place(0, 1)
    (0, 6)
    """

    __slots__ = ("_ends", "_pieces", "gaps", "words")

    def __init__(self, text: str) -> None:
        self._pieces = (_ASCII_APART if text.isascii() else _APART).split(text)
        self.words: list[Word] = list(map(_TABLE.__getitem__, self._pieces[1::2]))
        self.gaps: list[str] = self._pieces[:-1:2]
        self._ends: list[int] | None = None

    def starts(self, at: int) -> bool:
        """Return whether a sentence starts with the word at this place."""
        gap = self.gaps[at]
        if at == 0:
            return True
        if gap == " " or _STARTS.search(gap) is None:
            return False
        before = self.words[at - 1]
        if gap[0] == "." and before.capital:
            # An initial or an abbreviation ends with a full stop, too.
            return len(before.text) > 1 and before.lower not in ABBREVIATIONS and before.lower not in TITLES
        return True

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Return where the first of some words begins, and where the last of them ends."""
        # Added up once, and only for a text in which something was found.
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._pieces)))
        return self._ends[2 * first], self._ends[2 * last + 1]


class _Table(dict[str, Word]):
    def __missing__(self, text: str) -> Word:
        lower = text.lower()
        capital = text[0].isupper() or (len(text) > 2 and text[0].islower() and text[1].isupper())
        capital = capital and lower not in CALENDAR
        word = Word(text, lower, capital, capital or lower in PARTICLES)
        if len(text) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED_WORDS:
                self.clear()
            self[text] = word
        return word


_TABLE: Final = _Table()
