"""Leaving no trace in the tables: what was purged must not be found in their files.

A server forgets where deleted rows were, not the rows: their space is given out again after a vacuum, and
holds what it held until something else is written there. Only a table that is written anew from what is left
holds nothing else. The log of the server (WAL) and its backups keep what they keep: that is for their owner.
"""

from __future__ import annotations

from typing import Final

import psycopg

from memorata.store.postgres.dialect import OWNED
from memorata.store.postgres.errors import ours, unreachable

_TABLES: Final = (*OWNED, "namespaces", "replies")


def write_anew(url: str) -> None:
    """Write every table that may have held something of a memory anew, one after the other."""
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        try:
            for table in _TABLES:
                connection.execute(f"VACUUM (FULL, ANALYZE) {table}")
        except psycopg.Error as error:
            raise ours(error, url, broken=connection.broken) from error
