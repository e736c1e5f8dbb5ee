"""BM25 over posting lists: a few array operations for a whole query, none of them per memory.

Each field of a memory (its content, tags, entities, …) has its own lists, lengths and average, and a weight
that a recipe chooses: ``score = sum over fields and terms of w_field · w_term · bm25``. The idf of
a term is that of the field where most memories have it, the same in all fields (as in BM25F). Document
frequencies count visible memories only, which keeps forgotten ones out of the statistics.

Memories may be read with the words of their neighbours in the session. That takes time in proportion to the
candidates and to the lists of the query's terms, whatever the size of the namespace: the lists are scanned
once, and everything else works on a table of terms by candidates. A session's memories are ordered by
position, then by creation, then by slot; the order is held in two arrays, so that the neighbours of a
thousand candidates are one look-up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.record import GONE, Growing, Records
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.bm25 import BM25, REACH, ContextWindow, idf, window_bm25
from memorata.rank.scores import Combination, ranked

Mask = npt.NDArray[np.bool_]

_SPARSE: Final = 32
"""Sorting a posting takes about as long as scanning this many slots."""


@frozen
class LexicalQuery:
    """A query of the lexical leg.

    Parameters
    ----------
    terms
        Analysed terms and the weight of each; a term that should count three times has weight 3.
    fields
        The fields to look in and the weight of each.
    excluded
        Terms that must not stand in the content.
    scorer
        BM25's parameters.
    also
        By field, the terms of that field, instead of `terms`.
    """

    terms: Mapping[str, float]
    fields: Mapping[str, float]
    excluded: tuple[str, ...] = ()
    scorer: BM25 = BM25()
    also: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def lookups(self) -> list[tuple[str, str, float]]:
        """Return every field, term and weight to look up, field by field, without zero weights."""
        return [
            (name, term, weight * times)
            for name, weight in self.fields.items()
            if weight
            for terms in (self.also.get(name, self.terms),)
            for term, times in terms.items()
            if times
        ]


@frozen(eq=False)
class TermList:
    """The posting list of a term in a field: slots, ascending, and the frequency in each."""

    slots: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]


@frozen(eq=False)
class Saturated:
    """The visible memories with a term in a field, and BM25's saturation of the term in each.

    Attributes
    ----------
    slots, frequencies
        The memories, ascending, and the frequency of the term in each.
    saturation
        BM25's ``tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average))`` of each: the part of
        a posting's score that does not depend on the query.
    """

    slots: IntArray
    frequencies: npt.NDArray[np.uint16]
    saturation: FloatArray


@frozen(eq=False)
class Part:
    """One term in one field, ready to be scored, and the weight of both.

    `lengths` and `average_length` are those of the field, over all slots. `frequency` is the number of
    memories with the term, in the field where most have it: "Anna" is a common word where she is the speaker
    of every second sentence, so her name in the content does not distinguish a sentence either.
    """

    field: str
    term: str
    list: Saturated
    weight: float
    lengths: npt.NDArray[np.float32]
    average_length: float
    frequency: int


def saturated(
    lists: Sequence[TermList],
    lengths: Sequence[npt.NDArray[np.float32]],
    average_lengths: Sequence[float],
    scorer: BM25,
) -> list[Saturated]:
    """Return the lists with the saturation of each posting.

    `lists`: of visible memories only. `lengths`: for each list, the number of terms of every slot in the
    field. `average_lengths`: for each list, the mean of the lengths over the visible memories that have the
    field.
    """
    if not lists:
        return []
    sizes = [listed.slots.size for listed in lists]
    tf = np.concatenate([listed.frequencies for listed in lists]).astype(np.float64)
    own = [of_field[listed.slots] for of_field, listed in zip(lengths, lists, strict=True)]
    relative = np.concatenate(own).astype(np.float64) / np.repeat(np.array(average_lengths), sizes)
    values = scorer.saturation(tf, relative)
    # Copies, so that a cached list does not hold the others in memory.
    return [
        Saturated(listed.slots.astype(np.intp), listed.frequencies, values[end - size : end].copy())
        for listed, size, end in zip(lists, sizes, accumulate(sizes), strict=True)
    ]


def impacts(parts: Sequence[Part], count: int) -> tuple[IntArray, FloatArray]:
    """Return the slot and the score of each posting, part after part."""
    lists = [part.list for part in parts]
    values = [scale(part, count) * part.list.saturation for part in parts]
    return np.concatenate([listed.slots for listed in lists]), np.concatenate(values)


@frozen(eq=False)
class Sums:
    """The sums of a query's postings by memory; all are positive.

    Attributes
    ----------
    slots
        The memories with a posting, ascending; None if `totals` has one entry for every slot.
    totals
        Their scores.
    """

    slots: IntArray | None
    totals: FloatArray

    @classmethod
    def of(cls, slots: IntArray, values: FloatArray, capacity: int) -> Sums:
        """Add up `values` by slot.

        Few postings in a large namespace are grouped by sorting, many by adding them into one array over all
        slots; the sums are added in the same order either way.

        Examples
        --------
        >>> few = Sums.of(np.array([7, 3, 7]), np.array([1.0, 2.0, 0.5]), 1_000)
        >>> few.best(1, None), few.at(np.array([3, 5, 7]))
        ((array([3]), array([2.])), array([2. , 0. , 1.5]))
        """
        if slots.size * _SPARSE >= capacity:
            return cls(None, np.bincount(slots, values, capacity).astype(np.float64, copy=False))
        order = slots.argsort(kind="stable")
        ordered = slots[order]
        new = np.ones(slots.size, np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        group = np.empty(slots.size, np.intp)
        group[order] = new.cumsum() - 1
        return cls(ordered[new], np.bincount(group, values).astype(np.float64, copy=False))

    def best(self, limit: int, allowed: Mask | None) -> tuple[IntArray, FloatArray]:
        """Return the slots with the largest sums, best first, ties by slot, among the allowed ones."""
        # The sum of positive values is 0 only where there are none.
        slots = self.totals.nonzero()[0] if self.slots is None else self.slots
        if allowed is not None:
            slots = slots[allowed[slots]]
            totals = self.at(slots)
        else:
            totals = self.totals if self.slots is not None else self.totals[slots]
        top = ranked(totals, limit)
        return slots[top], totals[top]

    def at(self, slots: IntArray) -> FloatArray:
        """Return the sums of some slots; 0 for one without a posting."""
        if self.slots is None:
            return self.totals[slots]
        if not self.slots.size:
            return np.zeros(slots.size)
        where = np.minimum(self.slots.searchsorted(slots), self.slots.size - 1)
        return np.where(self.slots[where] == slots, self.totals[where], 0.0)


def scale(part: Part, count: int) -> float:
    """Return the weight of a part times its idf."""
    return part.weight * idf(part.frequency, count)


def contributions(parts: Sequence[Part], count: int, slots: IntArray) -> Combination:
    """Return what each term in each field contributed to the scores of some slots."""
    table = np.zeros((len(parts), slots.size))
    for row, part in zip(table, parts, strict=True):
        listed = part.list.slots
        at = np.minimum(np.searchsorted(listed, slots), listed.size - 1)
        present = listed[at] == slots
        row[present] = scale(part, count) * part.list.saturation[at[present]]
    return Combination.of("sum", [f"{part.term} in {part.field}" for part in parts], table)


def ceiling(query: LexicalQuery, parts: Sequence[Part], count: int) -> float:
    """Return the content score of an average text that has every term of the query once.

    A term that no text has counts as the rarest possible term: a text with the only indexed one of five terms
    has a fifth of a full match, not all of it.
    """
    part_of = {part.term: part for part in parts if part.field == "content"}
    rarest = idf(0, count)
    weight = query.fields.get("content", 0.0)
    return sum(
        scale(part_of[term], count) if term in part_of else weight * times * rarest
        for term, times in query.also.get("content", query.terms).items()
    )


NO_NEIGHBOUR: Final = -1
NEIGHBOUR_COLUMNS: Final = ("session", "position", "created", "state")
"""The columns of a record that determine its neighbours."""

Slots = npt.NDArray[np.int32]


class Neighbours:
    """The slots before and after each slot in its session; -1 where there is none."""

    def __init__(self) -> None:
        # Both count from 1, and begin with a 0 for no slot, whose neighbour is no slot again.
        self._before = Growing(np.int32, ())
        self._after = Growing(np.int32, ())
        self._before.append(0)
        self._after.append(0)
        # The records have this, too, but a hundred bytes apart.
        self._learnt = Growing(np.float64, ())
        self._linked = False

    def __len__(self) -> int:
        return len(self._learnt.view)

    def __bool__(self) -> bool:
        """Return whether any slot has a neighbour."""
        return self._linked

    @property
    def nbytes(self) -> int:
        """How much memory this takes."""
        return self._before.nbytes + self._after.nbytes + self._learnt.nbytes

    def grow(self, records: Records) -> None:
        """Link the slots that are new in `records`, which are those of the whole namespace.

        Only sessions with new slots are sorted again.
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
            return np.full((2 * reach, slots.size), NO_NEIGHBOUR, np.intp)
        rows = np.empty((2 * reach, slots.size), np.intp)
        own = slots + 1
        for first, links in ((0, self._before.view), (reach, self._after.view)):
            at = own
            for row in rows[first : first + reach]:
                row[:] = at = links.take(at)
        rows -= 1
        return rows

    def pauses(self, slots: IntArray, around: IntArray) -> FloatArray:
        """Return the seconds between slots and their neighbours; arbitrary where there is none."""
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

    The first ``numpy.unique`` of a process also imports masked arrays, which takes longer than opening a
    store.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = slots.copy()
    ordered.sort()
    new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    once: IntArray = ordered[new]
    return once


