"""What connects memories to each other, read for the graph of a namespace, and where they were."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from memorata.store.instants import instant
from memorata.store.naming import GraphNews, Link, Points
from memorata.store.sqlite.entities import NOBODY
from memorata.store.sqlite.places import place
from memorata.store.sqlite.rows import marks
from memorata.store.sqlite.segments import Namespace

_AT_ONCE: Final = 500
_COLUMNS: Final = (
    "SELECT slot, entities, session, position, supersedes, "
    "forgotten_at IS NULL AND superseded_by IS NULL, expires_at, "
    "EXISTS (SELECT 1 FROM relations r WHERE r.memory = memories.number) OR ("
    "EXISTS (SELECT 1 FROM memories l WHERE l.superseded_by = memories.id "
    "AND l.namespace = memories.namespace) AND EXISTS (SELECT 1 FROM relations r "
    "JOIN memories l ON l.number = r.memory WHERE r.namespace = memories.namespace "
    "AND l.superseded_by IS NOT NULL)) FROM memories "
)
"""What took the place of others may assert what those do."""


def news(connection: sqlite3.Connection, namespace: Namespace, since: int) -> GraphNews:
    """Return what has happened to a namespace after the change `since`."""
    rows = connection.execute(
        "SELECT DISTINCT slot, kind FROM changes WHERE namespace = ? AND change > ? AND kind <> 'add'",
        (namespace.number, since),
    ).fetchall()
    changed = sorted({slot for slot, _ in rows if slot != NOBODY})
    kinds = frozenset(kind for _, kind in rows)
    return GraphNews(namespace.change, namespace.slots, tuple(changed), kinds)


def links_from(connection: sqlite3.Connection, number: int, first: int) -> Iterator[Link]:
    """Yield what connects the memories of a namespace, from a slot on."""
    rows = connection.execute(
        f"{_COLUMNS}WHERE number >= ? AND number < ? ORDER BY number",
        (place(number, first), place(number + 1, 0)),
    )
    while block := rows.fetchmany(_AT_ONCE):
        yield from (_link(connection, number, row) for row in block)


def links_of(connection: sqlite3.Connection, number: int, slots: Sequence[int]) -> Iterator[Link]:
    """Yield what connects some memories; those that were purged are left out."""
    for start in range(0, len(slots), _AT_ONCE):
        numbers = [place(number, slot) for slot in slots[start : start + _AT_ONCE]]
        rows = connection.execute(f"{_COLUMNS}WHERE number IN ({marks(numbers)}) ORDER BY number", numbers)
        yield from (_link(connection, number, row) for row in rows.fetchall())


def points_from(connection: sqlite3.Connection, number: int, first: int) -> Points:
    """Return the places of memories, from a slot on."""
    rows = connection.execute(
        "SELECT slot, lat, lon FROM memories WHERE namespace = ? AND slot >= ? AND lat IS NOT NULL "
        "ORDER BY slot",
        (number, first),
    ).fetchall()
    table = np.array(rows, np.float64).reshape(-1, 3)
    return Points(table[:, 0].astype(np.intp), table[:, 1], table[:, 2])


def _link(connection: sqlite3.Connection, number: int, row: tuple[Any, ...]) -> Link:
    slot, names, session, position, supersedes, current, expires, asserts = row
    older: tuple[int, ...] = ()
    if supersedes != "[]":
        ids = json.loads(supersedes)
        found = connection.execute(
            f"SELECT slot FROM memories WHERE namespace = ? AND id IN ({marks(ids)}) ORDER BY slot",
            (number, *ids),
        )
        older = tuple(each for (each,) in found)
    entities = () if names == "[]" else tuple(json.loads(names))
    return Link(slot, entities, session, position, older, bool(current), instant(expires), bool(asserts))
