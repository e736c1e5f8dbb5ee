"""Work that one worker does at a time: a lease is held while it is done, renewed, and given back.

Several processes may share a store and start the same work: maintain, re-embed, tune. The first acquires a
lease; the others raise `WorkUnderWay` with its holder. The lease of a killed worker is taken over when it has
expired, on the same machine at once. A worker that was only slow fails at its next write, which is not
made: see :meth:`memorata.store.store.Store.fenced`.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Final

from memorata.model import checks
from memorata.model.errors import LeaseLost, StoreUnavailable, WorkUnderWay
from memorata.store.leases import EVERYWHERE, Lease
from memorata.store.store import Store

SECONDS: Final = 120.0
"""Default duration of a lease after its last renewal, in seconds."""
_RENEWALS_PER_LEASE: Final = 4
"""A lease is renewed after this fraction (one over it) of its duration."""
_LOG: Final = logging.getLogger(__name__)


class HeldLease:
    """A lease that is held, for the work to renew as it gets on."""

    def __init__(self, renew: Callable[[], object], seconds: float) -> None:
        self._renew = renew
        self._pause = seconds / _RENEWALS_PER_LEASE
        self._renewed_at = monotonic()

    def renew(self) -> None:
        """Renew the lease if enough of it has passed; cheap enough to call at every step."""
        if monotonic() - self._renewed_at >= self._pause:
            self._renew()
            self._renewed_at = monotonic()


class Leases:
    """The leases that an engine works under."""

    def __init__(self, store: Store, clock: Callable[[], datetime], seconds: float = SECONDS) -> None:
        self.seconds = checks.above("lease_seconds", seconds, 0)
        self._store = store
        self._clock = clock
        self._local = threading.local()
        self._unreleased: list[Lease] = []

    @contextmanager
    def hold(self, kind: str, namespace: str = EVERYWHERE) -> Iterator[HeldLease]:
        """Do the work of the block alone: everything that this thread writes in it is under the lease.

        Inside work of the same kind on the same namespace it is that one's lease.
        """
        mine = self._held()
        if (kind, namespace) in mine:
            yield mine[kind, namespace]
            return
        self.release_all()
        lease = self._acquired(kind, namespace)
        lease_held = HeldLease(
            lambda: self._store.leases.renew(lease, self.seconds, self._clock()), self.seconds
        )
        mine[kind, namespace] = lease_held
        try:
            with self._store.leases.fenced(lease, self.seconds, self._clock):
                yield lease_held
        finally:
            del mine[kind, namespace]
            self._release(lease)

    def release_all(self) -> None:
        """Give back what could not be given back when its work ended, as on a full disk."""
        leases, self._unreleased = self._unreleased, []
        for lease in leases:
            self._release(lease)

    def _held(self) -> dict[tuple[str, str], HeldLease]:
        if not hasattr(self._local, "held"):
            self._local.held = {}
        leases: dict[tuple[str, str], HeldLease] = self._local.held
        return leases

    def _acquired(self, kind: str, namespace: str) -> Lease:
        holder = this_worker()
        lease = self._store.leases.acquire(kind, namespace, holder, self.seconds, self._clock())
        current = None if lease is not None else self._current_lease(kind, namespace)
        if current is not None and is_gone(current.holder):
            # Another process may do the same: only this lease is released, and one of both gets the next.
            self._store.leases.release(current)
            lease = self._store.leases.acquire(kind, namespace, holder, self.seconds, self._clock())
            current = None if lease is not None else self._current_lease(kind, namespace)
        if lease is None:
            raise WorkUnderWay(
                kind, namespace, current.holder if current else "", current.until if current else None
            )
        return lease

    def _current_lease(self, kind: str, namespace: str) -> Lease | None:
        """Return the lease under which the work is done, if any."""
        for lease in self._store.leases.list():
            if (lease.kind, lease.namespace) == (kind, namespace):
                return lease
        return None

    def _release(self, lease: Lease) -> None:
        try:
            self._store.leases.release(lease)
        except (StoreUnavailable, LeaseLost) as error:
            # The work is done, or has failed for a better reason. The lease is given back with the next work
            # here, or at the end of this process; else it runs out by itself.
            if isinstance(error, StoreUnavailable):
                self._unreleased.append(lease)
            _LOG.warning("the lease of %s on %s was not given back: %s", lease.kind, lease.namespace, error)


_WORKER_NAME: Final = re.compile(r".*, process (?P<number>\d+) \((?P<mark>[0-9a-f]{8})\)", re.DOTALL)
_PROCESSES: Final = Path("/proc")
_ENDED_STATES: Final = frozenset("ZX")
"""The states of a process that has ended, and is remembered until its parent asks."""


def this_worker() -> str:
    """Return the name of this process, as leases record it."""
    mark = _mark()
    return f"{_machine()}, process {os.getpid()}" + (f" ({mark})" if mark else "")


def is_gone(worker: str) -> bool:
    """Return whether a worker is a process of this machine that has ended; False where that is unknown."""
    match = _WORKER_NAME.fullmatch(worker)
    if match is None or match["mark"] != _mark():
        return False
    try:
        # The name of a program is in brackets, and may hold anything; its state follows.
        fields = (
            (_PROCESSES / match["number"] / "stat").read_text(errors="replace").rpartition(")")[2].split()
        )
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return bool(fields) and fields[0] in _ENDED_STATES


@cache
def _mark() -> str:
    """Return a mark of this machine since it was started, and of its numbers of processes; "" if unknown."""
    try:
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text()
        numbers = (_PROCESSES / "self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{zlib.crc32(f'{_machine()} {boot} {numbers}'.encode()):08x}"


def _machine() -> str:
    # Loaded on demand: the module loads all of the network stack.
    from socket import gethostname

    return gethostname()
