"""Rate limits: a token bucket for each caller (Turner, 1986).

A bucket holds up to `burst` tokens and fills at `rate` a second; a request takes one. Only whoever called
lately has a bucket: a full one is the same as none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

from memorata.model import checks

MAX_BUCKETS: Final = 10_000
"""How many callers are remembered; those who called longest ago go first."""


class RateLimiter:
    """The token buckets of all callers.

    Parameters
    ----------
    rate
        Tokens a second; None for no limit.
    burst
        How many a full bucket holds.
    ticks
        Counts seconds.

    Examples
    --------
    >>> seconds = iter([0.0, 0.0, 0.0, 2.0])
    >>> buckets = RateLimiter(0.5, 2, lambda: next(seconds))
    >>> [buckets.take("anna") for _ in range(4)]
    [0.0, 0.0, 2.0, 0.0]
    """

    def __init__(self, rate: float | None, burst: int, ticks: Callable[[], float] = monotonic) -> None:
        self._rate = None if rate is None else checks.above("rate", rate, 0)
        self._burst = checks.whole("burst", burst, 1)
        self._ticks = ticks
        self._kept: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take a token of a caller's, and return 0; if there is none, return in how many seconds there is."""
        if self._rate is None:
            return 0.0
        now = self._ticks()
        tokens, since = self._kept.pop(caller, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - since) * self._rate)
        lacking = max(0.0, 1.0 - tokens)
        self._kept[caller] = (tokens if lacking else tokens - 1.0), now
        while len(self._kept) > MAX_BUCKETS:
            self._kept.popitem(last=False)
        return lacking / self._rate
