"""A few threads for the engine, which is synchronous, and a bounded queue in front of them.

The store on SQLite has one connection and one lock, which a verb holds while it reads or writes: threads take
turns there. They overlap in what comes before and after, above all the embedding of a text, which runs
outside Python. So a few threads are as fast as many, and answer each request sooner.

Writing may wait for minutes, for an embedding service that hangs. So it never has all the threads: one is
left to reads, whose queries are answered by the lexical leg meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from memorata.service.errors import Overloaded, TimedOut

_Result = TypeVar("_Result")


class Workers:
    """A pool of threads: how many there are, how many requests may wait for one, and for how long."""

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._max_busy = threads + waiting
        self._seconds = seconds
        self._writers = asyncio.Semaphore(max(1, threads - 1))
        self.busy = 0

    async def run(
        self, work: Callable[[], _Result], *, seconds: float | None = None, writing: bool = False
    ) -> _Result:
        """Run `work` on a thread and return its result; `writing` if it may wait for what it writes."""
        if self.busy >= self._max_busy:
            raise Overloaded
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="memorata")
        self.busy += 1
        future: asyncio.Future[_Result] | None = None
        try:
            async with asyncio.timeout(self._seconds if seconds is None else seconds):
                if writing:
                    await self._writers.acquire()
                future = self._submit(work, writing=writing)
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
                self.busy -= 1

    def _submit(self, work: Callable[[], _Result], *, writing: bool) -> asyncio.Future[_Result]:
        def ended(future: asyncio.Future[_Result]) -> None:
            self.busy -= 1
            if writing:
                self._writers.release()
            if not future.cancelled():
                # Nobody may be waiting for the error any more; fetching it here silences the warning.
                future.exception()

        try:
            submitted = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work)
        except BaseException:
            if writing:
                self._writers.release()
            raise
        submitted.add_done_callback(ended)
        return submitted

    def close(self) -> None:
        """Wait for what was begun, and end the threads; a later call starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
