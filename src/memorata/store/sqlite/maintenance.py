"""Copies of the file, and erasure: what was purged must not be left in its bytes.

SQLite forgets where deleted data was, not the data. ``secure_delete`` overwrites a row where it stands, but
not the copies that were left behind when a page was split and its rows were moved; and rows are moved all the
time, for they are inserted in the middle of their tables. Only a file that is written anew from
what is left holds nothing else. So a purge ends with ``VACUUM``, which writes the whole file into the
write-ahead log, and with emptying that log into its place.

That takes time in proportion to the file, and for a moment twice its space; other processes go on reading
meanwhile, and wait to write. Until it is done a note in the database says so, written in the transaction of
the purge itself: whatever happens in between, the next purge or `memorata vacuum` does it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from memorata.model.errors import InvalidArgument, PurgeUnfinished, StoreUnavailable
from memorata.store.database import Session
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.encryption import connected, database_errors
from memorata.store.sqlite.files import create_private, remove_leftovers, whole_file
from memorata.store.sqlite.integrity import UNFINISHED_PURGE, unfinished_purge
from memorata.store.sqlite.session import SqliteSession, Translated

_RETRY_SECONDS: Final = 0.02


def erase(session: Session, name: str) -> None:
    """Write the file anew from what is left in it, and empty the write-ahead log."""
    note = unfinished_purge(session)
    remove_leftovers(Path(name))
    (milliseconds,) = session.execute("PRAGMA busy_timeout").fetchone()
    until = monotonic() + milliseconds / 1_000
    try:
        while True:
            try:
                with Translated(name):
                    session.execute("VACUUM")
                    _empty_log(session, name)
                break
            except StoreUnavailable as error:
                # SQLite gives up at once where a writer comes between, and after one turn where others read.
                if not _is_busy(error) or monotonic() >= until:
                    raise
                sleep(_RETRY_SECONDS)
    except StoreUnavailable as error:
        if note is None:
            raise
        raise PurgeUnfinished(name, str(error)) from error
    if note is not None:
        session.execute("DELETE FROM settings WHERE name = ? AND value = ?", (UNFINISHED_PURGE, note))


def _is_busy(error: StoreUnavailable) -> bool:
    """Return whether a lock of another connection was in the way, so that a retry may succeed."""
    cause = error.__cause__
    return cause is None or (
        isinstance(cause, database_errors("OperationalError"))
        and cause.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    )


def _empty_log(session: Session, name: str) -> None:
    """Write everything in the write-ahead log to its place in the file, and leave the log empty."""
    if session.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        raise StoreUnavailable(
            f"another process has been reading {name} for so long that its log could not be emptied"
        )


def back_up(connection: SqliteSession, origin: str, target: Path) -> None:
    """Copy a database to a file while others go on using it, in place of an older copy if there is one.

    It is made under another name beside it, synchronised, and renamed at the end: a process that is killed on
    the way leaves no file that looks like the copy, and an older copy stays until the new one is there.

    `connection`: to the database, outside of a transaction. `origin`: its path, or ``":memory:"``. `target`:
    the file; an existing one has to be a database of Memorata's that is not in use.
    """
    if target.exists():
        if Path(origin).exists() and target.samefile(origin):
            raise InvalidArgument("target", str(target), "another file than the database itself")
        connect(target, backup=False, key=connection.key).close()
        if Path(f"{target}-wal").exists():
            raise StoreUnavailable(f"{target} is in use; close it first, or name another file for the copy")
    remove_leftovers(target)
    with whole_file(target) as partial:
        create_private(partial)
        with Translated(str(target)), closing(connected(partial, connection.key)) as copy:
            connection.backup(copy, pages=4096)
