"""Which posting lists have to be read in full to find the best few memories.

MaxScore (Turtle & Flood, "Query evaluation: strategies and optimizations", 1995): what a memory has none of
the telling terms of a question in, cannot come among the best by the others alone, if all of those together
add less than the last of the best has already. Then it is enough to read the lists of the telling ones, which
are short, and to look the others up for the few memories that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata.rank.bm25 import BM25

_ENOUGH: Final = 2
"""The telling lists should have so many times as many postings as memories are wanted."""
_USUAL: Final = 0.4
"""How much of the most a term can add it adds to a usual memory, at the least."""
_WORTH: Final = 1_000
"""Fewer postings than this are sooner read than looked up."""


def bound(scale: float, most: int, least: int, average_length: float, scorer: BM25) -> float:
    """Return the most that a term can add to a score.

    Parameters
    ----------
    scale
        The weight of the term times its idf.
    most, least
        No memory has the term more often, and none that has it is shorter.
    average_length
        Of the field, over the memories that may be seen.
    scorer
        BM25's parameters.

    Examples
    --------
    >>> bound(2.0, 1, 5, 5.0, BM25(1.2, 0.75))
    2.0
    >>> round(bound(2.0, 3, 1, 5.0, BM25(1.2, 0.75)), 3)
    3.793
    """
    room = scorer.k1 * (1 - scorer.b) + scorer.k1 * scorer.b * least / average_length
    return scale * most * (scorer.k1 + 1) / (most + room)


def telling(bounds: Sequence[float], sizes: Sequence[int], limit: int) -> list[bool]:
    """Return for each list of a question whether it is to be read in full, as far as can be told before.

    Parameters
    ----------
    bounds
        The most that each term can add to a score.
    sizes
        How many postings each list has.
    limit
        How many memories are wanted.

    Examples
    --------
    >>> telling([6.0, 5.0, 0.1], [100, 300, 90_000], 50)
    [True, True, False]

    With too few memories in the short lists, the others have to be read:

    >>> telling([6.0, 0.1], [3, 90_000], 50)
    [True, True]
    """
    order = sorted(range(len(bounds)), key=lambda each: (-bounds[each], sizes[each]))
    reached, last = 0, 0.0
    for each in order:
        reached += sizes[each]
        if reached >= _ENOUGH * limit:
            last = bounds[each]
            break
    result = [True] * len(bounds)
    together, spared = 0.0, 0
    for each in reversed(order):
        together += bounds[each]
        if together >= _USUAL * last:
            break
        result[each] = False
        spared += sizes[each]
    return result if spared >= _WORTH else [True] * len(bounds)
