"""A :class:`~memorata.store.database.Database` in one SQLite file; any number of processes may open it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from memorata.model import checks
from memorata.store.database import DatabaseInfo, Session
from memorata.store.rows import LARGEST
from memorata.store.sqlite import session as transactions
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.fork import watch_forks
from memorata.store.sqlite.integrity import note_unfinished_purge
from memorata.store.sqlite.maintenance import back_up, erase
from memorata.store.sqlite.migrations import Migration
from memorata.store.sqlite.session import (
    READ_ONLY_REQUESTED,
    SqliteSession,
    Translated,
    refuse_to_write,
)

if TYPE_CHECKING:
    from memorata.store.filter_tree import Filter

_Result = TypeVar("_Result")


class SqliteDatabase:
    """One file; see :func:`.connection.connect` for the parameters.

    Attributes
    ----------
    session, lock
        The one connection, and what a thread holds while it uses it.
    read_only, read_only_because
        Whether nothing can be written, and why.
    migration
        What was done to the file when it was opened, if it was of an older schema.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        durable: bool = True,
        must_exist: bool = False,
        migration_backup: bool = True,
        read_only: bool = False,
        key: str | None = None,
    ) -> None:
        self.path = str(path)
        self.migration: Migration | None = None
        self.session: SqliteSession = connect(
            path,
            durable=durable,
            must_exist=must_exist,
            backup=migration_backup,
            migrated=self._note,
            read_only=checks.flag("read_only", read_only),
            key=key,
        )
        self.lock = threading.RLock()
        self.read_only_because = self.session.read_only
        self.read_only = bool(self.read_only_because)
        register(self.session)
        watch_forks(self)

    @property
    def info(self) -> DatabaseInfo:
        """Where the file is, and how it was opened: brought up to date, or only to be read."""
        notices = []
        if (done := self.migration) is not None:
            copy = "no copy of it was kept"
            if done.backup is not None:
                copy = f"the file as it was is kept at {done.backup}"
            notices.append(f"the file was brought from schema {done.before} to {done.after}; {copy}")
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
        """Make everything that is written in the block one transaction: all of it happens, or nothing.

        The block holds the database: other threads of this process wait for its end, and writers elsewhere.
        """
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

    @contextmanager
    def guarded(self, guard: Callable[[Session], object]) -> Iterator[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        with transactions.guarded(self.session, guard):
            yield

    def settled(self) -> int:
        """Return the largest number: a file has one writer at a time."""
        return LARGEST

    def backup(self, target: str | Path) -> None:
        """Copy the database to `target` while others go on reading and writing."""
        with self.lock:
            back_up(self.session, self.path, Path(target))

    def vacuum(self) -> None:
        """Write the file anew: give back the space of what was removed, and erase every trace of it."""
        refuse_to_write(self.path, self.read_only_because)
        with self.lock, Translated(self.path):
            erase(self.session, self.path)

    def close(self) -> None:
        """Let go of the database."""
        with self.lock:
            self.session.close()

    def _erasing(self, work: Callable[[Session], _Result]) -> _Result:
        """Remove something, and write the whole file anew afterwards, so that its bytes hold no trace.

        This takes time in proportion to the size of the file (:mod:`.maintenance`).
        """
        with Translated(self.path):
            with transactions.writing(self.session, self.path):
                result = work(self.session)
                note_unfinished_purge(self.session)
            erase(self.session, self.path)
        return result

    def _note(self, migration: Migration) -> None:
        self.migration = migration

    @contextmanager
    def _lightly(self, patience: float | None) -> Iterator[None]:
        """Do without waiting for the disk, and wait for other writers so many seconds, or as usual.

        A power cut may then lose the last of what is written here; the file stays whole either way. As a part
        of a larger transaction it is written as that is.
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
    """Add the functions that compiled conditions call where SQLite's own are not exact.

    :mod:`memorata.store.sqlite.conditions` says where that is. The filter parser is loaded at first use.

    >>> connection = sqlite3.connect(":memory:")
    >>> register(connection)
    >>> connection.execute("SELECT memorata_contains('GRÜNER TEE', 'grüner')").fetchone()
    (1,)
    """
    connection.create_function("memorata_contains", 2, _contains, deterministic=True)
    connection.create_function("memorata_has", 2, _has_exactly, deterministic=True)
    connection.create_function("memorata_metadata", 2, _metadata_holds, deterministic=True)


def _contains(text: str, folded: str) -> bool:
    return folded in text.casefold()


def _has_exactly(texts: str, value: str) -> bool:
    return value in json.loads(texts)


def _metadata_holds(metadata: str, written: str) -> bool:
    from memorata.store.filter_tree import holds, value_at

    values = json.loads(metadata)
    return holds(_read(written), lambda field: value_at(values, field.keys))


@lru_cache(maxsize=256)
def _read(written: str) -> Filter:
    from memorata.store.filters import parse

    return parse(json.loads(written))
