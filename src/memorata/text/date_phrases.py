"""Finding time phrases in a text: the rules of a language first, then its prepositions.

The rules find phrases, and of those that overlap the longest stays: "the last week of June" is not also "last
week". What the words before and between them make of them is :mod:`memorata.text.date_prepositions`' to say.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import date
from typing import Final, NamedTuple, TypeVar

from memorata.text.date_prepositions import Atom, Found, joined
from memorata.text.date_readers import Phrase, Reading
from memorata.text.date_tongue import Tongue
from memorata.text.date_vocabulary import DIGITS

_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGIT: Final = re.compile(r"\d")
_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+")
_ASCII_LETTERS: Final = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else ord(" ") for code in range(256)
)
_NO_DIGITS: Final = bytes(code for code in range(256) if not (code < 128 and chr(code).isdecimal()))
_MARGIN: Final = 100
"""How far from its telling word a phrase, with all that decides about it, can reach."""
_Span = TypeVar("_Span", "_Match", "Found")


class _Match(NamedTuple):
    start: int
    end: int
    reading: Reading | None
    """None for a day that the calendar does not have: it still hides what stands inside it."""


def lowered(text: str) -> str:
    """Return `text` in lower case, every character where it was.

    Examples
    --------
    >>> lowered("In MAY"), len(lowered("İzmir"))
    ('in may', 5)
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def words_within(lower: str) -> set[str]:
    """Return the words of a text in lower case; a mark stands for all digits."""
    return set(_words_and_mark(lower))


def names_none(text: str, telling: frozenset[str]) -> bool:
    """Return whether a text has none of some words, in any case, nor digits if their mark is one of them.

    Examples
    --------
    >>> names_none("We met in May", frozenset({"may"})), names_none("We met", frozenset({"may"}))
    (False, True)
    """
    return telling.isdisjoint(_words_and_mark(text if text.isascii() else lowered(text)))


def _words_and_mark(text: str) -> list[str]:
    """Return the words of a text in lower case, and the mark of digits; one that is not ASCII is lower."""
    if text.isascii():
        # Tables and a cut at blanks: every text that is remembered comes by here, and few name a time.
        written = text.encode()
        words = written.translate(_ASCII_LETTERS).decode().split()
        digits = bool(written.translate(None, _NO_DIGITS))
    else:
        words = _WORD.findall(text)
        digits = _DIGIT.search(text) is not None
    if digits:
        words.append(DIGITS)
    return words


def windows(lower: str, telling: frozenset[str]) -> list[tuple[int, int]]:
    """Return the stretches of a text around its digits and `telling` words, cut between words.

    Every phrase holds one of these words and is shorter than the margin, so that nothing is lost by reading
    only there, and a long text with one date costs little more than the date.

    Examples
    --------
    >>> windows("once upon a time", frozenset({"time"})), windows("once upon a time", frozenset())
    ([(0, 16)], [])
    """
    found: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(lower):
        if match.group() not in telling and not match.group().isdecimal():
            continue
        if found and match.start() < found[-1][1]:
            found[-1] = (found[-1][0], match.end() + _MARGIN)
        else:
            found.append((max(0, match.start() - _MARGIN), match.end() + _MARGIN))
    merged: list[tuple[int, int]] = []
    for start, end in found:
        while start > 0 and not lower[start - 1].isspace():
            start -= 1
        while end < len(lower) and not lower[end].isspace():
            end += 1
        end = min(end, len(lower))
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def find(
    text: str, lower: str, words: set[str], tongue: Tongue, more: Iterable[Tongue], today: date, nearest: bool
) -> list[Found]:
    """Return the time phrases of `text` in one language, with the rules of `more` added, in order."""
    matches: list[_Match] = []
    for each in (tongue, *more):
        for rule in each.ready:
            if rule.needs.isdisjoint(words):
                continue
            for match in rule.expression.finditer(lower):
                try:
                    reading = rule.reader(Phrase(match, text, each.vocabulary, today, nearest))
                except (ValueError, OverflowError):  # 30 February, 5000 years ago
                    matches.append(_Match(match.start(), match.end(), None))
                else:
                    if reading is not None:
                        matches.append(_Match(match.start(), match.end(), reading))
    kept = longest(matches, lambda one: one.reading is not None and one.reading.strong)
    atoms = [Atom(each.start, each.end, each.reading) for each in kept if each.reading is not None]
    return joined(atoms, lower, tongue, today)


def longest(spans: Iterable[_Span], strong: Callable[[_Span], bool] = lambda one: True) -> list[_Span]:
    """Return, in order, the longest of spans that overlap; of equally long ones a strong one."""
    kept: list[_Span] = []
    starts: list[int] = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, not strong(one), one.start)):
        place = bisect_left(starts, span.start)
        clear = (place == 0 or kept[place - 1].end <= span.start) and (
            place == len(kept) or span.end <= kept[place].start
        )
        if clear:
            starts.insert(place, span.start)
            kept.insert(place, span)
    return kept
