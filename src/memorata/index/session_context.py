"""Who was said before and after whom, and BM25 of memories read with the words of those neighbours.

A session's memories are ordered by position, then by when they were learnt, then by slot. The order lives in
two arrays, so that finding the neighbours of a thousand candidates is one look-up. Scoring takes time in
proportion to the candidates and to the lists of the query's terms, whatever the size of the namespace: the
lists are gone through once, and everything else happens on a table of terms by candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.lexical import Mask, Part, Saturated, scale
from memorata.index.record import GONE, Growing, Records
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.bm25 import BM25
from memorata.rank.combination import Combination
from memorata.rank.context import REACH, ContextWindow, window_bm25

NOBODY: Final = -1
LINKED: Final = ("session", "position", "created", "state")
"""The columns of a record that decide who its neighbours are."""

Slots = npt.NDArray[np.int32]


class Neighbours:
    """The slot said before and after each slot of a namespace; -1 where there is none."""

    def __init__(self) -> None:
        # Both count from 1, and begin with a 0 that stands for nobody: so nobody's neighbour is nobody.
        self._before = Growing(np.int32, ())
        self._after = Growing(np.int32, ())
        self._before.append(0)
        self._after.append(0)
        # The records have this, too, but a hundred bytes apart.
        self._learnt = Growing(np.float64, ())
        self._linked = False

    def __len__(self) -> int:
        return len(self._learnt)

    def __bool__(self) -> bool:
        """Return whether anybody has a neighbour."""
        return self._linked

    @property
    def nbytes(self) -> int:
        """How much memory this takes."""
        return self._before.nbytes + self._after.nbytes + self._learnt.nbytes

    def grow(self, records: Records) -> None:
        """Link the slots that are new in `records`, which are those of the whole namespace.

        Only the sessions that got something new are put in order again.
        """
        start = len(self)
        new = len(records) - start
        if not new:
            return
        for links in (self._before, self._after):
            links.extend(np.zeros(new, np.int32))
        self._learnt.extend(records["created"][start:])
        sessions = records["session"]
        touched = distinct(sessions[start:])
        touched = touched[touched >= 0]
        if not touched.size:
            return
        if start == 0:
            members = np.flatnonzero(sessions >= 0)
        elif touched.size == 1:
            members = np.flatnonzero(sessions == touched[0])
        else:
            members = np.flatnonzero(np.isin(sessions, touched))
        self._link(members, records)

    def around(self, slots: IntArray, reach: int) -> IntArray:
        """Return the neighbours of some slots: a row per step back, then a row per step ahead.

        Examples
        --------
        >>> from memorata.index.record import RECORD
        >>> records = np.zeros(3, RECORD)
        >>> records["position"] = [0, 1, 2]
        >>> links = Neighbours()
        >>> links.grow(records)
        >>> links.around(np.array([1]), 2).tolist()
        [[0], [-1], [2], [-1]]
        """
        if not self._linked:
            return np.full((2 * reach, slots.size), NOBODY, np.intp)
        rows = np.empty((2 * reach, slots.size), np.intp)
        own = slots + 1
        for first, links in ((0, self._before.view), (reach, self._after.view)):
            at = own
            for row in rows[first : first + reach]:
                row[:] = at = links.take(at)
        rows -= 1
        return rows

    def pauses(self, slots: IntArray, around: IntArray) -> FloatArray:
        """Return the seconds between some slots and their neighbours; anything where there is none."""
        learnt = self._learnt.view
        result: FloatArray = np.abs(learnt[around] - learnt[slots])
        return result

    def _link(self, members: IntArray, records: Records) -> None:
        members = members[records["state"][members] != GONE]
        chosen = records[members]
        order = np.lexsort((members, chosen["created"], chosen["position"], chosen["session"]))
        inside = members[order].astype(np.int32)
        same = chosen["session"][order][1:] == chosen["session"][order][:-1]
        numbers = inside + 1
        before, after = np.zeros(inside.size, np.int32), np.zeros(inside.size, np.int32)
        before[1:][same] = numbers[:-1][same]
        after[:-1][same] = numbers[1:][same]
        self._before.view[numbers], self._after.view[numbers] = before, after
        self._linked |= bool(same.any())


def distinct(slots: IntArray) -> IntArray:
    """Return each slot once, ascending: ``numpy.unique`` of a few numbers in a third of the time.

    The first ``numpy.unique`` of a process also loads all of masked arrays, which takes longer than opening.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = slots.copy()
    ordered.sort()
    new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    found: IntArray = ordered[new]
    return found


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
    parts
        What each row of `table` is about: a term in a field.
    table
        What each term in each field adds to each candidate.
    """

    slots: IntArray
    parts: Sequence[Part]
    table: FloatArray

    @property
    def names(self) -> list[str]:
        """What explanations call each row of `table`."""
        return [f"{part.term} in {part.field}" for part in self.parts]

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
    """Score candidates by the query's terms, reading each with its neighbours.

    `parts`: the lists of the query's terms, without memories that may not be seen. `slots`: the
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
    return InContext(slots, parts, table)


def _hits(lists: Sequence[Saturated], columns: Columns, first: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the postings in a column from `first` on: the list and the column of each, and which it is."""
    column = columns[np.concatenate([each.slots for each in lists])]
    postings = (column >= first).nonzero()[0]
    ends = np.array([each.slots.size for each in lists]).cumsum()
    return ends.searchsorted(postings, "right"), column[postings], postings
