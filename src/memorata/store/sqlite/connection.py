"""Opening the file: settings, migrations, transactions, and SQLite's errors in our words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import get_ident, main_thread
from time import monotonic, sleep
from typing import Any, Final, TypeGuard, TypeVar, cast

from memorata.model.errors import InvalidArgument, StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from memorata.store.database import Session, Statement
from memorata.store.rows import NAMESPACE_COLUMNS
from memorata.store.sqlite import hash_index
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.store.sqlite.encryption import (
    check_encryption,
    connected,
    database_errors,
    is_empty,
    is_no_database,
    session_class,
    wrong_key,
)
from memorata.store.sqlite.errors import BUSY_SECONDS, Translated, in_our_words, is_translated, translated
from memorata.store.sqlite.files import create_private
from memorata.store.sqlite.hash_index import Book
from memorata.store.sqlite.migrations import Migration, migrate
from memorata.store.sqlite.read_only import (
    ASKED_FOR,
    FULL,
    is_full,
    opened_to_read,
    refuse_to_write,
    unwritable,
)
from memorata.store.sqlite.schema import APPLICATION_ID
from memorata.store.sqlite.schema_versions import ADDRESSED, MIGRATIONS, SUMMED
from memorata.store.sqlite.upkeep import sum_rows

_Read = TypeVar("_Read")

IN_MEMORY: Final = ":memory:"

_WHOLE: Final = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_PART: Final = ("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part")
_RETRY_SECONDS: Final = 0.01
_TURN_MILLISECONDS: Final = 500
_LOG_PAGES: Final = 4_000
"""After how many pages in the log they are brought to their places in the file: four times SQLite's own
number, so that pages which many writes touch get there less often."""
_LOG_PAGES_OF_BATCHES: Final = 16_000
"""A batch touches most pages of an index by hashes, wherever they lie: several wait for each other."""
_NAMESPACE: Final = f"SELECT {NAMESPACE_COLUMNS} FROM namespaces WHERE path = ?"
_OLDEST: Final = 3, 35
"""The first SQLite that returns what it has written, and can drop a column."""


def connect(
    path: str | Path,
    *,
    durable: bool = True,
    must_exist: bool = False,
    backup: bool = True,
    migrated: Callable[[Migration], None] = lambda migration: None,
    read_only: bool = False,
    key: str | None = None,
) -> SqliteSession:
    """Open a database, creating and migrating it as needed; one that cannot be written, to be read.

    Parameters
    ----------
    path
        The file; ``":memory:"`` for a database that dies with the connection.
    durable
        Whether a write is on the disk when it is acknowledged (``synchronous=FULL``). Without it a power cut,
        though not a crash of the process, can lose the last writes; the file stays whole either way.
    must_exist
        Whether a missing file is an error rather than a new database.
    backup
        Whether a file of an older schema is copied before it is migrated.
    migrated
        Told what was done, if the file was of an older schema.
    read_only
        Whether nothing is to be written to it, even though it could be; it has to be there then.
    key
        What the file is encrypted with, a new one too; None for one that is not.
    """
    name = str(path)
    if sqlite3.sqlite_version_info < _OLDEST:
        # Before there is a file: it would fail at the first statement that an older one cannot read.
        needed = ".".join(map(str, _OLDEST))
        raise StoreUnavailable(
            f"this Python brings SQLite {sqlite3.sqlite_version}, and {needed} is needed; use another Python"
        )
    if name != IN_MEMORY:
        file = Path(name)
        if (must_exist or read_only) and not file.exists():
            raise StoreUnavailable(f"there is no database at {name}; check the path")
        if file.is_dir():
            raise StoreUnavailable(f"{name} is a folder; name a file in it, such as {file / 'memories.db'}")
        if not file.parent.is_dir():
            if file.parent.exists():
                raise StoreUnavailable(f"{file.parent} is a file, not a folder; name another path")
            raise StoreUnavailable(f"the folder {file.parent} does not exist; create it or name another path")
        check_encryption(file, key)
    elif read_only:
        raise InvalidArgument("read_only", read_only, "false for a memory that no file holds")
    reason = "" if name == IN_MEMORY else ASKED_FOR if read_only else unwritable(Path(name))
    with translated(name):
        connection = _opened_to_read(Path(name), reason, key) if reason else _opened_to_write(name, key)
        try:
            migration = _prepare(connection, name, durable=durable, backup=backup)
        except BaseException:
            connection.close()
            raise
    if migration is not None:
        migrated(migration)
    return connection


@contextmanager
def writing(connection: sqlite3.Connection, name: str) -> Iterator[None]:
    """Run the block as one transaction that either happens or does not; in `together`, a part of it."""
    refuse_to_write(name, why_read_only(connection))
    whole = connection if is_session(connection) and connection.joined else None
    inside = whole is not None
    if whole is not None and not whole.in_transaction:
        raise StoreUnavailable(f"what was being written together to {name} was undone; write it again")
    if whole is not None and whole.total_changes == whole.untouched:
        # Nothing is written yet. A savepoint would have SQLite copy every page that is about to change.
        with translated(name):
            try:
                yield
            except BaseException:
                _begin_anew(whole)
                raise
        return
    begin, end, undo = _PART if inside else _WHOLE
    try:
        others = connection.in_transaction
        try:
            # Who waits here for a lock may be interrupted by the time that it is got.
            if inside:
                connection.execute(begin)
            else:
                _begin(connection)
            others = False
            if not inside:
                _begun(connection)
            yield
            connection.execute(end)
        except BaseException:
            # A full disk or a lost lock may have ended the transaction already.
            if connection.in_transaction and not others:
                connection.execute(undo)
                if whole is not None:
                    whole.read_at = -1
                    connection.execute(end)
            raise
    except Exception as error:
        if is_translated(error):
            raise in_our_words(error, name) from error
        raise


def _begin(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes, waiting for others as long as the connection does.

    In the main thread that is done in short turns, for there Ctrl-C is heard between two statements only.
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


class SqliteSession(sqlite3.Connection):
    """A :class:`~memorata.store.database.Session`: a connection, and what is known of its transaction."""

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
    """Raises if what is read may have been changed unseen; None where that cannot be."""
    key: str | None = None
    """What it is encrypted with, or None."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as sqlite3 has them
        super().__init__(*args, **kwargs)
        self.begin()

    def begin(self) -> None:
        """Make what is known of its transactions."""
        self.guards: dict[int, list[Callable[[Session], object]]] = {}
        self.read_once: dict[str, Any] = {}
        self.book = Book()

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> Any:  # noqa: ANN401 - a row
        """Return the row of a namespace, or None; nothing is read ahead, for a file takes no round trip."""
        if not self.joined:
            return self.execute(_NAMESPACE, (path,)).fetchone()
        return once(self, path, lambda: self.execute(_NAMESPACE, (path,)).fetchone())

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> int:
        """Add rows and return the last number given out."""
        sql = _insertion(table, columns, len(rows[0]))
        if len(rows) > 1:
            self.executemany(sql, rows[:-1])
        number = self.execute(sql, rows[-1]).lastrowid
        assert number is not None  # an INSERT always has one
        return number


