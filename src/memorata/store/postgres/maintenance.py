"""Leaving no trace in the tables: what was purged must not be found in their files.

A server forgets where deleted rows were, not the rows: their space is given out again after a vacuum, and
holds what it held until something else is written there. Only a table that is written anew from what is left
holds nothing else. The log of the server (WAL) and its backups keep what they keep: that is for their owner.
"""

from __future__ import annotations

from typing import Final

from memorata.store.postgres.dialect import OWNED
from memorata.store.postgres.errors import connected

_TABLES: Final = (*OWNED, "namespaces", "replies")


def write_anew(url: str) -> None:
    """Write every table that may have held something of a memory anew, one after the other."""
    with connected(url) as connection:
        for table in _TABLES:
            connection.execute(f"VACUUM (FULL, ANALYZE) {table}")
