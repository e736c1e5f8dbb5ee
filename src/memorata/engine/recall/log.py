"""The log of recalls, written in batches.

Noting a recall keeps references to arrays that the search has made anyway. Columns are made of them, and
written in one transaction, when the batch is full, when the oldest has waited long enough and another recall
is noted, when the engine is closed, and before the log is read. Only a server has a thread for it; otherwise
the recall that fills the batch writes it. Recalls that are not written yet are lost if the process dies,
which costs some training data, and never a memory.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from time import monotonic
from typing import Any, Final, NamedTuple

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.fusion import Trace
from memorata.engine.recall.query import Request
from memorata.engine.recall.result import RecallResult
from memorata.index.record import RECORD, SPEAKER
from memorata.model.checks import RANDOM_BITS, BoolArray, FloatArray, IntArray, uuid7
from memorata.model.errors import StoreError, StoreUnavailable
from memorata.store.logged_recall import LogBounds, LoggedRecall, Singles, without
from memorata.store.recall_log import Exposure
from memorata.store.store import Store

BATCH_SIZE: Final = 128
"""Recalls that are written together."""
MAX_WAIT_SECONDS: Final = 10.0
"""How long a recall waits to be written, as long as others are noted."""
_MAX_HELD: Final = 8 * BATCH_SIZE
"""Most recalls in memory while the store cannot be written; the oldest are dropped first."""
_CLOSE_WAIT_SECONDS: Final = 2.0
"""How long closing waits for other writers."""
_LOG = logging.getLogger(__name__)


@frozen
class Logging:
    """Whether and how recalls are logged."""

    recalls: bool = True
    queries: bool = True
    bounds: LogBounds = field(default_factory=LogBounds)


class RecallLog:
    """The recalls that are noted and not written yet."""

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
        self._waiting: deque[_PendingRecall] = deque()
        self._exposures: deque[Exposure] = deque()
        self._since = 0.0
        self._resting = 0.0
        self._lock = threading.Lock()
        self._apart: ThreadPoolExecutor | None = None
        self._submitted = False
        self._captures = False
        self._inside = threading.local()

    def name(self, moment: datetime) -> str:
        """Return the id of a recall at a moment, for feedback to refer to; empty for one not logged."""
        if not self.how.recalls or self._captures:
            return ""
        return uuid7(moment, self._random_bits(RANDOM_BITS))

    def note(self, request: Request, recall: RecallResult) -> None:
        """Note a recall under its id."""
        # The memories are not logged: no reference to them is kept.
        details = recall.embedder, recall.milliseconds, recall.trace, recall.change
        if self._captures:
            self._waiting.append(_PendingRecall(f"{len(self._waiting) + 1}", request, *details))
        if not recall.id:
            return
        pending = _PendingRecall(recall.id, request, *details)
        if self._held:
            self._inside.noted.append(pending)
            return
        self._waiting.append(pending)
        moment = monotonic()
        if len(self._waiting) == 1:
            self._since = moment
        enough = len(self._waiting) >= BATCH_SIZE or moment - self._since > MAX_WAIT_SECONDS
        due = enough and moment >= self._resting
        if due or len(self._waiting) > _MAX_HELD:
            if self._apart is None:
                self._relieve(due=due)
            elif not self._submitted:
                self._submitted = True
                self._apart.submit(self._relieve_apart, due=due)

    def write_apart(self) -> None:
        """Write on a separate thread from now on, so that no recall is delayed by it."""
        if self._apart is None:
            self._apart = ThreadPoolExecutor(1, thread_name_prefix="memorata-log")

    def _relieve_apart(self, *, due: bool) -> None:
        self._submitted = False
        try:
            self._relieve(due=due)
        except Exception:
            # No caller waits for this thread that the exception could reach.
            self._resting = monotonic() + MAX_WAIT_SECONDS
            _LOG.exception("recalls could not be logged")

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Write nothing from this thread until the block ends.

        For blocks that hold the store: a thread that holds the log's lock may wait for the store, and a block
        that takes the lock as well would deadlock. A reader of the log in the block needs a flush before. A
        block that fails is rolled back, and its recalls are not logged.
        """
        before: list[_PendingRecall] | None = getattr(self._inside, "noted", None)
        noted: list[_PendingRecall] = []
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

    def captured(self) -> RecallLog:
        """Return a log that writes nothing; :meth:`recalls` returns its recalls.

        For experiments, whose queries are not those of users. The ids of such recalls are the numbers of the
        calls.
        """
        apart = RecallLog(self._store, self.how, self._random_bits, self._clean)
        apart._captures = True
        return apart

    def recalls(self) -> list[LoggedRecall]:
        """Return the recalls that are noted and not written, without candidates that were purged since."""
        return [self._with_ids(entry) for entry in self._entries(list(self._waiting))]

    def note_exposure(self, exposure: Exposure) -> None:
        """Note an exposure to a variant of an experiment."""
        self._exposures.append(exposure)

    def flush(self, patience: float | None = None) -> None:
        """Write all noted recalls; `patience` is how many seconds to wait for other writers."""
        if self._held or self._captures:
            return
        with self._lock:
            self._write(patience)

    def close(self) -> None:
        """Write all noted recalls, if the store can be written."""
        if self._captures:
            return
        if self._apart is not None:
            self._apart.shutdown(wait=True)
            self._apart = None
        with self._lock:
            self._try(_CLOSE_WAIT_SECONDS)

    @property
    def _held(self) -> bool:
        return getattr(self._inside, "noted", None) is not None

    def _relieve(self, *, due: bool) -> None:
        """Write if it is due, and drop the oldest recalls above the bound."""
        # A thread that is writing already writes for all; a recall must not wait for the log.
        if self._held or not self._lock.acquire(blocking=False):
            return
        try:
            if due:
                self._try(0.0)
            while len(self._waiting) > _MAX_HELD:
                self._waiting.popleft()
                self.lost += 1
        finally:
            self._lock.release()

    def _try(self, patience: float) -> None:
        """Write, holding the lock; a recall must not fail by the log either."""
        try:
            self._write(patience)
        except StoreError as error:
            # Without a pause every recall would make the columns again, only to fail again.
            self._resting = monotonic() + MAX_WAIT_SECONDS
            level = logging.INFO if isinstance(error, StoreUnavailable) else logging.WARNING
            _LOG.log(level, "recalls wait to be logged: %s", error)

    def _write(self, patience: float | None) -> None:
        waiting, exposed = len(self._waiting), len(self._exposures)
        entries = self._entries([self._waiting[place] for place in range(waiting)])
        exposures = [self._exposures[place] for place in range(exposed)]
        self._store.recalls.log(entries, self.how.bounds, exposures, patience=patience)
        for queue, count in ((self._waiting, waiting), (self._exposures, exposed)):
            for _ in range(count):
                queue.popleft()
        self._since = monotonic()

    def _with_ids(self, entry: LoggedRecall) -> LoggedRecall:
        names = self._store.ids(entry.namespace, entry.slots.tolist())
        # A candidate may have been purged since.
        kept = without(entry, np.isin(entry.slots, list(names)))
        return replace(kept, ids=tuple(names[slot] for slot in kept.slots.tolist()))

    def _entries(self, noted: Sequence[_PendingRecall]) -> list[LoggedRecall]:
        traces = [recall.trace for recall in noted if recall.trace is not None]
        columns = iter(trace_columns(traces) if traces else ())
        recipes: dict[int, Mapping[str, Any]] = {}
        return [
            self._entry(recall, None if recall.trace is None else next(columns), recipes) for recall in noted
        ]

    def _entry(
        self, noted: _PendingRecall, columns: TraceColumns | None, recipes: dict[int, Mapping[str, Any]]
    ) -> LoggedRecall:
        request, trace = noted.request, noted.trace
        query = self._clean(request.text) if self.how.queries else None
        # Most recalls have the same recipe, which is stored once as one object. It is looked up by id(),
        # which is unique while all of them live; comparing their parameters would take longer than all else.
        recipe = recipes.get(id(request.recipe))
        if recipe is None:
            recipe = recipes[id(request.recipe)] = request.recipe.as_dict()
        shared = (noted.id, request.namespace, request.now, query, recipe, noted.embedder)
        if trace is None or columns is None:
            nothing = np.zeros((0, 0), np.float32), np.zeros(0, np.intp)
            return LoggedRecall(*shared, {}, noted.milliseconds, (), *nothing, (), seen=noted.change)
        return LoggedRecall(
            *shared,
            trace.moment.as_dict(),
            noted.milliseconds,
            columns.columns,
            columns.values,
            columns.slots,
            columns.shown,
            seen=noted.change,
        )


