"""A file that is only read: because it cannot be written where it is, or because nobody wants it to be.

A file of ours is in write-ahead mode, in which even a reader makes two files beside it, or needs them to be
there. Where that cannot be, as on a medium that is read-only, SQLite can take the file for immutable: then it
reads no log and takes no lock. That is right only as long as no log holds anything and nobody writes, so both
are made sure of: what waits in a log that cannot be read is refused in words and never passed over, and a
file that turns out to have changed is not read on.

Source: "Read-only databases" in SQLite's description of its write-ahead log, and its URI parameters ``mode``
and ``immutable``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from memorata.model.errors import StoreReadOnly, StoreUnavailable
from memorata.store.sqlite.encryption import database_errors

ASKED_FOR: Final = "it was opened to be read only"
FULL: Final = "its disk is full"
_OPEN: Final = "open it without read_only (--read-only)"
_COPY: Final = "copy it to a folder that can be written, and use the copy, or change the permissions"
_ROOM: Final = "free some space, and open it again"
_LOGS: Final = ("-wal", "-journal")
"""What SQLite calls the files in which changes wait that the database itself does not have yet."""
_NEEDED: Final = ("-wal", "-shm")
"""The files that whoever writes needs beside the database."""


def unwritable(file: Path) -> str:
    """Return why a file that is there cannot be written here; empty if it can be.

    A file that may be written is no use in a folder that may not: a writer makes others beside it, unless
    somebody who uses the file has made them already.
    """
    if not file.is_file():
        return ""
    # The other files are where the database is, not where a link to it is.
    file = file.resolve()
    if not _may_write(file):
        return _medium(file) or "the file may not be written"
    if _may_write(file.parent) or all(_may_write(Path(f"{file}{each}")) for each in _NEEDED):
        return ""
    return "its folder may not be written, where a writer needs more files"


def is_full(error: sqlite3.Error) -> bool:
    """Return whether a file could not be opened because nothing more fits beside it."""
    return error.sqlite_errorcode in (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_FULL)


def opened_to_read(
    file: Path, connect: Callable[[str], sqlite3.Connection]
) -> tuple[sqlite3.Connection, Callable[[], None] | None]:
    """Open a database that is there without writing anything to it.

    Returns
    -------
    tuple
        The connection; and what to call before and after everything that is read, which raises if the file
        is no longer what it was, None where SQLite itself sees to that.

    Raises
    ------
    StoreUnavailable
        Changes wait in a log beside the file that cannot be read where it is.
    """
    file = file.resolve()
    address = file.as_uri()
    connection = connect(f"{address}?mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        return connection, None
    except database_errors() as error:
        connection.close()
        if is_full(error) and _log(file):
            return _opened_alone(address, connect), None
        unwritten = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not is_full(error) and error.sqlite_errorcode & 0xFF not in unwritten:
            raise
    except BaseException:
        connection.close()
        raise
    before = _stamp(file)
    if log := _log(file):
        raise StoreUnavailable(
            f"{log} holds changes that {file.name} does not have yet, and they cannot be read where it is; "
            "copy all files of that name to a folder that can be written, and open the copy there"
        )

    def watch() -> None:
        try:
            unchanged = _stamp(file) == before and not _log(file)
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be read ({error}); check the path and the disk") from error
        if not unchanged:
            raise StoreUnavailable(f"{file} was written to since it was opened to be read; open it again")

    return connect(f"{address}?immutable=1"), watch


def refuse_to_write(name: str, reason: str) -> None:
    """Raise if there is a reason why nothing can be written, and say what to do."""
    if reason:
        advice = _OPEN if reason.endswith(ASKED_FOR) else _ROOM if reason.endswith(FULL) else _COPY
        raise StoreReadOnly(name, f"{reason}; {advice}")


def _opened_alone(address: str, connect: Callable[[str], sqlite3.Connection]) -> sqlite3.Connection:
    """Open a file whose log holds changes, on a full disk: no other process can use it meanwhile.

    Alone, SQLite keeps the index of the log in memory instead of in a file that there is no room for.
    """
    connection = connect(address)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _may_write(path: Path) -> bool:
    # By whom the process acts for now, where the system can tell.
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _medium(file: Path) -> str:
    """Return that a whole file system is read-only, where the system can tell and it is."""
    statistics = getattr(os, "statvfs", None)
    if statistics is None or not statistics(file).f_flag & os.ST_RDONLY:
        return ""
    return "its file system is read-only"


def _log(file: Path) -> Path | None:
    """Return the file beside a database in which changes wait, if there is one."""
    for path in (Path(f"{file}{each}") for each in _LOGS):
        if path.exists() and path.stat().st_size:
            return path
    return None


def _stamp(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
