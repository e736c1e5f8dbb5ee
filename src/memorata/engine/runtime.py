"""What the verbs of one engine share: store, analyser, clock, default namespace and lifecycle rules."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final, TypeVar

from memorata.engine.lifecycle.rules import DEFAULT_RULES, LifecycleRules
from memorata.engine.write.drafts import DedupeRules
from memorata.engine.write.terms import terms_of
from memorata.model.errors import IndexCorrupt
from memorata.model.identifiers import namespace as checked_namespace
from memorata.model.memory import Memory
from memorata.store.entries import Terms
from memorata.store.store import Store
from memorata.text.analysers import Analyser

_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")
DEFAULT_DEDUPE: Final = DedupeRules()


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
    ) -> None:
        self.store = store
        self.analyser = analyser
        self.clock = clock
        self.rules = rules
        self.dedupe = dedupe
        self._namespace = checked_namespace("namespace", namespace)
        self._inside = threading.local()

    @property
    def namespace(self) -> str:
        """The namespace of calls that name none."""
        return getattr(self._inside, "path", None) or self._namespace

    @contextmanager
    def inside(self, namespace: str | None) -> Iterator[None]:
        """Let calls of this thread that name no namespace mean this one; None changes nothing."""
        before = getattr(self._inside, "path", None)
        self._inside.path = before if namespace is None else checked_namespace("namespace", namespace)
        try:
            yield
        finally:
            self._inside.path = before

    def path(self, namespace: str | None) -> str:
        """Return the namespace that a call means."""
        return self.namespace if namespace is None else checked_namespace("namespace", namespace)

    def terms_of(self, memory: Memory) -> Terms:
        """Return the terms of a memory, as the index has them."""
        return terms_of(memory, self.analyser)

    def run(self, paths: Sequence[str], action: Callable[[], _Result]) -> _Result:
        """Run an action as :meth:`mended` does.

        It also runs again where a server gave way in the middle (:meth:`Store.attempt`), so it writes in one
        transaction.
        """
        return self.mended(paths, lambda: self.store.attempt(action)[0])

    def mended(self, paths: Sequence[str], action: Callable[[], _Result]) -> _Result:
        """Run an action; if derived data of these namespaces is corrupt, rebuild it and run it again."""
        try:
            return action()
        except IndexCorrupt as error:
            if self.store.read_only:
                raise IndexCorrupt(
                    f"{error}; that cannot be rebuilt in a file that is only read: copy it to a folder that "
                    "can be written, and run `memorata check --repair` on the copy"
                ) from error
            _LOG.warning("rebuilding what is derived from the memories of %s: %s", ", ".join(paths), error)
            for path in paths:
                self.store.rebuild(path, self.terms_of)
            return action()