class _PendingRecall(NamedTuple):
    """A recall that is noted and not written yet."""

    id: str
    request: Request
    embedder: str
    milliseconds: Mapping[str, float]
    trace: Trace | None
    change: int


DAY: Final = 86_400.0
UNCHANGED_COLUMNS: Final = ("tier", "accesses", "confidence", "importance", "pinned", "supported")
"""The parts of a record that are logged unchanged, under their own names."""
RANK: Final = " rank"
"""Suffix of a leg's name in the name of the column with its ranks."""
_UNREAD: Final = "unread"
NEAR: Final = "near"
_KEY_STRIDE: Final = 2**32
"""More than the number of slots: the key of a candidate is its recall's number times this, plus its slot."""


@frozen(eq=False)
class TraceColumns:
    """A trace as columns; the candidates stand in the order in which they were, or would have been, shown."""

    slots: IntArray
    columns: tuple[str, ...]
    values: Singles
    shown: tuple[int, ...]


def trace_columns(traces: Sequence[Trace]) -> list[TraceColumns]:
    """Return the candidates of each recall as columns of float32.

    The columns are the final score; the score of each leg, under the leg's name, and its rank there
    (``lexical rank``) where the scores do not determine it; ``unread`` for a candidate without a vector;
    ``near``, its nearness to the period of the query; and of its record the age in days, the days since its
    event (``event``), its session and its content as numbers within this recall (``session``, ``repeat``),
    its role, whether it has a speaker, and :data:`UNCHANGED_COLUMNS`.
    """
    result: dict[int, TraceColumns] = {}
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, trace in enumerate(traces):
        alike.setdefault(tuple(name for name, *_ in trace.legs), []).append(place)
    for names, places in alike.items():
        result |= zip(places, _of_same_legs([traces[place] for place in places], names), strict=True)
    return [result[place] for place in range(len(traces))]


