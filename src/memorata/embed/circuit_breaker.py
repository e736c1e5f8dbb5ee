"""How a service is tried again, and a circuit breaker: one that does not answer is left alone for a while.

After a failure no caller asks for a while; then one does, and the others go on without until that one has
its answer (Nygard, "Release It!", 2007). The pause doubles with every failure in a row, and one answer ends
it. Nothing runs in the background: the first call after the pause is the one that tries again.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import field
from typing import Final, TypeVar

from memorata._frozen import frozen
from memorata.model.checks import above, at_least, whole, within
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


@frozen
class RetryPolicy:
    """How long and how often to try, in seconds; `total` is for all attempts and the pauses between them.

    Each pause is twice the one before it, times something between a half and one. The source of randomness is
    seeded differently in every process, or clients that failed together would return together.
    """

    timeout: float = 30.0
    attempts: int = 4
    total: float | None = None
    first_pause: float = 0.5
    longest_pause: float = 30.0
    random: Callable[[], float] = field(default_factory=lambda: random.Random().random)
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        above("timeout", self.timeout, 0.0)
        whole("attempts", self.attempts, 1)
        if self.total is not None:
            above("total", self.total, 0.0)
        at_least("first_pause", self.first_pause, 0.0)
        at_least("longest_pause", self.longest_pause, 0.0)

    def pause(self, attempt: int, retry_after: float | None) -> float:
        """Return the seconds to wait after the given attempt, counted from 0."""
        if retry_after is not None:
            return retry_after
        return min(self.longest_pause, self.first_pause * 2.0**attempt) * (0.5 + self.random() / 2)


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
