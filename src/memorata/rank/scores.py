"""Scores: in order, best first with ties in input order; on one scale, so that lists compare; in parts.

Every normalisation keeps the order of the scores and returns one number per score; `NORMALISERS` names them
for settings. A :class:`Combination` keeps scores beside their named parts, of which they are the
left-to-right sum or product in float64, which is also how :class:`~memorata.model.Explanation` adds up: the
same operations in the same order give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.hit import Explanation

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
    reaching: IntArray = (scores >= reached(scores, limit)).nonzero()[0]
    return reaching[(-scores[reaching]).argsort(kind="stable")[:limit]]


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


_SMALLEST_MAXIMUM = 1e-9


def min_max(scores: Numbers) -> FloatArray:
    """Return ``(s - min) / (max - min)``, from 0 to 1; a single score or equal scores give 1.

    Equal scores are all as good as the best of their list, hence 1 and not 0.

    Examples
    --------
    >>> min_max([2.0, 4.0, 3.0])
    array([0. , 1. , 0.5])
    >>> min_max([7.0, 7.0])
    array([1., 1.])
    """
    return unit_range(checks.numbers("scores", scores))


def z_score(scores: Numbers) -> FloatArray:
    """Return ``(s - mean) / deviation`` with the population deviation; no spread gives all 0.

    Examples
    --------
    >>> z_score([1.0, 3.0])
    array([-1.,  1.])
    >>> z_score([5.0])
    array([0.])
    """
    return standardised(checks.numbers("scores", scores))


def max_scaled(scores: Numbers) -> FloatArray:
    """Return ``s / max(scores)``, the maximum floored at 1e-9; for scores that start at 0, as BM25's do.

    Examples
    --------
    >>> max_scaled([4.0, 1.0, 0.0])
    array([1.  , 0.25, 0.  ])
    """
    array = checks.numbers("scores", scores)
    with checks.finite_arithmetic("scores", scores):
        return array / max(float(array.max()), _SMALLEST_MAXIMUM) if array.size else array.copy()


def rank_based(scores: Numbers) -> FloatArray:
    """Return 1 for the best score, then ``1 - rank/n``, down to ``1/n`` for the last; ties by input order.

    Examples
    --------
    >>> rank_based([0.2, 9.0, 0.5, 0.1])
    array([0.5 , 1.  , 0.75, 0.25])
    """
    array = checks.numbers("scores", scores)
    result = np.empty(array.size)
    result[ranked(array, None)] = np.arange(array.size, 0, -1) / max(array.size, 1)
    return result


def unchanged(scores: Numbers) -> FloatArray:
    """Return the scores as they are, checked."""
    return checks.numbers("scores", scores).copy()


NORMALISERS: Mapping[str, Callable[[Numbers], FloatArray]] = {
    "min_max": min_max,
    "z_score": z_score,
    "max_scaled": max_scaled,
    "rank_based": rank_based,
    "none": unchanged,
}


def unit_range(scores: FloatArray) -> FloatArray:
    """Compute :func:`min_max` without checking the scores."""
    if not scores.size:
        return scores.copy()
    return scaled_between(scores, *extremes(scores))


def extremes(scores: FloatArray) -> tuple[float, float]:
    """Return the least and the greatest of the scores, of which there is at least one."""
    # argmin is one call into C; min, which passes through Python, takes twice as long for a small pool.
    return float(scores[scores.argmin()]), float(scores[scores.argmax()])


def scaled_between(scores: FloatArray, low: float, high: float) -> FloatArray:
    """Return ``(s - low) / (high - low)`` for scores between the two; all 1 if those are equal."""
    if high == low:
        return np.ones(scores.size)
    # The halves cannot overflow, however far apart the ends are.
    if math.isinf(high - low):
        scores, low, high = scores / 2, low / 2, high / 2
    result = scores - low
    result /= high - low
    return result


def standardised(scores: FloatArray) -> FloatArray:
    """Compute :func:`z_score` without checking the scores."""
    # Equal scores can have a deviation of a few 1e-17 by rounding; asking for equality is exact.
    if not scores.size or scores.min() == scores.max():
        return np.zeros(scores.size)
    scale = float(np.abs(scores).max())
    scaled = scores / scale
    centred = scaled - scaled.mean()
    deviation = np.sqrt(np.mean(centred * centred))
    return centred / deviation if deviation > 0 else np.zeros(scores.size)


Operation: TypeAlias = Literal["sum", "product"]


@frozen(eq=False)
class Combination:
    """One score per item and the parts it is made of.

    Attributes
    ----------
    operation
        Whether the parts add or multiply up to the scores.
    names
        One name per part.
    rows
        One array per part, with one number per item.
    scores
        One score per item.

    Examples
    --------
    >>> import numpy as np
    >>> both = Combination.of("sum", ["vector", "text"], np.array([[0.5, 0.1], [0.25, 0.3]]))
    >>> both.scores
    array([0.75, 0.4 ])
    >>> print(both.explain(0, "fused"))
    0.75 fused = sum of
      0.5 vector
      0.25 text
    """

    operation: Operation
    names: tuple[str, ...]
    rows: Sequence[FloatArray] | FloatArray
    scores: FloatArray

    @classmethod
    def of(cls, operation: Operation, names: Sequence[str], parts: FloatArray) -> Combination:
        """Return the combination of `parts`, one row for each of `names`."""
        checks.one_of("operation", operation, ("sum", "product"))
        labels, rows = checks.texts("names", names), checks.matrix("parts", parts)
        if not len(rows):
            raise InvalidArgument("parts", parts, "at least one row")
        checks.same_length(parts=rows, names=labels)
        return cls.finite(operation, labels, *rows)

    @classmethod
    def finite(cls, operation: Operation, names: tuple[str, ...], *rows: FloatArray) -> Combination:
        """Combine checked parts; scores that float64 cannot hold raise."""
        with np.errstate(over="ignore", invalid="ignore"):
            result = cls.unchecked(operation, names, *rows)
        finite = np.isfinite(result.scores)
        if not finite.all():
            column = [float(row[int(finite.argmin())]) for row in rows]
            raise InvalidArgument(" and ".join(names), column, f"numbers whose {operation} float64 can hold")
        return result

    @classmethod
    def unchecked(cls, operation: Operation, names: tuple[str, ...], *rows: FloatArray) -> Combination:
        """Combine parts that are known to be finite and of one length."""
        first, *others = rows
        scores = first if others else first.copy()
        for row in others:
            scores = scores + row if operation == "sum" else scores * row
        return cls(operation, names, rows, scores)

    @property
    def parts(self) -> FloatArray:
        """One row per part, one column per item; stacked when read, since most scores are never explained."""
        return self.rows if isinstance(self.rows, np.ndarray) else np.stack(self.rows)

    def take(self, order: IntArray) -> Combination:
        """Return the same combination for the items in `order`."""
        return Combination(self.operation, self.names, self.parts[:, order], self.scores[order])

    def explain(
        self, item: int, label: str, detail: Mapping[str, Explanation] | None = None, note: str = ""
    ) -> Explanation:
        """Return why the score of `item` is what it is.

        Parameters
        ----------
        item
            The index of the item.
        label
            What the score is called.
        detail
            For any part, by name, an explanation of that part to show instead of the plain number. Its value
            must be the part's value exactly.
        note
            A remark on the whole.
        """
        checks.whole("item", item)
        if item >= self.scores.size:
            raise InvalidArgument("item", item, f"below the number of items, {self.scores.size}")
        details = detail or {}
        parts = []
        for name, row in zip(self.names, self.rows, strict=True):
            value = float(row[item])
            part = details.get(name) or Explanation.leaf(name, value)
            if part.value != value:
                raise InvalidArgument(
                    f"detail[{name!r}]", part.value, f"exactly the part it explains ({value!r})"
                )
            parts.append(part)
        return Explanation(label, float(self.scores[item]), self.operation, tuple(parts), note)
