"""Vectors of queries for servers: those that arrive together are computed together, repeated ones are kept.

A graph reads four short texts at once in a sixth less processor time than one after the other, and no text
has to wait for that: while the embedder is busy, queries gather, and the next thread that holds it computes
a few of them. At rest a query is computed at once, alone. The longest wait is thus one batch.

A vector is kept under its namespace: the time of an answer does not disclose the queries of another tenant.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import thread_time
from typing import TYPE_CHECKING, Final

from memorata.embed.port import Embedder
from memorata.index.codes import Floats
from memorata.model.errors import EmbedderError, MissingExtra
from memorata.text.queries import RuleClassifier

if TYPE_CHECKING:
    from memorata.engine.engine import Engine

CACHED: Final = 4_096
"""How many vectors are kept: 6 MB of 384 dimensions. The one used longest ago goes first."""
MAX_BATCH: Final = 4
"""How many are computed together: eight save no more, and keep the first of them waiting."""
MAX_CHARACTERS: Final = 1_000
"""Longer queries are computed alone, so that no other query waits for their many passages."""
_COST: Final = threading.local()
_Together = Callable[[Sequence[str]], Sequence[Floats]]


def prepare_to_serve(engine: Engine, models: Engine | None = None) -> None:
    """Make an engine ready for many callers: models loaded, queries computed together, repeated ones kept.

    The log of recalls is then written by a thread of its own. `models` is another engine of the same settings
    whose models are used: those of a process that was forked are in memory once.
    """
    if models is not None and getattr(models.embedder, "name", 0) == getattr(engine.embedder, "name", 1):
        engine.embedder = models.embedder
        engine._recalls = replace(engine._recalls, tables=models._recalls.tables)
    load_models(engine)
    if engine._embedding.queries is None:
        engine._embedding.queries = QueryVectors()
    engine.recall_log.write_apart()


def load_models(engine: Engine) -> None:
    """Load what embeds queries."""
    for load in (getattr(engine.embedder, "load", None), *(table.load for table in engine._recalls.tables)):
        # Every recall reports what cannot be loaded.
        with suppress(EmbedderError, MissingExtra):
            _ = None if load is None else load()


def only_computes(engine: Engine, namespace: str) -> bool:
    """Return whether a recall by the usual recipe waits for nothing: no server, service, model or loading."""
    return (
        not engine.store.is_remote
        and engine.store.is_loaded(namespace)
        and engine.reranker is None
        and isinstance(engine._recalls.classifier, RuleClassifier)
        and (engine.embedder is None or getattr(engine.embedder, "quick", False))
    )


class _VectorRequest:
    """A query whose vector a thread waits for."""

    __slots__ = ("done", "error", "text", "together", "took", "vector")

    def __init__(self, text: str, together: _Together) -> None:
        self.text = text
        self.together = together
        self.done = False
        self.vector: Floats | None = None
        self.error: Exception | None = None
        self.took = 0.0


class QueryVectors:
    """Computes vectors of queries for any number of threads, and keeps the last `cached` of them."""

    def __init__(self, cached: int = CACHED, max_batch: int = MAX_BATCH) -> None:
        self._max_cached = cached
        self._max_batch = max_batch
        self._cache: OrderedDict[tuple[str, str, bytes], Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: deque[_VectorRequest] = deque()
        self._busy = threading.Lock()

    def vector(self, embedder: Embedder, namespace: str, text: str) -> Floats:
        """Return the vector of a query; what the embedder raises is raised for every query of its batch."""
        if getattr(embedder, "queries_vary", False):
            return embedder.embed_query(text)
        key = embedder.name, namespace, hashlib.blake2b(text.encode(), digest_size=16).digest()
        with self._lock:
            if (cached := self._cache.get(key)) is not None:
                self._cache.move_to_end(key)
                return cached
        vector = self._computed(embedder, text)
        with self._lock:
            self._cache[key] = vector
            while len(self._cache) > self._max_cached:
                self._cache.popitem(last=False)
        return vector

    def _computed(self, embedder: Embedder, text: str) -> Floats:
        together: _Together | None = getattr(embedder, "embed_queries", None)
        # A service has none: it may hang, and no query should wait for another.
        if together is None or len(text) > MAX_CHARACTERS:
            return embedder.embed_query(text)
        request = _VectorRequest(text, together)
        self._waiting.append(request)
        with self._busy:
            # The thread that held the embedder before may have computed this one too.
            while not request.done:
                self._compute()
        _add_cost(request.took)
        if request.error is not None:
            raise request.error
        assert request.vector is not None
        return request.vector

    def _compute(self) -> None:
        batch = [self._waiting.popleft()]
        together = batch[0].together
        # While one embedder follows another, queries for both may wait.
        while self._waiting and len(batch) < self._max_batch and self._waiting[0].together == together:
            batch.append(self._waiting.popleft())
        started = thread_time()
        try:
            for request, row in zip(batch, together([request.text for request in batch]), strict=True):
                request.vector = row
        except Exception as error:
            for request in batch:
                request.error = error
        finally:
            # Also where this thread is stopped in the middle: the others of the batch must not wait for ever.
            took = thread_time() - started
            _add_cost(-took)
            for request in batch:
                if request.vector is None and request.error is None:
                    request.error = EmbedderError(
                        "the process was told to stop while it embedded this; try again"
                    )
                request.took = took / len(batch)
                request.done = True


def _add_cost(seconds: float) -> None:
    _COST.seconds = shared_cost() + seconds


def shared_cost() -> float:
    """Return by how many seconds this thread's processor time differs from what was spent on its behalf.

    The cost of a batch is shared evenly by the threads whose queries are in it.
    """
    seconds: float = getattr(_COST, "seconds", 0.0)
    return seconds
