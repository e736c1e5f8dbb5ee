"""Who was said before and after whom: the session neighbours of every slot.

A session's memories are ordered by position, then by when they were learnt, then by slot. The order lives in
two arrays, so that finding the neighbours of a thousand candidates is one look-up.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.index.record import GONE, Growing, Records
from memorata.model.checks import FloatArray, IntArray

NOBODY: Final = -1
LINKED: Final = ("session", "position", "created", "state")
"""The columns of a record that decide who its neighbours are."""

Slots = npt.NDArray[np.int32]


class Neighbours:
    """The slot said before and after each slot of a namespace; -1 where there is none."""

    def __init__(self) -> None:
        self._before = Growing(np.int32, ())
        self._after = Growing(np.int32, ())
        # The records have this, too, but a hundred bytes apart.
        self._learnt = Growing(np.float64, ())
        self._linked = False

    def __len__(self) -> int:
        return len(self._before)

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
            links.extend(np.full(new, NOBODY, np.int32))
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
        rows = np.full((2 * reach, slots.size), NOBODY, np.intp)
        if self._linked:
            for first, links in ((0, self._before.view), (reach, self._after.view)):
                at = slots
                for row in rows[first : first + reach]:
                    row[:] = links[at]
                    # A slot of -1 looked up the last one, whose answer is thrown away.
                    row[at < 0] = NOBODY
                    at = row
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
        before, after = np.full(inside.size, NOBODY, np.int32), np.full(inside.size, NOBODY, np.int32)
        before[1:][same] = inside[:-1][same]
        after[:-1][same] = inside[1:][same]
        self._before.view[inside], self._after.view[inside] = before, after
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
