"""Memorata on PostgreSQL beside Memorata in a file, and beside the hybrid query that people write by hand.

Run ``python -m benchmarks.postgres``. The same memories with the same vectors are written by everybody, and
the same questions put to everybody in turns: 100,000 in one namespace, and 1,000 namespaces with 1,000 each
(``--one``, ``--namespaces``, ``--each``; ``--quick`` for a look in a minute). The server is a real one, from
a package, and as durable as delivered. ``--keep FOLDER`` keeps the databases: a build that was interrupted
goes on, and one that is complete is not done again. ``--locomo FILE --cache vectors.db`` measures the quality
of both stores on LoCoMo instead. ``--beside FOLDER:PACKAGE`` compares this edition on PostgreSQL with itself
in a file and with another edition on PostgreSQL instead, each in a process of its own and in turns, at
``--sizes`` memories a namespace.

Times are by the clock on the wall, in one process that asks one question at a time. "server" is the processor
time of the database's own processes for one recall, "client" that of the process that asks.
"""

from __future__ import annotations

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.engine_child import Edition, compared, started
from benchmarks.engine_data import CHUNK, Batch
from benchmarks.engine_report import Figure, as_markdown
from benchmarks.latency import Spread, asked, load, milliseconds
from benchmarks.postgres_contenders import Asked, Contender, Shape, Single, following, opened, singles
from benchmarks.postgres_databases import Diary, Written, built, log_position, progress
from benchmarks.postgres_scale import NAME, Figures
from benchmarks.postgres_server import SETTINGS, Running, processor_seconds, running
from benchmarks.postgres_sizes import size_rows, table_sizes
from benchmarks.timing import written

_WARMING = 40
_TOUCHED = 40
_LOGGED = 20
_LOADS = 9
_SLOWER = 0.0015
"""How many seconds longer a warm recall on a server may take than one in a file."""


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for, print it as Markdown, and write it to a file."""
    options = _options(arguments)
    lines: list[str] = []

    def say(some: Iterable[str]) -> None:
        # At once: the next of it may take a quarter of an hour.
        for line in some:
            print(line, flush=True)
            lines.append(line)

    with _folder(options.keep) as folder, running(folder / "server") as server:
        say(_heading(server))
        if options.locomo is not None:
            from benchmarks.postgres_quality import quality

            say(quality(server, options.locomo, options.cache))
        elif options.beside is not None:
            figures = [figure for size in options.sizes for figure in beside(options, server, folder, size)]
            say(as_markdown("this edition beside another", figures).splitlines())
        else:
            for shape in (Shape(1, options.one), Shape(options.namespaces, options.each)):
                progress(f"{shape} …")
                say(measured(shape, server, folder, options))
        say([f"Load average {load():.1f} at the end."])
    if options.markdown:
        written(options.markdown, lines)
    return 0


def beside(options: argparse.Namespace, server: Running, folder: Path, size: int) -> Iterator[Figure]:
    """Measure this edition on the server beside itself in a file, and beside another on the server."""
    progress(f"{size:,} memories in a namespace …")
    this = Edition.this()
    editions = (
        this._replace(name="on the server"),
        this._replace(name="in a file"),
        options.beside._replace(name="before, on the server"),
    )
    places = {
        "on the server": server.made(f"now_{size}"),
        "in a file": str(folder / f"now-{size}.db"),
        "before, on the server": server.made(f"before_{size}"),
    }
    with ExitStack() as stack:
        processes = started(stack, editions, folder / "bytecode")
        wanted = {"questions": options.questions, "writes": options.singles}
        for figure in compared(processes, places, size, **wanted, slower={"in a file": _SLOWER}):
            progress(f"  {figure.what}: {figure.measured}")
            yield figure
        # Opened again, nobody has anything of the namespace in memory: its first answer loads it.
        loads: dict[str, list[float]] = {name: [] for name in processes}
        for turn in range(_LOADS):
            for name, process in processes.items():
                process.do("open", places[name])
                ((wall, _),), _ = process.do("recall", None, size, _LOADS, 3, turn, turn + 1)
                loads[name].append(wall)
    said = ", ".join(f"{name} {milliseconds(float(np.median(times)))}" for name, times in loads.items())
    yield Figure("first recall after opening, medians", size, said)


def measured(shape: Shape, server: Running, folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Yield what is measured for one shape."""
    contenders = opened(shape, server, folder)
    figures = Figures()
    diary = Diary(folder / "built.json")
    try:
        costs = {contender.name: built(contender, shape, server, diary) for contender in contenders}
        yield f"### {shape}"
        yield ""
        yield from recalls(shape, contenders, options.questions, figures)
        yield from writes(shape, contenders, costs, options, server, figures)
        yield from sizes(contenders, server, figures)
        yield "The same as docs/scale.md has it:"
        yield ""
        yield "```"
        yield from figures.lines()
        yield "```"
        yield ""
    finally:
        for contender in contenders:
            contender.close()


