"""The vectors of one namespace, ready to be searched.

Up to `EXACT` vectors the search is one matrix product over float32. Above it, sign bits are scanned and the
best re-scored (see :mod:`recollect.index.codes`), which needs no training, so it is always up to date. How
many are re-scored depends on the question: `RESCORED` first, and `FURTHER` if any of the best of those comes
from their farther half, where it was nearly missed. On 60,000 vectors by arctic-embed-s, which all point much
the same way, that finds .990 to 1.000 of the ten closest, by the set of questions, as much as `FURTHER` for
all of them (benchmarks/rescoring.py); `RESCORED` for all finds .942 to .994. A filter is applied before
anything is selected: a filtered search never starves, and one that leaves few vectors is computed over all of
those. Where an approximate index was made (:mod:`.approximate`), it finds the shortlist instead of the scan;
what was added since is scanned beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from recollect.index.approximate import SHORTLIST, Approximate
from recollect.index.codes import Codes, Floats, Owners, Quantised, closest, hamming, sign_bits
from recollect.index.growing import Growing, GrowingColumns
from recollect.rank.order import ranked

EXACT: Final = 20_000
RESCORED: Final = 1_000
FURTHER: Final = 4_000

Exact = Callable[[npt.NDArray[np.intp]], Floats]
"""Given positions of vectors, returns their float32 rows from the store."""


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
        self._rows = GrowingColumns(dimension, np.float32)
        self._bits = GrowingColumns(-(-dimension // 64), np.uint64)
        self._bytes = Growing(np.int8, (dimension,))
        self._scales = Growing(np.float32, ())
        self._several = False
        self._last: tuple[Floats, Floats] | None = None
        self.approximate: Approximate | None = None
        self._gaps = np.zeros(0, np.intp)
        self._indexed = 0

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        parts = (self.owners, self._rows, self._bits, self._bytes, self._scales)
        return sum(part.nbytes for part in parts) + (self.approximate.nbytes if self.approximate else 0)

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
        """Add vectors whose codes are known already."""
        self._own(codes.owners)
        self._code(codes)

    def use_approximate(self, approximate: Approximate | None) -> None:
        """Let an approximate index find the shortlists from now on; what it does not hold is scanned."""
        self.approximate = approximate
        if approximate is not None:
            owners, covered = self.owners.view, approximate.covered
            self._gaps = np.flatnonzero(~covered[np.minimum(owners, covered.size - 1)])
            self._indexed = len(owners)

    def search(
        self, query: Floats, limit: int, mask: npt.NDArray[np.bool_] | None, fetch: Exact | None
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the slots whose best vector is closest to the query, best first, and their cosines.

        Parameters
        ----------
        query
            A unit vector.
        limit
            How many slots to return.
        mask
            Which slots may be returned; None for all.
        fetch
            Reads float32 rows from the store, for the few that codes leave to be compared exactly; None if
            what bytes say is good enough, which is off by a thousandth.
        """
        owners = self.owners.view
        if not len(owners) or limit == 0:
            return np.zeros(0, np.intp), np.zeros(0)
        found = None if self.approximate is None else self._approximated(query, limit, mask)
        allowed = None if mask is None or found is not None else np.flatnonzero(mask[owners])
        if self.exact:
            # Comparing all and keeping some is faster than copying the columns of some, unless those are few.
            scores = self._products(query) if allowed is None else self._products(query)[allowed]
            places = allowed
        else:
            if found is None:
                places, scores = self._rescored(query, limit, allowed)
            else:
                places, scores = found, self._compared(query, found)
            if fetch is not None:
                # A quarter more than the limit leaves room for the small error of bytes.
                places = self._best_slots(places, scores.astype(np.float64), limit + max(20, limit // 4))
                scores = fetch(places) @ query
        slots = owners if places is None else owners[places]
        exact = scores.astype(np.float64)
        if self._several:
            slots, exact = _best_per_slot(slots, exact)
        order = ranked(exact, limit)
        return slots[order].astype(np.intp), exact[order]

    def cosines(self, query: Floats, slots: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Return the cosine of each slot's best vector with the query; 0 for a slot without one.

        From float32 rows where those are in memory, else from their bytes, which are off by a thousandth.
        """
        owners = self.owners.view
        if not len(owners) or not slots.size:
            return np.zeros(slots.size)
        if not self._several and owners[-1] == len(owners) - 1 and slots.max() < len(owners):
            # Everybody up to the last has exactly one.
            return self._compared(query, slots).astype(np.float64)
        places, starts, having = self._places(slots)
        result = np.zeros(slots.size)
        if not having.size:
            return result
        result[having] = np.maximum.reduceat(self._compared(query, places).astype(np.float64), starts)
        return result

    def _places(
        self, slots: npt.NDArray[np.integer[Any]]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the places of the vectors of slots, where each slot's start, and which slots have any."""
        owners = self.owners.view
        first, last = np.searchsorted(owners, slots), np.searchsorted(owners, slots, "right")
        having = np.flatnonzero(last > first)
        sizes = (last - first)[having]
        starts = np.cumsum(sizes) - sizes
        return np.repeat(first[having] - starts, sizes) + np.arange(sizes.sum()), starts, having

    def _compared(self, query: Floats, places: npt.NDArray[np.intp]) -> Floats:
        """Return the products of some vectors with the query, from rows if there are any, else from bytes."""
        if self.exact:
            return self._products(query)[places]
        # Taking rows is three times as fast as indexing them.
        return Quantised(self._bytes.view.take(places, axis=0), self._scales.view.take(places)).dot(query)

    def _products(self, query: Floats) -> Floats:
        """Return the product of every row with the query; the last answer is kept for the next leg to ask."""
        last = self._last
        if last is not None and last[0] is query and len(last[1]) == len(self):
            return last[1]
        products: Floats = self._rows.product(query)
        self._last = query, products
        return products

    def _approximated(
        self, query: Floats, limit: int, mask: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.intp] | None:
        """Return the places, ascending, that an approximate search leaves to be compared; None if too few."""
        assert self.approximate is not None  # the caller looked
        slots = self.approximate.slots(query, max(SHORTLIST, 4 * limit), mask)
        if slots is None or slots.size < 2 * limit:
            return None
        places = self._places(slots)[0]
        later = np.concatenate([self._gaps, np.arange(self._indexed, len(self))])
        if later.size and mask is not None:
            later = later[mask[self.owners.view[later]]]
        if later.size:
            few = closest(self._distances(query, later), max(FURTHER, 2 * limit), self.dimension)
            later = later[few]
        return np.sort(np.concatenate([places, later]))

    def _rescored(
        self, query: Floats, limit: int, allowed: npt.NDArray[np.intp] | None
    ) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the places, ascending, whose signs are most like the query's, and their products by bytes.

        As many as it takes: more if those of a few long memories fill the list, and more if what is best by
        bytes was far by signs.
        """
        if allowed is not None and allowed.size <= max(FURTHER, 2 * limit):
            return allowed, self._compared(query, allowed)
        distance = self._distances(query, allowed)
        count = max(RESCORED, 2 * limit)
        while True:
            near = closest(distance, count, self.dimension)
            places = near if allowed is None else allowed[near]
            if near.size == distance.size:
                return places, self._compared(query, places)
            if self._several and np.unique(self.owners.view[places]).size < 2 * limit:
                count = 4 * near.size
                continue
            scores = self._compared(query, places)
            if count >= FURTHER or not _from_afar(distance[near], scores, limit):
                return places, scores
            count = FURTHER

    def _distances(self, query: Floats, allowed: npt.NDArray[np.intp] | None) -> npt.NDArray[np.uint16]:
        bits = self._bits.view if allowed is None else self._bits.view[:, allowed]
        return hamming(bits, sign_bits(query[None, :])[0])

    def _best_slots(
        self, places: npt.NDArray[np.intp], scores: npt.NDArray[np.float64], count: int
    ) -> npt.NDArray[np.intp]:
        """Return the places, ascending, of the slots with the best scores, all of their passages included."""
        if not self._several:
            return np.sort(places[ranked(scores, count)])
        slots = self.owners.view[places]
        found, best = _best_per_slot(slots, scores)
        return places[np.isin(slots, found[ranked(best, count)])]

    def _own(self, owners: Owners) -> None:
        last = self.owners.view[-1:]
        self._several |= bool((np.diff(np.concatenate([last, owners])) == 0).any())
        self.owners.extend(owners)

    def _code(self, codes: Codes) -> None:
        self._bits.extend(codes.bits)
        self._bytes.extend(codes.quantised.values)
        self._scales.extend(codes.quantised.scales)


def _from_afar(distance: npt.NDArray[np.uint16], scores: Floats, limit: int) -> bool:
    """Return whether any of the best by score is in the farther half by distance."""
    half = np.partition(distance, distance.size // 2)[distance.size // 2]
    return bool((distance[ranked(scores.astype(np.float64), limit)] > half).any())


def _best_per_slot(
    slots: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return each slot once with the best of its scores; equal slots are neighbours."""
    starts = np.flatnonzero(np.diff(slots, prepend=np.int32(-1)))
    return slots[starts], np.maximum.reduceat(scores, starts)
