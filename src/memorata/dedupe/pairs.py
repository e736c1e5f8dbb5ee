"""All pairs of vectors that point nearly the same way, by blocked matrix products.

Comparing n vectors with each other is one matrix product, cut into square blocks so that only one block of
similarities is in memory at a time. The products run in float32 (twice the speed of float64) and only
propose: whatever comes within the worst rounding error of the threshold is computed again in float64, so the
answer is that of the exact double loop. The error bound of a dot product is that of Higham, "Accuracy and
Stability of Numerical Algorithms", section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.dedupe.rounding import ROUNDING
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Rows

_VERIFIED_AT_ONCE = 1 << 20
"""How many numbers the float64 check holds at a time: 8 MB for each side of the products."""

_Float32Array: TypeAlias = npt.NDArray[np.float32]


@frozen(eq=False)
class NearPairs:
    """Pairs of positions with their cosines, sorted by the first position and then by the second.

    Parameters
    ----------
    first, second
        The two positions of each pair; first < second.
    cosine
        The cosine of each pair, in float64.
    """

    first: IntArray
    second: IntArray
    cosine: FloatArray

    def __len__(self) -> int:
        return len(self.first)

    def positions(self) -> IntArray:
        """Return the pairs as one array of two columns, the form that ``clusters`` takes."""
        return np.stack([self.first, self.second], axis=1)


def near_pairs(vectors: Rows, threshold: float = 0.92, *, block: int = 1024) -> NearPairs:
    """Return every pair of `vectors` whose cosine is at least `threshold`.

    cos(u, v) = u·v / (‖u‖ ‖v‖), for all pairs i < j, in O(n²·d) time and O(n·d + block²) memory besides the
    answer.

    Parameters
    ----------
    vectors
        One vector per item, of any length but zero; they are normalised here. A zero vector has no direction
        and is in no pair.
    threshold
        The least cosine of a pair, from -1 to 1. A cosine that misses it by rounding alone
        (:data:`~memorata.dedupe.rounding.ROUNDING`) counts, so that equal vectors pair at 1.
    block
        How many vectors are compared with how many at a time. It changes memory and speed, never the answer.

    Examples
    --------
    >>> found = near_pairs([[1, 0], [0, 2], [3, 4], [2, 0]], 0.8)
    >>> found.positions().tolist(), found.cosine.tolist()
    ([[0, 3], [1, 2]], [1.0, 0.8])
    """
    rows = checks.matrix("vectors", vectors)
    threshold = checks.within("threshold", threshold, -1.0, 1.0)
    block = checks.whole("block", block, 1)
    unit, kept = _directions(rows)
    found = list(_verified(unit, threshold - ROUNDING, block))
    first = np.concatenate([first for first, _, _ in found] or [np.empty(0, np.intp)])
    second = np.concatenate([second for _, second, _ in found] or [np.empty(0, np.intp)])
    cosine = np.concatenate([cosine for _, _, cosine in found] or [np.empty(0)])
    order = np.lexsort((second, first))
    return NearPairs(kept[first[order]], kept[second[order]], cosine[order])


def _directions(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the rows that have a direction, at length 1, and their positions."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    kept = np.flatnonzero(largest)
    # Scaling by the largest component first keeps the squares of huge and of tiny ones within float64.
    scaled = rows[kept] / largest[kept, None]
    return scaled / np.sqrt((scaled * scaled).sum(axis=1))[:, None], kept


def _verified(unit: FloatArray, least: float, block: int) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the pairs of each block whose float64 cosine is at least `least`."""
    count, width = unit.shape
    single = unit.astype(np.float32)
    # |computed - exact| is at most (d + 2) roundings of float32 for vectors of length 1; two more are for the
    # lengths themselves and for the comparison.
    proposed = np.float32(least - (width + 4) * float(np.finfo(np.float32).eps))
    step = max(1, _VERIFIED_AT_ONCE // max(1, width))
    for top in range(0, count, block):
        for left in range(top, count, block):
            first, second = _proposals(single, top, left, block, proposed)
            for start in range(0, len(first), step):
                i, j = first[start : start + step], second[start : start + step]
                # A row's sum does not depend on the other rows, so the block size cannot change a cosine.
                cosine = np.clip((unit[i] * unit[j]).sum(axis=1), -1.0, 1.0)
                near = cosine >= least
                yield i[near], j[near], cosine[near]


def _proposals(
    single: _Float32Array, top: int, left: int, block: int, proposed: np.floating[Any]
) -> tuple[IntArray, IntArray]:
    """Return the pairs first < second of one block whose float32 cosine is at least `proposed`."""
    above = single[top : top + block] @ single[left : left + block].T >= proposed
    if top == left:
        above = np.triu(above, 1)
    first, second = np.nonzero(above)
    return first + top, second + left
