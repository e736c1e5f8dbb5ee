"""Opening a file: to be written, with its settings; or to be read only.

A file of ours is in write-ahead mode, in which even a reader makes two files beside it, or needs them to be
there. Where that cannot be, as on a medium that is read-only, SQLite can take the file for immutable: then it
reads no log and takes no lock. That is right only as long as no log holds anything and no process writes, so
both are checked: changes in a log that cannot be read are an error, and a file that has changed since it was
opened is not read any further.

Source: "Read-only databases" in SQLite's description of its write-ahead log, and its URI parameters ``mode``
and ``immutable``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from memorata.model import checks
from memorata.model.errors import (
    InvalidArgument,
    StoreCorrupt,
    StoreReplaced,
    StoreTooNew,
    StoreUnavailable,
)
from memorata.store.sqlite.encryption import (
    check_encryption,
    connected,
    database_errors,
    is_empty,
    is_no_database,
    session_class,
    wrong_key,
)
from memorata.store.sqlite.files import create_private, locked_folder
from memorata.store.sqlite.schema import APPLICATION_ID, COPY_ID, SCHEMA, VERSION
from memorata.store.sqlite.session import (
    BUSY_SECONDS,
    DISK_FULL,
    READ_ONLY_REQUESTED,
    Reading,
    SqliteSession,
    Translated,
    expect,
    refuse_to_write,
    writing,
)

IN_MEMORY: Final = ":memory:"
_RETRY_SECONDS: Final = 0.01
_OLDEST_SQLITE: Final = 3, 35
_LOG_SUFFIXES: Final = ("-wal", "-journal")
_COMPANION_SUFFIXES: Final = ("-wal", "-shm")


def connect(
    path: str | Path,
    *,
    durable: bool = True,
    must_exist: bool = False,
    read_only: bool = False,
    key: str | None = None,
) -> SqliteSession:
    """Open a database, creating it as needed; one that cannot be written, to be read.

    A write is on the disk when it is acknowledged (``synchronous=FULL``); without `durable`, a power cut,
    though not a crash of the process, can lose the last writes. With `must_exist`, a missing file is an error
    rather than a new database. `read_only`: nothing is written to it, even though it could be. `key`: what
    the file is encrypted with, a new one too.
    """
    name = str(path)
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        # Before there is a file: it would fail at the first statement that an older one cannot read.
        needed = ".".join(map(str, _OLDEST_SQLITE))
        raise StoreUnavailable(
            f"this Python brings SQLite {sqlite3.sqlite_version}, and {needed} is needed; use another Python"
        )
    if name != IN_MEMORY:
        file = Path(name)
        if (must_exist or checks.flag("read_only", read_only)) and not file.exists():
            raise StoreUnavailable(f"there is no database at {name}; check the path")
        if file.is_dir():
            raise StoreUnavailable(f"{name} is a folder; name a file in it, such as {file / 'memories.db'}")
        if not file.parent.is_dir():
            if file.parent.exists():
                raise StoreUnavailable(f"{file.parent} is a file, not a folder; name another path")
            raise StoreUnavailable(f"the folder {file.parent} does not exist; create it or name another path")
        check_encryption(file, key)
    elif checks.flag("read_only", read_only):
        raise InvalidArgument("read_only", read_only, "false for a memory that no file holds")
    reason = "" if name == IN_MEMORY else READ_ONLY_REQUESTED if read_only else unwritable(Path(name))
    with Translated(name):
        connection = _opened_to_read(Path(name), reason, key) if reason else _opened_to_write(name, key)
        try:
            _prepare(connection, name, durable=durable)
        except BaseException:
            connection.close()
            raise
    return connection


def _opened(name: str, *, key: str | None, uri: bool = False) -> SqliteSession:
    encrypted = None if key is None else session_class(SqliteSession)
    session: SqliteSession = connected(
        name, key, encrypted=encrypted, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False,
        cached_statements=256, factory=SqliteSession, uri=uri,
    )  # fmt: skip
    session.key = key
    return session


def _opened_to_write(name: str, key: str | None) -> SqliteSession:
    """Open a file to be written, or to be read alone where its disk has no room for what a writer needs."""
    existed = name != IN_MEMORY and Path(name).exists()
    if name != IN_MEMORY:
        create_private(Path(name))
        _set_foreign_log_aside(Path(name).resolve(), partial(_opened, key=key, uri=True))
    unwritten = is_empty(Path(name))
    # Where it could not be made, SQLite says why.
    watch = _watching(name) if name != IN_MEMORY and Path(name).exists() else None
    connection = _opened(name, key=key)
    connection.watch = watch
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if watch is not None:
            # What is open from now on is the file that was looked at.
            watch()
    except database_errors() as error:
        connection.close()
        if key is not None and is_no_database(error):
            if unwritten and not is_empty(Path(name)):
                # Another process began the file, with a salt of its own, while this one was about to.
                return _opened_to_write(name, key)
            raise wrong_key(name) from error
        if not existed or not is_full(error):
            raise
        return _opened_to_read(Path(name), DISK_FULL, key)
    except BaseException:
        connection.close()
        raise
    return connection


def _opened_to_read(file: Path, reason: str, key: str | None) -> SqliteSession:
    try:
        connection, watch = opened_to_read(file, partial(_opened, key=key, uri=True))
    except database_errors() as error:
        if key is not None and is_no_database(error):
            raise wrong_key(str(file)) from error
        raise
    connection.read_only, connection.watch = reason, watch
    return connection


def _prepare(connection: SqliteSession, name: str, *, durable: bool) -> None:
    with Reading(connection, name):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        logged = connection.execute("PRAGMA journal_mode").fetchone()[0] in ("wal", "memory")
    if application not in (APPLICATION_ID, COPY_ID) and not empty:
        raise StoreCorrupt(f"{name} is an SQLite database, but not one of Memorata's; name another file")
    if version > VERSION:
        raise StoreTooNew(
            f"{name} was written by a newer Memorata (schema {version}, this one knows {VERSION}); "
            "upgrade with `pip install --upgrade memorata`"
        )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute("PRAGMA secure_delete = FAST")
    # Kilobytes. What is read is mapped; what is written goes through here, the log of recalls too.
    connection.execute("PRAGMA cache_size = -8192")
    expect(connection, batch=False)
    connection.execute("PRAGMA mmap_size = 268435456")
    if not empty and not logged and not connection.read_only:
        # First the mark, then the log: a log is never beside a file that says it has none.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        _use_log(connection)
    if version == 0:
        if reason := connection.read_only:
            refuse_to_write(name, f"it is empty, and {reason}")
        _use_log(connection)
        with writing(connection, name):
            _make_tables(connection)
    connection.schema = VERSION


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process did so while this one waited for the lock."""
    if connection.execute("PRAGMA user_version").fetchone()[0]:
        return
    statement = ""
    # One by one, for `executescript` would commit first.
    for line in SCHEMA.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log, which SQLite refuses at once, without waiting, while others read."""
    until = monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except database_errors("OperationalError") as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
        sleep(_RETRY_SECONDS)


def _set_foreign_log_aside(file: Path, connect: Callable[[str], SqliteSession]) -> None:
    """Move a log away that is beside a new file or a copy: it belongs to the file that was there before.

    SQLite would take its pages for those of this file. It is kept, for nothing else may hold what is in it.
    """
    if not _has_foreign_log(file, connect):
        return
    log, index = (Path(f"{file}{suffix}") for suffix in _COMPANION_SUFFIXES)
    with locked_folder(file.parent):
        if not _has_foreign_log(file, connect):
            # Another process was faster, and the log may be its own by now.
            return
        if log.exists():
            names = (Path(f"{file}.replaced-{number}-wal") for number in count(1))
            log.rename(next(path for path in names if not path.exists()))
        index.unlink(missing_ok=True)


def _has_foreign_log(file: Path, connect: Callable[[str], SqliteSession]) -> bool:
    """Return whether there is a log beside a new file, or beside a copy that was never opened to be written.

    SQLite reads that, without the log: to open the file otherwise, and close it, would undo SQLite's locks.
    """
    if not any(Path(f"{file}{suffix}").exists() for suffix in _COMPANION_SUFFIXES):
        return False
    if is_empty(file):
        return True
    try:
        with closing(connect(f"{file.as_uri()}?immutable=1")) as connection:
            return bool(connection.execute("PRAGMA application_id").fetchone()[0] == COPY_ID)
    except database_errors():
        # It is opened next, and what is wrong is reported then.
        return False


def _watching(name: str) -> Callable[[], None]:
    """Return a function that raises once a path leads to another file than now, or to none."""
    path = os.path.abspath(name)
    status = os.stat(path)
    opened = status.st_dev, status.st_ino

    def watch() -> None:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            raise StoreReplaced(name, removed=True) from None
        except OSError as error:
            raise StoreUnavailable(
                f"{name} cannot be reached ({error}); check the path and the disk"
            ) from error
        if (status.st_dev, status.st_ino) != opened:
            raise StoreReplaced(name, removed=False)

    return watch


def unwritable(file: Path) -> str:
    """Return why a file that is there cannot be written here; empty if it can be.

    A file that may be written is no use in a folder that may not: a writer makes others beside it, unless
    another process that uses the file has made them already.
    """
    if not file.is_file():
        return ""
    # The other files are where the database is, not where a link to it is.
    file = file.resolve()
    if not _may_write(file):
        return _medium(file) or "the file may not be written"
    if _may_write(file.parent) or all(_may_write(Path(f"{file}{suffix}")) for suffix in _COMPANION_SUFFIXES):
        return ""
    return "its folder may not be written, where a writer needs more files"


def is_full(error: sqlite3.Error) -> bool:
    """Return whether a file could not be opened because nothing more fits beside it."""
    return error.sqlite_errorcode in (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_FULL)


def opened_to_read(
    file: Path, connect: Callable[[str], SqliteSession]
) -> tuple[SqliteSession, Callable[[], None]]:
    """Open a database that is there without writing anything to it.

    Also return a function to call before and after every read, which raises if the file was replaced, or
    changed unseen by SQLite. Changes in a log beside the file that cannot be read are an error.
    """
    file = file.resolve()
    address = file.as_uri()
    if _has_foreign_log(file, connect):
        raise StoreUnavailable(
            f"{file}-wal is the log of another file that was there before; move it and {file.name}-shm away, "
            "or open the file once to be written"
        )
    watch = _watching(str(file))
    connection = connect(f"{address}?mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        return connection, watch
    except database_errors() as error:
        connection.close()
        if is_full(error) and _log(file):
            return _opened_alone(address, connect), watch
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

    def watch_alone() -> None:
        try:
            unchanged = _stamp(file) == before and not _log(file)
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be read ({error}); check the path and the disk") from error
        if not unchanged:
            raise StoreUnavailable(f"{file} was written to since it was opened to be read; open it again")

    return connect(f"{address}?immutable=1"), watch_alone


def _opened_alone(address: str, connect: Callable[[str], SqliteSession]) -> SqliteSession:
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
    # By the effective user of the process, where the system can tell.
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _medium(file: Path) -> str:
    """Return a message if the file system is read-only, as far as the system can tell; empty otherwise."""
    statistics = getattr(os, "statvfs", None)
    if statistics is None or not statistics(file).f_flag & os.ST_RDONLY:
        return ""
    return "its file system is read-only"


def _log(file: Path) -> Path | None:
    """Return the file beside a database in which changes wait, if there is one."""
    for path in (Path(f"{file}{suffix}") for suffix in _LOG_SUFFIXES):
        if path.exists() and path.stat().st_size:
            return path
    return None


def _stamp(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
