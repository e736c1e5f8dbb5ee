"""The session of a file: its transactions, and the errors of SQLite as ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from json import JSONDecodeError
from threading import get_ident, main_thread
from time import monotonic
from typing import Any, Final, TypeVar

from memorata.model.errors import StoreCorrupt, StoreError, StoreReadOnly, StoreTooNew, StoreUnavailable
from memorata.store.database import Session, Statement
from memorata.store.rows import NAMESPACE_COLUMNS
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.store.sqlite.encryption import KEY_ADVICE, database_errors

_Read = TypeVar("_Read")

BUSY_SECONDS: Final = 30.0
READ_ONLY_REQUESTED: Final = "it was opened to be read only"
DISK_FULL: Final = "its disk is full"
_OPEN: Final = "open it without read_only (--read-only)"
_COPY: Final = "copy it to a folder that can be written, and use the copy, or change the permissions"
_FREE_SPACE: Final = "free some space, and open it again"
_WHOLE: Final = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_PART: Final = ("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part")
_TURN_MILLISECONDS: Final = 500
_LOG_PAGES: Final = 4_000
_LOG_PAGES_OF_BATCHES: Final = 16_000
_NAMESPACE: Final = f"SELECT {NAMESPACE_COLUMNS} FROM namespaces WHERE path = ?"


class SqliteSession(sqlite3.Connection):
    """A :class:`~memorata.store.database.Session`: a connection, and the state of its transaction."""

    dialect: Final = SqliteDialect()
    origin: Final = ""
    joined = False
    """Whether what is written belongs together (:func:`together`)."""
    untouched = -1
    """How many rows had been changed in all when the transaction began that is being written."""
    read_at = -1
    """How many rows had been changed in all when `read_once` was read."""
    log_pages = 0
    schema = 0
    """The schema it was opened with; 0 until it is."""
    read_only = ""
    """Why nothing can be written; empty if it can be."""
    watch: Callable[[], None] | None = None
    """Raises if the open file is no longer the one that is there, or changed unseen; None in memory."""
    key: str | None = None
    """What it is encrypted with, or None."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as sqlite3 has them
        super().__init__(*args, **kwargs)
        self.begin()

    def begin(self) -> None:
        """Set up the state of its transactions."""
        self.guards: dict[int, list[Callable[[Session], object]]] = {}
        self.read_once: dict[str, Any] = {}

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> Any:  # noqa: ANN401 - a row
        """Return the row of a namespace, or None; nothing is read ahead, for a file takes no round trip."""
        return once(self, path, lambda: self.execute(_NAMESPACE, (path,)).fetchone())

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> int:
        """Add rows and return the last number drawn."""
        sql = _insertion(table, columns, len(rows[0]))
        if len(rows) > 1:
            self.executemany(sql, rows[:-1])
        number = self.execute(sql, rows[-1]).lastrowid
        assert number is not None  # an INSERT always has one
        return number


@lru_cache(maxsize=256)
def _insertion(table: str, columns: str, count: int) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * count)})"


@contextmanager
def writing(connection: SqliteSession, name: str) -> Iterator[None]:
    """Run the block as one transaction that either happens or does not; in `together`, a part of it."""
    refuse_to_write(name, connection.read_only)
    inside = connection.joined
    if inside and not connection.in_transaction:
        raise StoreUnavailable(f"what was being written together to {name} was undone; write it again")
    if inside and connection.total_changes == connection.untouched:
        # Nothing is written yet. A savepoint would have SQLite copy every page that is about to change.
        with Translated(name):
            try:
                yield
            except BaseException:
                _begin_anew(connection)
                raise
        return
    begin, end, undo = _PART if inside else _WHOLE
    with Translated(name):
        others = connection.in_transaction
        try:
            # The wait for a lock may be interrupted just when it has been acquired.
            if inside:
                connection.execute(begin)
            else:
                _begin(connection)
            others = False
            if not inside:
                _begun(connection)
            yield
            connection.execute(end)
            if not inside and connection.watch is not None:
                # In between the file may have been removed, and what was written with it.
                connection.watch()
        except BaseException:
            # A full disk or a lost lock may have ended the transaction already.
            if connection.in_transaction and not others:
                connection.execute(undo)
                if inside:
                    connection.read_at = -1
                    connection.execute(end)
            raise


