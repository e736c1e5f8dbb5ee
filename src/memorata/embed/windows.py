"""Overlapping windows over a long text, cut between words wherever there is a word boundary to cut at.

A model reads a bounded number of tokens. What lies beyond is read in further windows, each repeating the
end of the one before it, so that a sentence on a border is whole in one of the two.
"""

from __future__ import annotations

import numpy as np

from memorata.model.checks import IntArray, whole
from memorata.model.errors import InvalidArgument


def windows(count: int, word_starts: IntArray, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return half-open ranges that cover ``0..count`` with at most `size` units each.

    Parameters
    ----------
    count
        How many units (tokens or characters) there are.
    word_starts
        The units at which a word begins, ascending. A window ends at the last of them in its second half, and
        the next begins at the first of them within the overlap; where there is none, the cut goes through a
        word.
    size
        The most units of a window.
    overlap
        The most units that two neighbours share: at most half of `size`.

    Examples
    --------
    >>> windows(10, np.arange(10), size=4, overlap=1)
    [(0, 4), (3, 7), (6, 10)]
    >>> windows(10, np.array([0, 3, 6, 9]), size=4, overlap=1)
    [(0, 3), (3, 6), (6, 10)]
    """
    whole("count", count)
    whole("size", size, 1)
    if whole("overlap", overlap) > size // 2:
        raise InvalidArgument("overlap", overlap, f"at most half of the window's size ({size})")
    ranges = []
    start = 0
    while start + size < count:
        before = int(np.searchsorted(word_starts, start + size, side="right")) - 1
        end = start + size
        if before >= 0 and word_starts[before] > start + size // 2:
            end = int(word_starts[before])
        ranges.append((start, end))
        after = int(np.searchsorted(word_starts, end - overlap))
        start = end - overlap
        if after < len(word_starts) and word_starts[after] <= end:
            start = int(word_starts[after])
    if count:
        ranges.append((start, count))
    return ranges


def character_passages(text: str, size: int, overlap: int) -> list[str]:
    """Return passages of at most `size` characters, for models whose tokens are not known here.

    Examples
    --------
    >>> character_passages("the quick brown fox jumps", size=12, overlap=6)
    ['the quick ', 'quick brown ', 'brown fox ', 'fox jumps']
    """
    if len(text) <= size:
        return [text]
    spaces = np.fromiter((character.isspace() for character in text), dtype=np.bool_, count=len(text))
    word_starts = np.flatnonzero(spaces[:-1] & ~spaces[1:]) + 1
    return [text[start:end] for start, end in windows(len(text), word_starts, size, overlap)]
