"""Vectors of queries for servers: those that arrive together are computed together, repeated ones are kept.

A graph reads four short texts at once in a sixth less processor time than one after the other, and no text
has to wait for that: while the embedder is busy, queries gather, and the next thread that holds it computes
a few of them, of about the same length: shorter ones would be padded, which made a fifth more tokens. At rest
a query is computed at once, alone.

Where a process has one processor, recalls take turns (:meth:`QueryVectors.turn`): one that waits for a vector
lets the next begin, and vectors are computed when no other can go on. So more of them are computed together,
and the recalls after them find in the processor's caches what they share.

A vector is kept under its namespace: the time of an answer does not disclose the queries of another tenant.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
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
MAX_PASSED_OVER: Final = 16
"""How many threads that can go on may do so before queries that wait are computed."""
_COST: Final = threading.local()
_Together = Callable[[Sequence[str]], Sequence[Floats]]


def prepare_to_serve(engine: Engine, models: Engine | None = None) -> None:
    """Make an engine ready for many callers: models loaded, queries computed together, repeated ones kept.

    The log of recalls is then written by a thread of its own. `models` is another engine of the same settings
    whose models are used: those of a process that was forked, for one processor, are in memory once.
    """
    if models is not None and getattr(models.embedder, "name", 0) == getattr(engine.embedder, "name", 1):
        engine.embedder = models.embedder
        engine._recalls = replace(engine._recalls, tables=models._recalls.tables)
    load_models(engine)
    if engine._embedding.queries is None:
        engine._embedding.queries = QueryVectors(takes_turns=models is not None)
    engine.recall_log.write_apart()


def load_models(engine: Engine) -> None:
    """Load what embeds queries."""
    for load in (getattr(engine.embedder, "load", None), *(table.load for table in engine._recalls.tables)):
        # Every recall reports what cannot be loaded.
        with suppress(EmbedderError, MissingExtra):
            _ = None if load is None else load()


def only_computes(engine: Engine, namespace: str) -> bool:
    """Return whether a recall by the usual recipe waits for nothing: no server, service, model or loading."""
    quick = engine.embedder is None or getattr(engine.embedder, "quick", False)
    return quick and _is_local(engine, namespace)


def turn_of(engine: Engine, namespace: str) -> AbstractContextManager[None]:
    """Return what a recall by the usual recipe is to be run in: a turn, where it waits for a model alone."""
    queries = engine._embedding.queries
    waits = queries is not None and queries.takes_turns and _gathers(engine.embedder)
    return queries.turn() if queries is not None and waits and _is_local(engine, namespace) else nullcontext()


def _gathers(embedder: Embedder | None) -> bool:
    """Return whether it is worth while to wait for other queries: for a model of our own that takes its time.

    A service may hang, and no query should wait for another.
    """
    return hasattr(embedder, "embed_queries") and not getattr(embedder, "quick", False)


def _is_local(engine: Engine, namespace: str) -> bool:
    """Return whether a recall waits for no server, service or loading, but perhaps for an embedder."""
    return (
        not engine.store.is_remote
        and engine.store.is_loaded(namespace)
        and engine.reranker is None
        and isinstance(engine._recalls.classifier, RuleClassifier)
    )


class _VectorRequest:
    """A query whose vector a thread waits for, at a gate that another opens; `in_turn` if it has turns."""

    __slots__ = ("done", "error", "gate", "in_turn", "length", "text", "together", "took", "vector")

    def __init__(self, text: str, length: int, together: _Together, *, in_turn: bool) -> None:
        self.text = text
        self.length = length
        self.together = together
        self.in_turn = in_turn
        self.gate = _closed_gate()
        self.done = False
        self.vector: Floats | None = None
        self.error: Exception | None = None
        self.took = 0.0


class QueryVectors:
    """Computes vectors of queries for any number of threads, and keeps the last `cached` of them.

    One thread at a time has the turn: it computes vectors, or whatever it does inside :meth:`turn`.
    """

    def __init__(
        self, cached: int = CACHED, max_batch: int = MAX_BATCH, *, takes_turns: bool = False
    ) -> None:
        self.takes_turns = takes_turns
        self._max_cached = cached
        self._max_batch = max_batch
        self._cache: OrderedDict[tuple[str, str, bytes], Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._taken = False
        self._ready: deque[threading.Lock] = deque()
        self._waiting: list[_VectorRequest] = []
        self._passed_over = 0
        self._own = threading.local()

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

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let no other thread in such a block compute, but while this one waits for a vector.

        A processor that is used by one thread after the other has in its caches what they share. The
        weights of a model replace all of that: the first recall after them takes half as long again.
        """
        self._take()
        self._own.turn = True
        try:
            yield
        finally:
            self._own.turn = False
            self._pass_on()

    def _take(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            gate = _closed_gate()
            self._ready.append(gate)
        gate.acquire()

    def _pass_on(self) -> None:
        """Give the turn to a thread that can go on, or else to who has waited longest for a vector."""
        with self._lock:
            gate = self._next_ready()
            if gate is None and self._waiting:
                gate = self._waiting[0].gate
            self._taken = gate is not None
        if gate is not None:
            gate.release()

    def _next_ready(self) -> threading.Lock | None:
        """Return the gate of a thread that can go on; None for none, or where queries have waited enough."""
        if not self._ready or (self._waiting and self._passed_over >= MAX_PASSED_OVER):
            return None
        self._passed_over += bool(self._waiting)
        return self._ready.popleft()

    def _computed(self, embedder: Embedder, text: str) -> Floats:
        in_turn: bool = getattr(self._own, "turn", False)
        alone = not _gathers(embedder) or len(text) > MAX_CHARACTERS
        # Who has the turn may wait for a lock of the store, which a thread without one may hold.
        if alone or (self.takes_turns and not in_turn):
            return self._computed_alone(embedder, text, in_turn=in_turn)
        together: _Together = embedder.embed_queries  # type: ignore[attr-defined]
        request = _VectorRequest(text, _length(embedder, text), together, in_turn=in_turn)
        with self._lock:
            self._waiting.append(request)
            has_turn = in_turn or not self._taken
            self._taken = True
        try:
            while not request.done:
                if not has_turn:
                    request.gate.acquire()
                    has_turn = in_turn or not request.done
                    continue
                with self._lock:
                    gate = self._next_ready()
                if gate is None:
                    self._compute(request)
                else:
                    has_turn = False
                    gate.release()
        finally:
            if not request.done:
                with self._lock:
                    self._waiting.remove(request)
            if has_turn and not in_turn:
                self._pass_on()
        _add_cost(request.took)
        if request.error is not None:
            raise request.error
        assert request.vector is not None
        return request.vector

    def _computed_alone(self, embedder: Embedder, text: str, *, in_turn: bool) -> Floats:
        if not in_turn:
            return embedder.embed_query(text)
        self._pass_on()
        try:
            return embedder.embed_query(text)
        finally:
            self._take()

    def _compute(self, own: _VectorRequest) -> None:
        """Compute the query that has waited longest, and a few of about its length."""
        with self._lock:
            first = self._waiting[0]
            # While one embedder follows another, queries for both may wait.
            alike = [request for request in self._waiting if request.together == first.together]
            batch = sorted(alike, key=lambda request: abs(request.length - first.length))[: self._max_batch]
            for request in batch:
                self._waiting.remove(request)
            self._passed_over = 0
        started = thread_time()
        try:
            rows = first.together([request.text for request in batch])
            for request, row in zip(batch, rows, strict=True):
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
            with self._lock:
                self._ready.extend(
                    request.gate for request in batch if request.in_turn and request is not own
                )
            for request in batch:
                if not request.in_turn and request is not own:
                    request.gate.release()


def _closed_gate() -> threading.Lock:
    gate = threading.Lock()
    gate.acquire()
    return gate


def _length(embedder: Embedder, text: str) -> int:
    """Return how long a query is: in tokens, where the embedder can tell."""
    count: Callable[[str], int] | None = getattr(embedder, "query_length", None)
    return len(text) if count is None else count(text)


def _add_cost(seconds: float) -> None:
    _COST.seconds = shared_cost() + seconds


def shared_cost() -> float:
    """Return by how many seconds this thread's processor time differs from what was spent on its behalf.

    The cost of a batch is shared evenly by the threads whose queries are in it.
    """
    seconds: float = getattr(_COST, "seconds", 0.0)
    return seconds
