"""Reading memories with their neighbours in the session, from the few rows that takes.

The server knows who was said before and after whom by an index of sessions; what a question's terms do in
candidates and neighbours is then computed by the function that does it for a file, on a small problem in
which those are all the memories there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memorata.index.context import in_context
from memorata.index.lexical import Saturated, ceiling
from memorata.index.neighbours import NOBODY, Neighbours
from memorata.index.record import FIELDS, Records
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.combination import Combination
from memorata.rank.context import REACH, ContextWindow
from memorata.store.port import Found
from memorata.store.postgres import lexical
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.lists import Asked, Lists, Numbers

Sides = tuple[Numbers, Numbers]
"""Who was said before a memory, and who after it, the closest first."""

_NO_SIDES: Final[Sides] = (np.zeros(0, np.int32), np.zeros(0, np.int32))
_SIDE: Final = (
    "CASE WHEN c.session <> '' THEN ARRAY(SELECT b.slot FROM memories b WHERE b.namespace = c.namespace "
    "AND b.session = c.session AND b.session <> '' AND ({own}) {than} ({other}) ORDER BY {order} LIMIT %s) "
    "END"
)


def _columns(alias: str) -> list[str]:
    return [f"coalesce({alias}.position, -1)", f"{alias}.created_at", f"{alias}.slot"]


def _side(than: str, order: str) -> str:
    own, other = ", ".join(_columns("b")), ", ".join(_columns("c"))
    return _SIDE.format(own=own, than=than, other=other, order=order)


_AROUND: Final = (
    f"SELECT c.slot, c.record, {_side('<', ', '.join(f'{each} DESC' for each in _columns('b')))}, "
    f"{_side('>', ', '.join(_columns('b')))} FROM memories c "
    "WHERE c.namespace = %s AND c.slot = ANY (%s::int[])"
)


def around(
    connection: Server, number: int, slots: Sequence[int], reach: int
) -> tuple[dict[int, bytes], dict[int, Sides]]:
    """Return the records of some memories, and who was said up to `reach` before and after each."""
    rows = connection.rows(_AROUND, (reach, reach, number, array(slots)))
    return (
        {slot: record for slot, record, _, _ in rows},
        {slot: _NO_SIDES if before is None else (before, after) for slot, _, before, after in rows},
    )


def nearby(sides: Mapping[int, Sides], slots: IntArray) -> IntArray:
    """Return all who were said around some memories, each once, ascending."""
    found = [side for slot in slots.tolist() for side in sides[slot] if side.size]
    return np.unique(np.concatenate(found)).astype(np.intp) if found else np.zeros(0, np.intp)


def read_in_context(
    lists: Lists,
    asked: Asked,
    slots: IntArray,
    others: IntArray,
    reading: ContextWindow,
    records: Records,
    neighbours: Mapping[int, Sides],
) -> Found:
    """Return the BM25 scores of memories, each read with its neighbours.

    Parameters
    ----------
    lists
        The lists of what may be seen; the words of others are not read.
    asked
        The question's terms.
    slots
        The candidates, each once.
    others
        Their neighbours that are no candidates.
    reading
        How much of the neighbours is read.
    records
        The records of the candidates, then those of the others.
    neighbours
        Who was said around each candidate.
    """
    sight, scorer = lists.sight, asked.query.scorer
    everyone = np.concatenate([slots, others])
    order = everyone.argsort(kind="stable")

    def places(wanted: IntArray | Numbers) -> IntArray:
        found: IntArray = order[everyone.searchsorted(wanted, sorter=order)]
        return found

    seen = sight.shows(everyone, records)
    postings = lists.postings(asked, everyone)
    at = places(postings.slots)
    shown = seen[at]
    postings, at = postings.take(shown), at[shown]
    bare = lexical.bare_parts(asked, sight)
    worth = postings.saturations([part.average_length for part in bare], scorer)
    lengths = {
        field: records["lengths"][:, FIELDS.index(field)].astype(np.float32)
        for field in {part.field for part in bare}
    }
    parts = []
    for part, (mine, saturation) in zip(bare, worth, strict=True):
        ascending = at[mine].argsort(kind="stable")
        mine = mine[ascending]
        listed = Saturated(at[mine], postings.frequencies[mine].astype(np.uint16), saturation[ascending])
        parts.append(replace(part, list=listed, lengths=lengths[part.field]))
    table = np.full((2 * REACH, slots.size), NOBODY, np.intp)
    for column, slot in enumerate(slots.tolist()):
        for side, said in enumerate(neighbours[slot]):
            if said.size:
                table[side * REACH : side * REACH + said.size, column] = places(said)
    scored = in_context(
        parts,
        np.arange(slots.size),
        _Small(table, records["created"].copy()),
        seen,
        sight.count,
        scorer,
        reading,
        np.full(everyone.size + 1, -1, np.int32),
    )

    def detail(wanted: IntArray) -> Combination:
        return scored.detail(places(wanted))

    return Found(slots, scored.scores, detail, ceiling(asked.query, parts, sight.count))


class _Small(Neighbours):
    """The neighbours of some candidates, in a problem in which memories are known by their place."""

    def __init__(self, table: IntArray, created: FloatArray) -> None:
        super().__init__()
        self._table = table
        self._created = created
        self._any = bool((table != NOBODY).any())

    def __bool__(self) -> bool:
        return self._any

    def around(self, slots: IntArray, reach: int) -> IntArray:
        """Return the neighbours of the candidates, which are the only ones that are asked for."""
        assert reach == REACH  # as in_context asks
        return self._table[:, slots]

    def pauses(self, slots: IntArray, around: IntArray) -> FloatArray:
        """Return the seconds between the candidates and their neighbours."""
        result: FloatArray = np.abs(self._created[around] - self._created[slots])
        return result
