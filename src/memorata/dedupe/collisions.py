"""Pairs that agree on a band of their signatures: the candidates of locality-sensitive hashing.

Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", section 3.4. Each band gives every item a
number; sorting the numbers puts equal ones side by side, so no table of buckets is ever built.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from memorata.dedupe.signatures import Keys
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

_KEPT: Final = 1 << 22
"""How many pairs may wait before those that were found by several bands become one."""


def colliding_pairs(
    bands: Iterable[Keys],
    *,
    largest: Annotated[int, Declared("The largest bucket all of whose pairs are candidates.", 2, 1_000)] = 64,
    beyond: Annotated[
        int | None, Declared("With how many each is paired in a larger bucket.", 1, 1_000)
    ] = None,
) -> IntArray:
    """Return the pairs of items that agree on at least one band, each once, in order.

    Parameters
    ----------
    bands
        For each band, one number for each item.
    largest
        In a bucket of more items than this, each is paired with a few that follow it and no more, for the
        pairs of a bucket grow with its square: a thousand texts of one template give 62,000, not 499,500.
    beyond
        With how many that is, at most `largest`; None for as many. Where there are many bands, and each puts
        the same items into another large bucket, a few of each band come to many.

    Returns
    -------
    array of int
        Two columns, first < second.

    Examples
    --------
    >>> colliding_pairs([np.array([5, 5, 7, 7], np.uint64), np.array([1, 2, 1, 3], np.uint64)]).tolist()
    [[0, 1], [0, 2], [2, 3]]
    """
    largest = checks.whole("largest", largest, 2)
    few = largest if beyond is None else checks.whole("beyond", beyond, 1)
    if few > largest:
        raise InvalidArgument("beyond", beyond, f"a number from 1 to the largest bucket, {largest}")
    known = np.zeros(0, np.int64)
    waiting: list[npt.NDArray[np.int64]] = []
    count = None
    for number, keys in enumerate(bands):
        if not isinstance(keys, np.ndarray) or keys.ndim != 1 or keys.dtype != np.uint64:
            raise InvalidArgument(f"bands[{number}]", keys, "an array of unsigned 64-bit numbers")
        if count is not None and len(keys) != count:
            raise InvalidArgument(f"bands[{number}]", len(keys), f"as many numbers as the first has, {count}")
        count = len(keys)
        waiting += _pairs_of(keys, largest, few)
        if sum(map(len, waiting)) > _KEPT:
            known, waiting = np.unique(np.concatenate([known, *waiting])), []
    known = np.unique(np.concatenate([known, *waiting]))
    return np.stack(np.divmod(known, max(count or 1, 1)), axis=1).astype(np.intp)


def _pairs_of(keys: Keys, largest: int, few: int) -> list[npt.NDArray[np.int64]]:
    """Return the pairs of equal keys as ``first · count + second``; of large buckets, up to `few` apart."""
    order = np.argsort(keys, kind="stable").astype(np.int64)
    ordered = keys[order]
    borders = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    sizes = np.diff(borders, prepend=0, append=len(keys))
    small = np.repeat(sizes <= largest, sizes)
    found = []
    for apart in range(1, min(largest, len(keys) - 1) + 1):
        equal = ordered[apart:] == ordered[:-apart]
        same = np.flatnonzero(equal if apart <= few else equal & small[:-apart])
        if not same.size:
            break
        # The sort is stable, so of two equal keys the one that was first still is.
        found.append(order[same] * len(keys) + order[same + apart])
    return found
