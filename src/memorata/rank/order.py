"""Best first, ties in input order: the one sorting rule that every ranking here follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers

_PARTITION_FROM = 512
"""Below this many items a full sort is faster than selecting first."""
_COLUMNS = 8
_ROWS = 4
"""From this many rows on, each of `_COLUMNS` times the limit, the bound comes from the columns: partitioning
all scores can take five times as long when most of them are equal, as those of texts without a match are."""


def best_first(scores: Numbers, limit: int | None = None) -> IntArray:
    """Return the indices of the highest scores, best first; equal scores keep their input order.

    Parameters
    ----------
    scores
        One finite number per item.
    limit
        How many indices to return; None for all.

    Notes
    -----
    With a limit the cost is O(n + m log m), where m is the limit plus the items tied with the last one.

    Examples
    --------
    >>> best_first([0.2, 0.9, 0.2, 0.5])
    array([1, 3, 0, 2])
    >>> best_first([0.2, 0.9, 0.2, 0.5], limit=2)
    array([1, 3])
    """
    array = checks.numbers("scores", scores)
    return ranked(array, None if limit is None else checks.whole("limit", limit))


def first_of_each(values: npt.NDArray[Any]) -> IntArray:
    """Return the position of the first occurrence of each value, in the order they occur.

    What ``numpy.unique`` does with its index, without sorting the answer by value and without the modules it
    imports on its first call.

    >>> first_of_each(np.array([7, 3, 7, 1, 3]))
    array([0, 1, 3])
    """
    plain = values.tolist()
    if len(set(plain)) == len(plain):
        # Mostly all are different, which a set of some hundred tells in a third of the time.
        return np.arange(values.size)
    order = values.argsort(kind="stable")
    ordered = values[order]
    new = np.ones(values.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    firsts: IntArray = order[new]
    firsts.sort()
    return firsts


def competition_ranks(values: FloatArray) -> IntArray:
    """Return how many values are greater than each: 0 for the greatest, and the same for equal values.

    Examples
    --------
    >>> competition_ranks(np.array([0.5, 0.9, 0.5, 0.1]))
    array([1, 0, 1, 3])
    """
    return values.size - np.sort(values).searchsorted(values, side="right")


def ranked(scores: FloatArray, limit: int | None) -> IntArray:
    """Rank as :func:`best_first` does, without checking the scores."""
    count = scores.size
    if limit is None or limit >= count or count < _PARTITION_FROM or limit == 0:
        return (-scores).argsort(kind="stable")[:limit]
    kept: IntArray = (scores >= reached(scores, limit)).nonzero()[0]
    return kept[(-scores[kept]).argsort(kind="stable")[:limit]]


def reached(scores: npt.NDArray[Any], limit: int) -> float:
    """Return a score that at least `limit` items reach, and not many more; the lowest if there are fewer.

    >>> reached(np.array([0.2, 0.9, 0.2, 0.5]), 2)
    0.5
    """
    count = scores.size
    if limit >= count:
        return float(scores.min(initial=np.inf))
    # The limit-th best of the columns' maxima is such a score.
    columns = _COLUMNS * limit
    if count >= _ROWS * columns:
        pool = np.maximum.reduce(scores[: count // columns * columns].reshape(-1, columns))
    else:
        pool = scores.copy()
    pool.partition(pool.size - limit)
    return float(pool[-limit])
