"""BM25 of some memories read in context: with the words of their neighbours in the session.

The work is proportional to the candidates and to the lists of the question's terms, whatever the size of the
namespace: the lists are gone through once, and everything else happens on a table of terms by candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.index.lexical import Mask, Part, scale
from recollect.index.neighbours import Neighbours
from recollect.index.record import Records
from recollect.model.checks import FloatArray, IntArray
from recollect.rank.bm25 import BM25
from recollect.rank.combination import Combination
from recollect.rank.context import REACH, Reading, windows

_HOUR = 3_600.0
READ = "content"
"""The field that is read in context; tags, speaker and dates of a memory are its own."""


@dataclass(frozen=True, slots=True, eq=False)
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
    records: Records,
    seen: Mask | None,
    count: int,
    scorer: BM25,
    reading: Reading,
) -> InContext:
    """Score candidates by the question's terms, reading each with its neighbours.

    Parameters
    ----------
    parts
        The lists of the question's terms, without memories that may not be seen.
    slots
        The candidates, each once.
    neighbours, records
        Those of the whole namespace.
    seen
        Which memories may be seen; the words of others are not read.
    count
        How many may be seen.
    scorer
        BM25's parameters.
    reading
        How much of the neighbours is read.
    """
    around = neighbours.around(slots, REACH)
    if seen is not None:
        around = np.where((around >= 0) & seen[around], around, -1)
    there = around >= 0
    created = records["created"]
    pauses = np.where(there, np.abs(created[around] - created[slots]) / _HOUR, np.inf)
    everyone = np.concatenate([slots[np.newaxis], around])
    # Position of a slot among those that are looked at; the last column of the table stays empty.
    unique, at = np.unique(everyone, return_inverse=True)
    at = at.reshape(everyone.shape)
    frequencies = _frequencies(parts, unique, len(records))
    names = [f"{part.term} in {part.field}" for part in parts]
    table = np.zeros((len(parts), slots.size))
    for field in dict.fromkeys(part.field for part in parts):
        rows = [row for row, part in enumerate(parts) if part.field == field]
        first = parts[rows[0]]
        scales = np.array([scale(parts[row], count) for row in rows])
        tf = frequencies[rows][:, at]
        if field == READ:
            lengths = np.where(everyone >= 0, first.lengths[everyone], 0.0)
            weights = np.where(there, reading.weigh(lengths[0], pauses), 0.0)
        else:
            lengths, weights = first.lengths[slots][np.newaxis], np.zeros((0, slots.size))
            tf = tf[:, :1]
        table[rows] = windows(
            tf, lengths.astype(np.float64), weights, scales, first.average_length, scorer.k1, scorer.b
        )
    return InContext(slots, names, table)


def _frequencies(parts: Sequence[Part], unique: IntArray, capacity: int) -> FloatArray:
    """Return how often each part's term occurs in each of the slots; -1 among them has none."""
    place = np.full(capacity, -1, np.intp)
    known = unique >= 0
    place[unique[known]] = np.flatnonzero(known)
    sizes = [part.list.slots.size for part in parts]
    at = place[np.concatenate([part.list.slots for part in parts])]
    wanted = at >= 0
    row = np.repeat(np.arange(len(parts)), sizes)[wanted]
    tf = np.concatenate([part.list.frequencies for part in parts])[wanted]
    flat = np.bincount(row * unique.size + at[wanted], tf, len(parts) * unique.size)
    # With nothing to count, bincount answers in whole numbers.
    return flat.astype(np.float64, copy=False).reshape(len(parts), unique.size)
