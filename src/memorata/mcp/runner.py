"""The engine behind the tools: opened once, when it is first needed, and used from a few threads.

The engine is synchronous and the protocol is not. A call waits its turn for one of a few threads; one that is
cancelled while it waits never happens, and one that has begun runs to its end, for a write is either done or
not, though nobody waits for the answer any more.

Writing may wait for minutes, for an embedding service that hangs, and so it has threads of its own: reads are
answered meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TypeVar

from memorata.mcp.errors import Busy

if TYPE_CHECKING:
    from memorata.engine import Engine

THREADS: Final = 4
MAX_CALLS: Final = 64
"""How many calls may be in hand at once, running or waiting."""

_LOG: Final = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class EngineRunner:
    """Runs work on an engine, which `opening` gives on a thread, when it is first needed.

    So many `threads` read and as many write at once; `max_calls` are taken in hand.
    """

    def __init__(
        self,
        opening: Callable[[], AbstractContextManager[Engine]],
        *,
        threads: int = THREADS,
        max_calls: int = MAX_CALLS,
    ) -> None:
        self._opening = opening
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="memorata-mcp")
        self._writing = ThreadPoolExecutor(threads, thread_name_prefix="memorata-mcp-writing")
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._opened: AbstractContextManager[Engine] | None = None
        self._engine: Engine | None = None
        self._max_calls = max_calls
        self._in_hand = 0

    async def run(self, work: Callable[[Engine], _Answer], *, writing: bool = False) -> _Answer:
        """Return what `work` returns on a thread, or raise Busy; `writing` uses other threads."""
        with self._counting:
            if self._in_hand >= self._max_calls:
                raise Busy(f"{self._in_hand} calls are waiting already: wait for answers, then try again.")
            self._in_hand += 1
        submitted = (self._writing if writing else self._pool).submit(lambda: work(self.engine()))
        submitted.add_done_callback(lambda _: self._done())
        return await asyncio.wrap_future(submitted)

    def engine(self) -> Engine:
        """Return the engine, opening it if it is not open; if that fails, the next call tries again."""
        with self._lock:
            if self._engine is None:
                opened = self._opening()
                self._engine = opened.__enter__().through("mcp")
                self._opened = opened
            return self._engine

    def warm(self) -> None:
        """Begin to open the engine, without waiting for it."""
        self._pool.submit(self._try)

    def close(self) -> None:
        """Let the calls that run come to their end, drop those that wait, and close the engine."""
        for pool in (self._writing, self._pool):
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            if self._opened is not None:
                self._opened.__exit__(None, None, None)
                self._opened = self._engine = None

    def _try(self) -> None:
        try:
            self.engine()
        except Exception as error:
            # Callers of tools get the error; the person who looks why there is no memory reads it here.
            _LOG.error("the memory cannot be opened: %s", error)

    def _done(self) -> None:
        # Not under the lock that opening holds: a call that is cancelled meanwhile must not wait for it.
        with self._counting:
            self._in_hand -= 1
