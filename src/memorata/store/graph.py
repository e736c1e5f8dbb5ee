"""The graph of a namespace: relations between entities, links between memories, and what is new.

A relation is asserted by a person or by a memory. Whether it holds is never written down: it is computed from
its own validity and from the state of the memory that asserts it, whenever it is read. So forgetting,
restoring or correcting a memory has nothing to keep in step. A memory that was superseded only because it
repeats another goes on asserting its relations for as long as that other is visible.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument, MemoryNotFound, StoreCorrupt
from memorata.store.database import Session
from memorata.store.entities import declared, having, is_bare, remove_unreferred
from memorata.store.facets import Facet, reads_namespace, writes_namespace
from memorata.store.rows import (
    NO_MEMORY,
    SLOTS,
    Namespace,
    find_namespace,
    instant,
    log_change,
    made_namespace,
    microseconds,
    moment,
    slots_of,
)

_PAGE: Final = 1_000
_REPLACED: Final = frozenset({"purge", "rename"})
"""The kinds of changes of a namespace that was replaced: all memories are gone, and names mean others."""


@frozen
class Link:
    """What connects a memory to others."""

    slot: int
    entities: tuple[str, ...]
    supersedes: tuple[int, ...]
    """The slots of what it superseded."""


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
            yield from self._links(namespace, 0, slots[start : start + _PAGE])
        while True:
            page = self._links(namespace, first)
            yield from page
            if len(page) < _PAGE:
                return
            first = page[-1].slot + 1

    @reads_namespace(list)
    def _links(
        self, session: Session, namespace: Namespace, first: int, slots: Sequence[int] | None = None
    ) -> list[Link]:
        """Return the links of some slots, without purged ones, or of a page of memories from a slot on."""
        number, place = namespace.number, session.dialect.number
        values: list[Any] = [place(number, first), place(number, SLOTS - 1), _PAGE]
        which = "number >= ? AND number < ? ORDER BY number LIMIT ?"
        if slots is not None:
            values = [session.dialect.array([place(number, slot) for slot in slots])]
            which = "number IN (SELECT value FROM json_each(?)) ORDER BY number"
        select = f"SELECT slot, entities, supersedes FROM memories WHERE +namespace = ? AND {which}"
        rows = session.execute(select, (number, *values)).fetchall()
        lists = [(json.loads(names), json.loads(older)) for _, names, older in rows]
        if not all(isinstance(texts, list) for pair in lists for texts in pair):
            raise StoreCorrupt(
                "the names of a memory, or what it supersedes, are no list; run `memorata admin check`"
            )
        older_slots = slots_of(session, namespace.number, {id_ for _, older in lists for id_ in older})
        return [
            Link(slot, tuple(names), tuple(sorted(older_slots[id_] for id_ in older if id_ in older_slots)))
            for (slot, _, _), (names, older) in zip(rows, lists, strict=True)
        ]


_MAX_WEIGHT: Final = 1e9
"""Weights are summed over many edges, and must not overflow."""
_RELATION: Final = "s.name, r.type, o.name, r.weight, m.id, r.valid_from, r.valid_to, r.created_at"
_SELECT: Final = (
    f"SELECT {_RELATION}, r.number, r.subject, r.object, r.memory, {{replaced}} FROM relations r "
    "JOIN names s ON s.namespace = r.namespace AND s.entity = r.subject AND s.position = 0 "
    "JOIN names o ON o.namespace = r.namespace AND o.entity = r.object AND o.position = 0 "
    "LEFT JOIN memories m ON m.namespace = r.namespace AND m.number = r.memory "
    "WHERE r.namespace = :owner"
)
_IS_TRUE: Final = "(r.valid_from IS NULL OR r.valid_from <= :at) AND (r.valid_to IS NULL OR r.valid_to > :at)"
_IS_SEEN: Final = "m.forgotten_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)"
_NAMED: Final = (
    "SELECT entity FROM names WHERE namespace = :owner AND folded IN (SELECT value FROM json_each(:names))"
)
_SUPERSEDED: Final = ("m.superseded_by IS NOT NULL", "m.superseded_at <= :at")
"""Whether a memory is superseded now, and whether it was."""
_PASSED: Final = ("w.next IS NOT NULL", "(w.since IS NOT NULL AND w.since <= :at)")
"""The same of a memory on the way to the one that stands for it."""
_STANDING: Final = (
    "WITH RECURSIVE way (origin, number, fingerprint, next, since, seen) AS ("
    "SELECT m.number, m.number, m.fingerprint, m.superseded_by, m.superseded_at, 1 FROM memories m "
    f"WHERE m.namespace = :owner AND m.superseded_by IS NOT NULL AND {_IS_SEEN} AND m.number IN "
    "(SELECT r.memory FROM relations r WHERE r.namespace = :owner) UNION "
    "SELECT w.origin, m.number, m.fingerprint, m.superseded_by, m.superseded_at, "
    f"CASE WHEN {_IS_SEEN} THEN 1 ELSE 0 END "
    "FROM way w JOIN memories m ON m.namespace = :owner AND m.id = w.next WHERE {replaced} "
    "AND ((w.fingerprint <> '' AND w.fingerprint = m.fingerprint) OR EXISTS (SELECT 1 FROM repeats n "
    "WHERE +n.namespace = :owner AND n.memory = w.number AND n.winner = m.number "
    "AND n.kind <> 'correction'))) SELECT origin, number FROM way w WHERE NOT {replaced} AND seen = 1"
)
"""The memory that stands for each superseded one that asserts a relation: the last that only repeats it."""


class RelationStore(Facet):
    """The relations of a database."""

    @writes_namespace
    def add(
        self, session: Session, namespace: str, relations: Sequence[Relation], now: datetime
    ) -> list[Relation]:
        """Write relations, all or none, and return them as they are now.

        Two entities, a type, a memory and a beginning make one relation: added again, it gets the new weight
        and end; if they are the same, nothing is written. It counts from the moment at which its memory was
        learnt, or else from `now`, and goes when the memory that asserts it is purged. Names that no entity
        has yet are declared.
        """
        owner = made_namespace(session, namespace)
        return [_added(session, owner, relation, now) for relation in relations]

    @writes_namespace
    def remove(
        self, session: Session, namespace: str, subjects: Sequence[str], type: str, objects: Sequence[str]
    ) -> int:
        """Remove the relations of a type between entities with these folded names; return how many.

        An entity without anything but these goes as well.
        """
        number = made_namespace(session, namespace).number
        ends = [having(session, number, keys) for keys in (subjects, objects)]
        removed = session.execute(
            "DELETE FROM relations WHERE namespace = ? AND type = ? "
            "AND subject IN (SELECT value FROM json_each(?)) "
            "AND object IN (SELECT value FROM json_each(?)) RETURNING number",
            (number, type, *(session.dialect.array(sorted(end)) for end in ends)),
        ).fetchall()
        if removed:
            log_change(session, number, "unrelate")
            bare = {entity for entity in ends[0] | ends[1] if is_bare(session, number, entity)}
            remove_unreferred(session, number, bare)
        return len(removed)

    @writes_namespace
    def remove_changes(self, session: Session, namespace: str, changes: Sequence[int]) -> int:
        """Remove relations by the changes that wrote them last, unless a memory asserts them; count them.

        Entities that nothing else refers to go as well.
        """
        if not changes:
            return 0
        number = made_namespace(session, namespace).number
        removed = session.execute(
            "DELETE FROM relations WHERE namespace = ? AND memory IS NULL "
            "AND change IN (SELECT value FROM json_each(?)) RETURNING subject, object",
            (number, session.dialect.array(list(changes))),
        ).fetchall()
        if removed:
            log_change(session, number, "unrelate")
            remove_unreferred(session, number, {entity for ends in removed for entity in ends})
        return len(removed)

    @reads_namespace(lambda: None)
    def next_change(self, session: Session, namespace: Namespace, now: datetime) -> datetime | None:
        """Return the next moment at which a relation begins or ends to hold by itself."""
        (turn,) = session.execute(
            "SELECT min(at) FROM (SELECT min(valid_from) AS at FROM relations "
            "WHERE namespace = ?1 AND valid_from > ?2 UNION ALL "
            "SELECT min(valid_to) FROM relations WHERE namespace = ?1 AND valid_to > ?2) AS ends",
            (namespace.number, microseconds(now)),
        ).fetchone()
        return instant(turn)

    @reads_namespace(list)
    def list(
        self,
        session: Session,
        namespace: Namespace,
        *,
        now: datetime | None = None,
        as_of: datetime | None = None,
        names: Sequence[str] | None = None,
    ) -> list[Relation]:
        """Return relations in the order in which they were written.

        All of them, or those that hold at `now`, or that were believed to hold at `as_of`: by their own
        validity and by whether the memory that asserts them is visible, or the one that it only repeats (then
        once, however many repeats assert it). `names`: only relations with one of these folded names at an
        end.
        """
        values: dict[str, Any] = {"owner": namespace.number}
        condition, replaced = "", "0"
        if now is not None:
            values |= {"now": microseconds(now), "at": microseconds(now if as_of is None else as_of)}
            # Of a superseded memory, the one that it only repeats decides.
            replaced = f"CASE WHEN {_SUPERSEDED[as_of is not None]} THEN 1 ELSE 0 END"
            learnt = "" if as_of is None else " AND m.created_at <= :at"
            condition = f" AND {_IS_TRUE} AND (r.memory IS NULL OR ({_IS_SEEN}{learnt}))"
            condition += "" if as_of is None else " AND r.created_at <= :at"
        if names is not None:
            condition += f" AND (r.subject IN ({_NAMED}) OR r.object IN ({_NAMED}))"
            values["names"] = session.dialect.array([*names])
        sql = f"{_SELECT.format(replaced=replaced)}{condition} ORDER BY r.number"
        rows = session.execute(sql, values).fetchall()
        if any(row[-1] for row in rows):
            rows = _held(session, rows, values, as_of=as_of is not None)
        return [_relation(row[:8]) for row in rows]


def _added(session: Session, namespace: Namespace, relation: Relation, now: datetime) -> Relation:
    if relation.weight > _MAX_WEIGHT:
        raise InvalidArgument("weight", relation.weight, f"a number above 0 and at most {_MAX_WEIGHT:g}")
    session.dialect.checked_name("type", relation.type)
    memory, learnt_at = None, now
    if relation.asserted_by is not None:
        memory, learnt_at = _asserting(session, namespace, relation.asserted_by)
    subject, new = declared(session, namespace.number, "subject", relation.source)
    other, also_new = declared(session, namespace.number, "object", relation.target)
    since, until = microseconds(relation.valid_from), microseconds(relation.valid_to)
    key = namespace.number, subject, relation.type, other, memory, since
    existing = session.execute(
        "SELECT number, weight, valid_to, created_at FROM relations WHERE namespace = ? AND subject = ? "
        "AND type = ? AND object = ? AND memory IS ? AND valid_from IS ?",
        key,
    ).fetchone()
    if existing is None:
        created = relation.created_at or learnt_at
        change = log_change(session, namespace.number, "relate", naming=new or also_new)
        session.insert(
            "relations",
            "namespace, subject, type, object, memory, valid_from, weight, valid_to, created_at, change",
            (*key, relation.weight, until, microseconds(created), change),
        )
        return replace(relation, created_at=created)
    number, weight, end, created_at = existing
    if (weight, end) != (relation.weight, until):
        change = log_change(session, namespace.number, "rerelate")
        session.execute(
            "UPDATE relations SET weight = ?, valid_to = ?, change = ? WHERE +namespace = ? AND number = ?",
            (relation.weight, until, change, namespace.number, number),
        )
    return replace(relation, created_at=moment(created_at))


def _asserting(session: Session, namespace: Namespace, id_: str) -> tuple[int, datetime]:
    """Return the number of the memory that asserts a relation, and when it was learnt."""
    row = session.execute(
        "SELECT number, created_at FROM memories WHERE namespace = ? AND id = ?", (namespace.number, id_)
    ).fetchone()
    if row is None:
        raise MemoryNotFound(id_, namespace.path)
    return row[0], moment(row[1])


def _held(
    session: Session, rows: Sequence[tuple[Any, ...]], values: Mapping[str, Any], *, as_of: bool
) -> list[tuple[Any, ...]]:
    """Return relations without those of superseded memories for which no other memory stands.

    Nor does one hold that the other asserts itself, or that stands for a third whose relation was written
    before. The values are the moments `now` and `at`; with `as_of`, `at` is another one than now.
    """
    statement = _STANDING.format(replaced=_PASSED[as_of])
    stands_for: dict[int, int] = dict(session.execute(statement, values).fetchall())
    memories = session.dialect.array(sorted({*stands_for, *stands_for.values()}))
    asserted: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for number, memory, *relation in session.execute(
        "SELECT r.number, r.memory, r.subject, r.type, r.object, r.valid_from FROM relations r "
        "WHERE +r.namespace = :owner AND r.memory IN (SELECT value FROM json_each(:memories)) "
        f"AND {_IS_TRUE}",
        {"owner": values["owner"], "memories": memories, "at": values["at"]},
    ):
        asserted.setdefault(tuple(relation), []).append((number, memory))

    def holds(row: tuple[Any, ...]) -> bool:
        type_, since, number, subject, other, memory = row[1], row[5], row[8], row[9], row[10], row[11]
        standing = stands_for.get(memory)
        return standing is not None and not any(
            asserting == standing or (earlier < number and stands_for.get(asserting) == standing)
            for earlier, asserting in asserted[subject, type_, other, since]
        )

    return [row for row in rows if not row[-1] or holds(row)]


def _relation(row: Sequence[Any]) -> Relation:
    source, type_, target, weight, memory, *times = row
    valid_from, valid_to, created_at = map(instant, times)
    return Relation(source, type_, target, weight, memory, valid_from, valid_to, created_at)