def _of_same_legs(traces: Sequence[Trace], names: Sequence[str]) -> list[TraceColumns]:
    """Return the columns of recalls that had the same legs."""
    sizes = np.array([trace.slots.size for trace in traces])
    ends = np.cumsum(sizes)
    starts = ends - sizes
    recall = np.repeat(np.arange(len(traces)), sizes)
    order = _shown_first(traces, starts, recall)
    slots = np.concatenate([trace.slots for trace in traces])[order]
    place = np.concatenate([trace.order + start for trace, start in zip(traces, starts, strict=True)])
    # Without a dtype, numpy compares the fields of every array to find a common one.
    records = np.concatenate([trace.records for trace in traces], dtype=RECORD).take(place[order])
    keys = recall * _KEY_STRIDE + slots
    columns: dict[str, FloatArray] = {"score": np.concatenate([trace.scores for trace in traces])[order]}
    only_in: dict[str, BoolArray] = {}
    ascending = keys.argsort(kind="stable")
    for number, name in enumerate(names):
        scores, ranked, needed = _of_leg([trace.legs[number][1:] for trace in traces], keys, ascending)
        columns[name] = scores
        if needed.any():
            columns[f"{name}{RANK}"], only_in[f"{name}{RANK}"] = ranked, needed
    waiting = np.array([trace.unread.size > 0 for trace in traces])
    if waiting.any():
        unread = [number * _KEY_STRIDE + trace.unread for number, trace in enumerate(traces)]
        columns[_UNREAD] = np.isin(keys, np.concatenate(unread)).astype(np.float64)
        only_in[_UNREAD] = waiting
    timed = np.array([trace.near is not None for trace in traces])
    if timed.any():
        near = [np.ones(trace.slots.size) if trace.near is None else trace.near for trace in traces]
        columns[NEAR], only_in[NEAR] = np.concatenate(near)[place[order]], timed
    now = np.repeat([trace.moment.now.timestamp() for trace in traces], sizes)
    columns["age"] = (now - records["created"]) / DAY
    columns["event"] = (now - records["event"]) / DAY
    columns["session"] = np.where(records["session"] >= 0, records["session"], np.nan)
    contents, times = _numbered(recall, records["fingerprint"])
    columns["repeat"] = np.where(times > 1, contents, np.nan)
    # All of `role`, of which being a machine was once the only bit.
    columns["machine"] = records["role"].astype(np.float64)
    columns["position"] = records["position"].astype(np.float64)
    columns["spoken"] = (records["lengths"][:, SPEAKER] > 0).astype(np.float64)
    columns |= {name: records[name] for name in UNCHANGED_COLUMNS}
    table = np.empty((len(columns), recall.size), np.float32)
    for row, column in zip(table, columns.values(), strict=True):
        row[:] = column
    return [
        _cut(trace, slots[start:end], table[:, start:end], columns, only_in, number)
        for number, (trace, start, end) in enumerate(zip(traces, starts.tolist(), ends.tolist(), strict=True))
    ]


