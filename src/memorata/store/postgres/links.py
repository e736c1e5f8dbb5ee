"""What connects memories to each other on a server, for the graph of a namespace, and where they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from memorata.store.instants import instant
from memorata.store.naming import GraphNews, Link, Points
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import NOBODY, Namespace

_LINK: Final = (
    "SELECT m.slot, m.entities, m.session, m.position, "
    "ARRAY(SELECT o.slot FROM memories o WHERE o.namespace = m.namespace AND o.id = ANY (m.supersedes) "
    "ORDER BY o.slot), m.forgotten_at IS NULL AND m.superseded_by IS NULL, m.expires_at, "
    "EXISTS (SELECT 1 FROM relations r WHERE r.namespace = m.namespace AND r.memory = m.slot) OR ("
    "EXISTS (SELECT 1 FROM memories l WHERE l.namespace = m.namespace AND l.superseded_by = m.id) "
    "AND EXISTS (SELECT 1 FROM relations r JOIN memories l ON l.namespace = r.namespace "
    "AND l.slot = r.memory WHERE r.namespace = m.namespace AND l.superseded_by IS NOT NULL)) "
    "FROM memories m WHERE m.namespace = %s"
)
"""What took the place of others may assert what those do."""


def news(connection: Server, namespace: Namespace, since: int) -> GraphNews:
    """Return what has happened to a namespace after the change `since`."""
    rows = connection.execute(
        "SELECT DISTINCT slot, kind FROM changes WHERE namespace = %s AND change > %s AND kind <> 'add'",
        (namespace.number, since),
    ).fetchall()
    changed = sorted({slot for slot, _ in rows if slot != NOBODY})
    return GraphNews(namespace.change, namespace.slots, tuple(changed), frozenset(kind for _, kind in rows))


def links_from(connection: Server, number: int, first: int, limit: int) -> list[Link]:
    """Return what connects the memories of a namespace, some of them, from a slot on."""
    rows = connection.execute(f"{_LINK} AND m.slot >= %s ORDER BY m.slot LIMIT %s", (number, first, limit))
    return [_link(row) for row in rows]


def links_of(connection: Server, number: int, slots: Sequence[int]) -> list[Link]:
    """Return what connects some memories; those that were purged are left out."""
    rows = connection.execute(f"{_LINK} AND m.slot = ANY (%s::int[]) ORDER BY m.slot", (number, list(slots)))
    return [_link(row) for row in rows]


def points_from(connection: Server, number: int, first: int) -> Points:
    """Return the places of memories, from a slot on."""
    rows = connection.execute(
        "SELECT slot, lat, lon FROM memories WHERE namespace = %s AND slot >= %s AND lat IS NOT NULL "
        "ORDER BY slot",
        (number, first),
    ).fetchall()
    table = np.array(rows, np.float64).reshape(-1, 3)
    return Points(table[:, 0].astype(np.intp), table[:, 1], table[:, 2])


def _link(row: tuple[Any, ...]) -> Link:
    slot, names, session, position, older, current, expires, asserts = row
    return Link(slot, tuple(names), session, position, tuple(older), current, instant(expires), asserts)