def _begin(connection: SqliteSession) -> None:
    """Begin a transaction that writes, waiting for others as long as the connection does.

    In the main thread that is done in short turns, for Ctrl-C takes effect between two statements only.
    """
    if get_ident() != main_thread().ident:
        connection.execute("BEGIN IMMEDIATE")
        return
    (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
    until = monotonic() + milliseconds / 1_000
    try:
        connection.execute(f"PRAGMA busy_timeout = {min(milliseconds, _TURN_MILLISECONDS)}")
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except database_errors("OperationalError") as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() >= until:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {milliseconds}")


def _begin_anew(connection: SqliteSession) -> None:
    """Undo all that was written in a transaction, and go on with it, unless others have written in between.

    If they have, it is over: what was read in it is no longer so.
    """
    if connection.in_transaction and connection.total_changes != connection.untouched:
        connection.read_at = -1
        before = connection.execute("PRAGMA data_version").fetchone()
        connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
        connection.untouched = connection.total_changes
        if connection.execute("PRAGMA data_version").fetchone() != before:
            connection.execute("ROLLBACK")


def expect(connection: SqliteSession, *, batch: bool) -> None:
    """Say whether a batch is written next, or something small, and so how long the log may grow."""
    pages = _LOG_PAGES_OF_BATCHES if batch else _LOG_PAGES
    if connection.log_pages != pages:
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        connection.log_pages = pages


@contextmanager
def guarded(connection: SqliteSession, guard: Callable[[Session], object]) -> Iterator[None]:
    """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
    guards = connection.guards.setdefault(get_ident(), [])
    guards.append(guard)
    try:
        yield
    finally:
        guards.remove(guard)
        if not guards:
            # A later thread may get the same number.
            del connection.guards[get_ident()]


def _begun(connection: SqliteSession) -> None:
    if connection.watch is not None:
        connection.watch()
    _refuse_other_schema(connection)
    connection.untouched = connection.total_changes
    connection.read_at = -1
    for guard in connection.guards.get(get_ident(), ()):
        guard(connection)


def _refuse_other_schema(connection: SqliteSession) -> None:
    """Raise if a newer process has migrated the file since: what this one writes would not be as it reads."""
    if not connection.schema:
        return
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != connection.schema:
        raise StoreTooNew(
            f"the file was brought from schema {connection.schema} to {version} by another Memorata since "
            "this process opened it; nothing was written. Upgrade this one, and open the file again"
        )


@contextmanager
def together(connection: SqliteSession, name: str) -> Iterator[None]:
    """Run the block as one transaction of which every other transaction in it is a part."""
    with writing(connection, name):
        before, connection.joined = connection.joined, True
        try:
            yield
        finally:
            connection.joined = before


def once(connection: SqliteSession, key: str, read: Callable[[], _Read]) -> _Read:
    """Return the value that `read` reads; in a transaction it is cached until the next write."""
    if not connection.in_transaction:
        return read()
    if connection.read_at != connection.total_changes:
        connection.read_at = connection.total_changes
        connection.read_once.clear()
    if key not in connection.read_once:
        connection.read_once[key] = read()
    value: _Read = connection.read_once[key]
    return value


class Translated:
    """Turns SQLite's errors into ours; a class, since a recall enters it and a generator takes longer."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and is_translated(error):
            raise translated_error(error, self._name) from error


class Reading(Translated):
    """Runs a block on one consistent view of the database; inside a transaction it is that one's view."""

    __slots__ = ("_begun", "_connection", "_watch")

    def __init__(self, connection: SqliteSession, name: str) -> None:
        super().__init__(name)
        self._connection = connection
        self._begun = False
        self._watch = connection.watch

    def __enter__(self) -> None:
        try:
            if self._connection.in_transaction:
                return
            if self._watch is not None:
                self._watch()
            self._connection.execute("BEGIN")
            self._begun, self._connection.read_at = True, -1
        except BaseException as error:
            super().__exit__(type(error), error, None)
            # Interrupted: the transaction would never end, and later reads would be as of now.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._begun:
            if self._connection.in_transaction:
                with Translated(self._name):
                    self._connection.execute("COMMIT")
            self._begun = False
        if self._watch is not None:
            # Where it raises, neither what was read nor what went wrong in between is to be relied on.
            self._watch()
        super().__exit__(kind, error, trace)

    def __del__(self) -> None:
        # An interruption may also come before __exit__ has begun; the open view would block writers.
        if getattr(self, "_begun", False):
            with suppress(*database_errors()):
                self._connection.execute("ROLLBACK")


def is_translated(error: BaseException | None) -> bool:
    """Return whether an error is one of SQLite's, or what reading a damaged row raises.

    That is JSON that cannot be read, or is missing; and a text, or a message of SQLite's, that is no UTF-8.
    """
    if isinstance(error, TypeError):
        return str(error).startswith("the JSON object must be")
    return isinstance(error, (*database_errors(), JSONDecodeError, UnicodeDecodeError))


def translated_error(error: Exception, name: str) -> StoreError:
    """Return the error to raise in the place of one that :func:`is_translated`."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, JSONDecodeError | TypeError):
        return StoreCorrupt(f"{name} is damaged: a list in it cannot be read; run `memorata admin check`")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        # A file that is no database cannot be checked either; most often the path is wrong.
        advice = (
            "run `memorata admin check`"
            if code == sqlite3.SQLITE_CORRUPT
            else f"name another file, or {KEY_ADVICE}"
        )
        return StoreCorrupt(f"{name} is damaged or not a database ({error}); {advice}, or restore a backup")
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        return StoreCorrupt(f"{name} is damaged: a text in it is no UTF-8; run `memorata admin check`")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(f"{name} stayed locked by another process for {BUSY_SECONDS:g} s; try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreUnavailable(
            f"{name} cannot be written ({error}); check the permissions of the file and of its folder"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable(f"the disk of {name} is full; nothing was written; free some space")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreUnavailable(
            f"{name} cannot be opened or made ({error}); check the path and the permissions of its folder"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnavailable(f"{name} cannot be read or written ({error}); check the path and the disk")
    if type(error).__name__ == "ProgrammingError" and "closed database" in str(error):
        return StoreError(f"{name} was closed; open it again to go on")
    return StoreError(f"{name}: {error}")


def refuse_to_write(name: str, reason: str) -> None:
    """Raise if there is a reason why nothing can be written, and say what to do."""
    if reason:
        requested, full = reason.endswith(READ_ONLY_REQUESTED), reason.endswith(DISK_FULL)
        advice = _OPEN if requested else _FREE_SPACE if full else _COPY
        raise StoreReadOnly(name, f"{reason}; {advice}")
