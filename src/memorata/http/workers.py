"""A few threads for the engine, which is synchronous, and fair, bounded queues in front of them.

The store on SQLite has one connection and one lock, which a verb holds while it reads or writes: threads take
turns there. They overlap in what comes before and after, above all the embedding of a text, which runs
outside Python: as many as are embedded together keep one processor busy. So a few threads are as fast as
many, and answer each request sooner; more processors are for more processes.

Writing may wait for minutes, for an embedding service that hangs. So it never has all the threads: one is
left to reads, whose queries are answered by the lexical leg meanwhile. Whose turn it is among several callers
is told by :mod:`memorata.service.fair_queue`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import thread_time
from typing import Final, TypeVar

from starlette.exceptions import HTTPException

from memorata.engine.query_vectors import shared_cost
from memorata.service.errors import Overloaded, TimedOut
from memorata.service.fair_queue import FairQueue, Turn

_Result = TypeVar("_Result")
_QUEUE_SHARE: Final = 4
"""One caller may have a fourth of what may wait in all."""


class Workers:
    """A pool of threads: how many there are, how many requests may wait for one, and for how long.

    `charge` is told the caller of each piece of work and how many seconds of processor time it took, `gauge`
    how many there are, working and waiting.
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
        self._pool: ThreadPoolExecutor | None = None
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
        is_abandoned: Callable[[], Awaitable[bool]] | None = None,
    ) -> _Result:
        """Run `work` on a thread and return its result.

        It waits for the turn of its `caller`, whom `""` leaves open; `writing` if it may wait for what it
        writes. What had to wait and `is_abandoned` is not begun: a crowd that has left costs nothing more.
        """
        if self.busy >= self._max_busy or (caller and self._queue.waiting(caller) >= self._max_waiting):
            raise Overloaded
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="memorata")
        self._count(1)
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = Turn(caller, lambda: None if granted.done() else granted.set_result(None), writing=writing)
        future: asyncio.Future[_Result] | None = None
        try:
            async with asyncio.timeout(self._seconds if seconds is None else seconds):
                self._queue.add(turn)
                waited = not granted.done()
                await granted
                if waited and is_abandoned is not None and await is_abandoned():
                    raise HTTPException(408, "the client left before its turn came")
                future = self._submit(work, turn)
                # A verb cannot be stopped half-way: it ends, or is undone, by itself.
                return await asyncio.shield(future)
        except TimeoutError as error:
            if (
                future is not None
                and future.done()
                and not future.cancelled()
                and future.exception() is error
            ):
                raise
            raise TimedOut from error
        finally:
            if future is None:
                self._count(-1)
                self._queue.withdraw(turn)

    def _count(self, change: int) -> None:
        self.busy += change
        self._gauge(self.busy)

    def _submit(self, work: Callable[[], _Result], turn: Turn) -> asyncio.Future[_Result]:
        took = 0.0

        def timed() -> _Result:
            nonlocal took
            started = thread_time() + shared_cost()
            try:
                return work()
            finally:
                took = thread_time() + shared_cost() - started

        def ended(future: asyncio.Future[_Result]) -> None:
            self._count(-1)
            self._queue.end(turn, took)
            self._charge(turn.caller, took)
            if not future.cancelled():
                # Nobody may be waiting for the error any more; fetching it here silences the warning.
                future.exception()

        submitted = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, timed)
        submitted.add_done_callback(ended)
        return submitted

    def close(self) -> None:
        """Wait for what was begun, and end the threads; a later call starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
