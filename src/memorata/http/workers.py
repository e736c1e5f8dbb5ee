"""A few threads for the engine, which is synchronous, and fair, bounded queues in front of them.

The store on SQLite has one connection and one lock, which a verb holds while it reads or writes: threads take
turns there. They overlap in what comes before and after, above all the embedding of a text, which runs
outside Python: as many as are embedded together keep one processor busy. So a few threads are as fast as
many, and answer each request sooner; more processors are for more processes.

Writing may wait for minutes, for an embedding service that hangs. So it never has all the threads: one is
left to reads, whose queries are answered by the lexical leg meanwhile. What only computes has a thread of its
own: several would take turns at the interpreter, which cost a recall on a file a tenth of its processor time
(12 switches of threads instead of 5). Whose turn it is among several callers
is decided by :mod:`memorata.service.fair_queue`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from time import thread_time
from typing import Any, Final, TypeVar

from starlette.exceptions import HTTPException

from memorata.engine.query_vectors import shared_cost
from memorata.service.errors import Overloaded, TimedOut
from memorata.service.fair_queue import FairQueue, Turn

_Result = TypeVar("_Result")
_QUEUE_SHARE: Final = 4
"""One caller may have a fourth of what may wait in all."""


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
            self._submit(work, turn, outcome, self._pool(computing=computing))
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

    def _pool(self, *, computing: bool) -> ThreadPoolExecutor:
        name, threads = ("memorata-compute", 1) if computing else ("memorata", self._threads)
        if name not in self._pools:
            self._pools[name] = ThreadPoolExecutor(threads, thread_name_prefix=name)
        return self._pools[name]

    def _submit(
        self,
        work: Callable[[], _Result],
        turn: Turn,
        outcome: asyncio.Future[_Result],
        pool: ThreadPoolExecutor,
    ) -> None:
        """Run `work` on a thread and tell `outcome`: one message to the loop, no future of the pool's."""
        loop = asyncio.get_running_loop()

        def timed() -> None:
            started = thread_time() + shared_cost()
            try:
                result = work()
            except BaseException as error:
                tell = partial(outcome.set_exception, _raisable(error))
            else:
                tell = partial(outcome.set_result, result)
            loop.call_soon_threadsafe(ended, tell, thread_time() + shared_cost() - started)

        def ended(tell: Callable[[], None], seconds: float) -> None:
            self._count(-1)
            self._queue.end(turn, seconds)
            self._charge(turn.caller, seconds)
            # A future that is done already has been cancelled or has timed out.
            if not outcome.done():
                tell()

        pool.submit(copy_context().run, timed)

    def close(self) -> None:
        """Wait for what was begun, and end the threads; a later call starts new ones."""
        while self._pools:
            self._pools.popitem()[1].shutdown(wait=True)


def _raisable(error: BaseException) -> BaseException:
    """Return an error that a future can hold; it cannot hold StopIteration."""
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("work raised StopIteration")
    wrapped.__cause__ = error
    return wrapped
