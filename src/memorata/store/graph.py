"""The data of a namespace's graph: links between its memories, their places, and the delta since a change."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import StoreCorrupt
from memorata.store.database import Session
from memorata.store.facets import Facet, reads_namespace
from memorata.store.rows import NO_MEMORY, SLOTS, Namespace, find_namespace, instant, slots_of

_PAGE: Final = 1_000
_REPLACED: Final = frozenset({"purge", "rename"})
"""The kinds of changes of a namespace that was replaced: all memories are gone, and names mean others."""
_LINK: Final = (
    # A successor may assert the relations of what it superseded. Of the branches of a CASE, unlike those of
    # an OR, SQLite computes no more than it needs.
    "SELECT m.slot, m.entities, m.session, m.position, m.supersedes, "
    "m.forgotten_at IS NULL AND m.superseded_by IS NULL, m.expires_at, "
    "CASE WHEN EXISTS (SELECT 1 FROM relations r WHERE +r.namespace = m.namespace AND r.memory = m.number) "
    "THEN 1 WHEN NOT EXISTS "
    "(SELECT 1 FROM memories l WHERE +l.namespace = m.namespace AND l.superseded_by = m.id) "
    "THEN 0 WHEN EXISTS (SELECT 1 FROM relations r JOIN memories l ON l.namespace = r.namespace "
    "AND l.number = r.memory WHERE r.namespace = m.namespace AND l.superseded_by IS NOT NULL) "
    "THEN 1 ELSE 0 END FROM memories m WHERE +m.namespace = ? AND "
)


@frozen
class Link:
    """What connects a memory to others."""

    slot: int
    entities: tuple[str, ...]
    session: str
    """Empty for none."""
    position: int | None
    supersedes: tuple[int, ...]
    """The slots of what it superseded."""
    current: bool
    """Whether it is neither forgotten nor superseded."""
    expires_at: datetime | None
    asserts: bool
    """Whether relations rest on it."""


@frozen
class GraphDelta:
    """The changes of a namespace since one of them."""

    change: int
    """The last change."""
    slots: int
    """How many memories were ever added."""
    changed: tuple[int, ...]
    """The slots of memories that changed in another way than by being added."""
    kinds: frozenset[str]
    """The kinds of all changes but additions."""


@frozen(eq=False)
class Points:
    """The memories that have a place, in the order of their slots."""

    slots: IntArray
    lats: FloatArray
    lons: FloatArray


class GraphStore(Facet):
    """Reads the data of a namespace's graph."""

    def delta(self, namespace: str, since: int) -> GraphDelta:
        """Return the changes of a namespace after the change `since`."""

        def read(session: Session) -> GraphDelta:
            row = find_namespace(session, namespace)
            if row is None:
                return GraphDelta(0, 0, (), _REPLACED if since else frozenset())
            if since and since < row.begun:
                return GraphDelta(row.change, row.slots, (), _REPLACED)
            if row.change == since:
                return GraphDelta(since, row.slots, (), frozenset())
            changes = session.execute(
                "SELECT DISTINCT slot, kind FROM changes "
                "WHERE namespace = ? AND change > ? AND kind <> 'add'",
                (row.number, since),
            ).fetchall()
            changed = sorted({slot for slot, _ in changes if slot != NO_MEMORY})
            kinds = frozenset(kind for _, kind in changes)
            return GraphDelta(row.change, row.slots, tuple(changed), kinds)

        return self._database.read(read)

    def links(self, namespace: str, first: int, slots: Sequence[int] = ()) -> Iterator[Link]:
        """Yield the links of the memories of these slots, and of all from the slot `first` on."""
        # A page at a time: no transaction stays open while its rows are processed.
        for start in range(0, len(slots), _PAGE):
            yield from self._links_of(namespace, slots[start : start + _PAGE])
        while True:
            page = self._links_from(namespace, first)
            yield from page
            if len(page) < _PAGE:
                return
            first = page[-1].slot + 1

    def points(self, namespace: str, first: int) -> Points:
        """Return the places of memories, from the slot `first` on."""
        table = np.array(self._places(namespace, first), np.float64).reshape(-1, 3)
        return Points(table[:, 0].astype(np.intp), table[:, 1], table[:, 2])

    @reads_namespace(list)
    def _places(self, session: Session, namespace: Namespace, first: int) -> list[Any]:
        return session.execute(
            "SELECT slot, lat, lon FROM memories WHERE namespace = ? AND slot >= ? AND lat IS NOT NULL "
            "ORDER BY slot",
            (namespace.number, first),
        ).fetchall()

    @reads_namespace(list)
    def _links_of(self, session: Session, namespace: Namespace, slots: Sequence[int]) -> list[Link]:
        """Return the links of the memories of some slots; purged ones are left out."""
        numbers = [session.dialect.number(namespace.number, slot) for slot in slots]
        rows = session.execute(
            f"{_LINK}m.number IN (SELECT value FROM json_each(?)) ORDER BY m.number",
            (namespace.number, session.dialect.array(numbers)),
        )
        return _links(session, namespace.number, rows.fetchall())

    @reads_namespace(list)
    def _links_from(self, session: Session, namespace: Namespace, first: int) -> list[Link]:
        """Return the links of a page of memories of a namespace, from a slot on."""
        ends = [session.dialect.number(namespace.number, slot) for slot in (first, SLOTS - 1)]
        rows = session.execute(
            f"{_LINK}m.number >= ? AND m.number < ? ORDER BY m.number LIMIT ?",
            (namespace.number, *ends, _PAGE),
        )
        return _links(session, namespace.number, rows.fetchall())


def _links(session: Session, number: int, rows: Sequence[Sequence[Any]]) -> list[Link]:
    lists = [(json.loads(row[1]), json.loads(row[4])) for row in rows]
    if not all(isinstance(texts, list) for pair in lists for texts in pair):
        raise StoreCorrupt("the names of a memory, or what it supersedes, are no list; run `memorata check`")
    slots = slots_of(session, number, {id_ for _, older in lists for id_ in older})
    return [
        Link(
            slot,
            tuple(names),
            where,
            position,
            tuple(sorted(slots[id_] for id_ in older if id_ in slots)),
            bool(current),
            instant(expires),
            bool(asserts),
        )
        for (slot, _, where, position, _, current, expires, asserts), (names, older) in zip(
            rows, lists, strict=True
        )
    ]
