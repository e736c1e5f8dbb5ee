"""Leaving no trace: what was purged must not be found in the file by anyone who reads its bytes.

SQLite forgets where deleted data was, not the data. ``secure_delete`` overwrites it on deletion, which costs
writing; so the connection uses its FAST form, which overwrites only within pages that are written anyway, and
a purge makes up for the rest: it deletes with ON, fills the pages that became free in earlier writes with
zeros, and empties the write-ahead log. Words are deleted with ON from the start, when segments take the place
of waiting words and of smaller segments: a page that became free could be used again for something shorter,
and what it held before would stand behind that.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LOG: Final = logging.getLogger(__name__)
_PAGES_AT_ONCE: Final = 16_384
_ON: Final = 1


@contextmanager
def overwriting(connection: sqlite3.Connection) -> Iterator[None]:
    """Overwrite whatever the block deletes; such blocks may stand inside each other."""
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        if before != _ON:
            connection.execute("PRAGMA secure_delete = FAST")


def overwrite_free_pages(connection: sqlite3.Connection) -> None:
    """Fill the free pages of the file with zeros, inside a transaction that is :func:`overwriting`.

    A table of zeros takes every free page and gives them back.
    """
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.execute("CREATE TABLE zeros (zeros BLOB)")
    while free := connection.execute("PRAGMA freelist_count").fetchone()[0]:
        connection.execute("INSERT INTO zeros VALUES (zeroblob(?))", (min(free, _PAGES_AT_ONCE) * size,))
    connection.execute("DROP TABLE zeros")


def empty_log(connection: sqlite3.Connection, name: str) -> None:
    """Write everything in the write-ahead log to its place in the file, and leave the log empty."""
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        _LOG.warning(
            "%s: another process has been reading for so long that the write-ahead log could not be emptied; "
            "what was purged may be in it until the next purge or `recollect vacuum`",
            name,
        )
