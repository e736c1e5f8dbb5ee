"""Leases: exclusive rights to do some long work for a limited time.

A lease (Gray and Cheriton, 1989) expires by itself, so that the work of a worker that was killed is taken
over. A worker that was only slow must not go on after that: every lease has a number of its own, and a write
under it is made only as long as that number is current (a fencing token, as Kleppmann calls it).

On a server its clock counts, so that workers on several machines need not agree on the time. A write under a
lease renews it in the same transaction, and so locks its row: another worker cannot take it over meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model.errors import LeaseLost
from memorata.store.database import Session
from memorata.store.facets import Facet, reads, writes
from memorata.store.rows import microseconds, moment

EVERYWHERE: Final = "*"
"""The namespace of work on the memories of all namespaces."""
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))
_LEASE: Final = "kind, namespace, holder, number, until"


@frozen
class Lease:
    """The right to do a kind of work in a namespace (``*`` for all), which runs out unless it is renewed."""

    kind: str
    namespace: str
    holder: str
    number: int
    """Of this lease alone; a later one has a higher number."""
    until: datetime


class LeaseStore(Facet):
    """The leases of a database."""

    @writes
    def acquire(
        self, session: Session, kind: str, namespace: str, holder: str, seconds: float, now: datetime
    ) -> Lease | None:
        """Return a lease on some work for so many seconds; None if another holder has it."""
        scope = _scope(session, namespace)
        clock = session.dialect.clock(session, now)
        while (number := _current(session, scope, kind)) is not None:
            # A locked row is being renewed or taken over at this moment: it is not waited for.
            expired = session.execute(
                "SELECT 1 FROM leases WHERE namespace = ? AND kind = ? AND number = ? AND until <= ?"
                f"{session.dialect.skip_locked}",
                (scope, kind, number, clock),
            )
            if expired.fetchone() is not None:
                session.execute("DELETE FROM leases WHERE namespace = ? AND number = ?", (scope, number))
                break
            # It may also have been released since.
            if _current(session, scope, kind) is not None:
                return None
        added = session.execute(
            "INSERT INTO leases (namespace, kind, holder, until) VALUES (?, ?, ?, ?) "
            f"ON CONFLICT (namespace, kind) DO NOTHING RETURNING {_LEASE}",
            (scope, kind, holder, _end(clock, seconds)),
        ).fetchone()
        return None if added is None else _lease(added)

    @writes
    def renew(self, session: Session, lease: Lease, seconds: float, now: datetime) -> Lease:
        """Return the lease with so much more time, whether or not it has expired."""
        return _renewed(session, lease, seconds, now)

    @writes
    def release(self, session: Session, lease: Lease) -> None:
        """Release a lease; nothing happens if another holder has the work already."""
        session.execute(
            "DELETE FROM leases WHERE namespace = ? AND number = ?",
            (_scope(session, lease.namespace), lease.number),
        )

    @contextmanager
    def fenced(self, lease: Lease, seconds: float, clock: Callable[[], datetime]) -> Iterator[None]:
        """Let this thread write in the block only while it holds a lease; each write renews it, or raises."""
        with self._database.guarded(lambda session: _renewed(session, lease, seconds, clock())):
            yield

    @reads
    def list(self, session: Session) -> list[Lease]:
        """Return the leases in the order of acquisition; a killed worker's stays until it is taken over."""
        return [_lease(row) for row in session.execute(f"SELECT {_LEASE} FROM leases ORDER BY number")]


def _scope(session: Session, namespace: str) -> str:
    """Return the scope of a lease: to a tenant, all namespaces are all of the tenant's."""
    return namespace + session.dialect.tenant(session) if namespace == EVERYWHERE else namespace


def _current(session: Session, namespace: str, kind: str) -> int | None:
    """Return the number of a lease that was acquired and not released."""
    row = session.execute(
        "SELECT number FROM leases WHERE namespace = ? AND kind = ?", (namespace, kind)
    ).fetchone()
    return None if row is None else int(row[0])


def _renewed(session: Session, lease: Lease, seconds: float, now: datetime) -> Lease:
    until = _end(session.dialect.clock(session, now), seconds)
    row = session.execute(
        f"UPDATE leases SET until = ? WHERE namespace = ? AND number = ? RETURNING {_LEASE}",
        (until, _scope(session, lease.namespace), lease.number),
    ).fetchone()
    if row is None:
        raise LeaseLost(lease.kind, lease.namespace, lease.holder)
    return _lease(row)


def _end(clock: int, seconds: float) -> int:
    """Return when a lease ends, within the calendar."""
    return min(clock + round(seconds * 1_000_000), _LAST)


def _lease(row: tuple[Any, ...]) -> Lease:
    kind, namespace, holder, number, until = row
    # A tenant's work on everything has the tenant's name behind the star.
    namespace = EVERYWHERE if namespace.startswith(EVERYWHERE) else namespace
    return Lease(kind, namespace, holder, number, moment(until))
