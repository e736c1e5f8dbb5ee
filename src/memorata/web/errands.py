"""Errands: what takes longer than an answer may, run on a thread of its own, looked at while it runs.

There is one errand of a kind in a namespace at a time; the last one is remembered with what came of it,
until the next. Nothing is lost with the process: whatever an errand writes it writes in transactions of its
own, and a re-embedding that was cut short goes on when it is started again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

from memorata.model.errors import MemorataError

Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done, and how much there is."""


class Errand:
    """One errand.

    Attributes
    ----------
    done, total
        How far it is; `total` is 0 as long as nobody knows.
    result
        What came of it; None before, and if it failed.
    error
        Why it failed; empty if it did not.
    started, finished
        When; `finished` is None while it runs.
    """

    def __init__(self, started: datetime) -> None:
        self.done = 0
        self.total = 0
        self.result: Any = None
        self.error = ""
        self.started = started
        self.finished: datetime | None = None

    @property
    def running(self) -> bool:
        """Whether it is not over."""
        return self.finished is None

    def advance(self, done: int, total: int) -> None:
        """Say how far it is."""
        self.done, self.total = done, total


class Errands:
    """The last errand of each kind in each namespace.

    Examples
    --------
    >>> from datetime import UTC
    >>> errands = Errands(lambda: datetime(2026, 5, 7, tzinfo=UTC))
    >>> errand = errands.start("sum", "default", lambda progress: 1 + 1)
    >>> errands.wait()
    >>> errands.last("sum", "default").result
    2
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], tuple[Errand, threading.Thread]] = {}

    def start(self, kind: str, namespace: str, work: Callable[[Progress], Any]) -> Errand:
        """Start an errand, unless one of its kind is running there; return the one that is."""
        with self._lock:
            known = self._known.get((kind, namespace))
            if known is not None and known[0].running:
                return known[0]
            errand = Errand(self._clock())

            def run() -> None:
                try:
                    errand.result = work(errand.advance)
                except MemorataError as error:
                    errand.error = str(error)
                except BaseException as error:
                    # Whoever looks must learn that it is over; the thread then says it to the log as well.
                    errand.error = f"{type(error).__name__}: {error}"
                    raise
                finally:
                    errand.finished = self._clock()

            thread = threading.Thread(target=run, name=f"errand {kind}", daemon=True)
            self._known[kind, namespace] = errand, thread
            thread.start()
            return errand

    def last(self, kind: str, namespace: str) -> Errand | None:
        """Return the last errand of a kind, running or over; None if there was none."""
        known = self._known.get((kind, namespace))
        return None if known is None else known[0]

    def drop(self, kind: str, namespace: str) -> None:
        """Forget what came of an errand that is over."""
        with self._lock:
            known = self._known.get((kind, namespace))
            if known is not None and not known[0].running:
                del self._known[kind, namespace]

    def wait(self) -> None:
        """Wait until every errand is over."""
        for _, thread in list(self._known.values()):
            thread.join()
