"""How fast the engine is: against its targets, against the engines people would use, and as it grows.

Run ``python -m benchmarks.engine``. Question vectors are given unless a line says otherwise. Databases are
built once per run in ``--work``, a temporary folder by default, and removed with it. numpy computes on one
thread, since two on a busy machine wait for each other; the peers use as many as they like.

``--beside FOLDER:PACKAGE`` compares with another edition of the engine instead, such as
``../before/src:memorata``: each works in a process of its own, on a database that it wrote itself, and they
take turns every twenty calls.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded
from benchmarks.engine_child import Edition, compared, started
from benchmarks.engine_recall import (
    at_size,
    embedding_figures,
    filtered_figures,
    namespace_figures,
    recall_figures,
)
from benchmarks.engine_report import Figure, Growth, as_markdown, shown
from benchmarks.engine_start import first_answer, fresh_processes, import_figures, resident
from benchmarks.engine_store import Built, built
from benchmarks.engine_write import batch_figure, durable_figures
from benchmarks.latency import load
from benchmarks.timing import written

_MILLION = 1_000_000
_BESIDE_PEERS = 10_000
_BESIDE_BARE = 100_000


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for, and say how many targets were met."""
    options = _options(arguments)
    if options.work is not None:
        options.work.mkdir(parents=True, exist_ok=True)
    growth: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="memorata-engine-", dir=options.work) as folder:
        if options.beside is not None:
            figures = list(beside(options, Path(folder)))
        else:
            figures, growth = measured(options, Path(folder))
    heading = _heading()
    shown(heading, figures)
    if options.markdown:
        written(options.markdown, [as_markdown(heading, figures)])
    if options.plot:
        from benchmarks.engine_plot import plotted

        plotted(options.plot, growth)
    aimed = [figure.met for figure in figures if figure.met is not None]
    print(f"{len(aimed)} targets, {sum(aimed)} of them met.")
    return 0


def measured(options: argparse.Namespace, work: Path) -> tuple[list[Figure], list[Growth]]:
    """Measure everything that was asked for."""
    figures: list[Figure] = []
    growth: list[Growth] = []
    for size in options.sizes:
        _progress(f"{size:,} memories …")
        made = built(work, size)
        grown, found = as_it_grows(work, made)
        growth.append(grown)
        figures += found
        for figure in at_one_size(options, work, made):
            _progress(f"  {figure.what}: {figure.measured}")
            figures.append(figure)
        made.path.unlink()
    _progress("namespaces, embedding, imports …")
    figures += namespace_figures(work)
    if options.embedder:
        figures += embedding_figures(work, _BESIDE_PEERS)
    figures += import_figures()
    return figures, growth


def beside(options: argparse.Namespace, work: Path) -> Iterator[Figure]:
    """Measure this edition beside another, size by size."""
    editions = Edition.this()._replace(name="now"), options.beside._replace(name="before")
    for size in options.sizes:
        _progress(f"{size:,} memories …")
        paths = {edition.name: work / f"{edition.name}-{size}.db" for edition in editions}
        with ExitStack() as stack:
            processes = started(stack, editions, work / "bytecode")
            for figure in compared(processes, {name: str(path) for name, path in paths.items()}, size):
                _progress(f"  {figure.what}: {figure.measured}")
                yield figure
        yield from fresh_processes(work, editions, paths, size)
        for path in paths.values():
            path.unlink()


def as_it_grows(work: Path, made: Built) -> tuple[Growth, list[Figure]]:
    """Measure what is measured at every size."""
    few, whole = at_size(made)
    figures = [*recall_figures(made.size, few, whole), batch_figure(made)]
    seconds, started = first_answer(work, made)
    megabytes, held = resident(work, made)
    p99 = max(few.p99, whole.p99)
    grown = Growth(made.size, few.median, whole.median, p99, made.rate, seconds, megabytes, made.megabytes)
    return grown, [*figures, *started, *held]


def at_one_size(options: argparse.Namespace, work: Path, made: Built) -> Iterator[Figure]:
    """Measure what is measured at one size only."""
    if made.size == _BESIDE_PEERS:
        yield from durable_figures(work, made)
    if made.size == _BESIDE_BARE:
        yield from filtered_figures(made)
    if options.peers:
        # They are in the extra `bench`, and not needed for the rest.
        from benchmarks.engine_fast import fast_figures
        from benchmarks.engine_rivals import bare_figures, peer_figures

        if made.size == _BESIDE_PEERS:
            yield from peer_figures(work, made)
            if options.embedder:
                yield from fast_figures(work, made.size)
        if made.size == _BESIDE_BARE:
            yield from bare_figures(made)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[1_000, 10_000, 100_000],
        help="how many memories, such as 1000,10000",
    )
    parser.add_argument("--million", action="store_true", help="a million memories too; takes 4 GB of disk")
    parser.add_argument(
        "--beside", type=Edition.of, metavar="FOLDER:PACKAGE", help="another edition to compare with instead"
    )
    parser.add_argument("--peers", action="store_true", help="compare with other engines and bare searches")
    parser.add_argument(
        "--no-embedder", dest="embedder", action="store_false", help="leave out what needs a real model"
    )
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where the databases are made")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="also draw how it grows")
    options = parser.parse_args(arguments)
    if options.million and _MILLION not in options.sizes:
        options.sizes.append(_MILLION)
    return options


def _heading() -> str:
    machine = f"{os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"
    return f"engine ({machine}; load average {load():.1f} at the end)"


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
