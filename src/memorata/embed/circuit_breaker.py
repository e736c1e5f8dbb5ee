"""Leaving alone a service that is away, so that not everyone who needs it waits for it in turn.

A circuit breaker (Nygard, "Release It!", 2007): after a failure nobody asks for a while; then one asks, and
the others go on without until that one has its answer. The pause doubles with every failure in a row, and one
answer ends it. Nothing runs in the background: whoever comes after the pause is the one who asks.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from memorata.model.checks import above, at_least, within
from memorata.model.errors import EmbedderError, ServiceUnreachable

QUESTION_SECONDS: Final = 5.0
"""How long a question waits for its vector, if nothing else is said."""
LONGEST_QUESTION: Final = 600.0
"""How long it can be told to wait."""
FIRST_PAUSE: Final = 5.0
"""Seconds for which a service that failed once is left alone."""
LONGEST_PAUSE: Final = 60.0
"""Seconds after which a service is asked again, however often it failed."""

_Answer = TypeVar("_Answer")


class CircuitBreaker:
    """Whether a service may be asked just now.

    Parameters
    ----------
    first_pause, longest_pause
        Seconds for which nobody asks after one failure, and the most of any number of them.
    silence_only
        Whether only a service that says nothing is left alone, and not one that answers with an error.
    clock
        A monotonic clock in seconds.

    Examples
    --------
    >>> def away():
    ...     raise ServiceUnreachable("nobody is there")
    >>> breaker = CircuitBreaker(clock=lambda: 100.0)
    >>> for _ in range(2):
    ...     try:
    ...         breaker.ask(away)
    ...     except ServiceUnreachable as error:
    ...         print(error)
    nobody is there
    nobody is there (it is not asked again for 5 s)
    """

    def __init__(
        self,
        *,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = LONGEST_PAUSE,
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

    def ask(self, call: Callable[[], _Answer], *, anyway: bool = False) -> _Answer:
        """Return what `call` returns, unless the service is to be left alone.

        Parameters
        ----------
        call
            Asks the service.
        anyway
            Whether to ask even so: for those who would rather wait than do without. What comes of it counts
            for the others as well.

        Raises
        ------
        ServiceUnreachable
            The service did not answer, or did not a short while ago.
        """
        with self._lock:
            known = self._failures
            if known and not anyway:
                left = self._until - self._clock()
                if left > 0:
                    raise ServiceUnreachable(f"{self._why} (it is not asked again for {math.ceil(left)} s)")
                # This one asks; for as long as it waits, or if it never tells, the others do without.
                self._until = self._clock() + self._pause()
        try:
            answer = call()
        except ServiceUnreachable as error:
            if error.status is None or not self._silence_only:
                self._failed(str(error), known)
            else:
                self.answered()
            raise
        except EmbedderError:
            # It refused, or said something odd; but it is there.
            self.answered()
            raise
        self.answered()
        return answer

    def failed(self, why: str) -> None:
        """Hear that the service did not answer somebody who did not ask by way of this."""
        self._failed(why, self._failures)

    def answered(self) -> None:
        """Hear that the service is there."""
        with self._lock:
            self._why, self._failures, self._until = "", 0, 0.0

    def _pause(self) -> float:
        # The exponent is bounded: a service may be away for months.
        doubled: float = self._first * 2.0 ** min(max(self._failures - 1, 0), 32)
        return min(self._longest, doubled)

    def _failed(self, why: str, known: int) -> None:
        with self._lock:
            # Those who asked together have met one failure, not many in a row.
            if self._failures == known:
                self._failures += 1
            self._why, self._until = why, self._clock() + self._pause()


def checked_seconds(argument: str, seconds: float) -> float:
    """Return for how long a question is to wait.

    Examples
    --------
    >>> checked_seconds("question_seconds", 2.5)
    2.5
    """
    return above(argument, within(argument, seconds, 0.0, LONGEST_QUESTION), 0.0)