def is_session(connection: sqlite3.Connection) -> TypeGuard[SqliteSession]:
    """Return whether a connection is a session, encrypted or not."""
    return hasattr(connection, "read_once")


@lru_cache(maxsize=256)
def _insertion(table: str, columns: str, count: int) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * count)})"


def why_read_only(connection: sqlite3.Connection) -> str:
    """Return why nothing can be written; empty if it can be."""
    return connection.read_only if is_session(connection) else ""


def expect(connection: sqlite3.Connection, *, batch: bool) -> None:
    """Say whether a batch is written next, or something small, and so how long the log may grow."""
    assert is_session(connection)  # as `connect` makes them
    pages = _LOG_PAGES_OF_BATCHES if batch else _LOG_PAGES
    if connection.log_pages != pages:
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        connection.log_pages = pages


@contextmanager
def guarded(connection: sqlite3.Connection, guard: Callable[[Session], object]) -> Iterator[None]:
    """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
    assert is_session(connection)  # as `connect` makes them
    mine = connection.guards.setdefault(get_ident(), [])
    mine.append(guard)
    try:
        yield
    finally:
        mine.remove(guard)
        if not mine:
            # Another thread may get the same number one day.
            del connection.guards[get_ident()]


def _begun(connection: sqlite3.Connection) -> None:
    if is_session(connection):
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
def together(connection: sqlite3.Connection, name: str) -> Iterator[None]:
    """Run the block as one transaction of which every other transaction in it is a part."""
    assert is_session(connection)  # as `connect` makes them
    with writing(connection, name):
        before, connection.joined = connection.joined, True
        try:
            yield
        finally:
            connection.joined = before


def once(connection: sqlite3.Connection, key: str, read: Callable[[], _Read]) -> _Read:
    """Return what `read` reads; inside `together`, where nobody else writes, once until this one does."""
    if not is_session(connection) or not connection.joined:
        return read()
    if connection.read_at != connection.total_changes:
        connection.read_at = connection.total_changes
        connection.read_once.clear()
    if key not in connection.read_once:
        connection.read_once[key] = read()
    found: _Read = connection.read_once[key]
    return found


def reading(connection: sqlite3.Connection, name: str) -> AbstractContextManager[None]:
    """Run the block on one consistent view of the database; inside a transaction it is that one's view."""
    return _Reading(connection, name)


