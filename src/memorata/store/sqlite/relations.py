"""Relations between entities: said by a person or by a memory, and holding as long as that memory does.

Whether a relation holds is never written down: it is computed from its own validity and from the state of
the memory that asserts it, whenever somebody looks. So forgetting, restoring or correcting a memory has
nothing to keep in step. What asserts something and was superseded only because another says the same goes on
asserting it for as long as that one may be seen.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument
from memorata.store.instants import instant, microseconds
from memorata.store.naming import relation_of
from memorata.store.sqlite import entities
from memorata.store.sqlite.finding import find
from memorata.store.sqlite.rows import marks
from memorata.store.sqlite.segments import Namespace

_SELECTED: Final = (
    "SELECT s.name, r.type, o.name, r.weight, m.id, r.valid_from, r.valid_to, r.created_at FROM relations r "
    "JOIN names s ON s.entity = r.subject AND s.position = 0 "
    "JOIN names o ON o.entity = r.object AND o.position = 0 "
    "LEFT JOIN memories m ON m.number = r.memory "
)
_SAME: Final = (
    "namespace = ? AND subject = ? AND type = ? AND object = ? AND coalesce(memory, 0) = ? "
    "AND coalesce(valid_from, -9000000000000000000) = ?"
)
_HEAVIEST: Final = 1e9
"""Weights are summed over many edges, and must not overflow."""
_FOR_EVER: Final = -9_000_000_000_000_000_000
_IS_TRUE: Final = (
    "({0}.valid_from IS NULL OR {0}.valid_from <= :at) AND ({0}.valid_to IS NULL OR {0}.valid_to > :at)"
)
_IS_SEEN: Final = "{0}.forgotten_at IS NULL AND ({0}.expires_at IS NULL OR {0}.expires_at > :now)"
_SAID_AGAIN: Final = (
    # Who says the same as a superseded memory that asserts something, and may be seen.
    "WITH RECURSIVE said (origin, number) AS ("
    "SELECT m.number, m.number FROM memories m WHERE m.number IN "
    "(SELECT memory FROM relations WHERE namespace = :whose AND memory IS NOT NULL) "
    f"AND m.superseded_by IS NOT NULL AND {_IS_SEEN.format('m')} "
    "UNION SELECT said.origin, w.number FROM said JOIN memories l ON l.number = said.number "
    "JOIN memories w ON w.namespace = l.namespace AND w.id = l.superseded_by WHERE {superseded} "
    "AND ((w.fingerprint = l.fingerprint AND w.fingerprint <> '') OR EXISTS (SELECT 1 FROM repeats n "
    "WHERE n.memory = l.number AND n.winner = w.number AND n.kind <> 'correction'))), "
    "standing (origin, number) AS (SELECT said.origin, said.number FROM said "
    f"JOIN memories w ON w.number = said.number WHERE {{current}} AND {_IS_SEEN.format('w')}) "
)
_SAID_BY_NO_OTHER: Final = (
    # What stands for several may say the same for all of them.
    "EXISTS (SELECT 1 FROM standing h WHERE h.origin = r.memory AND NOT EXISTS (SELECT 1 FROM relations q "
    "WHERE q.subject = r.subject AND q.object = r.object AND q.type = r.type AND q.namespace = r.namespace "
    f"AND q.valid_from IS r.valid_from AND {_IS_TRUE.format('q')} AND (q.memory = h.number OR "
    "(q.number < r.number AND q.memory IN (SELECT o.origin FROM standing o WHERE o.number = h.number)))))"
)
_HOLDS: Final = (
    f"{_IS_TRUE.format('r')} AND (r.memory IS NULL OR ({_IS_SEEN.format('m')} "
    f"AND (m.superseded_by IS NULL OR {_SAID_BY_NO_OTHER})))"
)
_HELD: Final = (
    f"r.created_at <= :at AND {_IS_TRUE.format('r')} AND (r.memory IS NULL OR ({_IS_SEEN.format('m')} "
    "AND m.created_at <= :at AND (m.superseded_at IS NULL OR m.superseded_at > :at "
    f"OR {_SAID_BY_NO_OTHER})))"
)
_NOW: Final = _SAID_AGAIN.format(superseded="true", current="w.superseded_by IS NULL")
_THEN: Final = _SAID_AGAIN.format(
    superseded="l.superseded_at <= :at", current="(w.superseded_at IS NULL OR w.superseded_at > :at)"
)

_NAMED: Final = (
    "SELECT entity FROM names WHERE namespace = :whose AND folded IN (SELECT value FROM json_each(:names))"
)


def relate(
    connection: sqlite3.Connection, namespace: Namespace, relations: Sequence[Relation], now: datetime
) -> list[Relation]:
    """Write relations down, and return them as they are now.

    One that is there already, between the same two, of the same type, from the same memory and since the same
    time, gets the new weight and end; if they are the same, nothing is written. Names nobody has yet are
    declared. A relation counts from the moment at which its memory was learnt, or else from `now`.
    """
    written = []
    for relation in relations:
        if relation.weight > _HEAVIEST:
            raise InvalidArgument("weight", relation.weight, f"a number above 0 and at most {_HEAVIEST:g}")
        memory, said_at = None, now
        if relation.asserted_by is not None:
            _, memory, _, asserting = find(connection, namespace.path, relation.asserted_by)
            said_at = asserting.created_at
        subject, new = entities.declared(connection, namespace.number, "subject", relation.source)
        other, also_new = entities.declared(connection, namespace.number, "object", relation.target)
        since, until = microseconds(relation.valid_from), microseconds(relation.valid_to)
        key = (namespace.number, subject, relation.type, other, memory or 0)
        same = (*key, _FOR_EVER if since is None else since)
        found = connection.execute(
            f"SELECT number, weight, valid_to, created_at FROM relations WHERE {_SAME}", same
        ).fetchone()
        if found is None:
            when = relation.created_at or said_at
            change = entities.log(connection, namespace.number, "relate", naming=new or also_new)
            connection.execute(
                "INSERT INTO relations (namespace, subject, type, object, weight, memory, valid_from, "
                "valid_to, created_at, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*key[:4], relation.weight, memory, since, until, microseconds(when), change),
            )
            written.append(replace(relation, created_at=when))
            continue
        if found[1:3] != (relation.weight, until):
            change = entities.log(connection, namespace.number, "rerelate", naming=False)
            connection.execute(
                "UPDATE relations SET weight = ?, valid_to = ?, change = ? WHERE number = ?",
                (relation.weight, until, change, found[0]),
            )
        written.append(replace(relation, created_at=instant(found[3])))
    return written


def unrelate(
    connection: sqlite3.Connection,
    namespace: Namespace,
    subjects: Sequence[str],
    type: str,
    objects: Sequence[str],
) -> int:
    """Remove every relation of a type from one entity to another, whoever says it, and return how many.

    Either end is given by all its folded names. One that nothing was said about but this goes as well.
    """
    ends = [entities.having(connection, namespace.number, keys) for keys in (subjects, objects)]
    removed = connection.execute(
        f"DELETE FROM relations WHERE namespace = ? AND type = ? AND subject IN ({marks(ends[0])}) "
        f"AND object IN ({marks(ends[1])})",
        (namespace.number, type, *ends[0], *ends[1]),
    ).rowcount
    if removed:
        entities.log(connection, namespace.number, "unrelate", naming=False)
        bare = {entity for entity in ends[0] | ends[1] if entities.is_bare(connection, entity)}
        entities.remove_unreferred(connection, namespace.number, bare)
    return removed


def listed(
    connection: sqlite3.Connection,
    number: int,
    *,
    now: datetime | None = None,
    as_of: datetime | None = None,
    names: Sequence[str] | None = None,
    since: int = 0,
) -> list[Relation]:
    """Return relations in the order in which they were said.

    Parameters
    ----------
    connection
        Inside a transaction.
    number
        The namespace's.
    now
        Only those that hold at this moment; None for all, ended ones too.
    as_of
        With `now`: those that, as was believed at that moment, held then.
    names
        Only those that have one of these folded names at either end.
    since
        Only those written after this change.
    """
    condition, before = "r.namespace = :whose AND r.change > :since", ""
    values: dict[str, Any] = {"whose": number, "since": since}
    if now is not None:
        values |= {"now": microseconds(now), "at": microseconds(now if as_of is None else as_of)}
        condition += f" AND {_HOLDS if as_of is None else _HELD}"
        before = _NOW if as_of is None else _THEN
    if names is not None:
        condition += f" AND (r.subject IN ({_NAMED}) OR r.object IN ({_NAMED}))"
        values["names"] = json.dumps(list(names))
    rows = connection.execute(f"{before}{_SELECTED}WHERE {condition} ORDER BY r.number", values)
    return [relation_of(row) for row in rows]


def next_turn(connection: sqlite3.Connection, number: int, now: datetime) -> datetime | None:
    """Return the next moment at which a relation begins or ends to hold by itself."""
    (turn,) = connection.execute(
        "SELECT min(at) FROM (SELECT min(valid_from) AS at FROM relations "
        "WHERE namespace = ?1 AND valid_from > ?2 UNION ALL "
        "SELECT min(valid_to) FROM relations WHERE namespace = ?1 AND valid_to > ?2)",
        (number, microseconds(now)),
    ).fetchone()
    return instant(turn)
