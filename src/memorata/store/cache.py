"""What a process keeps of namespaces: partitions, within a budget, the least recently used going first.

A partition is changed by whoever looks at it, so a look holds the lock of its namespace. It is as old as the
view that was last opened on it; who looks at an older state (of a transaction that began before, or of a
replica that is behind) gets a partition of their own. What this process itself has just written is at hand,
and is added when somebody looks, if nothing else has happened to the namespace in between: reading it back
(:mod:`.loading`) takes longer than writing it did.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.codes import Floats, Owners
from memorata.index.partition import Partition
from memorata.index.record import unpacked
from memorata.index.vectors import EXACT
from memorata.store.database import Session
from memorata.store.loading import caught_up
from memorata.store.namespaces import EMPTY, Namespace
from memorata.store.port import Entry
from memorata.store.segments import Embedder

_Key = tuple[str, str]
"""From where (a database and its replica may differ), and which namespace."""
_WAIT_SECONDS: Final = 1.0
"""How long somebody inside a transaction waits for others who look at the same namespace."""


class PartitionCache:
    """The partitions of a store."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._kept: OrderedDict[_Key, tuple[Partition, int]] = OrderedDict()
        self._used = 0
        self._added: dict[str, list[Added]] = {}
        self._lock = threading.Lock()
        self._looks: dict[str, tuple[threading.RLock, int]] = {}

    @contextmanager
    def looking(self, path: str, *, patiently: bool) -> Iterator[bool]:
        """Run a block in which no other thread uses the partition of a namespace; tell whether that is so."""
        with self._lock:
            lock, waiting = self._looks.get(path) or (threading.RLock(), 0)
            self._looks[path] = lock, waiting + 1
        held = lock.acquire() if patiently else lock.acquire(timeout=_WAIT_SECONDS)
        try:
            yield held
        finally:
            if held:
                lock.release()
            with self._lock:
                lock, waiting = self._looks.pop(path)
                if waiting > 1:
                    self._looks[path] = lock, waiting - 1

    def partition(self, session: Session, namespace: Namespace, embedder: Embedder | None) -> Partition:
        """Return the partition of a namespace as of a session's view; the caller is looking at it."""
        if namespace is EMPTY:
            return Partition(embedder[1] if embedder else 0, exact=True)
        key = session.origin, namespace.path
        with self._lock:
            cached, size = self._kept.pop(key, (None, 0))
            self._used -= size
            added = self._added.pop(namespace.path, ()) if not session.origin else ()
        if cached is not None and cached.change < namespace.begun:
            cached = None
        if cached is not None and cached.change > namespace.change:
            # Others have gone on since this view began.
            self._keep(key, cached)
            return caught_up(session, namespace, embedder, None)
        if cached is not None and added:
            keep_up(cached, added, namespace.change, embedder[1] if embedder else 0)
        fresh = caught_up(session, namespace, embedder, cached)
        self._keep(key, fresh)
        return fresh

    def note_added(self, entries: Sequence[Entry], added: Sequence[Added]) -> None:
        """Keep what was added for the next look, where there has been one and no segment was written."""
        unseen = {entry.memory.namespace for entry in entries} - {batch.namespace.path for batch in added}
        with self._lock:
            for path in unseen:
                self._added.pop(path, None)
            for batch in added:
                if ("", batch.namespace.path) in self._kept:
                    self._added.setdefault(batch.namespace.path, []).append(batch)

    def drop(self, path: str) -> None:
        """Forget what is kept of a namespace."""
        with self._lock:
            for key in [key for key in self._kept if key[1] == path]:
                _, size = self._kept.pop(key)
                self._used -= size

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._added.clear()
            self._used = 0

    def _keep(self, key: _Key, partition: Partition) -> None:
        size = partition.nbytes
        with self._lock:
            self._used -= self._kept.pop(key, (None, 0))[1]
            self._kept[key] = partition, size
            self._used += size
            while self._used > self._budget and len(self._kept) > 1:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._used -= dropped


@frozen(eq=False)
class Added:
    """What was added to one namespace, and nothing else: no segment written, nothing superseded.

    Parameters
    ----------
    namespace
        As it was before.
    entries
        What was added, in the order of their slots.
    records
        The record of each.
    change
        The last change, which is the last of these.
    """

    namespace: Namespace
    entries: Sequence[Entry]
    records: Sequence[bytes]
    change: int


def keep_up(partition: Partition, added: Sequence[Added], until: int, dimension: int) -> None:
    """Add to a partition what was added to its namespace, as far as that goes on from what it knows.

    Parameters
    ----------
    known
        What is in memory.
    added
        What was written since, in order.
    until
        The last change that may be seen.
    dimension
        That of the current embedder's vectors; 0 without one.
    """
    change, entries, records = partition.change, list[Entry](), list[bytes]()
    for batch in added:
        before = batch.namespace
        if before.change != change or before.generation != partition.generation or batch.change > until:
            break
        change = batch.change
        entries += batch.entries
        records += batch.records
    first = len(partition)
    owners, rows = rows_of(entries, first, dimension)
    if not entries or not partition.vectors.exact or len(partition.vectors) + len(owners) > EXACT:
        # What a large namespace keeps is made by those who load it.
        return
    for slot, entry in enumerate(entries, first):
        partition.remember_tail(slot, entry.terms)
    partition.append(unpacked(records))
    if dimension:
        partition.add_vectors(owners, rows)
    partition.change = change


def rows_of(entries: Sequence[Entry], first: int, dimension: int) -> tuple[Owners, Floats]:
    """Return the owners and float32 rows of the vectors of entries, the first of which has the slot `first`.

    Examples
    --------
    >>> rows_of([], 7, 3)
    (array([], dtype=int32), array([], shape=(0, 3), dtype=float32))
    """
    rows = [(slot, entry.vectors) for slot, entry in enumerate(entries, first) if entry.vectors is not None]
    if not rows:
        return np.zeros(0, np.int32), np.zeros((0, dimension), np.float32)
    owners = np.repeat(np.array([slot for slot, _ in rows], np.int32), [len(vectors) for _, vectors in rows])
    return owners, np.concatenate([vectors for _, vectors in rows]).astype(np.float32, copy=False)
