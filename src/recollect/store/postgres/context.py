"""Reading memories with their neighbours in the session, from the few rows that takes.

The server knows who was said before and after whom by an index of sessions; what a question's terms do in
candidates and neighbours is then computed by the function that does it for a file, on a small problem in
which those are all the memories there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from recollect.index.context import in_context
from recollect.index.lexical import Saturated, TermList, ceiling, saturated
from recollect.index.neighbours import NOBODY, Neighbours
from recollect.index.record import FIELDS, Records
from recollect.model.checks import FloatArray, IntArray
from recollect.rank.combination import Combination
from recollect.rank.context import REACH, Reading
from recollect.store.port import Found
from recollect.store.postgres import lexical
from recollect.store.postgres.arrays import array
from recollect.store.postgres.connection import Server
from recollect.store.postgres.lexical import Asked
from recollect.store.postgres.sight import Sight

_SIDE: Final = (
    "ARRAY(SELECT b.slot FROM memories b WHERE b.namespace = c.namespace AND b.session = c.session "
    "AND b.session <> '' AND ({own}) {than} ({other}) ORDER BY {order} LIMIT %s)"
)


def around(connection: Server, number: int, slots: Sequence[int], reach: int) -> dict[int, list[list[int]]]:
    """Return who was said up to `reach` before and after each of some memories, the closest first.

    Memories of no session are left out.
    """
    own, other = ", ".join(_columns("b")), ", ".join(_columns("c"))
    back = ", ".join(f"{column} DESC" for column in _columns("b"))
    before = _SIDE.format(own=own, than="<", other=other, order=back)
    after = _SIDE.format(own=own, than=">", other=other, order=own)
    rows = connection.execute(
        f"SELECT c.slot, {before}, {after} FROM memories c "
        "WHERE c.namespace = %s AND c.slot = ANY (%s::int[]) AND c.session <> ''",
        (reach, reach, number, array(slots)),
    )
    return {slot: [earlier, later] for slot, earlier, later in rows}


def read_in_context(
    connection: Server,
    number: int,
    sight: Sight,
    asked: Asked,
    slots: IntArray,
    reading: Reading,
    records: Records,
    neighbours: dict[int, list[list[int]]],
) -> Found:
    """Return the BM25 scores of memories, each read with its neighbours.

    Parameters
    ----------
    connection
        Inside a read transaction.
    number
        The namespace.
    sight
        What may be seen; the words of others are not read.
    asked
        The question's terms.
    slots
        The candidates, each once.
    reading
        How much of the neighbours is read.
    records
        The records of the candidates, then those of their neighbours in ascending order of their slots.
    neighbours
        Who was said around each candidate.
    """
    others = sorted(
        {each for sides in neighbours.values() for side in sides for each in side} - set(slots.tolist())
    )
    everyone = [*slots.tolist(), *others]
    place = {slot: at for at, slot in enumerate(everyone)}
    seen = sight.shows(records)
    small = _Small(len(slots), neighbours, place, slots, records["created"].copy())
    rows = lexical.postings(connection, number, asked, everyone)
    parts = []
    for part_number, part in enumerate(lexical.bare_parts(asked, sight)):
        mine = sorted((place[slot], frequency) for part_, slot, frequency, _ in rows if part_ == part_number)
        kept = [(at, frequency) for at, frequency in mine if seen[at]]
        lengths = records["lengths"][:, FIELDS.index(part.field)].astype(np.float32)
        listed = TermList(
            np.array([at for at, _ in kept], np.int32), np.array([times for _, times in kept], np.uint16)
        )
        worth: Saturated = saturated([listed], [lengths], [part.average_length], asked.query.scorer)[0]
        parts.append(replace(part, list=worth, lengths=lengths))
    scored = in_context(
        parts,
        np.arange(len(slots)),
        small,
        seen,
        sight.count,
        asked.query.scorer,
        reading,
        np.full(len(everyone) + 1, -1, np.int32),
    )

    def detail(wanted: IntArray) -> Combination:
        return scored.detail(np.array([place[slot] for slot in wanted.tolist()], np.intp))

    return Found(slots, scored.scores, detail, ceiling(asked.query, parts, sight.count))


class _Small(Neighbours):
    """The neighbours of some candidates, in a problem in which memories are known by their place."""

    def __init__(
        self,
        count: int,
        neighbours: dict[int, list[list[int]]],
        place: dict[int, int],
        slots: IntArray,
        created: FloatArray,
    ) -> None:
        super().__init__()
        self._table = np.full((2 * REACH, count), NOBODY, np.intp)
        for at, slot in enumerate(slots.tolist()):
            for side, others in enumerate(neighbours.get(slot, [])):
                for step, other in enumerate(others[:REACH]):
                    self._table[side * REACH + step, at] = place[other]
        self._created = created

    def __bool__(self) -> bool:
        return True

    def around(self, slots: IntArray, reach: int) -> IntArray:
        """Return the neighbours of the candidates, which are the only ones that are asked for."""
        assert reach == REACH  # as in_context asks
        return self._table[:, slots]

    def pauses(self, slots: IntArray, around: IntArray) -> FloatArray:
        """Return the seconds between the candidates and their neighbours."""
        result: FloatArray = np.abs(self._created[around] - self._created[slots])
        return result


def _columns(alias: str) -> list[str]:
    return [f"coalesce({alias}.position, -1)", f"{alias}.created_at", f"{alias}.slot"]
