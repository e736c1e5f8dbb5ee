"""A fair queue: a few workers shared among callers, however many requests each of them sends.

Each caller has a queue of its own. The next turn goes to the caller that has used the least processor time,
so that one large request weighs as much as many small ones (start-time fair queuing: Goyal, Vin and Cheng,
1996). After a pause a caller starts at the level of the busy ones: unused time is not saved up. While several
callers are active each has one worker at a time; a sole caller has all but one, which is left for the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final

from memorata.model import checks

ACTIVE_SECONDS: Final = 2.0
"""How long after its last turn a caller counts as active."""
_MIN_TURN_SECONDS: Final = 1e-4
"""The least that a turn counts for."""


class Turn:
    """A request that waits for a worker, or has one: `start` is called when it gets it."""

    __slots__ = ("caller", "running", "start", "writing")

    def __init__(self, caller: str, start: Callable[[], None], *, writing: bool = False) -> None:
        self.caller = caller
        self.start = start
        self.writing = writing
        self.running = False


class _Caller:
    """The turns of one caller, and the seconds it has used."""

    __slots__ = ("active_at", "running", "used", "waiting")

    def __init__(self, used: float) -> None:
        self.waiting: deque[Turn] = deque()
        self.running = 0
        self.used = used
        self.active_at = 0.0


class FairQueue:
    """Shares `workers` among callers, of which `writers` at most may be writing.

    The caller `""` stands for all callers together.
    """

    def __init__(self, workers: int, writers: int, ticks: Callable[[], float] = monotonic) -> None:
        self._workers = checks.whole("workers", workers, 1)
        self._free = workers
        self._free_to_write = checks.whole("writers", writers, 1)
        self._ticks = ticks
        self._callers: dict[str, _Caller] = {}
        self._now = 0.0

    def waiting(self, caller: str) -> int:
        """Return how many turns a caller waits for."""
        state = self._callers.get(caller)
        return 0 if state is None else len(state.waiting)

    def add(self, turn: Turn) -> None:
        """Queue a request; its turn may come at once."""
        state = self._callers.get(turn.caller)
        if state is None:
            state = self._callers[turn.caller] = _Caller(self._now)
        if not state.waiting and not state.running:
            state.used = max(state.used, self._now)
        state.waiting.append(turn)
        state.active_at = self._ticks()
        self._start_next()

    def withdraw(self, turn: Turn) -> None:
        """Withdraw a request, whether it is running or waiting."""
        if turn.running:
            self.end(turn, 0.0)
        elif (state := self._callers.get(turn.caller)) is not None and turn in state.waiting:
            state.waiting.remove(turn)

    def end(self, turn: Turn, seconds: float) -> None:
        """End a request that took so much processor time."""
        state = self._callers[turn.caller]
        turn.running = False
        state.running -= 1
        state.used += max(seconds, _MIN_TURN_SECONDS)
        state.active_at = self._ticks()
        self._free += 1
        self._free_to_write += turn.writing
        self._start_next()
        self._drop_inactive()

    def _start_next(self) -> None:
        while self._free and (turn := self._next()) is not None:
            state = self._callers[turn.caller]
            state.waiting.remove(turn)
            state.running += 1
            turn.running = True
            self._now = max(self._now, state.used)
            self._free -= 1
            self._free_to_write -= turn.writing
            turn.start()

    def _next(self) -> Turn | None:
        """Return the next turn; None if none may start now."""
        since = self._ticks() - ACTIVE_SECONDS
        # The caller that stands for all takes nothing from another.
        active = sum(
            bool(name and (state.waiting or state.running or state.active_at > since))
            for name, state in self._callers.items()
        )
        share = 1 if active > 1 else max(1, self._workers - 1)
        candidates = [
            (state.used, number, turn)
            for number, (name, state) in enumerate(self._callers.items())
            if (state.running < share or not name) and (turn := self._first(state)) is not None
        ]
        return min(candidates)[2] if candidates else None

    def _first(self, state: _Caller) -> Turn | None:
        """Return the first of a caller's requests that may start; a write that has to wait is passed."""
        return next((turn for turn in state.waiting if self._free_to_write or not turn.writing), None)

    def _drop_inactive(self) -> None:
        """Drop callers that have been inactive for long enough to start anew."""
        since = self._ticks() - ACTIVE_SECONDS
        for name, state in list(self._callers.items()):
            inactive = not state.waiting and not state.running and state.active_at <= since
            if inactive and state.used <= self._now:
                del self._callers[name]
