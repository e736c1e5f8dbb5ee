"""A circuit breaker: a service that does not answer is left alone, so that not every caller waits for it.

After a failure no caller asks for a while; then one does, and the others go on without until that one has
its answer (Nygard, "Release It!", 2007). The pause doubles with every failure in a row, and one answer ends
it. Nothing runs in the background: the first call after the pause is the one that tries again.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from memorata.model.checks import above, at_least, within
from memorata.model.errors import EmbedderError, ServiceUnreachable

QUERY_SECONDS: Final = 5.0
"""How long a query waits for its vector by default."""
MAX_QUERY_SECONDS: Final = 600.0
"""The longest wait that can be set."""
FIRST_PAUSE: Final = 5.0
"""Seconds for which a service that failed once is left alone."""
MAX_PAUSE: Final = 60.0
"""Seconds after which a service is asked again, however often it failed."""

_Answer = TypeVar("_Answer")


class CircuitBreaker:
    """Whether a service may be called just now; with `silence_only`, one that answers with an error may.

    >>> def away():
    ...     raise ServiceUnreachable("no connection")
    >>> breaker = CircuitBreaker(clock=lambda: 100.0)
    >>> for _ in range(2):
    ...     try:
    ...         breaker.call(away)
    ...     except ServiceUnreachable as error:
    ...         print(error)
    no connection
    no connection (it is not asked again for 5 s)
    """

    def __init__(
        self,
        *,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = MAX_PAUSE,
        silence_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = at_least("first_pause", first_pause, 0.0)
        self._longest = at_least("longest_pause", longest_pause, 0.0)
        self._silence_only = silence_only
        self._clock = clock
        self._lock = threading.Lock()
        self._why = ""
        self._failures = 0
        self._until = 0.0

    def call(self, function: Callable[[], _Answer], *, force: bool = False) -> _Answer:
        """Return what `function` returns; `ServiceUnreachable` is raised where the service is left alone.

        `force` calls in any case; the outcome counts for other calls, too.
        """
        with self._lock:
            failures = self._failures
            if failures and not force:
                pause = self._until - self._clock()
                if pause > 0:
                    raise ServiceUnreachable(f"{self._why} (it is not asked again for {math.ceil(pause)} s)")
                # This one asks; for as long as it waits, or if it never tells, the others do without.
                self._until = self._clock() + self._pause()
        try:
            answer = function()
        except ServiceUnreachable as error:
            if error.status is None or not self._silence_only:
                self._failed(str(error), failures)
            else:
                self.succeeded()
            raise
        except EmbedderError:
            # It refused, or sent an invalid answer; but it is reachable.
            self.succeeded()
            raise
        self.succeeded()
        return answer

    def failed(self, why: str) -> None:
        """Note that the service did not answer a call that was made without this breaker."""
        self._failed(why, self._failures)

    def succeeded(self) -> None:
        """Note that the service is there."""
        with self._lock:
            self._why, self._failures, self._until = "", 0, 0.0

    def _pause(self) -> float:
        # The exponent is bounded: a service may be away for months.
        doubled: float = self._first * 2.0 ** min(max(self._failures - 1, 0), 32)
        return min(self._longest, doubled)

    def _failed(self, why: str, failures: int) -> None:
        with self._lock:
            # Calls at the same time have met one failure, not many in a row.
            if self._failures == failures:
                self._failures += 1
            self._why, self._until = why, self._clock() + self._pause()


def checked_seconds(argument: str, seconds: float) -> float:
    """Return for how long a query is to wait."""
    return above(argument, within(argument, seconds, 0.0, MAX_QUERY_SECONDS), 0.0)