def recalls(shape: Shape, contenders: Sequence[Contender], count: int, figures: Figures) -> Iterator[str]:
    """Yield a table of how long a recall takes, in a namespace that was not asked before and in others."""
    found: dict[str, list[bool]] = {}

    def noting(name: str, run: Callable[[Asked], list[str]]) -> Callable[[Asked], None]:
        def answer(each: Asked) -> None:
            found[name].append(each.question.answer in run(each))

        return answer

    runs = {name: noting(name, run) for each in contenders for name, run in each.ways().items()}
    processes = {name: pids for each in contenders for name, pids in each.processes().items()}
    found |= {name: [] for name in runs}
    passes: dict[str, dict[str, Spread]] = {}
    server: dict[str, float] = {}
    if shape.namespaces == 1:
        asked(runs, shape.questions(_WARMING, 2))
        plan = {"": shape.questions(count, 1)}
    else:
        drawn = shape.questions(count, 1)
        order = np.random.default_rng(1).permutation(count)
        plan = {", first of its namespace": drawn, "": [drawn[place] for place in order]}
    for label, questions in plan.items():
        found |= {name: [] for name in runs}
        before = {name: sum(map(processor_seconds, processes.get(name, ()))) for name in runs}
        passes[label] = asked(runs, questions)
        server = {name: sum(map(processor_seconds, processes.get(name, ()))) - before[name] for name in runs}
    yield f"| recall, {count} questions | p50 | p99 | × the file | server | client | found |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for label, times in passes.items():
        file = times["Memorata in a file"].median
        for name, spread in times.items():
            cells = [milliseconds(spread.median), milliseconds(spread.p99), f"{spread.median / file:.1f}"]
            if label:
                cells += ["", "", ""]
            else:
                cells += [
                    milliseconds(server[name] / count) if processes.get(name) else "",
                    milliseconds(float(np.mean(spread.processor))),
                    f"{np.mean(found[name]):.0%}",
                ]
            yield f"| {name}{label} | " + " | ".join(cells) + " |"
    yield ""
    yield "found: the memory that a question was made from is among the ten."
    yield ""
    touched = {
        name: touched_pages(each.pages, run, questions[:_TOUCHED])
        for each in contenders
        if each.database is not None
        for name, run in each.ways().items()
    }
    pages = "; ".join(f"{name} {count:,.0f}" for name, count in touched.items())
    yield f"Pages of 8 kB that a recall touches: {pages}."
    yield ""
    figures.recall_server, figures.pages = server[NAME] / count, touched[NAME]
    figures.recall_client = float(np.mean(passes[""][NAME].processor))


def touched_pages(count: Callable[[], int], run: Callable[[Asked], object], questions: list[Asked]) -> float:
    """Return how many pages of tables and indexes a recall looks at, in memory or on the disk."""
    before = count()
    for question in questions:
        run(question)
    return (count() - before) / len(questions)


