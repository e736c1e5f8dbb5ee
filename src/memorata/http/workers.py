"""A few threads for the engine, which is synchronous, and a queue in front of them that has an end.

The store on SQLite has one connection and one lock, which a verb holds while it reads or writes: threads take
turns there. They overlap in what comes before and after, above all the embedding of a text, which runs
outside Python. So a few threads are as fast as many, and answer each request sooner.

Writing may wait for minutes, for an embedding service that hangs. So it never has all the threads: one is
left to those who only look, and whose questions are answered by words meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")


class Overloaded(Exception):  # noqa: N818 - named after what went wrong
    """Too many wait already."""


class TookTooLong(Exception):  # noqa: N818 - named after what went wrong
    """The answer was not there in time; what was begun goes on to its end."""


class Workers:
    """The threads.

    Parameters
    ----------
    threads
        How many there are.
    waiting
        How many requests may wait for one.
    seconds
        How long anybody waits for an answer.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._most = threads + waiting
        self._seconds = seconds
        self._writers = asyncio.Semaphore(max(1, threads - 1))
        self.busy = 0

    async def run(
        self, work: Callable[[], _Result], *, seconds: float | None = None, writing: bool = False
    ) -> _Result:
        """Do something on a thread, and wait for it; `writing` if it may wait for what it writes."""
        if self.busy >= self._most:
            raise Overloaded
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="memorata")
        self.busy += 1
        future: asyncio.Future[_Result] | None = None
        try:
            async with asyncio.timeout(self._seconds if seconds is None else seconds):
                if writing:
                    await self._writers.acquire()
                future = self._begun(work, writing=writing)
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
            raise TookTooLong from error
        finally:
            if future is None:
                self.busy -= 1

    def _begun(self, work: Callable[[], _Result], *, writing: bool) -> asyncio.Future[_Result]:
        def ended(future: asyncio.Future[_Result]) -> None:
            self.busy -= 1
            if writing:
                self._writers.release()
            if not future.cancelled():
                # Somebody who stopped waiting does not hear of the error; asking for it here is enough.
                future.exception()

        try:
            begun = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work)
        except BaseException:
            if writing:
                self._writers.release()
            raise
        begun.add_done_callback(ended)
        return begun

    def close(self) -> None:
        """Wait for what was begun, and let the threads go; whoever comes after gets new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
