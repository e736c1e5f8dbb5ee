"""What other processes do for the benchmarks; each says its result as a line of JSON.

``python -m benchmarks.engine_child cold DATABASE QUESTIONS [PACKAGE]`` opens, answers one question and says
how long each step took. With ``resident`` it answers them all and says how much memory that left it with.
With ``serve PACKAGE`` it obeys the commands that an :class:`Edition` writes to it, line by line, until there
are no more.

PACKAGE is the package of an edition of the engine, this one's by default. Nothing here imports one at the
top, so that an earlier edition, in a folder and under a name of its own, does the same work in the same way.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from memorata import Query

began = time.perf_counter()

import numpy as np  # noqa: E402 - the clock starts first

from benchmarks.engine_data import CHUNK, FixedVectors, Question, batches, mixed  # noqa: E402
from benchmarks.engine_report import Figure  # noqa: E402
from benchmarks.latency import Spread, milliseconds  # noqa: E402

LIMIT = 10
THIS = "memorata"
_WARMING = 60
WORST = 1.05
"""How many times the processor time of another edition is acceptable."""
PLAIN_RECIPES = ("elastic", "vector", "bm25")
"""Recipes that do the same in every edition: rank fusion of both legs, and each leg alone."""
_TURN = 20
"""Calls between two turns: few enough that a slow moment of the machine falls on all editions."""


def cold(database: Path, questions: Path, package: str = THIS) -> dict[str, float]:
    """Open and answer one question."""
    open_engine = importlib.import_module(f"{package}.engine").open
    imported = time.perf_counter()
    with np.load(questions) as saved:
        text, vector = str(saved["texts"][0]), saved["vectors"][0]
    start = time.perf_counter()
    engine = open_engine(database, embedder=FixedVectors())
    ready = time.perf_counter()
    hits = engine.recall(Query(text, vector=vector), limit=LIMIT).hits
    done = time.perf_counter()
    return {
        "importing": imported - began,
        "opening": ready - start,
        "recall": done - ready,
        "hits": len(hits),
    }


def resident(database: Path, questions: Path, package: str = THIS) -> dict[str, float]:
    """Answer all questions, and return the memory the process has then, in megabytes."""
    open_engine = importlib.import_module(f"{package}.engine").open
    before = _memory()
    with np.load(questions) as saved:
        texts, vectors = saved["texts"].tolist(), saved["vectors"]
    engine = open_engine(database, embedder=FixedVectors())
    for text, vector in zip(texts, vectors, strict=True):
        engine.recall(Query(text, vector=vector), limit=LIMIT)
    now = _memory()
    return {"before": before["VmRSS"], "now": now["VmRSS"], "mapped": now["RssFile"], "peak": now["VmHWM"]}


class Worker:
    """Obeys the commands of an :class:`Edition`, with one engine open at a time."""

    def __init__(self, package: str) -> None:
        self._open = importlib.import_module(f"{package}.engine").open
        self._embedder = FixedVectors()
        self._engine: Any = None

    def open(self, where: str) -> None:
        """Open a file or a database, and close the one before."""
        self.close()
        self._engine = self._open(where, embedder=self._embedder)

    def close(self) -> None:
        """Close what is open."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def fill(self, first: int, stop: int) -> list[tuple[float, float]]:
        """Write the memories from one number to another, a thousand at a time, and time each batch."""
        times = []
        for number, batch in enumerate(batches(stop, first // CHUNK), first // CHUNK):
            skipped = max(0, first - number * CHUNK)
            self._embedder.give(batch.texts, batch.vectors)
            items = batch.items()[skipped:]
            times.append(_timed(self._engine.remember_many, items))
        return times

    def write(self, first: int, stop: int) -> list[tuple[float, float]]:
        """Write memories one by one, each durable when it returns."""
        times = []
        for number in range(first, stop):
            text, vector = _memory_numbered(number)
            self._embedder.give([text], vector[None])
            times.append(_timed(self._engine.remember, text))
        return times

    def recall(
        self, recipe: str | None, size: int, count: int, seed: int, first: int, stop: int
    ) -> tuple[list[tuple[float, float]], list[list[str]]]:
        """Answer some of the questions about so many memories; return times and the texts of the hits."""
        times: list[tuple[float, float]] = []
        answers: list[list[str]] = []
        for question in _questions(size, count, seed)[first:stop]:
            began, used = time.perf_counter(), time.process_time()
            result = self._engine.recall(
                Query(question.text, vector=question.vector), limit=LIMIT, recipe=recipe
            )
            answers.append([hit.memory.content for hit in result])
            times.append((time.perf_counter() - began, time.process_time() - used))
        return times, answers


class Edition(NamedTuple):
    """An edition of the engine: what it is called in tables, its folder of sources, and its package."""

    name: str
    source: Path
    package: str

    @classmethod
    def of(cls, text: str) -> Edition:
        """Read ``FOLDER:PACKAGE``."""
        source, _, package = text.rpartition(":")
        folder = Path(source)
        if not (folder / package).is_dir():
            raise ValueError(f"{text!r} must be FOLDER:PACKAGE, with the package in the folder")
        return cls(package, folder.resolve(), package)

    @classmethod
    def this(cls) -> Edition:
        """Return the edition that this process would import."""
        found = importlib.util.find_spec(THIS)
        return cls(THIS, Path(str(found and found.origin)).parents[1], THIS)

    def environment(self, bytecode: Path) -> dict[str, str]:
        """Return the environment of a process that uses this edition and keeps its bytecode."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        here = Path(__file__).parents[1]
        paths = os.pathsep.join(map(str, (self.source, here)))
        return kept | {"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": str(bytecode / self.name)}


class Running:
    """A process that works for an edition, obeying one command at a time."""

    def __init__(self, edition: Edition, bytecode: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.engine_child", "serve", edition.package]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=edition.environment(bytecode),
        )

    def do(self, command: str, *arguments: object) -> Any:  # noqa: ANN401 - what the command returns
        """Have a method of the worker run, and return its result."""
        assert self._process.stdin is not None  # it is a pipe, as is the other
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([command, *arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{command} failed; its process says why")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None  # it is a pipe
        self._process.stdin.close()
        self._process.wait()


def started(stack: ExitStack, editions: Sequence[Edition], bytecode: Path) -> dict[str, Running]:
    """Start a process for each edition, ended with the stack."""
    return {edition.name: stack.enter_context(Running(edition, bytecode)) for edition in editions}


def compared(
    processes: dict[str, Running],
    places: Mapping[str, str],
    size: int,
    *,
    questions: int = 300,
    writes: int = 200,
    slower: Mapping[str, float] | None = None,
) -> Iterator[Figure]:
    """Yield how editions fill a store of so many memories, recall from it and write to it, in turns.

    Everybody opens and fills the place of its name first; the first of them is compared with each of the
    others. By `slower`, it may take so many seconds longer than another to recall, and as long as it likes to
    write.
    """
    names = list(processes)
    for name, process in processes.items():
        process.do("open", places[name])
    filled = in_turns(
        processes,
        -(-size // CHUNK),
        lambda one, first, stop: one.do("fill", first * CHUNK, min(size, stop * CHUNK)),
    )
    times = {name: spread(filled[name]) for name in names}
    like = [name for name in names if name not in (slower or {})]
    yield from ratios(f"remember in batches of {CHUNK:,}", size, like, times)
    for recipe in (None, *PLAIN_RECIPES):
        yield from _recalled(processes, recipe, size, questions, like, slower or {})
    alone = in_turns(processes, writes, lambda one, first, stop: one.do("write", size + first, size + stop))
    yield from ratios("single durable writes", size, like, {name: spread(alone[name]) for name in names})


def _recalled(
    processes: dict[str, Running],
    recipe: str | None,
    size: int,
    questions: int,
    like: Sequence[str],
    slower: Mapping[str, float],
) -> Iterator[Figure]:
    """Yield how editions recall with a recipe, None for the default of each, in turns."""
    names = list(processes)
    what = "hybrid recall, vector given" if recipe is None else f"recall by `{recipe}`, vector given"
    for process in processes.values():
        process.do("recall", recipe, size, _WARMING, 2, 0, _WARMING)
    turns = in_turns(
        processes, questions, lambda one, *part: one.do("recall", recipe, size, questions, 1, *part)
    )
    times = {name: spread([each for each, _ in turns[name]]) for name in names}
    yield from ratios(what, size, like, times)
    for name, seconds in slower.items():
        more = times[names[0]].median - times[name].median
        yield Figure(
            f"{what}, against {name}",
            size,
            f"{milliseconds(more)} more ({milliseconds(times[names[0]].median)} against "
            f"{milliseconds(times[name].median)})",
            f"≤ {milliseconds(seconds)} more",
            more <= seconds,
        )
    answers = {name: [hits for _, some in turns[name] for hits in some] for name in names}
    for other in names[1:]:
        same = sum(a == b for a, b in zip(answers[names[0]], answers[other], strict=True))
        yield Figure(f"… the same ten texts in the same order as {other}", size, f"{same} of {questions}")


def ratios(what: str, size: int, names: Sequence[str], times: Mapping[str, Spread]) -> Iterator[Figure]:
    """Yield the times of the first as a multiple of those of each other, by wall and by processor."""
    ours = times[names[0]]
    for other in names[1:]:
        theirs = times[other]
        ratio, computing = ours.median / theirs.median, ours.processor_median / theirs.processor_median
        yield Figure(
            f"{what}, against {other}",
            size,
            f"{ratio:.2f}× its median, {computing:.2f}× by processor ({milliseconds(ours.median)}, processor "
            f"{milliseconds(ours.processor_median)} against {milliseconds(theirs.median)}, "
            f"{milliseconds(theirs.processor_median)}); p99 {ours.p99 / theirs.p99:.2f}×",
            f"≤ {WORST:g}× by processor",
            computing <= WORST,
        )


def in_turns(
    processes: dict[str, Running], count: int, run: Callable[[Running, int, int], Any]
) -> dict[str, list[Any]]:
    """Have every process do its calls some at a time, in turns; `run` is given a process, first and stop."""
    names = list(processes)
    results: dict[str, list[Any]] = {name: [] for name in names}
    for turn, first in enumerate(range(0, count, _TURN)):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            results[name].append(run(processes[name], first, min(count, first + _TURN)))
    return results


def spread(times: Sequence[Sequence[Sequence[float]]]) -> Spread:
    """Return the times of all turns together."""
    calls = [call for turn in times for call in turn]
    return Spread(tuple(wall for wall, _ in calls), tuple(processor for _, processor in calls))


def _timed(run: Callable[[Any], object], given: object) -> tuple[float, float]:
    """Return the wall and processor seconds of a call."""
    began, used = time.perf_counter(), time.process_time()
    run(given)
    return time.perf_counter() - began, time.process_time() - used


@lru_cache(maxsize=4)
def _questions(size: int, count: int, seed: int) -> list[Question]:
    return mixed(size, count, seed)


def _memory_numbered(number: int) -> tuple[str, Any]:
    (batch,) = batches((number // CHUNK + 1) * CHUNK, number // CHUNK)
    return batch.texts[number % CHUNK], batch.vectors[number % CHUNK]


def _memory() -> dict[str, float]:
    """Return the kernel's figures about this process, in megabytes; zeros where there is no such file."""
    # Not getrusage's largest resident size: a child begins with its parent's.
    figures = {"VmRSS": 0.0, "RssFile": 0.0, "VmHWM": 0.0}
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        name, _, value = line.partition(":")
        if name in figures:
            figures[name] = int(value.split()[0]) / 1e3
    return figures


def _serve(package: str) -> None:
    worker = Worker(package)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(getattr(worker, command)(*arguments)), flush=True)
    worker.close()


if __name__ == "__main__":
    task, *rest = sys.argv[1:]
    if task == "serve":
        _serve(*rest)
    else:
        database, questions, *package = rest
        run = {"cold": cold, "resident": resident}[task]
        print(json.dumps(run(Path(database), Path(questions), *package)))
        sys.stdout.flush()
