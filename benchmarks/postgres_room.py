"""How much room a memory takes on a server, table by table and index by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg

_LEAST = 0.005
"""A part below this share of the whole is counted among the others."""


@dataclass(frozen=True, slots=True)
class Room:
    """The bytes of one table and of its indexes; `hnsw` is what of those is an approximate index."""

    table: str
    rows: int
    indexes: int
    hnsw: int

    @property
    def total(self) -> int:
        """All of it, as ``pg_total_relation_size`` says."""
        return self.rows + self.indexes


def rooms(url: str) -> list[Room]:
    """Return the tables of a database, the largest first."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT t.relname, pg_table_size(t.oid), pg_indexes_size(t.oid), coalesce((SELECT "
            "sum(pg_relation_size(i.indexrelid)) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = t.oid AND a.amname = 'hnsw'), 0)::bigint "
            "FROM pg_class t WHERE t.relkind IN ('r', 'm') AND t.relnamespace = 'public'::regnamespace "
            "ORDER BY pg_total_relation_size(t.oid) DESC"
        ).fetchall()
    return [Room(*row) for row in found]


def room_rows(name: str, memories: int, found: list[Room]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table: bytes for each memory."""
    whole = sum(room.total for room in found)
    small = [room for room in found if room.total < _LEAST * whole]
    for room in [room for room in found if room not in small]:
        yield _row(f"{name}: {room.table}", memories, [room])
    if small:
        yield _row(f"{name}: {len(small)} others", memories, small)
    yield _row(f"**{name}**", memories, found)


def _row(name: str, memories: int, some: list[Room]) -> tuple[str, ...]:
    parts = (
        sum(room.rows for room in some),
        sum(room.indexes - room.hnsw for room in some),
        sum(room.hnsw for room in some),
        sum(room.total for room in some),
    )
    return (name, *(f"{part / memories:,.0f}" for part in parts))
