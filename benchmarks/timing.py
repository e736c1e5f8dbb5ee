"""Time several ways of doing the same thing side by side, so that a busy machine is unfair to nobody.

Every round runs each contender once, in turn, and a different one goes first each time. A slow moment then
falls on all of them, and each has its share of quiet ones. What is measured is the processor's time for this
process, which the other programs on the machine do not add to, and which is the time that passes when there
are none, since nothing here waits and everybody has one thread. The ratio is that of the best times.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Run = Callable[[], Any]

_MOST_ROUNDS = 200
_SECONDS = 1.5
"""No new round begins after this long, unless fewer than `_LEAST_ROUNDS` were run."""
_LEAST_ROUNDS = 7
_BATCH_SECONDS = 0.001
"""Calls are repeated until they fill this long: far above the clock's resolution, and short enough to fall
between two interruptions."""
_FEW_ROUNDS = 5
_BEHIND = 10
"""A contender this many times slower than ours is left out after `_FEW_ROUNDS`, to give the rest more."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another way of computing the same answer.

    Parameters
    ----------
    name
        What the table calls it.
    run
        Computes the answer once.
    answer
        Makes numbers of what `run` returns, to be compared with those of ours; None where the two cannot
        agree by design, which the subject then explains.
    is_library
        Whether it is a library that people would pick; hand-written Python otherwise.
    """

    name: str
    run: Run
    answer: Callable[[Any], Any] | None
    is_library: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """Something we compute, and the others who compute it too."""

    name: str
    run: Run
    answer: Callable[[Any], Any]
    rivals: Sequence[Rival]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of a report, in seconds per call."""

    subject: str
    size: int
    rival: str
    is_library: bool
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """How many times as long the rival takes; above 1 we are faster."""
        return self.theirs / self.ours


def compared(subject: Subject, size: int) -> Iterator[Comparison]:
    """Check that all contenders agree, then time them against each other."""
    ours = subject.answer(subject.run())
    for rival in subject.rivals:
        theirs = rival.run()
        if rival.answer is not None:
            np.testing.assert_allclose(
                rival.answer(theirs),
                ours,
                rtol=1e-4,
                atol=1e-5,
                err_msg=f"{subject.name} against {rival.name}",
            )
    times = interleaved({"": subject.run} | {rival.name: rival.run for rival in subject.rivals})
    for rival in subject.rivals:
        yield Comparison(
            subject.name, size, rival.name, rival.is_library, min(times[""]), min(times[rival.name])
        )


def interleaved(runs: Mapping[str, Run]) -> dict[str, list[float]]:
    """Return the seconds per call of each contender, ours first, one figure per round."""
    calls = {name: _calls_per_batch(run) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    begun = time.perf_counter()
    with _collector_off():
        for turn in range(_MOST_ROUNDS):
            if turn >= _LEAST_ROUNDS and time.perf_counter() - begun > _SECONDS:
                break
            if turn == _FEW_ROUNDS:
                names = [name for name in names if min(times[name]) < _BEHIND * min(times[names[0]])]
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                times[name].append(_timed(runs[name], calls[name]))
    return times


def shown(title: str, comparisons: Sequence[Comparison]) -> None:
    """Print the comparisons as a table."""
    table = Table(title=title, title_justify="left")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in _TEXT else "right")
    for line in comparisons:
        style = "" if line.ratio >= 1 else "yellow"
        table.add_row(*_cells(line), style=style)
    Console(width=None if Console().is_terminal else 120).print(table)


def as_markdown(title: str, comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown table under a heading."""
    rule = [":--" if heading in _TEXT else "--:" for heading in _HEADINGS]
    rows = [_HEADINGS, rule, *map(_cells, comparisons)]
    return "\n".join([f"### {title}", "", *("| " + " | ".join(row) + " |" for row in rows), ""])


def written(path: Path, parts: Sequence[str]) -> None:
    """Write the Markdown parts to `path`."""
    path.write_text("\n".join(parts), encoding="utf-8")


_HEADINGS = ["subject", "candidates", "ours", "against", "theirs", "ratio"]
_TEXT = {"subject", "against"}


def _cells(line: Comparison) -> list[str]:
    size, ratio = f"{line.size:,}", f"{line.ratio:.2f}"
    return [line.subject, size, _span(line.ours), line.rival, _span(line.theirs), ratio]


def _span(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def _calls_per_batch(run: Run) -> int:
    """Return how many calls fill a batch; asking also warms caches and compilers up."""
    calls = 1
    while (spent := _timed(run, calls) * calls) < _BATCH_SECONDS / 2:
        calls *= 2
    return max(1, round(calls * _BATCH_SECONDS / spent))


def _timed(run: Run, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


@contextmanager
def _collector_off() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
