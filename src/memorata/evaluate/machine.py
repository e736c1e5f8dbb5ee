"""What a run cost the machine it ran on: memory, and what embedding a question takes.

It is kept beside the run and not in it, for it says nothing about the rankings. The time of a question's
vector is measured by itself, on a few questions and with the model at work: in an evaluation most vectors
come out of a cache, and the time to look one up is nobody's latency.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.port import Embedder
from memorata.model import checks
from memorata.model.errors import DatasetError, InvalidArgument

TIMED: Final = 32
"""How many questions are embedded to see how long it takes."""


@frozen
class Machine:
    """Where a run was made and what it took.

    Parameters
    ----------
    python, system, processors
        What it ran on.
    peak_megabytes
        The most memory the process had at once, the embedder's model included; None where the system does
        not tell.
    embedding_p50, embedding_p95
        Milliseconds to embed one question; None if no embedder was asked.
    """

    python: str
    system: str
    processors: int
    peak_megabytes: float | None = None
    embedding_p50: float | None = None
    embedding_p95: float | None = None


def machine(times: Sequence[float] = ()) -> Machine:
    """Return this machine, with the memory used so far and the spread of embedding times.

    Examples
    --------
    >>> machine([1.0, 3.0]).embedding_p50
    2.0
    """
    half, most = np.percentile(times, [50, 95]).tolist() if len(times) else (None, None)
    return Machine(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        processors=os.cpu_count() or 1,
        peak_megabytes=peak_megabytes(),
        embedding_p50=half,
        embedding_p95=most,
    )


def embedding_times(embedder: Embedder, texts: Sequence[str]) -> list[float]:
    """Return how many milliseconds each of the first questions takes to embed, the model being loaded."""
    some = list(dict.fromkeys(filter(None, texts)))[:TIMED]
    if some:
        embedder.embed_query(some[0])
    times = []
    for text in some:
        started = perf_counter()
        embedder.embed_query(text)
        times.append((perf_counter() - started) * 1e3)
    return times


def peak_megabytes() -> float | None:
    """Return the most memory this process ever had, or None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def machine_path(run: str | PathLike[str]) -> Path:
    """Return where the machine of a run is written down.

    Examples
    --------
    >>> machine_path("runs/locomo.bm25.jsonl").name
    'locomo.bm25.machine.json'
    """
    path = Path(run)
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.machine.json")


def write_machine(run: str | PathLike[str], found: Machine) -> None:
    """Write down the machine of a run, beside it."""
    machine_path(run).write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")


def read_machine(run: str | PathLike[str]) -> Machine | None:
    """Return the machine of a run; None if nobody wrote it down."""
    path = machine_path(run)
    if not path.exists():
        return None
    try:
        found = Machine(**json.loads(path.read_text(encoding="utf-8")))
        checks.whole("processors", found.processors, 1)
        for name in ("peak_megabytes", "embedding_p50", "embedding_p95"):
            if getattr(found, name) is not None:
                checks.at_least(name, getattr(found, name), 0)
    except (ValueError, TypeError, RecursionError, InvalidArgument) as error:
        raise DatasetError(path, None, f"not the machine of a run: {error}") from error
    return found
