"""A few threads for the engine, which is synchronous, and fair, bounded queues in front of them.

The store on SQLite has one connection and one lock, which a verb holds while it reads or writes: threads take
turns there. They overlap in what comes before and after, above all the embedding of a text, which runs
outside Python: as many as are embedded together keep one processor busy. So a few threads are as fast as
many, and answer each request sooner; more processors are for more processes.

Writing may wait for minutes, for an embedding service that hangs. So it never has all the threads: one is
left to reads, whose queries are answered by the lexical leg meanwhile. What only computes has a thread of its
own: several would take turns at the interpreter, which cost a recall on a file a tenth of its processor time
(12 switches of threads instead of 5).

Each caller has a queue of its own. The next turn goes to the caller that has used the least processor time,
so that one large request weighs as much as many small ones (start-time fair queuing: Goyal, Vin and Cheng,
1996). After a pause a caller starts at the level of the busy ones: unused time is not saved up. While several
callers are active each has one worker at a time; a sole caller has all but one, which is left for the next.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from time import monotonic, perf_counter, thread_time
from typing import Any, Final, TypeVar

from starlette.exceptions import HTTPException

from memorata.extend.errors import Overloaded, TimedOut
from memorata.extend.model import checks
from memorata.extend.serving import shared_cost

ACTIVE_SECONDS: Final = 2.0
"""How long after its last turn a caller counts as active."""
_MIN_TURN_SECONDS: Final = 1e-4
"""The least that a turn counts for."""


class Turn:
    """A request that waits for a worker, or has one: `start` is called when it gets it."""

    __slots__ = ("caller", "running", "start", "writing")

    def __init__(self, caller: str, start: Callable[[], None], *, writing: bool = False) -> None:
        self.caller = caller
        self.start = start
        self.writing = writing
        self.running = False


class _Caller:
    """The turns of one caller, and the seconds it has used."""

    __slots__ = ("active_at", "running", "used", "waiting")

    def __init__(self, used: float) -> None:
        self.waiting: deque[Turn] = deque()
        self.running = 0
        self.used = used
        self.active_at = 0.0


class FairQueue:
    """Shares `workers` among callers, of which `writers` at most may be writing.

    The caller `""` stands for all callers together.
    """

    def __init__(self, workers: int, writers: int, ticks: Callable[[], float] = monotonic) -> None:
        self._workers = checks.whole("workers", workers, 1)
        self._free = workers
        self._free_to_write = checks.whole("writers", writers, 1)
        self._ticks = ticks
        self._callers: dict[str, _Caller] = {}
        self._now = 0.0

    def waiting(self, caller: str) -> int:
        """Return how many turns a caller waits for."""
        state = self._callers.get(caller)
        return 0 if state is None else len(state.waiting)

    def add(self, turn: Turn) -> None:
        """Queue a request; its turn may come at once."""
        state = self._callers.get(turn.caller)
        if state is None:
            state = self._callers[turn.caller] = _Caller(self._now)
        if not state.waiting and not state.running:
            state.used = max(state.used, self._now)
        state.waiting.append(turn)
        state.active_at = self._ticks()
        self._start_next()

    def withdraw(self, turn: Turn) -> None:
        """Withdraw a request, whether it is running or waiting."""
        if turn.running:
            self.end(turn, 0.0)
        elif (state := self._callers.get(turn.caller)) is not None and turn in state.waiting:
            state.waiting.remove(turn)

    def end(self, turn: Turn, seconds: float) -> None:
        """End a request that took so much processor time."""
        state = self._callers[turn.caller]
        turn.running = False
        state.running -= 1
        state.used += max(seconds, _MIN_TURN_SECONDS)
        state.active_at = self._ticks()
        self._free += 1
        self._free_to_write += turn.writing
        self._start_next()
        self._drop_inactive()

    def _start_next(self) -> None:
        while self._free and (turn := self._next()) is not None:
            state = self._callers[turn.caller]
            state.waiting.remove(turn)
            state.running += 1
            turn.running = True
            self._now = max(self._now, state.used)
            self._free -= 1
            self._free_to_write -= turn.writing
            turn.start()

    def _next(self) -> Turn | None:
        """Return the next turn; None if none may start now."""
        since = self._ticks() - ACTIVE_SECONDS
        # The caller that stands for all takes nothing from another.
        active = sum(
            bool(name and (state.waiting or state.running or state.active_at > since))
            for name, state in self._callers.items()
        )
        share = 1 if active > 1 else max(1, self._workers - 1)
        candidates = [
            (state.used, number, turn)
            for number, (name, state) in enumerate(self._callers.items())
            if (state.running < share or not name) and (turn := self._first(state)) is not None
        ]
        return min(candidates)[2] if candidates else None

    def _first(self, state: _Caller) -> Turn | None:
        """Return the first of a caller's requests that may start; a write that has to wait is passed."""
        return next((turn for turn in state.waiting if self._free_to_write or not turn.writing), None)

    def _drop_inactive(self) -> None:
        """Drop callers that have been inactive for long enough to start anew."""
        since = self._ticks() - ACTIVE_SECONDS
        for name, state in list(self._callers.items()):
            inactive = not state.waiting and not state.running and state.active_at <= since
            if inactive and state.used <= self._now:
                del self._callers[name]


_Result = TypeVar("_Result")
_QUEUE_SHARE: Final = 4
"""One caller may have a fourth of what may wait in all."""
_MAX_RESULTS: Final = 4
"""Of how many results of computations the loop is told at once, while as many more wait."""
_MAX_HELD_SECONDS: Final = 0.02
"""A result waits for the next only where it took less."""


