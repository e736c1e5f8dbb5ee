"""What the verbs of one engine share: store, analyser, clock, default namespace, names, rules and leases.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from memorata.engine.rules import DEFAULT_DEDUPE, DEFAULT_RULES, DedupeRules, LifecycleRules
from memorata.engine.write.drafts import cleaned
from memorata.engine.write.names import NameIndex
from memorata.engine.write.terms import terms_of
from memorata.model import checks
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import IndexCorrupt, LeaseLost, StoreUnavailable, WorkUnderWay
from memorata.model.memory import Memory
from memorata.store.entries import Terms
from memorata.store.leases import EVERYWHERE, Lease
from memorata.store.store import Store
from memorata.text.analysers import Analyser

_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")
LEASE_SECONDS: Final = 120.0
"""Default duration of a lease after its last renewal, in seconds."""
_RENEWALS_PER_LEASE: Final = 4
"""A lease is renewed after this fraction (one over it) of its duration."""


def utc_now() -> datetime:
    """Return the time by the system's clock."""
    return datetime.now(UTC)


class Runtime:
    """The store, the analyser its words are read with, the clock, the default namespace and the rules."""

    def __init__(
        self,
        store: Store,
        analyser: Analyser,
        clock: Callable[[], datetime],
        namespace: str,
        rules: LifecycleRules = DEFAULT_RULES,
        dedupe: DedupeRules = DEFAULT_DEDUPE,
        lease_seconds: float = LEASE_SECONDS,
        names: NameIndex | None = None,
        redact: bool = False,
    ) -> None:
        self.store = store
        self.names = NameIndex(store, None) if names is None else names
        self.redact = redact
        self.analyser = analyser
        self.clock = clock
        self.rules = rules
        self.dedupe = dedupe
        self.leases = Leases(store, clock, lease_seconds)
        self.namespace = checked_namespace("namespace", namespace)
        self._parts: dict[type, Any] = {}

    def scope(self, namespace: str) -> Runtime:
        """Return this runtime for calls in another namespace; both share everything else."""
        other = copy(self)
        other.namespace = checked_namespace("namespace", namespace)
        return other

    def path(self, namespace: str | None) -> str:
        """Return the namespace that a call means."""
        return self.namespace if namespace is None else checked_namespace("namespace", namespace)

    def part(self, kind: type[_Result]) -> _Result:
        """Return the one part of a kind that this engine has, made of the runtime when it is first needed.

        Satellites keep here what is worth keeping between calls, such as graphs of namespaces.
        """
        if kind not in self._parts:
            # Of two threads the first decides.
            self._parts.setdefault(kind, kind(self))  # type: ignore[call-arg]
        part: _Result = self._parts[kind]
        return part

    def clean_text(self, text: str) -> str:
        """Return a text beside memories without the secrets in it, if they are redacted."""
        return str(cleaned(text)) if self.redact else text

    def terms_of(self, memory: Memory) -> Terms:
        """Return the terms of a memory, as the index has them."""
        return terms_of(memory, self.analyser)

    def run(self, paths: Sequence[str], action: Callable[[], _Result]) -> _Result:
        """Run an action that writes in one transaction, again where a server gave way; see :meth:`mended`."""
        return self.mended(paths, lambda: self.store.attempt(action)[0])

    def mended(self, paths: Sequence[str], action: Callable[[], _Result]) -> _Result:
        """Run an action; if derived data of these namespaces is corrupt, rebuild it and run it again."""
        try:
            return action()
        except IndexCorrupt as error:
            if self.store.read_only:
                raise IndexCorrupt(
                    f"{error}; that cannot be rebuilt in a file that is only read: copy it to a folder that "
                    "can be written, and run `memorata admin check --repair` on the copy"
                ) from error
            _LOG.warning("rebuilding what is derived from the memories of %s: %s", ", ".join(paths), error)
            for path in paths:
                self.store.rebuild(path, self.terms_of)
            return action()


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

    def __init__(self, store: Store, clock: Callable[[], datetime], seconds: float = LEASE_SECONDS) -> None:
        self.seconds = checks.above("lease_seconds", seconds, 0)
        self._store = store
        self._clock = clock
        self._local = threading.local()
        self._unreleased: list[Lease] = []

    @contextmanager
    def hold(self, kind: str, namespace: str = EVERYWHERE) -> Iterator[HeldLease]:
        """Do the work of the block alone: what this thread writes in it is under the lease, once for all."""
        mine = self._held()
        if (kind, namespace) in mine:
            yield mine[kind, namespace]
            return
        self.release_all()
        lease = self._acquired(kind, namespace)
        renew = partial(self._store.leases.renew, lease, self.seconds)
        mine[kind, namespace] = HeldLease(lambda: renew(self._clock()), self.seconds)
        try:
            with self._store.leases.fenced(lease, self.seconds, self._clock):
                yield mine[kind, namespace]
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
        leases = self._store.leases
        while True:
            lease = leases.acquire(kind, namespace, this_worker(), self.seconds, self._clock())
            if lease is not None:
                return lease
            held = [lease for lease in leases.list() if (lease.kind, lease.namespace) == (kind, namespace)]
            if not held:
                raise WorkUnderWay(kind, namespace, "", None)
            if not is_gone(held[0].holder):
                raise WorkUnderWay(kind, namespace, held[0].holder, held[0].until)
            # Another process may do the same: only this lease is released, and one of both gets the next.
            leases.release(held[0])

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