def _cut(
    trace: Trace,
    slots: IntArray,
    table: Singles,
    columns: Mapping[str, FloatArray],
    only_in: Mapping[str, BoolArray],
    number: int,
) -> TraceColumns:
    """Return the columns that one of the recalls has."""
    absent = {name for name, having in only_in.items() if not having[number]}
    if not absent:
        return TraceColumns(slots, tuple(columns), table.T, tuple(trace.shown))
    names = tuple(name for name in columns if name not in absent)
    own = table[[place for place, name in enumerate(columns) if name not in absent]]
    return TraceColumns(slots, names, own.T, tuple(trace.shown))


def _shown_first(traces: Sequence[Trace], starts: IntArray, recall: IntArray) -> IntArray:
    """Return the order of all candidates by recall, in each the kept ones before the others."""
    kept = np.concatenate([trace.kept + start for trace, start in zip(traces, starts, strict=True)])
    hidden = np.ones(recall.size, np.bool_)
    hidden[kept] = False
    kept_first = np.concatenate([kept, hidden.nonzero()[0]])
    order: IntArray = kept_first[recall[kept_first].argsort(kind="stable")]
    return order


def _of_leg(
    legs: Sequence[tuple[IntArray, FloatArray]], keys: IntArray, ascending: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return a leg's scores and ranks of all candidates, and the recalls where scores leave ranks open."""
    recall = np.repeat(np.arange(len(legs)), [slots.size for slots, _ in legs])
    slots = np.concatenate([slots for slots, _ in legs])
    scores = np.concatenate([scores for _, scores in legs])
    scored, ranked = np.full(keys.size, np.nan), np.full(keys.size, np.nan)
    leg_keys = recall * _KEY_STRIDE + slots
    where = ascending[np.minimum(keys[ascending].searchsorted(leg_keys), keys.size - 1)]
    # A fusion of two legs leaves out candidates that only another leg has.
    matched = keys[where] == leg_keys
    recall, slots, scores, where = recall[matched], slots[matched], scores[matched], where[matched]
    scored[where] = scores
    firsts = recall.searchsorted(np.arange(len(legs)))
    ranked[where] = np.arange(recall.size) - firsts[recall]
    # Rounded scores and slots mostly determine the order of a leg.
    single = scores.astype(np.float32)
    determined = (single[1:] < single[:-1]) | ((single[1:] == single[:-1]) & (slots[1:] > slots[:-1]))
    ambiguous = ~determined & (recall[1:] == recall[:-1])
    return scored, ranked, np.bincount(recall[1:][ambiguous], minlength=len(legs)) > 0


def _numbered(recall: IntArray, values: IntArray) -> tuple[FloatArray, IntArray]:
    """Return a small number for each distinct value of a recall, and how often the value occurs."""
    order = values.argsort()
    # Numbers of one or two bytes, which suffice for all recalls but in tests of thousands, are not compared.
    order = order[recall[order].astype(np.min_scalar_type(recall[-1])).argsort(kind="stable")]
    sorted_values, sorted_recall = values[order], recall[order]
    new = np.ones(order.size, np.bool_)
    new[1:] = (sorted_values[1:] != sorted_values[:-1]) | (sorted_recall[1:] != sorted_recall[:-1])
    group = np.cumsum(new) - 1
    first = group[recall.searchsorted(np.arange(recall[-1] + 1))]
    numbers, times = np.empty(order.size), np.empty(order.size, np.intp)
    numbers[order] = group - first[sorted_recall]
    times[order] = np.bincount(group)[group]
    return numbers, times
