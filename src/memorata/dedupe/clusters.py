"""Clusters of duplicates: the connected components of the pairs.

Shiloach and Vishkin, "An O(log n) parallel connectivity algorithm" (1982), with numpy as the parallel
machine: every root hooks on to its smallest neighbouring root, then all paths are halved until flat. Each two
rounds at least halve the roots of a component, so there are O(log n) rounds of whole-array operations.

With the pairs of cosine ≥ t, the components are the clusters of DBSCAN with eps = 1 - t and two points per
cluster. They chain: a near b and b near c put a and c together even when those two are further apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument


def clusters(count: int, pairs: Sequence[tuple[int, int]] | npt.NDArray[np.integer[Any]]) -> IntArray:
    """Return the cluster of each of `count` items, named after its smallest member.

    Parameters
    ----------
    count
        How many items there are; they are the positions 0 to count - 1.
    pairs
        The pairs that belong together, in any order and direction; repeats and pairs of an item with itself
        are harmless. :meth:`~memorata.dedupe.pairs.NearPairs.positions` has this form.

    Returns
    -------
    array of int
        ``labels[i]`` is the smallest position connected with i; i itself when nothing smaller is.

    Examples
    --------
    >>> clusters(6, [(4, 1), (1, 5), (0, 2)]).tolist()
    [0, 1, 0, 3, 1, 1]
    """
    count = checks.whole("count", count)
    one, other = _checked(pairs, count).T
    root = np.arange(count)
    while True:
        a, b = root[one], root[other]
        apart = a != b
        if not apart.any():
            return root
        one, other, a, b = one[apart], other[apart], a[apart], b[apart]
        # A root only ever hooks on to a smaller one: no cycles, and the last root is the smallest member.
        np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(shorter := root[root], root):
            root = shorter


def groups(labels: IntArray | Sequence[int], smallest: int = 2) -> tuple[tuple[int, ...], ...]:
    """Return the members of each cluster of at least `smallest`, in the order of their first members.

    Parameters
    ----------
    labels
        One label per item, as :func:`clusters` returns them; items of equal label belong together.
    smallest
        Clusters of fewer members are left out; 2 leaves out the items that nothing resembles.

    Examples
    --------
    >>> groups([0, 1, 0, 3, 1, 1])
    ((0, 2), (1, 4, 5))
    """
    smallest = checks.whole("smallest", smallest, 1)
    expected = "a flat list of whole numbers"
    array = _whole_numbers("labels", labels, expected)
    if array.ndim != 1:
        raise InvalidArgument("labels", labels, expected)
    # A stable sort keeps the members of each cluster in the order of their positions.
    order = np.argsort(array, kind="stable")
    borders = np.flatnonzero(np.diff(array[order])) + 1
    parts = (tuple(part.tolist()) for part in np.split(order, borders) if len(part) >= smallest)
    return tuple(sorted(parts))


def _checked(pairs: object, count: int) -> IntArray:
    """Return `pairs` as an array of two columns of positions below `count`."""
    expected = f"a list of pairs of positions from 0 and below {count}"
    array = _whole_numbers("pairs", pairs, expected)
    if array.shape == (0,):
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidArgument("pairs", pairs, expected)
    outside = np.flatnonzero(((array < 0) | (array >= count)).any(axis=1))
    if outside.size:
        bad = outside[0]
        raise InvalidArgument(f"pairs[{bad}]", array[bad].tolist(), f"positions from 0 and below {count}")
    return array.astype(np.intp)


def _whole_numbers(argument: str, values: object, expected: str) -> npt.NDArray[np.integer[Any]]:
    """Return `values` as an array of whole numbers of any shape; fractions, flags and text are refused."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidArgument(argument, values, expected) from error
    if array.size == 0:
        return array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise InvalidArgument(argument, values, expected)
    return array
