"""The part of the store on one SQLite file that makes several writes one."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from memorata.store.sqlite import connection as one

_Result = TypeVar("_Result")


class AccessStore:
    """What :class:`~memorata.store.port.Store` promises about transactions."""

    path: str
    rollbacks: int = 0
    """How often a write made of several was undone after something in it had been written."""
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def _forget_partitions(self) -> None:
        raise NotImplementedError  # pragma: no cover - the store's own

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that is written in the block one transaction: all of it happens, or nothing.

        The block holds the store: in this process others wait for its end, elsewhere those who write.
        """
        with self._lock:
            before = self._connection.total_changes
            try:
                with one.together(self._connection, self.path):
                    yield
            except BaseException:
                if self._connection.total_changes != before:
                    # What was read inside the block may be of changes that never came to be.
                    self.rollbacks += 1
                    self._forget_partitions()
                raise

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns: between a process and its file nothing is lost."""
        return work()

    def relaxed(self, work: Callable[[], _Result], *, fresh: bool = False) -> tuple[_Result, str]:
        """Return what `work` reads; a file has no replica, so it is always as new as can be."""
        return work(), ""
