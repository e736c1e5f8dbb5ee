"""The facet `admin`: checks, statistics, vectors and indexes, copies of the file, namespaces and API keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memorata.engine.purge import Purge
from memorata.engine.reembedding import BATCH, Indexing, Reembedder, Reembedding
from memorata.engine.runtime import Runtime
from memorata.store.port import Change

if TYPE_CHECKING:
    from memorata.engine.access import ApiKeys


class Admin:
    """The facet `admin` of an engine."""

    def __init__(self, runtime: Runtime, reembedder: Reembedder, purge: Purge) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._reembedder = reembedder
        self._purge = purge

    def check(self, *, repair: bool = False) -> list[str]:
        """Return what is wrong with the store, in words; with `repair`, rebuild what is derived."""
        return self._store.check(self._runtime.words_of, repair=repair)

    def stats(self) -> Mapping[str, Any]:
        """Return how much is in the store and how large it is."""
        return self._store.statistics()

    def namespaces(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it has."""
        return self._store.namespaces()

    def changes(self, since: int = 0, limit: int = 1_000) -> Sequence[Change]:
        """Return entries of the change feed after number `since`, oldest first, `limit` at most."""
        return self._store.changes(since, limit)

    def backup(self, target: str | Path) -> None:
        """Copy the whole database to another file, while others go on using it."""
        self._store.backup(target)

    def vacuum(self) -> None:
        """Write the store anew: give back space, and erase every trace of what was purged."""
        self._store.vacuum()

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good: its memories, names, relations, logs, and its own name.

        Those below it (``acme/alice`` below ``acme``) stay. Returns how many memories it had. As after
        :meth:`Engine.purge` the file is written anew, which takes time in proportion to its size.
        """
        return self._purge.namespace(namespace)

    @cached_property
    def keys(self) -> ApiKeys:
        """The API keys of the store: `create`, `keys`, `revoke`."""
        from memorata.engine.access import ApiKeys

        return ApiKeys(self._store, clock=self._runtime.clock)

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        batch: int = BATCH,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Reembedding:
        """Embed the memories that have no vector of the embedder yet, in every namespace.

        What cannot be embedded goes on waiting and is reported, unless nothing can be: then that is raised.

        Parameters
        ----------
        limit
            How many memories at most; None for all.
        batch
            How many in one transaction.
        progress
            Called after every transaction with how many are done and how many there are.

        Raises
        ------
        EmbedderError
            There is no embedder, or it fails whatever it is given. What was done before stays done.
        WorkUnderWay, LeaseLost
            Another is doing it, or has taken it over. What was done before stays done.
        """
        return self._reembedder.embed_pending(limit=limit, batch=batch, progress=progress)

    def reembed(
        self,
        *,
        dry_run: bool = False,
        keep_old: bool = False,
        batch: int = BATCH,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Reembedding:
        """Make the embedder of this engine the store's: embed everything, then drop the old vectors.

        It can be interrupted at any moment and run again. Searches go on meanwhile; nobody has to close.

        Parameters
        ----------
        dry_run
            Whether to write nothing and say how many memories there are and how long it would take.
        keep_old
            Whether the vectors of other embedders stay, so that one could go back to them.
        batch
            How many memories in one transaction.
        progress
            Called after every transaction with how many are done and how many there are.

        Raises
        ------
        EmbedderError
            There is no embedder, or it fails whatever it is given. What was done before stays done.
        WorkUnderWay, LeaseLost
            Another is doing it, or has taken it over. What was done before stays done.
        """
        return self._reembedder.reembed(dry_run=dry_run, keep_old=keep_old, batch=batch, progress=progress)

    def index(
        self, *, progress: Callable[[str, int, int], None] = lambda what, done, total: None
    ) -> Indexing:
        """Make the indexes that large namespaces are searched by, if any is missing.

        It can be interrupted at any moment and run again. Searches go on meanwhile: they are right without,
        and take longer.

        Parameters
        ----------
        progress
            Told what is being made, how far it is, and of how much; 0 where nobody knows.

        Raises
        ------
        WorkUnderWay, LeaseLost
            Another is doing it, or has taken it over.
        """
        return self._reembedder.index(progress=progress)
