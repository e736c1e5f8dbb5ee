"""How the stems of a text are written in it, for people to read.

Words are compared by their stems (Porter's Snowball), and a stem is often no word: "decemb", "allerg". It is
nearly always the beginning of the word it came from, but for its last letter at most ("happi" of "happy"), so
the text itself tells how it is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")


def written(terms: Iterable[str], content: str) -> dict[str, str]:
    """Return the word of a text that each of its terms stands for, where one can be found.

    A word belongs to the longest of the terms that it begins with. Of several words of a term the most
    frequent is taken, of these the shortest, and of these the first in the alphabet.

    Examples
    --------
    >>> written(["decemb", "happi", "tea", "team"], "A happy team has tea in December. Team!")
    {'decemb': 'December', 'happi': 'happy', 'tea': 'tea', 'team': 'Team'}
    """
    counts = Counter(_WORD.findall(content))
    whole = {term: term for term in terms}
    shorter = {term[:-1]: term for term in terms if len(term) > 1}
    words: dict[str, list[str]] = {}
    for word in counts:
        term = _longest(word.lower(), whole) or _longest(word.lower(), shorter)
        if term:
            words.setdefault(term, []).append(word)
    return {
        term: min(words[term], key=lambda word: (-counts[word], len(word), word))
        for term in whole
        if term in words
    }


def _longest(word: str, beginnings: Mapping[str, str]) -> str:
    """Return what the longest beginning of a word stands for; nothing if it has none of them."""
    ends = range(len(word), 0, -1)
    return next((beginnings[word[:end]] for end in ends if word[:end] in beginnings), "")
