"""What a process keeps of namespaces: partitions, within a budget, the least recently used going first.

A partition is changed by whoever looks at it, so a look holds the lock of its namespace. It is as old as the
view that was last opened on it; who looks at an older state (of a transaction that began before, or of a
replica that is behind) gets a partition of their own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from memorata.index.partition import Partition
from memorata.store.database import Session
from memorata.store.keeping_up import Added, keep_up
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
            known, size = self._kept.pop(key, (None, 0))
            self._used -= size
            added = self._added.pop(namespace.path, ()) if not session.origin else ()
        if known is not None and known.change < namespace.begun:
            known = None
        if known is not None and known.change > namespace.change:
            # Others have gone on since this view began.
            self._keep(key, known)
            return caught_up(session, namespace, embedder, None)
        if known is not None and added:
            keep_up(known, added, namespace.change, embedder[1] if embedder else 0)
        fresh = caught_up(session, namespace, embedder, known)
        self._keep(key, fresh)
        return fresh

    def note_added(self, entries: Sequence[Entry], added: Sequence[Added]) -> None:
        """Keep what was added for the next look, where there has been one and no segment was written."""
        unseen = {entry.memory.namespace for entry in entries} - {each.namespace.path for each in added}
        with self._lock:
            for path in unseen:
                self._added.pop(path, None)
            for each in added:
                if ("", each.namespace.path) in self._kept:
                    self._added.setdefault(each.namespace.path, []).append(each)

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
