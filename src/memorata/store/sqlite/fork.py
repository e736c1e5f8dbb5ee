"""Forks: a child process does not use its parent's connections, nor wait for locks of threads it lacks.

SQLite forbids a child the connections of its parent ("How To Corrupt An SQLite Database File", 2.6): it would
believe itself to hold locks that the system gave to the parent. And a thread that writes at the moment of the
fork is not there in the child, while the locks that it held are, for ever. So a fork waits until no thread is
inside a database of this process; the child closes what it inherited, and its use raises an error.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, Final, Never, Protocol
from weakref import WeakSet

from memorata.model.errors import StoreUnavailable
from memorata.store.sqlite.encryption import database_errors
from memorata.store.sqlite.session import BUSY_SECONDS

_PAUSE_SECONDS: Final = 0.001


class _Forkable(Protocol):
    """The part of a :class:`~memorata.store.sqlite.database.SqliteDatabase` that a fork needs."""

    path: str
    session: Any
    lock: Any


_open: Final[WeakSet[Any]] = WeakSet()
_held: Final[list[Any]] = []
"""The databases whose locks the forking thread holds during the fork."""
_abandoned: Final[list[Any]] = []
"""Connections of the parent that were in use; to close them here would undo what the parent writes."""


def watch_forks(database: _Forkable) -> None:
    """Let forks wait until no thread uses a database, and keep children from using it."""
    _open.add(database)


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


def _before() -> None:
    """Hold the lock of every database, all or none at a time: its holder may wait for another."""
    until = monotonic() + BUSY_SECONDS
    while True:
        databases = list(_open)
        _held.extend(database for database in databases if database.lock.acquire(blocking=False))
        if len(_held) == len(databases) or monotonic() >= until:
            return
        _release()
        sleep(_PAUSE_SECONDS)


def _release() -> None:
    for database in _held:
        database.lock.release()
    _held.clear()


def _after_in_child() -> None:
    for database in list(_open):
        session, database.session = database.session, _ForkedConnection(database.path)
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
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