Columns = npt.NDArray[np.int32]

_HOUR = 3_600.0
CONTEXT_FIELD = "content"
"""The field that is read with that of neighbours; tags, speaker and dates are not."""


@frozen(eq=False)
class InContext:
    """Candidates with the score of every term.

    Attributes
    ----------
    slots
        The candidates.
    parts
        The term and field of each row of `table`.
    table
        What each term in each field adds to each candidate.
    """

    slots: IntArray
    parts: Sequence[Part]
    table: FloatArray

    @property
    def names(self) -> list[str]:
        """The name of each row of `table` in explanations."""
        return [f"{part.term} in {part.field}" for part in self.parts]

    @property
    def scores(self) -> FloatArray:
        """The score of each candidate."""
        result: FloatArray = self.table.sum(axis=0)
        return result

    def detail(self, slots: IntArray) -> Combination:
        """Return what each term in each field added to the scores of candidates."""
        order = self.slots.argsort(kind="stable")
        at = order[np.searchsorted(self.slots, slots, sorter=order)]
        return Combination.of("sum", self.names, self.table[:, at])


def in_context(
    parts: Sequence[Part],
    slots: IntArray,
    neighbours: Neighbours,
    visible: Mask | None,
    count: int,
    scorer: BM25,
    reading: ContextWindow,
    columns: Columns,
) -> InContext:
    """Score candidates by the query's terms, reading each with its neighbours.

    `parts`: the lists of the query's terms, of visible memories only. `slots`: the candidates, each once.
    `visible`: the mask of visible memories; the words of others are not read. `columns`: an array over all
    slots and one more, filled with -1 before and after.
    """
    around = neighbours.around(slots, REACH) if neighbours else np.zeros((0, slots.size), np.intp)
    if visible is not None:
        around = np.where((around >= 0) & visible[around], around, -1)
    # The candidates come last, so that each keeps its own column if it is also a neighbour of another.
    # Missing neighbours, -1, have the column after all slots, which has no postings.
    all_slots = np.concatenate([around.ravel(), slots])
    first = around.size
    columns[all_slots] = np.arange(all_slots.size, dtype=columns.dtype)
    at = columns[around]
    scales = np.array([scale(part, count) for part in parts])
    table = np.zeros((len(parts), slots.size))
    read = [row for row, part in enumerate(parts) if part.field == CONTEXT_FIELD and around.size]
    plain = [row for row, part in enumerate(parts) if part.field != CONTEXT_FIELD or not around.size]
    if plain:
        # The saturation of a posting alone is computed already.
        row, column, postings = _hits([parts[row].list for row in plain], columns, first)
        values = np.concatenate([parts[row].list.saturation for row in plain])[postings]
        rows = np.array(plain)[row]
        table[rows, column - first] = scales[rows] * values
    if read:
        row, column, postings = _hits([parts[row].list for row in read], columns, 0)
        tf = np.zeros((len(read), all_slots.size))
        tf[row, column] = np.concatenate([parts[row].list.frequencies for row in read])[postings]
        lengths = parts[read[0]].lengths
        own = lengths[slots].astype(np.float64)
        weights = reading.weights(own, neighbours.pauses(slots, around) / _HOUR)
        weights *= around >= 0
        table[read] = window_bm25(
            tf[:, first:],
            (tf.take(columns_of_step, axis=1) for columns_of_step in at),
            own,
            lengths[around],
            weights,
            scales[read],
            parts[read[0]].average_length,
            scorer.k1,
            scorer.b,
        )
    columns[all_slots] = -1
    return InContext(slots, parts, table)


def _hits(lists: Sequence[Saturated], columns: Columns, first: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the postings in a column from `first` on: list, column and position of each."""
    column = columns[np.concatenate([listed.slots for listed in lists])]
    postings = (column >= first).nonzero()[0]
    ends = np.array([listed.slots.size for listed in lists]).cumsum()
    return ends.searchsorted(postings, "right"), column[postings], postings
