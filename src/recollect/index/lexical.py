"""BM25 over posting lists: a few array operations for a whole query, none of them per memory.

Each field of a memory (its content, tags, entities, …) has its own lists, lengths and average, and a weight
that a recipe chooses: ``score = sum over fields and terms of w_field · w_term · bm25``. Counting document
frequencies over the memories that may be seen keeps a namespace's forgotten ones out of its statistics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recollect.model.checks import FloatArray, IntArray
from recollect.rank.bm25 import BM25
from recollect.rank.combination import Combination
from recollect.rank.order import first_of_each, ranked

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
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
    """

    terms: Mapping[str, float]
    fields: Mapping[str, float]
    excluded: tuple[str, ...] = ()
    scorer: BM25 = field(default_factory=BM25)


@dataclass(frozen=True, slots=True, eq=False)
class TermList:
    """The memories that have a term in a field: their slots, ascending, and how often each has it."""

    slots: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One term in one field, ready to be scored."""

    field: str
    term: str
    list: TermList
    weight: float
    lengths: npt.NDArray[np.float32]
    average_length: float


def impacts(parts: Sequence[Part], count: int, scorer: BM25) -> tuple[IntArray, FloatArray]:
    """Return slots and what each posting adds to its slot, part after part.

    Parameters
    ----------
    parts
        The lists to score, already without memories that may not be seen.
    count
        How many memories may be seen.
    scorer
        BM25's parameters.
    """
    slots = np.concatenate([part.list.slots for part in parts]).astype(np.intp)
    return slots, _values(parts, [part.list.slots.size for part in parts], count, scorer)


def best(
    slots: IntArray, values: FloatArray, capacity: int, parts: int, limit: int, allowed: Mask | None
) -> tuple[IntArray, FloatArray]:
    """Return the slots with the largest sums of `values`, best first, ties by slot.

    Only slots that occur are looked at, however large the namespace is.
    """
    totals = np.bincount(slots, values, capacity).astype(np.float64, copy=False)
    seen = slots if allowed is None else slots[allowed[slots]]
    scores = totals[seen]
    # A slot occurs at most once per part, so this many entries hold at least `limit` different slots.
    top = ranked(scores, limit * parts)
    # Ties go by slot, not by the order of the terms: all that tie with the last take part.
    unique = seen[scores >= scores[top[-1]]] if parts > 1 and top.size else seen[top]
    unique = unique[first_of_each(unique)]
    unique.sort()
    order = ranked(totals[unique], limit)
    chosen = unique[order]
    return chosen, totals[chosen]


def contributions(parts: Sequence[Part], count: int, scorer: BM25, slots: IntArray) -> Combination:
    """Return what each term in each field contributed to the scores of some slots."""
    table = np.zeros((len(parts), slots.size))
    for row, part in zip(table, parts, strict=True):
        listed = part.list.slots
        at = np.minimum(np.searchsorted(listed, slots), listed.size - 1)
        here = listed[at] == slots
        if here.any():
            mine = replace(part, list=TermList(listed[at[here]], part.list.frequencies[at[here]]))
            row[here] = _values([mine], [listed.size], count, scorer)
    return Combination.of("sum", [f"{part.term} in {part.field}" for part in parts], table)


def ceiling(query: LexicalQuery, parts: Sequence[Part], count: int) -> float:
    """Return the content score of an average text that has every term of the query once.

    A term that no text has counts as the rarest term there could be: a question of five words of which one
    is known has found a fifth of what it asked for, not all of it.
    """
    known = {part.term: part for part in parts if part.field == "content"}
    rarest = math.log((count + 0.5) / 0.5 + 1)
    weight = query.fields.get("content", 0.0)
    return sum(
        _scale(known[term], known[term].list.slots.size, count) if term in known else weight * times * rarest
        for term, times in query.terms.items()
    )


def _scale(part: Part, frequency: int, count: int) -> float:
    return part.weight * math.log((count - frequency + 0.5) / (frequency + 0.5) + 1)


def _values(parts: Sequence[Part], frequencies: Sequence[int], count: int, scorer: BM25) -> FloatArray:
    """Return what each posting of each part is worth, given in how many memories each part's term is."""
    sizes = [part.list.slots.size for part in parts]
    tf = np.concatenate([part.list.frequencies for part in parts]).astype(np.float64)
    lengths = np.concatenate([part.lengths[part.list.slots] for part in parts]).astype(np.float64)
    scales = [_scale(part, found, count) for part, found in zip(parts, frequencies, strict=True)]
    relative = lengths / np.repeat([part.average_length for part in parts], sizes)
    room = scorer.k1 * (1 - scorer.b) + (scorer.k1 * scorer.b) * relative
    return np.asarray(np.repeat(scales, sizes) * (tf * (scorer.k1 + 1) / (tf + room)))
