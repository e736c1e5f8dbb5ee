"""The words of a text where they stand, with their capitals: what names are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from recollect.text.ordinary_words import CALENDAR, TITLES, listed

WORD: Final = re.compile(r"[^\W\d_][\w\u0300-\u036f]*")
ABBREVIATIONS: Final = listed("st mt ft jr sr no")

_STARTS = re.compile(r"[.!?…。！？]['\"’”»)\]]*\s+|\n|[:;]\s|[\"“„«(\[]\s*$|[-*•–—]\s+$|^\s*\d+[.)]\s")


@dataclass(slots=True)
class WordSpan:
    """A word, what lies between it and the word before it, and whether a sentence starts here."""

    start: int
    end: int
    text: str
    lower: str
    capital: bool
    gap: str
    starts: bool


def word_spans(text: str) -> list[WordSpan]:
    """Return the words of `text` that begin with a letter, in order.

    A brand like iPhone counts as capitalised; a month or a day of the week does not.

    Examples
    --------
    >>> [(word.text, word.capital, word.starts) for word in word_spans("So did I. Bye")]
    [('So', True, True), ('did', False, False), ('I', True, False), ('Bye', True, False)]
    """
    found: list[WordSpan] = []
    end = 0
    for match in WORD.finditer(text):
        start, word = match.start(), match.group()
        gap = text[end:start]
        lower = word.lower()
        capital = word[0].isupper() or (len(word) > 2 and word[0].islower() and word[1].isupper())
        starts = not found or (gap != " " and _STARTS.search(gap) is not None)
        if starts and gap[:1] == "." and found and found[-1].capital:
            # An initial or an abbreviation ends with a full stop, too.
            starts = len(found[-1].text) > 1 and found[-1].lower not in ABBREVIATIONS | TITLES
        found.append(
            WordSpan(start, match.end(), word, lower, capital and lower not in CALENDAR, gap, starts)
        )
        end = match.end()
    return found