class Workers:
    """A pool of threads: how many there are, how many requests may wait for one, and for how long.

    `charge` is called with the caller of each piece of work and its seconds of processor time, `gauge` with
    the numbers of running and waiting ones.
    """

    def __init__(
        self,
        threads: int,
        waiting: int,
        seconds: float,
        charge: Callable[[str, float], object] = lambda caller, seconds: None,
        gauge: Callable[[float], object] = lambda busy: None,
    ) -> None:
        self._threads = threads
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._max_busy = threads + waiting
        self._max_waiting = max(1, waiting // _QUEUE_SHARE)
        self._seconds = seconds
        self._charge = charge
        self._gauge = gauge
        self._queue = FairQueue(threads, max(1, threads - 1))
        self._series = _Series()
        self.busy = 0

    async def run(
        self,
        work: Callable[[], _Result],
        *,
        caller: str = "",
        seconds: float | None = None,
        writing: bool = False,
        computing: bool = False,
        is_abandoned: Callable[[], bool] | None = None,
    ) -> _Result:
        """Run `work` on a thread and return its result.

        It waits for the turn of its `caller` (`""` for none); `writing` if it may wait for what it writes,
        `computing` if it waits for nothing: such work is done one after the other. What had to wait
        and `is_abandoned` is not begun: a crowd that has left costs nothing more.
        """
        if self.busy >= self._max_busy or (caller and self._queue.waiting(caller) >= self._max_waiting):
            raise Overloaded
        self._count(1)
        loop = asyncio.get_running_loop()
        granted: asyncio.Future[None] = loop.create_future()
        outcome: asyncio.Future[_Result] = loop.create_future()

        def grant() -> None:
            if not granted.done():
                granted.set_result(None)

        def expire() -> None:
            awaited: asyncio.Future[Any] = outcome if granted.done() else granted
            if not awaited.done():
                awaited.set_exception(TimedOut())

        timer = loop.call_later(self._seconds if seconds is None else seconds, expire)
        turn = Turn(caller, grant, writing=writing)
        begun = False
        try:
            self._queue.add(turn)
            if not granted.done():
                await granted
                if is_abandoned is not None and is_abandoned():
                    raise HTTPException(408, "the client left before its turn came")
            begun = True
            self._submit(work, turn, outcome, computing=computing)
            # A verb cannot be stopped half-way: it ends, or is undone, by itself.
            return await outcome
        finally:
            timer.cancel()
            if not begun:
                self._count(-1)
                self._queue.withdraw(turn)

    def _count(self, change: int) -> None:
        self.busy += change
        self._gauge(self.busy)

    def _pool(self, name: str, threads: int) -> ThreadPoolExecutor:
        if name not in self._pools:
            self._pools[name] = ThreadPoolExecutor(threads, thread_name_prefix=name)
        return self._pools[name]

    def _submit(
        self, work: Callable[[], _Result], turn: Turn, outcome: asyncio.Future[_Result], *, computing: bool
    ) -> None:
        """Run `work` on a thread and tell `outcome`: one message to the loop, no future of the pool's."""
        loop = asyncio.get_running_loop()

        def timed() -> Callable[[], None]:
            started = thread_time() + shared_cost()
            try:
                result = work()
            except BaseException as error:
                tell = partial(outcome.set_exception, _raisable(error))
            else:
                tell = partial(outcome.set_result, result)
            return partial(ended, tell, thread_time() + shared_cost() - started)

        def ended(tell: Callable[[], None], seconds: float) -> None:
            self._count(-1)
            self._queue.end(turn, seconds)
            self._charge(turn.caller, seconds)
            # A future that is done already has been cancelled or has timed out.
            if not outcome.done():
                tell()

        context = copy_context()

        def perform() -> Callable[[], None]:
            return context.run(timed)

        if computing:
            self._series.add(perform, loop, self._pool("memorata-compute", 1))
        else:
            self._pool("memorata", self._threads).submit(lambda: loop.call_soon_threadsafe(perform()))

    def close(self) -> None:
        """Wait for what was begun, and end the threads; a later call starts new ones."""
        while self._pools:
            self._pools.popitem()[1].shutdown(wait=True)


class _Series:
    """Work that one thread does, one after the other. Where more waits, the loop is told of several results.

    To tell it wakes its thread, which then competes with this one for the interpreter.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], Callable[[], None]], asyncio.AbstractEventLoop]] = deque()
        self._lock = threading.Lock()
        self._running = False

    def add(
        self,
        perform: Callable[[], Callable[[], None]],
        loop: asyncio.AbstractEventLoop,
        pool: ThreadPoolExecutor,
    ) -> None:
        """Have something done after what waits already, on a thread of `pool`; the loop calls its result."""
        with self._lock:
            self._waiting.append((perform, loop))
            if self._running:
                return
            self._running = True
        pool.submit(self._run)

    def _run(self) -> None:
        results: list[Callable[[], None]] = []
        while (task := self._next()) is not None:
            perform, loop = task
            started = perf_counter()
            results.append(perform())
            # With fewer waiting a result would be late for nothing. What takes long is not held for the next.
            idle = len(self._waiting) < _MAX_RESULTS
            if idle or len(results) == _MAX_RESULTS or perf_counter() - started > _MAX_HELD_SECONDS:
                # Where the loop is closed, nobody waits.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(_call_all, results)
                results = []

    def _next(self) -> tuple[Callable[[], Callable[[], None]], asyncio.AbstractEventLoop] | None:
        with self._lock:
            self._running = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None


def _call_all(results: Sequence[Callable[[], None]]) -> None:
    for tell in results:
        tell()


def _raisable(error: BaseException) -> BaseException:
    """Return an error that a future can hold; it cannot hold StopIteration."""
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("work raised StopIteration")
    wrapped.__cause__ = error
    return wrapped
