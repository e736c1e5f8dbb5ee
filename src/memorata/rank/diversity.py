"""Diversity: not the same thing ten times.

Sources: Carbonell and Goldstein, "The use of MMR, diversity-based reranking", SIGIR 1998 (MMR); Memento for
the adaptive weight. Only the similarity to what is already *selected* counts: an item is not to blame for
resembling others that were never shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from memorata._blas import ON_ONE_THREAD
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers, Rows
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.scores import unit_range
from memorata.rank.similarity import unit_rows

Trade = Annotated[float, Declared("1 is relevance alone, 0 is difference alone.", 0, 1)]

_TRADE_BY_GAP = ((0.3, 0.8), (0.2, 0.7), (0.1, 0.6))
_DEFAULT_TRADE = 0.5
_GAP_DEPTH = 10
"""How many of the best scores decide how much variety is wanted."""
_MIN_SIFTED = 500
"""From this many items on, leaving out those that cannot be picked any more is worth its time."""
_MAX_COSINE = 1.001
"""No cosine in float32 is above this, rounding included."""
_SMALLEST_SQUARE = 1e-30
"""Below this a squared length in float32 is losing digits, or is zero."""


def mmr(relevance: Numbers, vectors: Rows, *, trade: Trade = 0.7, limit: int = 10) -> IntArray:
    """Select by maximal marginal relevance and return the indices in the order selected.

    Greedily picks ``argmax λ · rel - (1 - λ) · (largest cosine to the selected)``, rel min-max normalised;
    ties go to the earlier item. The first pick is the most relevant. With no more items than the limit all
    come back, in MMR order, so that the order is the same rule at every size.

    Parameters
    ----------
    relevance
        One score per item.
    vectors
        One vector per item, of any length; an item whose vector is zero resembles nothing.
    trade
        λ, from 0 to 1; 1 gives the relevance order.
    limit
        How many to select.

    Notes
    -----
    O(n · limit) at worst: each candidate keeps the largest cosine seen so far, and a new selection costs one
    matrix product, over those candidates alone that can still be selected. Vectors in float32, as stores keep
    them, are compared in float32; any others in float64.

    Examples
    --------
    >>> mmr([0.9, 0.8, 0.5], [[1, 0], [1, 0.01], [0, 1]], trade=0.5, limit=2)
    array([0, 2])

    A thousand items in falling order of relevance, of which two by two point the same way:

    >>> mmr(range(1000, 0, -1), np.eye(4)[np.arange(1000) // 2 % 4], trade=0.5, limit=5)
    array([0, 2, 4, 6, 1])
    """
    max_items, share = checks.whole("limit", limit), checks.probability("trade", trade)
    related = unit_range(checks.numbers("relevance", relevance))
    rows, scale = _directions(vectors)
    checks.same_length(relevance=related, vectors=rows)
    gain = share * related
    penalty = np.full(related.size, -np.inf)
    # With nothing selected yet relevance alone decides, also where λ = 0 leaves it no weight.
    value = related
    chosen = np.empty(min(max_items, related.size), np.intp)
    promising = None
    for step in range(chosen.size):
        if step:
            last = chosen[step - 1]
            gain[last] = -np.inf
            with ON_ONE_THREAD:
                cosines = rows @ (scale[last] * rows[last])
            np.maximum(penalty, scale * cosines, out=penalty)
            value = gain - (1 - share) * penalty
        if step == 1 and value.size >= max(_MIN_SIFTED, 2 * chosen.size):
            promising = _hopeful(gain, value, chosen.size - step, 1 - share)
            rows, scale = rows[promising], scale[promising]
            gain, penalty, value = gain[promising], penalty[promising], value[promising]
        chosen[step] = value.argmax()
    if promising is not None:
        chosen[1:] = promising[chosen[1:]]
    return chosen


def adaptive_trade(relevance: Numbers) -> float:
    """Return the λ that the scores call for: the clearer the winner, the more relevance counts.

    ``gap = top - mean`` of the ten best scores on their own scale of 0 to 1, before any min-max, which makes
    every gap large; so does the tail of a long list, which is not shown. Above 0.3 λ is 0.8, above 0.2 it
    is 0.7, above 0.1 it is 0.6, else 0.5. An empty set gives 0.5.

    Examples
    --------
    >>> adaptive_trade([0.78, 0.75, 0.73, 0.71]), adaptive_trade([0.9, 0.4, 0.4]), adaptive_trade([3.0, 3.0])
    (0.5, 0.8, 0.5)
    """
    related = np.sort(checks.numbers("relevance", relevance))[-_GAP_DEPTH:]
    if not related.size:
        return _DEFAULT_TRADE
    with np.errstate(over="ignore"):  # a gap beyond all numbers is a large one
        gap = float(np.sum(related[-1] / related.size - related / related.size))
    return next((trade for above, trade in _TRADE_BY_GAP if gap > above), _DEFAULT_TRADE)


def adaptive_mmr(relevance: Numbers, vectors: Rows, *, limit: int = 10) -> IntArray:
    """Select by :func:`mmr` with the λ of :func:`adaptive_trade`.

    Examples
    --------
    >>> adaptive_mmr([0.9, 0.8, 0.5], [[1, 0], [1, 0.01], [0, 1]], limit=2)
    array([0, 1])
    """
    return mmr(relevance, vectors, trade=adaptive_trade(relevance), limit=limit)


def group_coverage(
    groups: Sequence[Hashable] | npt.NDArray[Any],
    *,
    per_group: Annotated[int, Declared("Hits from one session or source in the first places.", 1, 10)] = 2,
    within: Annotated[int, Declared("How many first places the limit holds for.", 1, 50)] = 10,
) -> IntArray:
    """Return the order in which at most `per_group` items of one group stand in the first `within` places.

    Items beyond their group's share move behind the rest, keeping their order. When the groups are too few
    to fill the first places, the best of those moved fill them; nothing is dropped. For queries that need
    evidence from several sessions.

    Parameters
    ----------
    groups
        The group of each item, best item first.
    per_group, within
        At least 1.

    Examples
    --------
    >>> group_coverage(["s1", "s1", "s1", "s2", "s3"], per_group=1, within=3)
    array([0, 3, 4, 1, 2])
    """
    share, places = checks.whole("per_group", per_group, 1), checks.whole("within", within, 1)
    if isinstance(groups, str | bytes) or not isinstance(groups, Sequence | np.ndarray):
        raise InvalidArgument("groups", groups, "a list with the group of each item")
    first: list[int] = []
    shown: dict[Hashable, int] = {}
    try:
        # The first places are soon filled, so the loop is short; but a bad group may come after it.
        set(groups)
        for item, group in enumerate(groups):
            if len(first) == places:
                break
            times = shown.get(group, 0)
            if times < share:
                first.append(item)
                shown[group] = times + 1
    except TypeError as error:
        raise InvalidArgument("groups", groups, "a list of hashable groups") from error
    behind = np.ones(len(groups), np.bool_)
    behind[first] = False
    return np.concatenate([np.array(first, np.intp), np.flatnonzero(behind)])


def _hopeful(gain: FloatArray, value: FloatArray, picks: int, weight: float) -> IntArray:
    """Return the items that can still be among the next `picks`.

    Values only fall, and none falls further below its gain than by the penalty of an equal. At every pick one
    of the `picks` items with the highest gains is left, and what is already below the least of them loses.

    >>> _hopeful(np.array([0.6, 0.5, 0.2]), np.array([0.4, 0.45, 0.2]), picks=1, weight=0.3)
    array([0, 1])
    """
    gains = gain.copy()
    gains.partition(gains.size - picks)
    return np.flatnonzero(value >= gains[-picks] - weight * _MAX_COSINE)


def _directions(vectors: Rows) -> tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]:
    """Return checked rows and what each is to be multiplied by to have length 1.

    In float32 where they came so, without a copy, and in float64 otherwise.
    """
    if isinstance(vectors, np.ndarray) and vectors.dtype == np.float32 and vectors.ndim == 2:
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.vecdot(vectors, vectors)
            finite = bool(np.isfinite(squares.sum()))
        # Squares that over- or underflow float32 say nothing of the length; float64 has room for both.
        if finite and squares.min(initial=1.0) >= _SMALLEST_SQUARE:
            return vectors, 1.0 / np.sqrt(squares)
    rows = unit_rows(vectors)
    return rows, np.ones(len(rows))
