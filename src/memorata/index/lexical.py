"""BM25 over posting lists: a few array operations for a whole query, none of them per memory.

Each field of a memory (its content, tags, entities, …) has its own lists, lengths and average, and a weight
that a recipe chooses: ``score = sum over fields and terms of w_field · w_term · bm25``. A term is as telling
as it is in the field where most memories have it, the same in all fields (as in BM25F). Counting document
frequencies over the memories that may be seen keeps a namespace's forgotten ones out of its statistics.

Memories may be read with the words of their neighbours in the session. That takes time in proportion to the
candidates and to the lists of the query's terms, whatever the size of the namespace: the lists are gone
through once, and everything else happens on a table of terms by candidates. A session's memories are ordered
by position, then by when they were learnt, then by slot; the order lives in two arrays, so that finding the
neighbours of a thousand candidates is one look-up.
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
from memorata.rank.bm25 import BM25, idf
from memorata.rank.context import REACH, ContextWindow, window_bm25
from memorata.rank.scores import Combination, ranked

Mask = npt.NDArray[np.bool_]

_SPARSE: Final = 32
"""Sorting a posting takes about as long as looking at this many slots."""


@frozen
class LexicalQuery:
    """What is looked for in words.

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
        By field, terms that are looked for in that field alone.
    """

    terms: Mapping[str, float]
    fields: Mapping[str, float]
    excluded: tuple[str, ...] = ()
    scorer: BM25 = BM25()
    also: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def wanted(self) -> list[tuple[str, str, float]]:
        """Return every field, term and weight to look for, field by field; what weighs nothing left out."""
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
    """The memories that have a term in a field: their slots, ascending, and how often each has it."""

    slots: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]


@frozen(eq=False)
class Saturated:
    """The memories that may be seen with a term in a field, and how much the term says in each of them.

    Attributes
    ----------
    slots, frequencies
        The memories, ascending, and how often each has the term.
    saturation
        BM25's ``tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average))`` of each: what a posting is worth
        before the query is known.
    """

    slots: IntArray
    frequencies: npt.NDArray[np.uint16]
    saturation: FloatArray


@frozen(eq=False)
class Part:
    """One term in one field, ready to be scored, and the weight of both.

    `lengths` and `average_length` are those of the field, over all slots. `frequency` is in how many memories
    the term stands, counted in the field where most have it: "Anna" is a common word where she speaks every
    second sentence, and addressing her by name is no rare event that tells one sentence from the others.
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
    """Return how much each term says in each memory of its list.

    `lists`: already without memories that may not be seen. `lengths`: for each, the number of
    terms every slot has in the field. `average_lengths`: for each, the mean of those over the memories that
    may be seen and have the field.
    """
    if not lists:
        return []
    sizes = [listed.slots.size for listed in lists]
    tf = np.concatenate([listed.frequencies for listed in lists]).astype(np.float64)
    own = [of_field[listed.slots] for of_field, listed in zip(lengths, lists, strict=True)]
    relative = np.concatenate(own).astype(np.float64) / np.repeat(np.array(average_lengths), sizes)
    values = scorer.saturation(tf, relative)
    # Copies, so that one list that is kept does not keep the others.
    return [
        Saturated(listed.slots.astype(np.intp), listed.frequencies, values[end - size : end].copy())
        for listed, size, end in zip(lists, sizes, accumulate(sizes), strict=True)
    ]


def impacts(parts: Sequence[Part], count: int) -> tuple[IntArray, FloatArray]:
    """Return slots and what each posting adds to its slot, part after part."""
    lists = [part.list for part in parts]
    values = [scale(part, count) * part.list.saturation for part in parts]
    return np.concatenate([listed.slots for listed in lists]), np.concatenate(values)


@frozen(eq=False)
class Sums:
    """What a query's postings add up to, memory by memory; all of them are positive.

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

        Few postings in a large namespace are put together by sorting them, many by adding them into one array
        over all slots; the sums are added in the same order either way.

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
        """Return the slots with the largest sums, best first, ties by slot; only those that are allowed."""
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
        here = listed[at] == slots
        row[here] = scale(part, count) * part.list.saturation[at[here]]
    return Combination.of("sum", [f"{part.term} in {part.field}" for part in parts], table)


def ceiling(query: LexicalQuery, parts: Sequence[Part], count: int) -> float:
    """Return the content score of an average text that has every term asked of it once.

    A term that no text has counts as the rarest term there could be: a query of five words of which one
    is known has found a fifth of what it asked for, not all of it.
    """
    part_of = {part.term: part for part in parts if part.field == "content"}
    rarest = idf(0, count)
    weight = query.fields.get("content", 0.0)
    return sum(
        scale(part_of[term], count) if term in part_of else weight * times * rarest
        for term, times in query.also.get("content", query.terms).items()
    )


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
    once: IntArray = ordered[new]
    return once


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
            (tf.take(columns_of_step, axis=1) for columns_of_step in at),
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
    column = columns[np.concatenate([listed.slots for listed in lists])]
    postings = (column >= first).nonzero()[0]
    ends = np.array([listed.slots.size for listed in lists]).cumsum()
    return ends.searchsorted(postings, "right"), column[postings], postings
