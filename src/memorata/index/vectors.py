"""The vectors of one namespace, ready to be searched.

A search narrows in up to three steps, each of which reads less of a vector than the next one does. Above
`MAX_EXACT_VECTORS` vectors their sign bits are scanned, and the closest go on (see
:mod:`memorata.index.codes`). Those are compared as bytes, and all go on that may be among the best, which is
whatever is within rounding of them. These are compared as float32, which are in memory for up to
`MAX_EXACT_VECTORS` vectors; above, their bytes are compared with the query in full, and the caller may ask
for the stored float32 of the best. So up to `MAX_EXACT_VECTORS` vectors a search finds what comparing all of
them as float32 finds, unless the errors of rounding conspire, as vectors constructed for it can. Nothing
has to be trained, so it is always up to date.

How many go on by their signs depends on the query: `MIN_RESCORED` first, and `MAX_RESCORED` if any of the
best of those comes from their farther half, where it was nearly missed. On 60,000 vectors by arctic-embed-s,
which all point much the same way, that finds .990 to 1.000 of the ten closest, by the set of queries, as much
as `MAX_RESCORED` for all of them (benchmarks/rescoring.py); `MIN_RESCORED` for all finds .942 to .994. A
filter is applied before anything is selected: a filtered search never starves, and one that leaves few
vectors is computed over all of those.

Products of one vector with many are SimSIMD's (Vardanian, 2023), which has a kernel of each kind for the
processor at hand; where it cannot be imported, numpy computes the same. Every row is compared by itself,
whatever stands around it: equal rows have equal products, to the last bit, wherever they stand. The kernels
read memory as it lies, so what lies otherwise (a view with steps, another type) is copied first. On 20,000
rows of 384, numpy takes as long for floats (1.3 ms), 15 times as long for bytes (6.8 against 0.45 ms) and 5
times as long for bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.codes import Bits, Bytes, Codes, Floats, Owners, closest, quantised, rounded, sign_bits
from memorata.index.record import Growing
from memorata.rank.scores import ranked, reached

MAX_EXACT_VECTORS: Final = 20_000
MAX_FLOAT_VECTORS: Final = 2_048
"""Up to this many are compared as float32 at once."""
MIN_RESCORED: Final = 1_000
MAX_RESCORED: Final = 4_000

_ROUNDED: Final = 8 / 12**0.5
"""How far apart products of bytes may be that are equal in full, in steps of the scales. Numbers rounded to
whole steps are off by a step over the root of 12, as standard deviations go, and so are the products of unit
vectors that have them; two of these may be off by four of them each."""

_NO_STEP: Final = 0.5
"""Far more than the step of a vector of length 1; what has none is all zeros."""
_ROUNDED_ROWS: Final = 4_096
"""How many rows are rounded at a time: it takes three times the room of what is rounded."""

Places = npt.NDArray[np.intp]
Exact = Callable[[Places], Floats]
"""Returns the float32 rows of vectors from the store, by their positions."""


class Vectors:
    """Vectors in the order they were added, each owned by a slot; a slot may own several (its passages).

    Parameters
    ----------
    dimension
        The length of every vector.
    exact
        Whether float32 rows are kept in memory; otherwise only their codes are.
    """

    def __init__(self, dimension: int, *, exact: bool) -> None:
        self.dimension = dimension
        self.exact = exact
        self.owners = Growing(np.int32, ())
        self._rows = Growing(np.float32, (dimension,))
        self._bits = Growing(np.uint64, (-(-dimension // 64),))
        self._bytes = Growing(np.int8, (dimension,))
        self._scales = Growing(np.float32, ())
        self._coarsest = 0.0
        self._several = False
        self._laid_out: _Passages | None = None

    def __len__(self) -> int:
        return len(self.owners.view)

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take, once they have been searched."""
        parts = (self.owners, self._rows, self._bits, self._bytes, self._scales)
        waiting = len(self) - len(self._bytes) if len(self) > MAX_FLOAT_VECTORS else 0
        return sum(part.nbytes for part in parts) + waiting * (self.dimension + 4)

    def reserve(self, count: int) -> None:
        """Make room for `count` vectors in all."""
        self.owners.reserve(count)
        for part in (self._rows,) if self.exact else (self._bits, self._bytes, self._scales):
            part.reserve(count)

    def add(self, owners: Owners, rows: Floats) -> None:
        """Add vectors at the end; owners do not decrease."""
        self._own(owners)
        if self.exact:
            self._rows.extend(rows)
        else:
            self._code(Codes.of(owners, rows))

    def add_codes(self, codes: Codes) -> None:
        """Add vectors by their stored codes."""
        self._own(codes.owners)
        self._code(codes)

    def search(
        self, query: Floats, limit: int, mask: npt.NDArray[np.bool_] | None, fetch: Exact | None
    ) -> tuple[Places, npt.NDArray[np.float64]]:
        """Return the slots whose best vector is closest to the query, best first, and their cosines.

        `mask`: which slots may be returned; None for all. `fetch`: reads float32 rows from the store, for the
        few that codes leave to be compared exactly; None if what bytes say is good enough, which is off by a
        thousandth.
        """
        owners = self.owners.view
        if not len(owners) or limit == 0:
            return np.zeros(0, np.intp), np.zeros(0)
        allowed = None if mask is None else np.flatnonzero(mask[owners])
        places = self._narrowed(query, limit, allowed)
        scores = self._compared(query, places)
        if fetch is not None and not self.exact:
            # A quarter more than the limit leaves room for the small error of bytes.
            compared = np.arange(len(owners)) if places is None else places
            places = self._best_slots(compared, scores.astype(np.float64), limit + max(20, limit // 4))
            scores = products(fetch(places), query)
        slots = owners if places is None else owners[places]
        exact = scores.astype(np.float64)
        if self._several:
            slots, exact = self._best_per_slot(places, exact)
        order = ranked(exact, limit)
        return slots[order].astype(np.intp), _as_cosines(exact[order])

    def cosines(self, query: Floats, slots: Places) -> npt.NDArray[np.float64]:
        """Return the cosine of each slot's best vector with the query; 0 for a slot without one.

        From float32 rows where those are in memory, else from their bytes, which are off by a thousandth.
        """
        owners = self.owners.view
        if not len(owners) or not slots.size:
            return np.zeros(slots.size)
        if not self._several and owners[-1] == len(owners) - 1 and slots.max() < len(owners):
            # Every slot up to the last has exactly one vector.
            return _as_cosines(self._compared(query, slots).astype(np.float64))
        places, starts, having = self._places(slots)
        result = np.zeros(slots.size)
        if not having.size:
            return result
        result[having] = np.maximum.reduceat(self._compared(query, places).astype(np.float64), starts)
        return _as_cosines(result)

    def first_rows(self, slots: Places) -> Floats | None:
        """Return the row of each slot's first vector, zeros for one without; None where no rows are kept."""
        if not self.exact:
            return None
        result = np.zeros((slots.size, self.dimension), np.float32)
        if len(self):
            places, starts, having = self._places(slots)
            result[having] = self._rows.view[places[starts]]
        return result

    def _places(self, slots: npt.NDArray[np.integer[Any]]) -> tuple[Places, Places, Places]:
        """Return the places of the vectors of slots, where each slot's start, and which slots have any."""
        owners = self.owners.view
        if self._several and self.exact:
            begins = self._passages().begins
            # A slot after the last that has any begins, and ends, where all of them end.
            within = np.minimum(slots, begins.size - 2)
            first, last = begins[within], begins[within + 1]
        else:
            first, last = owners.searchsorted(slots), owners.searchsorted(slots, "right")
        sizes = last - first
        having = sizes.nonzero()[0]
        first, sizes = first[having], sizes[having]
        starts = sizes.cumsum() - sizes
        return (first - starts).repeat(sizes) + np.arange(int(sizes.sum())), starts, having

    def _passages(self) -> _Passages:
        """Return where the vectors of all slots lie; kept until some are added."""
        if self._laid_out is None or self._laid_out.count != len(self):
            self._laid_out = _Passages.of(self.owners.view)
        return self._laid_out

    def _compared(self, query: Floats, places: Places | None) -> Floats:
        """Return the products of some vectors with the query, from rows if there are any, else from bytes."""
        if self.exact:
            return products(_rows_at(self._rows, places), query)
        scales: Floats = _rows_at(self._scales, places)
        return products(_rows_at(self._bytes, places).astype(np.float32), query) * scales

    def _narrowed(self, query: Floats, limit: int, allowed: Places | None) -> Places | None:
        """Return those of the allowed places, ascending, that may be among the best; None for all."""
        count = len(self) if allowed is None else allowed.size
        if not self.exact and count > max(MAX_RESCORED, 2 * limit):
            return self._close_by_signs(query, limit, allowed)
        if count <= MAX_FLOAT_VECTORS:
            return allowed
        return self._within_rounding(limit, allowed, *self._by_bytes(query, allowed))

    def _close_by_signs(self, query: Floats, limit: int, allowed: Places | None) -> Places:
        """Return the best by bytes of those whose signs are most like the query's.

        As many as it takes: more if those of a few long memories fill the list, and more if what is best by
        bytes was far by signs.
        """
        distance = self._distances(query, allowed)
        count = max(MIN_RESCORED, 2 * limit)
        while True:
            near = closest(distance, count, self.dimension)
            places = near if allowed is None else allowed[near]
            everything = near.size == distance.size
            if self._several and not everything and np.unique(self.owners.view[places]).size < 2 * limit:
                count = 4 * near.size
                continue
            rough, step = self._by_bytes(query, places)
            if everything or count >= MAX_RESCORED or not _from_afar(distance[near], rough, limit):
                return self._within_rounding(limit, places, rough, step)
            count = MAX_RESCORED

    def _distances(self, query: Floats, allowed: Places | None) -> npt.NDArray[np.uint16]:
        signs = sign_bits(query[None, :])[0]
        if allowed is not None and self._are_most(allowed):
            return differing(self._bits.view, signs)[allowed]
        return differing(_rows_at(self._bits, allowed), signs)

    def _are_most(self, places: Places) -> bool:
        """Return whether some places are so many that comparing all takes less time than copying these."""
        return 2 * places.size > len(self)

    def _by_bytes(self, query: Floats, places: Places | None) -> tuple[Floats, float]:
        """Return the products of some vectors with the query, both as bytes, in steps of the query's."""
        if self.exact and len(self._bytes) < len(self):
            for start in range(len(self._bytes), len(self), _ROUNDED_ROWS):
                codes = quantised(self._rows.view[start : start + _ROUNDED_ROWS])
                self._code_bytes(codes.values, codes.scales)
        query_bytes, step = rounded(query)
        scales: Floats = _rows_at(self._scales, places)
        if places is not None and self._are_most(places):
            return byte_products(self._bytes.view, query_bytes)[places] * scales, step
        return byte_products(_rows_at(self._bytes, places), query_bytes) * scales, step

    def _within_rounding(self, limit: int, places: Places | None, rough: Floats, step: float) -> Places:
        """Return those of some places that may be among the best, given their products by bytes."""
        best = rough
        if self._several:
            _, best = self._best_per_slot(places, rough)
        slack = _ROUNDED * math.hypot(self._coarsest, step) / step
        kept: Places = (rough >= reached(best, limit) - slack).nonzero()[0]
        return kept if places is None else places[kept]

    def _best_slots(self, places: Places, scores: npt.NDArray[np.float64], count: int) -> Places:
        """Return the places, ascending, of the slots with the best scores, all of their passages included."""
        if not self._several:
            return np.sort(places[ranked(scores, count)])
        slots, best = self._best_per_slot(places, scores)
        return places[np.isin(self.owners.view[places], slots[ranked(best, count)])]

    def _best_per_slot(
        self, places: Places | None, scores: npt.NDArray[np.floating[Any]]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Return each slot that has one of some ascending places once, with the best of its scores."""
        owners: npt.NDArray[np.int32] = self.owners.view
        if places is None and self.exact:
            return self._passages().best(scores)
        owners = owners if places is None else owners[places]
        starts = _starts(owners)
        return owners[starts], np.maximum.reduceat(scores, starts)

    def _own(self, owners: Owners) -> None:
        last = self.owners.view[-1:]
        self._several |= bool((np.diff(np.concatenate([last, owners])) == 0).any())
        self.owners.extend(owners)

    def _code(self, codes: Codes) -> None:
        self._bits.extend(codes.bits)
        self._code_bytes(codes.quantised.values, codes.quantised.scales)

    def _code_bytes(self, values: npt.NDArray[np.int8], scales: Floats) -> None:
        self._bytes.extend(values)
        self._scales.extend(scales)
        # A text in which an embedder finds nothing has no numbers to round.
        self._coarsest = max(self._coarsest, float(scales.max(initial=0.0, where=scales < _NO_STEP)))


@frozen(eq=False)
class _Passages:
    """Where the vectors of each slot lie, as long as none are added.

    - `begins`: by slot, the place of its first vector; those of the next slot begin where its own end.
    - `slots`, `starts`: the slots that have vectors, and the place of the first of each.
    - `several`: which of these have more than one; `inside` are the places of all vectors of those, and
      `inner` is where each one's begin among them.
    """

    count: int
    begins: Places
    slots: npt.NDArray[np.int32]
    starts: Places
    several: Places
    inside: Places
    inner: Places

    @classmethod
    def of(cls, owners: npt.NDArray[np.int32]) -> _Passages:
        """Lay out some vectors, of which there is at least one, given the slot that owns each."""
        starts = _starts(owners)
        sizes = np.diff(starts, append=owners.size)
        several = (sizes > 1).nonzero()[0]
        inner = sizes[several].cumsum() - sizes[several]
        inside = (starts[several] - inner).repeat(sizes[several]) + np.arange(int(sizes[several].sum()))
        begins = owners.searchsorted(np.arange(int(owners[-1]) + 3))
        return cls(owners.size, begins, owners[starts], starts, several, inside, inner)

    def best(self, scores: npt.NDArray[np.floating[Any]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Return each slot with the best of its scores; most have one, which need not be compared."""
        best = scores.take(self.starts)
        if self.several.size:
            best[self.several] = np.maximum.reduceat(scores.take(self.inside), self.inner)
        return self.slots, best


def _starts(owners: npt.NDArray[np.int32]) -> Places:
    """Return where the vectors of each slot begin; those of a slot are neighbours."""
    new = np.ones(owners.size, np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=new[1:])
    return new.nonzero()[0]


def _as_cosines(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Clip products in place: of unit vectors, rounded to float32 or bytes, they may lie outside -1 to 1."""
    return np.clip(scores, -1.0, 1.0, out=scores)


def _rows_at(rows: Growing, places: Places | None) -> npt.NDArray[Any]:
    """Return some rows; all of them for None."""
    # Taking rows is three times as fast as indexing them.
    return rows.view if places is None else rows.view.take(places, axis=0)


def _from_afar(distance: npt.NDArray[np.uint16], scores: Floats, limit: int) -> bool:
    """Return whether any of the best by score is in the farther half by distance."""
    half = np.partition(distance, distance.size // 2)[distance.size // 2]
    return bool((distance[ranked(scores.astype(np.float64), limit)] > half).any())


try:
    import simsimd
except ImportError:  # no wheel for this platform
    simsimd = None  # type: ignore[assignment]

_Metric: TypeAlias = Literal["dot", "hamming"]
_Type: TypeAlias = Literal["float32", "int8", "bin8"]
_MAX_EXACT_BYTES: Final = 2**24 // 128**2
"""Up to how many bytes a row's product, added up as float32 in any order, is exact."""
_BLOCK_ROWS: Final = 4_096

_TYPES: Final[Mapping[str, np.dtype[Any]]] = {
    "float32": np.dtype(np.float32),
    "int8": np.dtype(np.int8),
    "bin8": np.dtype(np.uint8),
}


def products(rows: Floats, query: Floats) -> Floats:
    """Return the dot product of every row with `query`.

    Examples
    --------
    >>> products(np.array([[1, 0], [3, 4]], np.float32), np.array([2, 1], np.float32))
    array([ 2., 10.], dtype=float32)
    """
    return _per_row(query, rows, "dot", "float32")


def byte_products(rows: Bytes, query: Bytes) -> Floats:
    """Return the dot product of every row of bytes with one row of bytes; they are added up as whole numbers.

    Examples
    --------
    >>> byte_products(np.array([[127, 127], [-127, 1]], np.int8), np.array([127, 100], np.int8))
    array([ 28829., -16029.], dtype=float32)
    """
    return _per_row(query, rows, "dot", "int8")


def differing(rows: Bits, query: Bits) -> npt.NDArray[np.uint16]:
    """Return in how many bits each row of words differs from the words of `query`.

    Examples
    --------
    >>> differing(np.array([[0b1010], [0b0110]], np.uint64), np.array([0b1011], np.uint64))
    array([1, 3], dtype=uint16)
    """
    query_words, row_words = np.ascontiguousarray(query), np.ascontiguousarray(rows)
    bits = _per_row(query_words.view(np.uint8), row_words.view(np.uint8), "hamming", "bin8")
    return bits.astype(np.uint16)


def _per_row(query: npt.NDArray[Any], rows: npt.NDArray[Any], metric: _Metric, dtype: _Type) -> Floats:
    if not rows.size:
        return np.zeros(len(rows), np.float32)
    plain = _plain(query, dtype), _plain(rows, dtype)
    return _by_numpy(*plain, dtype) if simsimd is None else _by_simsimd(*plain, metric, dtype)


def _by_simsimd(query: npt.NDArray[Any], rows: npt.NDArray[Any], metric: _Metric, dtype: _Type) -> Floats:
    compared = simsimd.cdist(query[np.newaxis], rows, metric, dtype=dtype, out_dtype="float32")
    result: Floats = np.asarray(compared)[0]
    return result


def _by_numpy(query: npt.NDArray[Any], rows: npt.NDArray[Any], dtype: _Type) -> Floats:
    """Return what the kernels do, in blocks where a block is converted first."""
    if dtype == "float32":
        # Not rows @ query, which adds up the last few rows in another order than the others.
        floats: Floats = np.vecdot(rows, query)
        return floats
    result = np.empty(len(rows), np.float32)
    wide = np.float32 if rows.shape[1] <= _MAX_EXACT_BYTES else np.float64
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        result[start : start + _BLOCK_ROWS] = (
            block.astype(wide) @ query.astype(wide)
            if dtype == "int8"
            else np.bitwise_count(block ^ query).sum(axis=1, dtype=np.uint32)
        )
    return result


def _plain(array: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Return an array as the kernels need it: of one type, every number where it belongs."""
    kind, flags = _TYPES[dtype], array.flags
    if array.dtype == kind and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, kind, ["C", "A"])
