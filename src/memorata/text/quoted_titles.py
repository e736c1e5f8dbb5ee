"""Titles of works, and names in scripts without capitals: what stands in quotation marks and is short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memorata.text.word_spans import WORD

_QUOTED = re.compile(r"[\"“„«「『《]([^\"“”„«»「」『』《》\n]{2,60})[\"”“»」』》]")
_CASELESS: Final = ("\u0590-\u1fff", "\u2e80-\ud7ff", "\uf900-\ufdff", "\ufe70-\ufeff")
"""Compared one by one: to compile a set of so many characters takes longer than to read a hundred texts."""
_SENTENCE = re.compile(r"[。！？，、,.!?]")
_LONGEST_CASELESS: Final = 20
_LONGEST_SMALL_WORD: Final = 3


def quoted_titles(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each quoted title, without its quotation marks.

    In a script without capitals a quotation of up to 20 characters that is no sentence is a name. In one with
    capitals, two words at least must have one, the first and the last among them, and only words as short as
    "the" may have none.

    Examples
    --------
    >>> text = 'We watched "The Lord of the Rings" and said "never again".'
    >>> [text[start:end] for start, end in quoted_titles(text)]
    ['The Lord of the Rings']
    """
    if text.isascii() and '"' not in text:
        return
    for match in _QUOTED.finditer(text):
        inside = match.group(1).strip()
        start = match.start(1) + match.group(1).find(inside)
        if _SENTENCE.search(inside[-1:]) is None and _is_title(inside):
            yield start, start + len(inside)


def _is_title(inside: str) -> bool:
    if any(first <= inside[:1] <= last for first, _, last in _CASELESS):
        return len(inside) <= _LONGEST_CASELESS and _SENTENCE.search(inside) is None
    words = WORD.findall(inside)
    small = [word for word in words if not word[0].isupper()]
    return (
        len(words) - len(small) > 1
        and words[0][0].isupper()
        and words[-1][0].isupper()
        and all(len(word) <= _LONGEST_SMALL_WORD for word in small)
    )
