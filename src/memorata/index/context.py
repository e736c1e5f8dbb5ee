"""BM25 of some memories read in context: with the words of their neighbours in the session.

The work is proportional to the candidates and to the lists of the question's terms, whatever the size of the
namespace: the lists are gone through once, and everything else happens on a table of terms by candidates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.lexical import Mask, Part, Saturated, scale
from memorata.index.neighbours import Neighbours
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.bm25 import BM25
from memorata.rank.combination import Combination
from memorata.rank.context import REACH, ContextWindow, window_bm25

Columns = npt.NDArray[np.int32]

_HOUR = 3_600.0
READ = "content"
"""The field that is read in context; tags, speaker and dates of a memory are its own."""


@frozen(eq=False)
class InContext:
    """Candidates and everything needed to score them.

    Attributes
    ----------
    slots
        The candidates.
    names
        What each row of `table` is about: a term in a field.
    table
        What each term in each field adds to each candidate.
    """

    slots: IntArray
    names: Sequence[str]
    table: FloatArray

    @property
    def scores(self) -> FloatArray:
        """The score of each candidate."""
        result: FloatArray = self.table.sum(axis=0)
        return result

    def detail(self, slots: IntArray) -> Combination:
        """Return what each term in each field added to the scores of some of the candidates."""
        order = self.slots.argsort(kind="stable")
        at = order[np.searchsorted(self.slots, slots, sorter=order)]
        return Combination.of("sum", self.names, self.table[:, at])


def in_context(
    parts: Sequence[Part],
    slots: IntArray,
    neighbours: Neighbours,
    seen: Mask | None,
    count: int,
    scorer: BM25,
    reading: ContextWindow,
    columns: Columns,
) -> InContext:
    """Score candidates by the question's terms, reading each with its neighbours.

    `parts`: the lists of the question's terms, without memories that may not be seen. `slots`: the
    candidates, each once. `seen`: which memories may be seen; the words of others are not read. `columns`: an
    array over all slots and one more, all of it -1, and left so.
    """
    around = neighbours.around(slots, REACH) if neighbours else np.zeros((0, slots.size), np.intp)
    if seen is not None:
        around = np.where((around >= 0) & seen[around], around, -1)
    # The candidates come last, so that each keeps its own column if it is also somebody's neighbour. Those
    # who are not there, -1, have the column of one more than all slots, which nobody writes to.
    everyone = np.concatenate([around.ravel(), slots])
    first = around.size
    columns[everyone] = np.arange(everyone.size, dtype=columns.dtype)
    at = columns[around]
    scales = np.array([scale(part, count) for part in parts])
    table = np.zeros((len(parts), slots.size))
    read = [row for row, part in enumerate(parts) if part.field == READ and around.size]
    plain = [row for row, part in enumerate(parts) if part.field != READ or not around.size]
    if plain:
        # What a posting is worth on its own is known already.
        row, column, postings = _hits([parts[row].list for row in plain], columns, first)
        values = np.concatenate([parts[row].list.saturation for row in plain])[postings]
        rows = np.array(plain)[row]
        table[rows, column - first] = scales[rows] * values
    if read:
        row, column, postings = _hits([parts[row].list for row in read], columns, 0)
        tf = np.zeros((len(read), everyone.size))
        tf[row, column] = np.concatenate([parts[row].list.frequencies for row in read])[postings]
        lengths = parts[read[0]].lengths
        own = lengths[slots].astype(np.float64)
        weights = reading.weights(own, neighbours.pauses(slots, around) / _HOUR)
        weights *= around >= 0
        table[read] = window_bm25(
            tf[:, first:],
            (tf.take(each, axis=1) for each in at),
            own,
            lengths[around],
            weights,
            scales[read],
            parts[read[0]].average_length,
            scorer.k1,
            scorer.b,
        )
    columns[everyone] = -1
    names = [f"{part.term} in {part.field}" for part in parts]
    return InContext(slots, names, table)


def _hits(lists: Sequence[Saturated], columns: Columns, first: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the postings in a column from `first` on: the list and the column of each, and which it is."""
    column = columns[np.concatenate([each.slots for each in lists])]
    postings = (column >= first).nonzero()[0]
    ends = np.array([each.slots.size for each in lists]).cumsum()
    return ends.searchsorted(postings, "right"), column[postings], postings
