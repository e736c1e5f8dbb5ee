"""How the engine grows with the number of memories, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes

from benchmarks.engine_report import Growth


def plotted(path: Path, growth: Sequence[Growth]) -> None:
    """Draw four panels, sizes from left to right on a logarithmic scale, targets as crosses."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    sizes = [at.size for at in growth]
    recall, writing, starting, memory = panels.ravel()
    recall.plot(sizes, [at.keywords * 1e3 for at in growth], "o-", label="few words, median")
    recall.plot(sizes, [at.natural * 1e3 for at in growth], "s-", label="natural question, median")
    recall.plot(
        sizes, [at.p99 * 1e3 for at in growth], "^--", color="tab:gray", label="99th percentile, worse kind"
    )
    recall.plot([1e4, 1e5, 1e6], [1, 4, 25], "kx", markersize=10, label="target, median")
    _labelled(recall, "Hybrid recall, vector given", "milliseconds", log=True)
    writing.plot(sizes, [at.rate for at in growth], "o-", label="vectors given, batches of 1,000")
    writing.axhline(8_000, color="black", linestyle=":", label="target")
    _labelled(writing, "Remember", "memories per second")
    starting.plot(sizes, [at.first_answer for at in growth], "o-", label="new process to first answer")
    starting.plot([1e5], [1], "kx", markersize=10, label="target")
    _labelled(starting, "Cold start, vector given", "seconds")
    memory.plot(sizes, [at.resident for at in growth], "o-", label="resident memory")
    memory.plot(sizes, [at.file for at in growth], "s-", label="file")
    memory.plot([1e6], [1_200], "kx", markersize=10, label="target, resident")
    _labelled(memory, "Memory and disk", "megabytes", log=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _labelled(panel: Axes, title: str, unit: str, *, log: bool = False) -> None:
    panel.set(title=title, xlabel="memories in the namespace", ylabel=unit, xscale="log")
    if log:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    panel.grid(visible=True, which="major", alpha=0.3)
    panel.legend(frameon=False)
