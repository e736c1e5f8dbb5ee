"""The part of the store on one SQLite file that keeps leases; time is what the caller says it is."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import LeaseLost
from memorata.store.instants import instant, microseconds
from memorata.store.sqlite.connection import guarded, reading
from memorata.store.sqlite.connection import writing as transaction

if TYPE_CHECKING:
    from memorata.store.leases import Lease

_LEASE: Final = "kind, namespace, holder, number, until"


class LeaseStore:
    """What :class:`~memorata.store.port.Store` promises about work that is under way."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def acquire(self, kind: str, namespace: str, holder: str, seconds: float, now: datetime) -> Lease | None:
        """Return the right to do some work for so long; None if somebody else has it."""
        until = now + timedelta(seconds=seconds)
        with self._lock, transaction(self._connection, self.path):
            self._connection.execute(
                "DELETE FROM leases WHERE namespace = ? AND kind = ? AND until <= ?",
                (namespace, kind, microseconds(now)),
            )
            made = self._connection.execute(
                "INSERT INTO leases (namespace, kind, holder, until) VALUES (?, ?, ?, ?) "
                f"ON CONFLICT DO NOTHING RETURNING {_LEASE}",
                (namespace, kind, holder, microseconds(until)),
            ).fetchone()
        return None if made is None else _lease(made)

    def renew(self, lease: Lease, seconds: float, now: datetime) -> Lease:
        """Return the lease with so much more time, whether or not it ran out; raise if another has it."""
        with self._lock, transaction(self._connection, self.path):
            return self._renewed(lease, seconds, now)

    def release(self, lease: Lease) -> None:
        """Let others do the work; nothing happens if another has it already."""
        with self._lock, transaction(self._connection, self.path):
            self._connection.execute("DELETE FROM leases WHERE number = ?", (lease.number,))

    def leases(self) -> list[Lease]:
        """Return what is under way, or was when a worker was last heard of, in the order it began."""
        with self._lock, reading(self._connection, self.path):
            rows = self._connection.execute(f"SELECT {_LEASE} FROM leases ORDER BY number").fetchall()
        return [_lease(row) for row in rows]

    @contextmanager
    def fenced(self, lease: Lease, seconds: float, clock: Callable[[], datetime]) -> Iterator[None]:
        """Let this thread write in the block only as long as it holds a lease; each write renews it."""
        with guarded(self._connection, lambda _: self._renewed(lease, seconds, clock())):
            yield

    def _renewed(self, lease: Lease, seconds: float, now: datetime) -> Lease:
        row = self._connection.execute(
            f"UPDATE leases SET until = ? WHERE number = ? RETURNING {_LEASE}",
            (microseconds(now + timedelta(seconds=seconds)), lease.number),
        ).fetchone()
        if row is None:
            raise LeaseLost(lease.kind, lease.namespace, lease.holder)
        return _lease(row)


def _lease(row: tuple[Any, ...]) -> Lease:
    from memorata.store.leases import Lease

    kind, namespace, holder, number, until = row
    moment = instant(until)
    assert moment is not None  # the column is NOT NULL
    return Lease(kind, namespace, holder, number, moment)
