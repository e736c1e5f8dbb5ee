"""The log of recalls: noted when they are answered, written down a little later, many at a time.

Noting a recall keeps references to arrays that the search has made anyway; columns are made of them, and
written in one transaction, when enough have come together, when the oldest has waited long enough and
another recall comes, when the engine is closed, and before anybody asks for the log. There is no thread:
whoever makes the log full writes it. What was not written yet is lost if the process dies, which costs a few
recalls to learn from, and never a memory.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from time import monotonic
from typing import Any, Final, NamedTuple

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.ranking import Trace
from memorata.engine.recall.recaller import Request
from memorata.engine.recall.result import RecallResult
from memorata.engine.recall.trace import TraceColumns, trace_columns
from memorata.model.errors import StoreError, StoreUnavailable
from memorata.model.identifiers import RANDOM_BITS, uuid7
from memorata.store.exposures import Exposure
from memorata.store.logged_recall import LogBounds, LoggedRecall, without
from memorata.store.port import Store

BATCH: Final = 128
"""How many recalls are written down together."""
SECONDS: Final = 10.0
"""How long a recall waits for others, as long as recalls keep coming."""
_MOST: Final = 8 * BATCH
"""How many are held while the store cannot be written; beyond, the oldest are let go."""
_AT_CLOSE: Final = 2.0
"""How many seconds other writers are waited for at the end."""
_LOG = logging.getLogger(__name__)


@frozen
class Logging:
    """Whether and how recalls are logged."""

    recalls: bool = True
    queries: bool = True
    bounds: LogBounds = field(default_factory=LogBounds)


class RecallLog:
    """Recalls that wait to be written down."""

    def __init__(
        self,
        store: Store,
        how: Logging,
        random_bits: Callable[[int], int],
        clean: Callable[[str], str] = lambda query: query,
    ) -> None:
        self.how = how
        self._clean = clean
        self.lost = 0
        self._store = store
        self._random_bits = random_bits
        self._waiting: deque[_Noted] = deque()
        self._exposures: deque[Exposure] = deque()
        self._since = 0.0
        self._resting = 0.0
        self._lock = threading.Lock()
        self._aside = threading.local()
        self._inside = threading.local()

    def name(self, moment: datetime) -> str:
        """Return the id of a recall of that moment, which feedback refers to; empty for one not logged."""
        if not self.how.recalls or self._taken is not None:
            return ""
        return uuid7(moment, self._random_bits(RANDOM_BITS))

    def note(self, request: Request, recall: RecallResult) -> None:
        """Note a recall, under the name that it was given."""
        # The memories themselves are not logged, and should not be kept from being let go.
        found = recall.embedder, recall.milliseconds, recall.trace, recall.change
        taken = self._taken
        if taken is not None:
            taken.append(_Noted(f"{len(taken) + 1}", request, *found))
        if not recall.id:
            return
        noted = _Noted(recall.id, request, *found)
        if self._held:
            self._inside.noted.append(noted)
            return
        self._waiting.append(noted)
        moment = monotonic()
        if len(self._waiting) == 1:
            self._since = moment
        enough = len(self._waiting) >= BATCH or moment - self._since > SECONDS
        due = enough and moment >= self._resting
        if due or len(self._waiting) > _MOST:
            self._relieve(due=due)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Write nothing down from this thread until the block ends.

        For blocks that hold the store: who holds the log to write it may be waiting for the store, and a
        block that asked for the log as well would wait for them forever. What reads the log in the block
        needs it to be flushed before. A block that fails was undone: of what it recalled nothing is logged,
        for that may never have been.
        """
        before: list[_Noted] | None = getattr(self._inside, "noted", None)
        noted: list[_Noted] = []
        self._inside.noted = noted
        try:
            yield
        finally:
            self._inside.noted = before
        if before is not None:
            before += noted
        elif noted:
            if not self._waiting:
                self._since = monotonic()
            self._waiting.extend(noted)

    @contextmanager
    def aside(self) -> Iterator[list[LoggedRecall]]:
        """Keep the recalls of this thread out of the log for a while; at the end they are in the list given.

        For those who try things out: what they ask says nothing about what people ask. Their ids are the
        numbers of the calls.
        """
        taken: list[_Noted] = []
        result: list[LoggedRecall] = []
        before, self._aside.recalls = self._taken, taken
        try:
            yield result
        finally:
            self._aside.recalls = before
        result.extend(self._with_ids(entry) for entry in self._entries(taken))

    def note_exposure(self, exposure: Exposure) -> None:
        """Note that somebody was shown a variant of an experiment."""
        self._exposures.append(exposure)

    def flush(self, patience: float | None = None) -> None:
        """Write down what waits, waiting for other writers so many seconds, or as long as usual."""
        if self._held:
            return
        with self._lock:
            self._write(patience)

    def close(self) -> None:
        """Write down what waits, if the store lets it."""
        with self._lock:
            self._try(_AT_CLOSE)

    @property
    def _taken(self) -> list[_Noted] | None:
        """The recalls of this thread, while they are kept aside."""
        taken: list[_Noted] | None = getattr(self._aside, "recalls", None)
        return taken

    @property
    def _held(self) -> bool:
        return getattr(self._inside, "noted", None) is not None

    def _relieve(self, *, due: bool) -> None:
        """Write if it is time to, and let go of what cannot be held."""
        # Whoever else is writing at this moment writes for all; the answer must not wait for the log.
        if self._held or not self._lock.acquire(blocking=False):
            return
        try:
            if due:
                self._try(0.0)
            while len(self._waiting) > _MOST:
                self._waiting.popleft()
                self.lost += 1
        finally:
            self._lock.release()

    def _try(self, patience: float) -> None:
        """Write, holding the lock; an answer must not fail by the log either."""
        try:
            self._write(patience)
        except StoreError as error:
            # To make columns again for every recall, only to fail again, would make each of them slow.
            self._resting = monotonic() + SECONDS
            level = logging.INFO if isinstance(error, StoreUnavailable) else logging.WARNING
            _LOG.log(level, "recalls wait to be logged: %s", error)

    def _write(self, patience: float | None) -> None:
        waiting, seen = len(self._waiting), len(self._exposures)
        entries = self._entries([self._waiting[place] for place in range(waiting)])
        exposures = [self._exposures[place] for place in range(seen)]
        self._store.recalls.log(entries, self.how.bounds, exposures, patience=patience)
        for queue, count in ((self._waiting, waiting), (self._exposures, seen)):
            for _ in range(count):
                queue.popleft()
        self._since = monotonic()

    def _with_ids(self, entry: LoggedRecall) -> LoggedRecall:
        names = self._store.recalls.ids_of(entry.namespace, entry.slots.tolist())
        # Somebody may have purged one of them since.
        kept = without(entry, np.isin(entry.slots, list(names)))
        return replace(kept, ids=tuple(names[slot] for slot in kept.slots.tolist()))

    def _entries(self, noted: Sequence[_Noted]) -> list[LoggedRecall]:
        found = [each.trace for each in noted if each.trace is not None]
        down = iter(trace_columns(found) if found else ())
        recipes: dict[int, Mapping[str, Any]] = {}
        return [self._entry(each, None if each.trace is None else next(down), recipes) for each in noted]

    def _entry(
        self, noted: _Noted, down: TraceColumns | None, recipes: dict[int, Mapping[str, Any]]
    ) -> LoggedRecall:
        request, trace = noted.request, noted.trace
        query = self._clean(request.text) if self.how.queries else None
        # Most recalls have the same recipe; written as one object, it is also stored as one. All of them are
        # at hand, so that no two have one address; to compare their parameters takes longer than the rest.
        recipe = recipes.get(id(request.recipe))
        if recipe is None:
            recipe = recipes[id(request.recipe)] = request.recipe.as_dict()
        shared = (noted.id, request.namespace, request.now, query, recipe, noted.embedder)
        if trace is None or down is None:
            nothing = np.zeros((0, 0), np.float32), np.zeros(0, np.intp)
            return LoggedRecall(*shared, {}, noted.milliseconds, (), *nothing, (), seen=noted.change)
        return LoggedRecall(
            *shared,
            trace.moment.as_dict(),
            noted.milliseconds,
            down.columns,
            down.values,
            down.slots,
            down.shown,
            seen=noted.change,
        )


class _Noted(NamedTuple):
    """A recall that waits."""

    id: str
    request: Request
    embedder: str
    milliseconds: Mapping[str, float]
    trace: Trace | None
    change: int
