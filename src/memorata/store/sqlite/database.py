"""A :class:`~memorata.store.database.Database` in one SQLite file; any number of processes may open it.

What was purged must not be left in its bytes. SQLite forgets where deleted data was, not the data.
``secure_delete`` overwrites a row where it stands, but not the copies that were left behind when a page was
split and its rows were moved; and rows are moved all the time, for they are inserted in the middle of their
tables. Only a file that is written anew from what is left holds nothing else. So a purge ends with
``VACUUM``, which writes the whole file into the write-ahead log, and with emptying that log into its place.
That takes time in proportion to the file, and for a moment twice its space; other processes go on reading
meanwhile, and wait to write. Until it is done a note in the database says so, written in the transaction of
the purge itself: whatever happens in between, the next purge or `memorata admin vacuum` does it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Final, Never, TypeVar, cast
from weakref import WeakSet

from memorata.model.errors import InvalidArgument, PurgeUnfinished, StoreUnavailable
from memorata.store.database import DatabaseInfo, Session
from memorata.store.rows import LARGEST
from memorata.store.sqlite import session as transactions
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.encryption import connected, database_errors
from memorata.store.sqlite.files import create_private, remove_leftovers, whole_file
from memorata.store.sqlite.integrity import UNFINISHED_PURGE, note_unfinished_purge, unfinished_purge
from memorata.store.sqlite.schema import COPY_ID
from memorata.store.sqlite.session import (
    BUSY_SECONDS,
    READ_ONLY_REQUESTED,
    SqliteSession,
    Translated,
    refuse_to_write,
)

_Result = TypeVar("_Result")
_RETRY_SECONDS: Final = 0.02


class SqliteDatabase:
    """One file; see :func:`.connection.connect` for the parameters.

    It has one connection (`session`), and a `lock` that a thread holds while it uses it.
    """

    def __init__(self, path: str | Path, **options: Any) -> None:  # noqa: ANN401 - `connect` has their types
        self.path = str(path)
        self.session: SqliteSession = connect(path, **options)
        self.lock = threading.RLock()
        self.read_only_because = self.session.read_only
        self.read_only = bool(self.read_only_because)
        register(self.session)
        _open.add(self)

    @property
    def info(self) -> DatabaseInfo:
        """Where the file is, and whether it is only read."""
        notices = []
        if self.read_only and self.read_only_because != READ_ONLY_REQUESTED:
            notices.append(f"{self.path} is only read, and recalls are not logged: {self.read_only_because}")
        return DatabaseInfo(self.path, self.read_only, tuple(notices))

    def reading(self, namespace: str | None = None) -> _Reading:
        """Run a block on one consistent view; this thread has the one connection for itself meanwhile."""
        return _Reading(self)

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads from one consistent view."""
        with self.lock, transactions.Reading(self.session, self.path):
            return work(self.session)

    def write(
        self,
        work: Callable[[Session], _Result],
        *namespaces: str,
        batch: bool = False,
        erasing: bool = False,
        durable: bool = True,
        patience: float | None = None,
    ) -> _Result:
        """Return what `work` returns, done as one transaction; writers of a file wait for each other."""
        with self.lock:
            if erasing:
                return self._erasing(work)
            if durable and patience is None:
                with transactions.writing(self.session, self.path):
                    transactions.expect(self.session, batch=batch)
                    return work(self.session)
            with (
                Translated(self.path),
                self._lightly(patience),
                transactions.writing(self.session, self.path),
            ):
                return work(self.session)

    @contextmanager
    def together(self, undone: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Make everything that is written in the block one transaction; all others wait for its end."""
        with self.lock:
            before = self.session.total_changes
            try:
                with transactions.together(self.session, self.path):
                    yield
            except BaseException:
                if self.session.total_changes != before:
                    undone()
                raise

    def attempt(
        self, work: Callable[[], _Result], *, replica: bool = False, fresh: bool = False
    ) -> tuple[_Result, str]:
        """Return what `work` returns: nothing is lost on the way to a file, which has no copy."""
        return work(), ""

    def guarded(self, guard: Callable[[Session], object]) -> AbstractContextManager[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        return transactions.guarded(self.session, guard)

    def settled(self) -> int:
        """Return the largest number: a file has one writer at a time."""
        return LARGEST

    def backup(self, target: str | Path) -> None:
        """Copy the database to `target` while others go on reading and writing."""
        with self.lock:
            _back_up(self.session, self.path, Path(target))

    def vacuum(self) -> None:
        """Write the file anew: give back the space of what was removed, and erase every trace of it."""
        refuse_to_write(self.path, self.read_only_because)
        with self.lock, Translated(self.path):
            if self.session.watch is not None:
                self.session.watch()
            erase(self.session, self.path)

    def close(self) -> None:
        """Let go of the database."""
        with self.lock:
            self.session.close()

    def _erasing(self, work: Callable[[Session], _Result]) -> _Result:
        """Remove something, and write the whole file anew afterwards, so that its bytes hold no trace."""
        with Translated(self.path):
            with transactions.writing(self.session, self.path):
                result = work(self.session)
                note_unfinished_purge(self.session)
            erase(self.session, self.path)
        return result

    @contextmanager
    def _lightly(self, patience: float | None) -> Iterator[None]:
        """Do without waiting for the disk, and wait for other writers so many seconds, or as usual.

        As a part of a larger transaction it is written as that is.
        """
        session = self.session
        if session.in_transaction:
            yield
            return
        (before,) = session.execute("PRAGMA synchronous").fetchone()
        (timeout,) = session.execute("PRAGMA busy_timeout").fetchone()
        session.execute("PRAGMA synchronous = NORMAL")
        if patience is not None:
            session.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
        try:
            yield
        finally:
            session.execute(f"PRAGMA busy_timeout = {timeout}")
            session.execute(f"PRAGMA synchronous = {before}")


class _Reading:
    """What :meth:`SqliteDatabase.reading` returns; a class, since every recall enters it."""

    __slots__ = ("_database", "_look")

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._look = transactions.Reading(database.session, database.path)

    def __enter__(self) -> tuple[SqliteSession, bool]:
        self._database.lock.acquire()
        try:
            self._look.__enter__()
        except BaseException:
            self._database.lock.release()
            raise
        return self._database.session, True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._look.__exit__(kind, error, trace)
        finally:
            self._database.lock.release()


def register(connection: sqlite3.Connection) -> None:
    """Add the functions that :mod:`memorata.store.conditions` call where SQLite's own are not exact."""

    def metadata_holds(metadata: str, written: str) -> bool:
        from memorata.store import conditions

        return conditions.metadata_holds(metadata, written)

    for name, function in (
        ("memorata_contains", lambda text, folded: folded in text.casefold()),
        ("memorata_has", lambda texts, value: value in json.loads(texts)),
        ("memorata_metadata", metadata_holds),
    ):
        connection.create_function(name, 2, function, deterministic=True)


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
                    if session.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                        raise StoreUnavailable(
                            f"another process has been reading {name} for so long that its log could not be "
                            "emptied"
                        )
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


def _back_up(connection: SqliteSession, origin: str, target: Path) -> None:
    """Copy a database to a file; an existing one has to be a database of Memorata's that is not in use."""
    if target.exists():
        if Path(origin).exists() and target.samefile(origin):
            raise InvalidArgument("target", str(target), "another file than the database itself")
        connect(target, key=connection.key).close()
        if Path(f"{target}-wal").exists():
            raise StoreUnavailable(f"{target} is in use; close it first, or name another file for the copy")
    remove_leftovers(target)
    with whole_file(target) as partial:
        create_private(partial)
        with Translated(str(target)), closing(connected(partial, connection.key)) as copy:
            connection.backup(copy, pages=4096)
            # No log was ever its own, so that one beside it is known to be of another file.
            copy.execute("PRAGMA journal_mode = DELETE")
            copy.execute(f"PRAGMA application_id = {COPY_ID}")


# SQLite forbids a child process the connections of its parent ("How To Corrupt An SQLite Database File",
# 2.6): it would believe itself to hold locks that the system gave to the parent. And a thread that writes at
# the moment of the fork is not there in the child, while the locks that it held are, for ever. So a fork
# waits until no thread is inside a database; the child closes what it inherited, and its use raises an error.
_open: Final[WeakSet[SqliteDatabase]] = WeakSet()
_held: Final[list[SqliteDatabase]] = []
"""The databases whose locks the forking thread holds during the fork."""
_abandoned: Final[list[SqliteSession]] = []
"""Connections of the parent that were in use; to close them here would undo what the parent writes."""
_FORK_PAUSE_SECONDS: Final = 0.001


class _ForkedConnection:
    """Replaces, in a child process, a connection of its parent; any use raises."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Never:
        raise StoreUnavailable(
            f"{self._path} was opened before this process was forked; open it again in this one"
        )

    def close(self) -> None:
        """Do nothing: it is the parent's."""


def _before_fork() -> None:
    """Hold the lock of every database, all or none at a time: its holder may wait for another."""
    until = monotonic() + BUSY_SECONDS
    while True:
        databases = list(_open)
        _held.extend(database for database in databases if database.lock.acquire(blocking=False))
        if len(_held) == len(databases) or monotonic() >= until:
            return
        _after_fork()
        sleep(_FORK_PAUSE_SECONDS)


def _after_fork() -> None:
    for database in _held:
        database.lock.release()
    _held.clear()


def _after_in_child() -> None:
    for database in list(_open):
        session, database.session = database.session, cast("Any", _ForkedConnection(database.path))
        database.lock = threading.RLock()
        # One that was closed before raises, and nothing is left to do.
        with suppress(*database_errors()):
            if database not in _held or session.in_transaction:
                _abandoned.append(session)
            else:
                session.close()
    _held.clear()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_in_child)
