"""Candidate pairs and their clusters.

Up to some ten thousand items everything is compared with everything, exactly: one matrix product, cut into
square blocks so that only one block of similarities is in memory at a time. The products run in float32
(twice the speed of float64) and only propose: whatever comes within the worst rounding error of the threshold
is computed again in float64, so the answer is that of the exact double loop. The error bound of a dot product
is that of Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1. Beyond that size candidates
are the pairs that agree on a band of their signatures (:mod:`memorata_lab.duplicates.minhash`): each band
gives every item a number, and sorting the numbers puts equal ones side by side, so no table of buckets is
ever built.

Clusters are the connected components of the pairs: Shiloach and Vishkin, "An O(log n) parallel connectivity
algorithm" (1982), with numpy as the parallel machine. Every root hooks on to its smallest neighbouring root,
then all paths are halved until flat. With the pairs of cosine ≥ t, the components are the clusters of DBSCAN
with eps = 1 - t and two points per cluster, so DBSCAN is no method of its own here. They chain: a near b and
b near c put a and c together even when those two are further apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Declared, FloatArray, IntArray, Rows, checks
from memorata_lab.duplicates.minhash import (
    Keys,
    Signer,
    agreement,
    band_keys,
    bands_for,
    direction_keys,
    usual_signer,
)

_ROUNDING: Final = 1e-9
"""By how much a bound gives way: far above the rounding of float64, far below a difference that matters."""

_VERIFY_BLOCK: Final = 1 << 20
"""How many numbers the float64 check holds at a time: 8 MB for each side of the products."""
_MAX_PENDING_PAIRS: Final = 1 << 22
"""How many pairs may wait before those that were found by several bands become one."""

_Float32Array: TypeAlias = npt.NDArray[np.float32]


class Method(StrEnum):
    """A way of finding the candidates for near-duplicates."""

    MATRIX = "matrix"
    """Blocked matrix products over all pairs; exact."""
    LSH = "lsh"
    """Candidates from MinHash LSH and the vector index, then verified; a miss has a stated probability."""


def method_for(
    count: int,
    force: str | None = None,
    *,
    matrix_limit: Annotated[int, Declared("The largest store compared pair by pair.", 0, 100_000)] = 10_000,
) -> Method:
    """Return the method for a store of `count` items: matrix up to `matrix_limit`, LSH beyond.

    >>> [str(method_for(count)) for count in (10, 1_000, 10_000, 10_001)]
    ['matrix', 'matrix', 'matrix', 'lsh']
    >>> method_for(10, force="lsh")
    <Method.LSH: 'lsh'>
    """
    count = checks.whole("count", count)
    matrix_limit = checks.whole("matrix_limit", matrix_limit)
    if force is not None:
        return Method(checks.one_of("force", force, [method.value for method in Method]))
    return Method.MATRIX if count <= matrix_limit else Method.LSH


@frozen(eq=False)
class NearPairs:
    """Pairs of positions, first < second, with their cosines, sorted by the first and then by the second."""

    first: IntArray
    second: IntArray
    cosine: FloatArray

    def __len__(self) -> int:
        return len(self.first)

    def positions(self) -> IntArray:
        """Return the pairs as one array of two columns, the form that ``clusters`` takes."""
        return np.stack([self.first, self.second], axis=1)


def near_pairs(vectors: Rows, threshold: float = 0.92, *, block: int = 1024) -> NearPairs:
    """Return every pair of `vectors` whose cosine is at least `threshold`, a miss by rounding alone included.

    In O(n²·d) time and O(n·d + block²) memory besides the answer, which `block` never changes. Vectors are
    normalised here; a zero vector has no direction and is in no pair.

    >>> pairs = near_pairs([[1, 0], [0, 2], [3, 4], [2, 0]], 0.8)
    >>> pairs.positions().tolist(), pairs.cosine.tolist()
    ([[0, 3], [1, 2]], [1.0, 0.8])
    """
    rows = checks.matrix("vectors", vectors)
    threshold = checks.within("threshold", threshold, -1.0, 1.0)
    block = checks.whole("block", block, 1)
    unit, positions = _directions(rows)
    blocks = list(_verified(unit, threshold - _ROUNDING, block))
    first = np.concatenate([first for first, _, _ in blocks] or [np.empty(0, np.intp)])
    second = np.concatenate([second for _, second, _ in blocks] or [np.empty(0, np.intp)])
    cosine = np.concatenate([cosine for _, _, cosine in blocks] or [np.empty(0)])
    order = np.lexsort((second, first))
    return NearPairs(positions[first[order]], positions[second[order]], cosine[order])


def colliding_pairs(
    bands: Iterable[Keys],
    *,
    largest: Annotated[int, Declared("The largest bucket all of whose pairs are candidates.", 2, 1_000)] = 64,
    beyond: Annotated[
        int | None, Declared("With how many each is paired in a larger bucket.", 1, 1_000)
    ] = None,
) -> IntArray:
    """Return the pairs of items, first < second, that agree on at least one band, each once, in order.

    `bands` are, for each band, one number for each item. In a bucket of more than `largest` items each is
    paired with the next `beyond` (`largest` unless given) and no more, for the pairs of a bucket grow with
    its square: a thousand texts of one template give 62,000, not 499,500. Where there are many bands, and
    each puts the same items into another large bucket, a few of each band come to many.
    """
    largest = checks.whole("largest", largest, 2)
    reach = largest if beyond is None else checks.whole("beyond", beyond, 1)
    if reach > largest:
        raise InvalidArgument("beyond", beyond, f"a number from 1 to the largest bucket, {largest}")
    distinct = np.zeros(0, np.int64)
    pending: list[npt.NDArray[np.int64]] = []
    count = None
    for number, keys in enumerate(bands):
        if not isinstance(keys, np.ndarray) or keys.ndim != 1 or keys.dtype != np.uint64:
            raise InvalidArgument(f"bands[{number}]", keys, "an array of unsigned 64-bit numbers")
        if count is not None and len(keys) != count:
            raise InvalidArgument(f"bands[{number}]", len(keys), f"as many numbers as the first has, {count}")
        count = len(keys)
        pending += _pairs_of(keys, largest, reach)
        if sum(map(len, pending)) > _MAX_PENDING_PAIRS:
            distinct, pending = np.unique(np.concatenate([distinct, *pending])), []
    distinct = np.unique(np.concatenate([distinct, *pending]))
    return np.stack(np.divmod(distinct, max(count or 1, 1)), axis=1).astype(np.intp)


def clusters(count: int, pairs: Sequence[tuple[int, int]] | npt.NDArray[np.integer[Any]]) -> IntArray:
    """Return the cluster of each item, named after its smallest member, given pairs that belong together.

    >>> clusters(6, [(4, 1), (1, 5), (0, 2)]).tolist()
    [0, 1, 0, 3, 1, 1]
    """
    count = checks.whole("count", count)
    first, second = _position_pairs(pairs, count).T
    root = np.arange(count)
    while True:
        a, b = root[first], root[second]
        apart = a != b
        if not apart.any():
            return root
        first, second, a, b = first[apart], second[apart], a[apart], b[apart]
        # A root only ever hooks on to a smaller one: no cycles, and the last root is the smallest member.
        np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(shorter := root[root], root):
            root = shorter


def groups(labels: IntArray | Sequence[int], smallest: int = 2) -> tuple[tuple[int, ...], ...]:
    """Return the members of each cluster of at least `smallest`, in the order of their first members."""
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


def _directions(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the rows that have a direction, at length 1, and their positions."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    positions = np.flatnonzero(largest)
    # Scaling by the largest component first keeps the squares of huge and of tiny ones within float64.
    scaled = rows[positions] / largest[positions, None]
    return scaled / np.sqrt((scaled * scaled).sum(axis=1))[:, None], positions


def _verified(
    unit: FloatArray, min_cosine: float, block: int
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the pairs of each block whose float64 cosine is at least `min_cosine`."""
    count, width = unit.shape
    single = unit.astype(np.float32)
    # |computed - exact| is at most (d + 2) roundings of float32 for vectors of length 1; two more are for the
    # lengths themselves and for the comparison.
    proposed = np.float32(min_cosine - (width + 4) * float(np.finfo(np.float32).eps))
    step = max(1, _VERIFY_BLOCK // max(1, width))
    for top in range(0, count, block):
        for left in range(top, count, block):
            first, second = _proposals(single, top, left, block, proposed)
            for start in range(0, len(first), step):
                i, j = first[start : start + step], second[start : start + step]
                # A row's sum does not depend on the other rows, so the block size cannot change a cosine.
                cosine = np.clip((unit[i] * unit[j]).sum(axis=1), -1.0, 1.0)
                near = cosine >= min_cosine
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


def _pairs_of(keys: Keys, largest: int, reach: int) -> list[npt.NDArray[np.int64]]:
    """Return the pairs of equal keys as ``first · count + second``; of large buckets, up to `few` apart."""
    order = np.argsort(keys, kind="stable").astype(np.int64)
    ordered = keys[order]
    borders = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    sizes = np.diff(borders, prepend=0, append=len(keys))
    small = np.repeat(sizes <= largest, sizes)
    pairs = []
    for apart in range(1, min(largest, len(keys) - 1) + 1):
        equal = ordered[apart:] == ordered[:-apart]
        same = np.flatnonzero(equal if apart <= reach else equal & small[:-apart])
        if not same.size:
            break
        # The sort is stable, so of two equal keys the one that was first still is.
        pairs.append(order[same] * len(keys) + order[same + apart])
    return pairs


def _position_pairs(pairs: object, count: int) -> IntArray:
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


_LETTER_JACCARD: Final = 0.75
"""The Jaccard index at which MinHash may miss one pair in a hundred; the vectors find likelier ones below."""
_ALONE_JACCARD: Final = 0.6
"""The same where there are no vectors."""
_MAX_BUCKET: Final = 32
_PLANES: Final = 4_096
_MISS_RATE: Final = 0.01


def similar_pairs(
    texts: Sequence[str],
    vectors: Rows | None = None,
    *,
    threshold: float = 0.92,
    method: str | None = None,
    permutations: int = 300,
    signer: Signer | None = None,
) -> IntArray:
    """Return pairs of texts that may be duplicates, first < second, by vectors and by letters.

    With vectors, all pairs whose cosine reaches `threshold`: by one blocked product for small stores, beyond
    by candidates from sign bits of the vectors and from MinHash of the letters, each of which misses one pair
    in a hundred at its threshold. Without vectors, pairs of like letters.

    Parameters
    ----------
    texts
        The texts.
    vectors
        A row for each text.
    threshold
        The least cosine.
    method
        ``"matrix"`` or ``"lsh"``; None to choose by the number (:func:`method_for`).
    permutations
        How many MinHash permutations.
    signer
        Makes the signatures; rensa where it is installed.

    Examples
    --------
    >>> similar_pairs(["Anna likes tea", "Anna likes teas", "Bob swims"]).tolist()
    [[0, 1]]
    >>> similar_pairs(["a", "b", "c"], [[1, 0], [0, 1], [1, 0.1]]).tolist()
    [[0, 2]]
    """
    checked = checks.texts("texts", texts)
    if vectors is None:
        return _by_letters(checked, _ALONE_JACCARD, permutations, signer)
    rows = checks.matrix("vectors", vectors)
    if len(rows) != len(checked):
        raise InvalidArgument("vectors", len(rows), f"as many rows as there are texts, {len(checked)}")
    if method_for(len(checked), method) is Method.MATRIX:
        return near_pairs(rows, threshold).positions()
    banding = bands_for(agreement(threshold), _PLANES, _MISS_RATE)
    alike = colliding_pairs(direction_keys(rows, banding), largest=_MAX_BUCKET, beyond=1)
    letters = _by_letters(checked, _LETTER_JACCARD, permutations, signer)
    pairs = np.unique(np.concatenate([alike, letters]), axis=0)
    unit, positions = _directions(rows)
    whole = np.zeros_like(rows)
    whole[positions] = unit
    near = (whole[pairs[:, 0]] * whole[pairs[:, 1]]).sum(axis=1) >= threshold - _ROUNDING
    verified: IntArray = pairs[near]
    return verified


def _by_letters(
    texts: Sequence[str], similarity: float, permutations: int, signer: Signer | None
) -> IntArray:
    banding = bands_for(similarity, permutations, _MISS_RATE)
    folded = [" ".join(text.lower().split()) for text in texts]
    signatures = (signer or usual_signer()).sign(folded, banding.permutations)
    return colliding_pairs(band_keys(signatures, banding), largest=_MAX_BUCKET, beyond=1)