def writes(
    shape: Shape,
    contenders: Sequence[Contender],
    costs: dict[str, Written],
    options: argparse.Namespace,
    server: Running,
    figures: Figures,
) -> Iterator[str]:
    """Yield tables of how fast memories are written: at first, and now, in batches and one by one."""
    yield (
        f"| filling, {CHUNK:,} at a time | memories/s | with indexes built after | server | client "
        "| log, bytes a memory |"
    )
    yield "|---|--:|--:|--:|--:|--:|"
    for each in contenders:
        cost = costs[each.name]
        cells = (
            f"{cost.rate:,.0f}",
            f"{cost.rate_with_indexes:,.0f}",
            milliseconds(cost.server / cost.memories) if each.database is not None else "",
            milliseconds(cost.client / cost.memories),
            f"{cost.log / cost.memories:,.0f}" if each.database is not None else "",
        )
        yield f"| {each.name} | " + " | ".join(cells) + " |"
    yield ""
    yield (
        f"| writing more | {options.batches} batches, memories/s | {options.singles} single, memories/s "
        "| p50 | p99 | server | client | log, bytes |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for dedupe, label in ((True, ", duplicates looked for"), (False, "")):
        some = [each for each in contenders if each.dedupes or not dedupe]
        yield from more_writes(shape, some, options, label, server, figures, dedupe=dedupe)
    yield ""


def more_writes(
    shape: Shape,
    contenders: Sequence[Contender],
    options: argparse.Namespace,
    label: str,
    server: Running,
    figures: Figures,
    *,
    dedupe: bool,
) -> Iterator[str]:
    """Yield rows of a table of how fast memories that nobody has yet are written."""
    already = max(each.count() for each in contenders)
    batched: list[tuple[Batch, list[str]]] = following(shape, already, options.batches)
    single = singles(shape, already + options.batches * CHUNK, options.singles + _LOGGED)
    single, logged = single[: options.singles], single[options.singles :]

    def many(each: Contender) -> Callable[[tuple[Batch, list[str]]], None]:
        return lambda given: each.add(*given, dedupe=dedupe)

    def one(each: Contender) -> Callable[[Single], None]:
        return lambda given: each.add_one(given, dedupe=dedupe)

    def spent() -> dict[str, float]:
        return {
            each.name: sum(processor_seconds(pid) for pids in each.processes().values() for pid in pids)
            for each in contenders
        }

    in_batches = asked({each.name: many(each) for each in contenders}, batched)
    before = spent()
    alone = asked({each.name: one(each) for each in contenders}, single)
    after = spent()
    for each in contenders:
        spread, served = alone[each.name], (after[each.name] - before[each.name]) / len(single)
        log = log_bytes(server, one(each), logged) if each.database else 0.0
        if dedupe and each.name == NAME:
            figures.write_server, figures.write_log = served, log
            figures.write_client = float(np.mean(spread.processor))
        cells = (
            f"{options.batches * CHUNK / sum(in_batches[each.name].wall):,.0f}",
            f"{len(single) / sum(spread.wall):,.0f}",
            milliseconds(spread.median),
            milliseconds(spread.p99),
            milliseconds(served) if each.database else "",
            milliseconds(float(np.mean(spread.processor))),
            f"{log:,.0f}" if each.database else "",
        )
        yield f"| {each.name}{label} | " + " | ".join(cells) + " |"


def log_bytes(server: Running, write: Callable[[Single], None], given: Sequence[Single]) -> float:
    """Return how many bytes of the server's log one memory makes, written on its own."""
    before = log_position(server)
    for each in given:
        write(each)
    return (log_position(server) - before) / len(given)


def sizes(contenders: Sequence[Contender], server: Running, figures: Figures) -> Iterator[str]:
    """Yield a table of the bytes that a memory takes."""
    yield "| bytes a memory | rows | indexes | HNSW | total |"
    yield "|---|--:|--:|--:|--:|"
    for each in contenders:
        if each.database is not None:
            found = table_sizes(server.made(each.database))
            if each.name == NAME:
                figures.tables, figures.memories = tuple(found), each.count()
            for row in size_rows(each.name, each.count(), found):
                yield "| " + " | ".join(row) + " |"
    yield ""


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    """Give a folder that is kept, or a temporary one that is not."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="memorata-pg-") as made:
        # A server that root starts does not run as root, and needs a way there.
        Path(made).chmod(0o755)
        yield Path(made)


def _heading(server: Running) -> list[str]:
    machine = f"{os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"
    settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    when = datetime.now(UTC).date()
    return [f"PostgreSQL, {when}: {server.version()} ({settings}); {machine}.", ""]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgres", description=__doc__)
    parser.add_argument("--one", type=int, default=100_000, help="memories in the one large namespace")
    parser.add_argument("--namespaces", type=int, default=1_000, help="how many small namespaces")
    parser.add_argument("--each", type=int, default=1_000, help="how many memories each of them has")
    parser.add_argument("--questions", type=int, default=200, help="how many are asked")
    parser.add_argument("--batches", type=int, default=2, help="how many more batches are written")
    parser.add_argument("--singles", type=int, default=200, help="how many memories are written one by one")
    parser.add_argument("--quick", action="store_true", help="few of everything: does it run?")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep the databases there, and reuse them"
    )
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="measure quality on LoCoMo instead")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="the file that keeps vectors for it")
    parser.add_argument(
        "--beside", type=Edition.of, metavar="FOLDER:PACKAGE", help="another edition to compare with instead"
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[100, 1_000, 10_000, 100_000],
        help="with --beside, how many memories a namespace has, such as 100,10000",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables to FILE")
    options = parser.parse_args(arguments)
    if options.locomo is not None and options.cache is None:
        parser.error("--locomo needs --cache")
    if options.quick:
        quick = {"one": 3_000, "namespaces": 20, "each": 100, "questions": 20, "batches": 1, "singles": 20}
        vars(options).update(quick)
    return options


if __name__ == "__main__":
    sys.exit(main())
