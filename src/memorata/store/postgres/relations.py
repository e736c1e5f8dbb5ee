"""Relations between entities on a server: said by a person or by a memory, holding as long as that does.

Whether a relation holds is never written down (:mod:`memorata.store.sqlite.relations` says why).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument
from memorata.store.instants import instant, microseconds
from memorata.store.naming import relation_of
from memorata.store.postgres import entities
from memorata.store.postgres.connection import Server
from memorata.store.postgres.finding import find
from memorata.store.postgres.namespaces import Namespace
from memorata.store.postgres.texts import checked_name

_SELECTED: Final = (
    "SELECT s.name, r.type, o.name, r.weight, m.id, r.valid_from, r.valid_to, r.created_at FROM relations r "
    "JOIN names s ON s.namespace = r.namespace AND s.entity = r.subject AND s.position = 0 "
    "JOIN names o ON o.namespace = r.namespace AND o.entity = r.object AND o.position = 0 "
    "LEFT JOIN memories m ON m.namespace = r.namespace AND m.slot = r.memory "
)
_SAME: Final = (
    "namespace = %s AND subject = %s AND type = %s AND object = %s AND coalesce(memory, -1) = %s "
    "AND coalesce(valid_from, -9000000000000000000) = %s"
)
_HEAVIEST: Final = 1e9
"""Weights are summed over many edges, and must not overflow."""
_FOR_EVER: Final = -9_000_000_000_000_000_000
_NO_MEMORY: Final = -1
_IS_TRUE: Final = (
    "({0}.valid_from IS NULL OR {0}.valid_from <= %(at)s) AND ({0}.valid_to IS NULL OR {0}.valid_to > %(at)s)"
)
_IS_SEEN: Final = "{0}.forgotten_at IS NULL AND ({0}.expires_at IS NULL OR {0}.expires_at > %(now)s)"
_SAID_AGAIN: Final = (
    # Who says the same as a superseded memory that asserts something, and may be seen.
    "WITH RECURSIVE said (origin, slot) AS ("
    "SELECT m.slot, m.slot FROM memories m WHERE m.namespace = %(whose)s AND m.slot IN "
    "(SELECT memory FROM relations WHERE namespace = %(whose)s AND memory IS NOT NULL) "
    f"AND m.superseded_by IS NOT NULL AND {_IS_SEEN.format('m')} "
    "UNION SELECT said.origin, w.slot FROM said "
    "JOIN memories l ON l.namespace = %(whose)s AND l.slot = said.slot "
    "JOIN memories w ON w.namespace = l.namespace AND w.id = l.superseded_by WHERE {superseded} "
    "AND ((w.fingerprint = l.fingerprint AND w.fingerprint <> '') OR EXISTS (SELECT 1 FROM repeats n "
    "WHERE n.namespace = l.namespace AND n.memory = l.slot AND n.winner = w.slot "
    "AND n.kind <> 'correction'))), "
    "standing (origin, slot) AS MATERIALIZED (SELECT said.origin, said.slot FROM said "
    "JOIN memories w ON w.namespace = %(whose)s AND w.slot = said.slot "
    f"WHERE {{current}} AND {_IS_SEEN.format('w')}) "
)
_SAID_BY_NO_OTHER: Final = (
    # What stands for several may say the same for all of them.
    "EXISTS (SELECT 1 FROM standing h WHERE h.origin = r.memory AND NOT EXISTS (SELECT 1 FROM relations q "
    "WHERE q.namespace = r.namespace AND q.subject = r.subject AND q.object = r.object AND q.type = r.type "
    f"AND q.valid_from IS NOT DISTINCT FROM r.valid_from AND {_IS_TRUE.format('q')} "
    "AND (q.memory = h.slot OR (q.number < r.number "
    "AND q.memory IN (SELECT o.origin FROM standing o WHERE o.slot = h.slot)))))"
)
_HOLDS: Final = (
    f"{_IS_TRUE.format('r')} AND (r.memory IS NULL OR ({_IS_SEEN.format('m')} "
    f"AND (m.superseded_by IS NULL OR {_SAID_BY_NO_OTHER})))"
)
_HELD: Final = (
    f"r.created_at <= %(at)s AND {_IS_TRUE.format('r')} AND (r.memory IS NULL OR ({_IS_SEEN.format('m')} "
    "AND m.created_at <= %(at)s AND (m.superseded_at IS NULL OR m.superseded_at > %(at)s "
    f"OR {_SAID_BY_NO_OTHER})))"
)
_NOW: Final = _SAID_AGAIN.format(superseded="true", current="w.superseded_by IS NULL")
_THEN: Final = _SAID_AGAIN.format(
    superseded="l.superseded_at <= %(at)s",
    current="(w.superseded_at IS NULL OR w.superseded_at > %(at)s)",
)
_NAMED: Final = "SELECT entity FROM names WHERE namespace = %(whose)s AND folded = ANY (%(names)s::text[])"


def relate(
    connection: Server, namespace: Namespace, relations: Sequence[Relation], now: datetime
) -> list[Relation]:
    """Write relations down, and return them as they are now.

    One that is there already, between the same two, of the same type, from the same memory and since the same
    time, gets the new weight and end; if they are the same, nothing is written.
    """
    number = namespace.number
    written = []
    for relation in relations:
        if relation.weight > _HEAVIEST:
            raise InvalidArgument("weight", relation.weight, f"a number above 0 and at most {_HEAVIEST:g}")
        checked_name("type", relation.type)
        memory, said_at = None, now
        if relation.asserted_by is not None:
            kept = find(connection, namespace.path, relation.asserted_by)
            memory, said_at = kept.slot, kept.memory.created_at
        subject, new = entities.declared(connection, number, "subject", relation.source)
        other, also_new = entities.declared(connection, number, "object", relation.target)
        since, until = microseconds(relation.valid_from), microseconds(relation.valid_to)
        found = connection.execute(
            f"SELECT number, weight, valid_to, created_at FROM relations WHERE {_SAME}",
            (
                number,
                subject,
                relation.type,
                other,
                _NO_MEMORY if memory is None else memory,
                _FOR_EVER if since is None else since,
            ),
        ).fetchone()
        if found is None:
            when = relation.created_at or said_at
            change = entities.log(connection, namespace, "relate", naming=new or also_new)
            connection.execute(
                "INSERT INTO relations (namespace, subject, type, object, weight, memory, valid_from, "
                "valid_to, created_at, change) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    number,
                    subject,
                    relation.type,
                    other,
                    relation.weight,
                    memory,
                    since,
                    until,
                    microseconds(when),
                    change,
                ),
            )
            written.append(replace(relation, created_at=when))
            continue
        if found[1:3] != (relation.weight, until):
            change = entities.log(connection, namespace, "rerelate", naming=False)
            connection.execute(
                "UPDATE relations SET weight = %s, valid_to = %s, change = %s "
                "WHERE namespace = %s AND number = %s",
                (relation.weight, until, change, number, found[0]),
            )
        written.append(replace(relation, created_at=instant(found[3])))
    return written


def unrelate(
    connection: Server, namespace: Namespace, subjects: Sequence[str], type: str, objects: Sequence[str]
) -> int:
    """Remove every relation of a type from one entity to another, whoever says it, and return how many.

    Either end is given by all its folded names. One that nothing was said about but this goes as well.
    """
    number = namespace.number
    ends = [entities.having(connection, number, keys) for keys in (subjects, objects)]
    removed = connection.execute(
        "DELETE FROM relations WHERE namespace = %s AND type = %s AND subject = ANY (%s::bigint[]) "
        "AND object = ANY (%s::bigint[])",
        (number, type, sorted(ends[0]), sorted(ends[1])),
    ).rowcount
    if removed:
        entities.log(connection, namespace, "unrelate", naming=False)
        bare = {entity for entity in ends[0] | ends[1] if entities.is_bare(connection, number, entity)}
        entities.remove_unreferred(connection, namespace, bare)
    return removed


def listed(
    connection: Server,
    number: int,
    *,
    now: datetime | None = None,
    as_of: datetime | None = None,
    names: Sequence[str] | None = None,
    since: int = 0,
) -> list[Relation]:
    """Return relations in the order in which they were said: all of them, or those that hold."""
    condition, before = "r.namespace = %(whose)s AND r.change > %(since)s", ""
    values: dict[str, object] = {"whose": number, "since": since}
    if now is not None:
        condition += f" AND {_HOLDS if as_of is None else _HELD}"
        before = _NOW if as_of is None else _THEN
        values |= {"now": microseconds(now), "at": microseconds(now if as_of is None else as_of)}
    if names is not None:
        condition += f" AND (r.subject IN ({_NAMED}) OR r.object IN ({_NAMED}))"
        values["names"] = list(names)
    rows = connection.execute(f"{before}{_SELECTED}WHERE {condition} ORDER BY r.number", values)
    return [relation_of(row) for row in rows]


def next_turn(connection: Server, number: int, now: datetime) -> datetime | None:
    """Return the next moment at which a relation begins or ends to hold by itself."""
    row = connection.execute(
        "SELECT least(min(valid_from) FILTER (WHERE valid_from > %(now)s), "
        "min(valid_to) FILTER (WHERE valid_to > %(now)s)) FROM relations WHERE namespace = %(whose)s",
        {"whose": number, "now": microseconds(now)},
    ).fetchone()
    return None if row is None else instant(row[0])
