"""Candidate pairs and their clusters.

Up to some ten thousand items everything is compared with everything, exactly: one matrix product, cut into
square blocks so that only one block of similarities is in memory at a time. The products run in float32
(twice the speed of float64) and only propose: whatever comes within the worst rounding error of the threshold
is computed again in float64, so the answer is that of the exact double loop. The error bound of a dot product
is that of Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1. Beyond that size candidates
are the pairs that agree on a band of their signatures (:mod:`memorata.dedupe.minhash`): each band gives every
item a number, and sorting the numbers puts equal ones side by side, so no table of buckets is ever built.

Among texts of one template all letters and all vectors are alike, so comparing what is alike compares
everything with everything. But :func:`~memorata.dedupe.verification.judge` takes two texts for one only if
they have the same words, or one goes on from the other, and words can be looked up: as in the prefix filter
of Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning" (ICDE 2006), a
text is filed under what it says and under what it says without its last words (:func:`statement_pairs`).
Nothing is missed, and the time grows with the texts and the pairs found.

Clusters are the connected components of the pairs: Shiloach and Vishkin, "An O(log n) parallel connectivity
algorithm" (1982), with numpy as the parallel machine. Every root hooks on to its smallest neighbouring root,
then all paths are halved until flat. With the pairs of cosine ≥ t, the components are the clusters of DBSCAN
with eps = 1 - t and two points per cluster, so DBSCAN is no method of its own here. They chain: a near b and
b near c put a and c together even when those two are further apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.dedupe.decisions import ROUNDING
from memorata.dedupe.minhash import Keys
from memorata.dedupe.openings import are_close, gist, opening
from memorata.dedupe.wording import shortenings, spelling, wording
from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray, Rows
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

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
    blocks = list(_verified(unit, threshold - ROUNDING, block))
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


Largest = Annotated[int, Declared("The largest number of like texts that are all compared.", 2, 1_000)]
_PROGRESS_STEP: Final = 2_000
_MAX_GISTS: Final = 400_000_000
"""How many gists the corrections look at, all together; shared out evenly if there are many of them."""
_MAX_DENIALS: Final = 200_000
"""How many pairs the corrections make, all together, as long as each may have `largest` of them."""


def statement_pairs(
    texts: Sequence[str], *, largest: Largest = 32, progress: Callable[[int], None] = lambda done: None
) -> IntArray:
    """Return the pairs of texts, first < second, that are one statement, or one goes on from the other.

    That is :func:`~memorata.dedupe.wording.same_statement` or :func:`~memorata.dedupe.wording.extends`, for
    all pairs at once. Of more than `largest` texts that are one statement, each is paired with the `largest`
    that follow it; a text that goes on, with the first `largest` of those it goes on from. `progress` is
    called with how many texts have been read.
    """
    checked, largest = checks.texts("texts", texts), checks.whole("largest", largest, 2)
    numbers: dict[tuple[str, ...], int] = {}
    keys = np.zeros(len(checked), np.uint64)
    filed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    shorter: list[list[tuple[str, ...]]] = []
    for position, text in enumerate(checked):
        if position % _PROGRESS_STEP == 0:
            progress(position)
        words, shortened = shortenings(text)
        keys[position] = numbers.setdefault(spelling(words), len(numbers))
        if words and len(filed[words]) < largest:
            filed[words].append(position)
        shorter.append(shortened)
    progress(len(checked))
    pairs = {
        (min(position, shorter_position), max(position, shorter_position))
        for position, shortened in enumerate(shorter)
        for words in shortened
        for shorter_position in filed.get(words, ())
    }
    pairs.update(map(tuple, colliding_pairs([keys], largest=largest).tolist()))
    return np.array(sorted(pairs), np.intp).reshape(-1, 2)


def denial_pairs(texts: Sequence[str], denying: BoolArray, *, largest: Largest = 32) -> IntArray:
    """Return the pairs of texts, first < second, of which one is a correction that may deny the other.

    All for which :func:`~memorata.dedupe.contradiction.contradiction` gives a hint are among them: they
    have the same subject (:func:`~memorata.dedupe.openings.opening`), and little else than what is denied
    (:func:`~memorata.dedupe.openings.are_close`). If there are so many corrections that what they may deny
    comes to hundreds of thousands, each is paired with its share of these, but at least with `largest`: the
    nearest in the order of the texts.
    """
    checked, largest = checks.texts("texts", texts), checks.whole("largest", largest, 2)
    if not isinstance(denying, np.ndarray) or denying.dtype != np.bool_ or denying.shape != (len(checked),):
        raise InvalidArgument("denying", denying, "an array of as many flags as there are texts")
    corrections = np.flatnonzero(denying)
    if not corrections.size:
        return np.zeros((0, 2), np.intp)
    max_pairs, reach = (
        max(largest, _MAX_DENIALS // corrections.size),
        max(largest, _MAX_GISTS // corrections.size),
    )
    subjects = {opening(checked[position]).subject for position in corrections.tolist()}
    about: dict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(checked):
        subject = opening(text).subject
        if subject in subjects:
            about[subject].append(position)
    pairs: set[tuple[int, int]] = set()
    for members in about.values():
        places = np.array(members, np.intp)
        gists = [gist(checked[position]) for position in members]
        words, kinds, spellings = (
            np.array(column, np.uint64)
            for column in zip(*((entry.words, entry.kinds, entry.spelling) for entry in gists), strict=True)
        )
        for rank in np.flatnonzero(denying[places]).tolist():
            part = slice(max(0, rank - reach), rank + reach + 1)
            close = np.flatnonzero(are_close(gists[rank], words[part], kinds[part], spellings[part]))
            close = close[close + part.start != rank] + part.start
            if close.size > max_pairs:
                close = close[np.argsort(np.abs(close - rank), kind="stable")[:max_pairs]]
            correction = members[rank]
            pairs.update(
                (min(correction, denied), max(correction, denied)) for denied in places[close].tolist()
            )
    return np.array(sorted(pairs), np.intp).reshape(-1, 2)


def paraphrase_keys(texts: Sequence[str]) -> Keys:
    """Return a number for each text, the same for those whose numbers and negations are the same."""
    numbers: dict[tuple[bool, tuple[str, ...]], int] = {}
    keys = []
    for text in checks.texts("texts", texts):
        statement = wording(text)
        keys.append(numbers.setdefault((statement.negated, tuple(sorted(statement.numbers))), len(numbers)))
    return np.array(keys, np.uint64)
