"""How long an answer takes: contenders asked the same questions in turns, by the clock on the wall.

Engines wait for disks and compute on threads, so neither the best time nor the processor's time of one
thread says what a person waits; the median and the slowest in a hundred of many different questions do. Each
question is put to every contender before the next one, and a different contender goes first each time, so
that a slow moment of the machine falls on all of them. The processor's time of the whole process is kept
beside it: on a busy machine it says what the wall clock would show on an idle one.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

_Question = TypeVar("_Question")


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds per call: one figure per question."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def median(self) -> float:
        """The wall time that half of the calls stay below."""
        return float(np.median(self.wall))

    @property
    def p99(self) -> float:
        """The wall time that 99 in 100 calls stay below."""
        return float(np.percentile(self.wall, 99))

    @property
    def processor_median(self) -> float:
        """The processor time that half of the calls stay below."""
        return float(np.median(self.processor))

    @property
    def processor_p99(self) -> float:
        """The processor time that 99 in 100 calls stay below."""
        return float(np.percentile(self.processor, 99))


def asked(
    contenders: Mapping[str, Callable[[_Question], Any]], questions: Sequence[_Question]
) -> dict[str, Spread]:
    """Put every question to every contender, in turns, and return the times of each."""
    names = list(contenders)
    wall: dict[str, list[float]] = {name: [] for name in names}
    processor: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for turn, question in enumerate(questions):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            run = contenders[name]
            began, used = time.perf_counter(), time.process_time()
            run(question)
            processor[name].append(time.process_time() - used)
            wall[name].append(time.perf_counter() - began)
    return {name: Spread(tuple(wall[name]), tuple(processor[name])) for name in names}


def load() -> float:
    """Return how many processes wanted a processor during the last minute; 0 where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def milliseconds(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> milliseconds(0.000412), milliseconds(0.0123)
    ('0.41 ms', '12.3 ms')
    """
    value = seconds * 1e3
    return f"{value:.2f} ms" if value < 10 else f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
