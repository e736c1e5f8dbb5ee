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
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final

import numpy as np

from recollect.engine.outcome import Recall
from recollect.engine.recalling import Request
from recollect.engine.trace import written_down
from recollect.model.errors import StoreUnavailable
from recollect.model.identity import uuid7
from recollect.store.port import Store
from recollect.store.recall_log import LogBounds, LoggedRecall, Sighting

BATCH: Final = 256
"""How many recalls are written down together."""
SECONDS: Final = 10.0
"""How long a recall waits for others, as long as recalls keep coming."""
_MOST: Final = 4 * BATCH
"""How many are held while the store cannot be written; beyond, the oldest are let go."""
_AT_CLOSE: Final = 2.0
"""How many seconds other writers are waited for at the end."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Logging:
    """Whether and how recalls are logged.

    Parameters
    ----------
    recalls
        Whether at all.
    queries
        Whether the text of questions is kept, too.
    bounds
        How much is kept.
    """

    recalls: bool = True
    queries: bool = True
    bounds: LogBounds = field(default_factory=LogBounds)


class RecallLog:
    """Recalls that wait to be written down.

    Parameters
    ----------
    store
        Where to.
    how
        Whether, and how much.
    random_bits
        Gives that many random bits, for identifiers.

    Attributes
    ----------
    lost
        How many recalls had to be let go since the store could not be written.
    """

    def __init__(self, store: Store, how: Logging, random_bits: Callable[[int], int]) -> None:
        self.how = how
        self.lost = 0
        self._store = store
        self._random_bits = random_bits
        self._waiting: deque[tuple[Request, Recall]] = deque()
        self._sighted: deque[Sighting] = deque()
        self._since = 0.0
        self._lock = threading.Lock()

    def noted(self, request: Request, recall: Recall) -> Recall:
        """Note a recall, and return it with the id that feedback refers to."""
        if not self.how.recalls:
            return recall
        named = replace(recall, id=uuid7(request.now, self._random_bits(74)))
        # The memories themselves are not logged, and should not be kept from being let go.
        self._waiting.append((request, replace(named, hits=(), sessions=(), rejected=None)))
        moment = monotonic()
        if len(self._waiting) == 1:
            self._since = moment
        elif len(self._waiting) >= BATCH or moment - self._since > SECONDS:
            self._try(0.0)
        return named

    def sighted(self, sighting: Sighting) -> None:
        """Note that somebody saw a variant of an experiment."""
        self._sighted.append(sighting)

    def flush(self, patience: float | None = None) -> None:
        """Write down what waits, waiting for other writers so many seconds, or as long as usual."""
        with self._lock:
            waiting, seen = len(self._waiting), len(self._sighted)
            entries = [self._entry(*self._waiting[place]) for place in range(waiting)]
            sightings = [self._sighted[place] for place in range(seen)]
            self._store.log_recalls(entries, self.how.bounds, sightings, patience=patience)
            for queue, count in ((self._waiting, waiting), (self._sighted, seen)):
                for _ in range(count):
                    queue.popleft()
            self._since = monotonic()

    def close(self) -> None:
        """Write down what waits, if the store lets it."""
        self._try(_AT_CLOSE)

    def _try(self, patience: float) -> None:
        try:
            self.flush(patience)
        except StoreUnavailable as error:
            # Somebody else is writing, or nobody may: the answer must not wait for the log, nor fail by it.
            _LOG.info("recalls wait to be logged: %s", error)
            while len(self._waiting) > _MOST:
                self._waiting.popleft()
                self.lost += 1

    def _entry(self, request: Request, recall: Recall) -> LoggedRecall:
        trace = recall.trace
        query = request.text if self.how.queries else None
        shared = (recall.id, request.namespace, request.now, query, request.recipe.as_dict(), recall.embedder)
        if trace is None:
            nothing = np.zeros((0, 0), np.float32), np.zeros(0, np.intp)
            return LoggedRecall(*shared, {}, recall.milliseconds, (), *nothing, ())
        down = written_down(trace)
        return LoggedRecall(
            *shared,
            trace.moment.as_dict(),
            recall.milliseconds,
            down.columns,
            down.values,
            down.slots,
            down.shown,
        )
