"""How many bytes a memory takes on a server, table by table and index by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg

_LEAST = 0.005
"""A part below this share of the whole is counted among the others."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The bytes of one table and of its indexes; `hnsw` is what of those is an approximate index."""

    name: str
    rows: int
    indexes: int
    hnsw: int

    @property
    def total(self) -> int:
        """All of it, as ``pg_total_relation_size`` says."""
        return self.rows + self.indexes


def table_sizes(url: str) -> list[TableSize]:
    """Return the tables of a database, the largest first."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT t.relname, pg_table_size(t.oid), pg_indexes_size(t.oid), coalesce((SELECT "
            "sum(pg_relation_size(i.indexrelid)) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = t.oid AND a.amname = 'hnsw'), 0)::bigint "
            "FROM pg_class t WHERE t.relkind IN ('r', 'm') AND t.relnamespace = 'public'::regnamespace "
            "ORDER BY pg_total_relation_size(t.oid) DESC"
        ).fetchall()
    return [TableSize(*row) for row in found]


def size_rows(name: str, memories: int, found: list[TableSize]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table: bytes for each memory."""
    whole = sum(table.total for table in found)
    small = [table for table in found if table.total < _LEAST * whole]
    for table in [table for table in found if table not in small]:
        yield _row(f"{name}: {table.name}", memories, [table])
    if small:
        yield _row(f"{name}: {len(small)} others", memories, small)
    yield _row(f"**{name}**", memories, found)


def _row(name: str, memories: int, some: list[TableSize]) -> tuple[str, ...]:
    parts = (
        sum(table.rows for table in some),
        sum(table.indexes - table.hnsw for table in some),
        sum(table.hnsw for table in some),
        sum(table.total for table in some),
    )
    return (name, *(f"{part / memories:,.0f}" for part in parts))
