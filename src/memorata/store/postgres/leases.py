"""The part of the store on a server that keeps leases; time is what the server's clock says.

Workers on several machines need not agree on the time: whether a lease has run out, the server decides. A
write under a lease renews it in the same transaction, and so locks its row: whoever would take it over in
that moment finds it held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from memorata.model.errors import LeaseLost
from memorata.store.leases import EVERYWHERE, Lease
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database

_LEASE: Final = "kind, about, holder, number, until"
_UNTIL: Final = "clock_timestamp() + make_interval(secs => %s)"
_ABOUT: Final = (
    f"CASE WHEN %s = '{EVERYWHERE}' AND row_security_active('leases') "
    f"THEN '{EVERYWHERE}' || session_user ELSE %s END"
)
"""What a lease is about: everybody's memories are, to a tenant, all of the tenant's."""


class LeaseStore:
    """What :class:`~memorata.store.port.Store` promises about work that is under way."""

    _database: Database

    def acquire(self, kind: str, namespace: str, holder: str, seconds: float, now: datetime) -> Lease | None:
        """Return the right to do some work for so long; None if somebody else has it."""
        made = self._database.write(
            lambda connection: _acquired(connection, kind, namespace, holder, seconds)
        )
        return None if made is None else _lease(made)

    def renew(self, lease: Lease, seconds: float, now: datetime) -> Lease:
        """Return the lease with so much more time, whether or not it ran out; raise if another has it."""
        return self._database.write(lambda connection: _renewed(connection, lease, seconds))

    def release(self, lease: Lease) -> None:
        """Let others do the work; nothing happens if another has it already."""
        self._database.write(
            lambda connection: connection.execute("DELETE FROM leases WHERE number = %s", (lease.number,))
        )

    def leases(self) -> list[Lease]:
        """Return what is under way, or was when a worker was last heard of, in the order it began."""
        rows = self._database.read(
            lambda connection: connection.execute(f"SELECT {_LEASE} FROM leases ORDER BY number").fetchall()
        )
        return [_lease(row) for row in rows]

    @contextmanager
    def fenced(self, lease: Lease, seconds: float, clock: Callable[[], datetime]) -> Iterator[None]:
        """Let this thread write in the block only as long as it holds a lease; each write renews it."""
        with self._database.guarded(lambda connection: _renewed(connection, lease, seconds)):
            yield


def _acquired(connection: Server, kind: str, namespace: str, holder: str, seconds: float) -> Any:  # noqa: ANN401
    """Return the row of a new lease; None if the one that is there has not run out."""
    row = connection.execute(f"SELECT {_ABOUT}", (namespace, namespace)).fetchone()
    assert row is not None  # a SELECT without a table gives one
    (about,) = row
    while _is_kept(connection, about, kind):
        # One whose row is locked is being renewed at this moment, or taken over: not to be waited for.
        taken = connection.execute(
            f"UPDATE leases SET number = nextval('lease_numbers'), holder = %s, until = {_UNTIL} "
            "WHERE (about, kind) = (SELECT about, kind FROM leases WHERE about = %s AND kind = %s "
            f"AND until <= clock_timestamp() FOR UPDATE SKIP LOCKED) RETURNING {_LEASE}",
            (holder, seconds, about, kind),
        ).fetchone()
        # It may also have been given back since one looked.
        if taken is not None or _is_kept(connection, about, kind):
            return taken
    return connection.execute(
        "INSERT INTO leases (about, kind, number, holder, until) "
        f"VALUES (%s, %s, nextval('lease_numbers'), %s, {_UNTIL}) "
        f"ON CONFLICT (about, kind) DO NOTHING RETURNING {_LEASE}",
        (about, kind, holder, seconds),
    ).fetchone()


def _is_kept(connection: Server, about: str, kind: str) -> bool:
    """Return whether somebody has a lease, or had it and has not given it back."""
    row = connection.execute("SELECT 1 FROM leases WHERE about = %s AND kind = %s", (about, kind)).fetchone()
    return row is not None


def _renewed(connection: Server, lease: Lease, seconds: float) -> Lease:
    row = connection.execute(
        f"UPDATE leases SET until = {_UNTIL} WHERE number = %s RETURNING {_LEASE}", (seconds, lease.number)
    ).fetchone()
    if row is None:
        raise LeaseLost(lease.kind, lease.namespace, lease.holder)
    return _lease(row)


def _lease(row: tuple[Any, ...]) -> Lease:
    kind, about, holder, number, until = row
    namespace = EVERYWHERE if about.startswith(EVERYWHERE) else about
    return Lease(kind, namespace, holder, number, until.astimezone(UTC))