class _Reading(Translated):
    """What `reading` returns."""

    __slots__ = ("_begun", "_connection", "_watch")

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        super().__init__(name)
        self._connection = connection
        self._begun = False
        self._watch: Callable[[], None] | None = getattr(connection, "watch", None)

    def __enter__(self) -> None:
        with translated(self._name):
            if self._connection.in_transaction:
                return
            if self._watch is not None:
                self._watch()
            try:
                self._connection.execute("BEGIN")
                self._begun = True
            except BaseException:
                # Interrupted: nobody would ever end it, and all that is read later would be as of now.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._begun and self._connection.in_transaction:
            with translated(self._name):
                self._connection.execute("COMMIT")
        self._begun = False
        if self._watch is not None:
            # Where it raises, neither what was read nor what went wrong in between is to be relied on.
            self._watch()
        super().__exit__(kind, error, trace)

    def __del__(self) -> None:
        # An interruption may also come before the end has begun; until this, nobody could write.
        if getattr(self, "_begun", False):
            with suppress(*database_errors()):
                self._connection.execute("ROLLBACK")


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
    there = name != IN_MEMORY and Path(name).exists()
    if name != IN_MEMORY:
        create_private(Path(name))
    unwritten = is_empty(Path(name))
    connection = _opened(name, key=key)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except database_errors() as error:
        connection.close()
        if key is not None and is_no_database(error):
            if unwritten and not is_empty(Path(name)):
                # Another process began the file, with a salt of its own, while this one was about to.
                return _opened_to_write(name, key)
            raise wrong_key(name) from error
        if not there or not is_full(error):
            raise
        return _opened_to_read(Path(name), FULL, key)
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
    assert is_session(connection)  # as `_opened` makes them
    connection.read_only, connection.watch = reason, watch
    return connection


def _prepare(connection: SqliteSession, name: str, *, durable: bool, backup: bool) -> Migration | None:
    with reading(connection, name):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if application != APPLICATION_ID and not empty:
        raise StoreCorrupt(f"{name} is an SQLite database, but not one of Memorata's; name another file")
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            f"{name} was written by a newer Memorata (schema {version}, this one knows {len(MIGRATIONS)}); "
            "upgrade with `pip install --upgrade memorata`"
        )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute("PRAGMA cache_size = -65536")
    expect(connection, batch=False)
    connection.execute("PRAGMA mmap_size = 268435456")
    if version == len(MIGRATIONS):
        connection.schema = version
        return None
    if reason := why_read_only(connection):
        wrong = (
            "is empty" if empty else f"is of an older Memorata (schema {version}), to be brought up to date"
        )
        refuse_to_write(name, f"it {wrong}, and {reason}")
    _use_log(connection)
    done = None
    try:
        with writing(connection, name):
            copied = Path(name) if backup and name != IN_MEMORY else None
            derived = {ADDRESSED: cast(Any, hash_index.rebuild), SUMMED: sum_rows}
            done = migrate(connection, MIGRATIONS, copied, derived)
    except StoreError:
        # The disk may have had room for the copy and for nothing else.
        if done is not None and done.backup is not None:
            done.backup.unlink()
        raise
    connection.schema = len(MIGRATIONS)
    return done


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log, which SQLite refuses at once, without waiting, while others look."""
    until = monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except database_errors("OperationalError") as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
        sleep(_RETRY_SECONDS)
