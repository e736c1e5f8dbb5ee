"""What a new process costs: importing, opening, the first answer, and the memory it then takes.

Every process finds the bytecode of what it imports, as it does where pip installed it: a process before those
that are measured writes it, whatever the environment says about that.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine_child import WORST, Edition
from benchmarks.engine_data import mixed
from benchmarks.engine_report import Figure
from benchmarks.engine_store import Built
from benchmarks.latency import milliseconds

_STARTS = 5
_IMPORTS = 15
_QUESTIONS = 200
_RESIDENT = 1_200
_STEPS = ("importing", "opening", "recall")
_MEASURE_IMPORT = "import time; a = time.perf_counter(); {}; print(time.perf_counter() - a)"


class _State(NamedTuple):
    """Everything that a rebuild would change."""

    sha256: str
    log_bytes: int
    namespaces: tuple[tuple[object, ...], ...]


def first_answer(work: Path, made: Built) -> tuple[float, list[Figure]]:
    """Return the seconds from starting a process to its first answer, and what is to be said about it."""
    questions = _saved(work, made.size)
    before = _state(made.path)
    _child("cold", made.path, questions)
    warm = sorted(_child("cold", made.path, questions) for _ in range(_STARTS))
    _forget_pages(made.path)
    unread = _child("cold", made.path, questions)
    unchanged = _state(made.path) == before
    middle = warm[len(warm) // 2]
    steps = ", ".join(f"{name} {milliseconds(middle.result[name])}" for name in _STEPS)
    wanted = made.size == 100_000
    written = "nothing was written" if unchanged else "the file was changed"
    figure = Figure(
        "new process to first answer, vector given",
        made.size,
        f"{middle.seconds:.2f} s ({steps}); {unread.seconds:.2f} s if the file is not cached; {written}",
        "≤ 1 s and no rebuild" if wanted else "",
        (middle.seconds <= 1 and unchanged) if wanted else None,
    )
    return middle.seconds, [figure]


def resident(work: Path, made: Built) -> tuple[float, list[Figure]]:
    """Return the megabytes a fresh process holds after many questions, and what is to be said about it."""
    found = _child("resident", made.path, _saved(work, made.size)).result
    wanted = made.size == 1_000_000
    figure = Figure(
        f"resident memory after {_QUESTIONS} questions",
        made.size,
        f"{found['now']:,.0f} MB ({found['before']:,.0f} MB before opening; {found['mapped']:,.0f} MB "
        f"are mapped files); peak {found['peak']:,.0f} MB",
        f"≤ {_RESIDENT:,} MB" if wanted else "",
        found["now"] <= _RESIDENT if wanted else None,
    )
    return found["now"], [figure]


def fresh_processes(
    work: Path, editions: Sequence[Edition], paths: Mapping[str, Path], size: int
) -> Iterator[Figure]:
    """Yield the start and the memory of new processes of editions, each with its own database, in turns."""
    questions = _saved(work, size)
    runs: dict[str, list[_Finished]] = {edition.name: [] for edition in editions}
    for _ in range(1 + _STARTS):
        for edition in editions:
            runs[edition.name].append(_child("cold", paths[edition.name], questions, edition))
    starts = {name: float(np.median([run.seconds for run in some[1:]])) for name, some in runs.items()}
    held = {
        edition.name: _child("resident", paths[edition.name], questions, edition).result["now"]
        for edition in editions
    }
    ours, *others = (edition.name for edition in editions)
    for other in others:
        for what, found, unit in (
            ("new process to first answer", starts, "s"),
            (f"resident memory after {_QUESTIONS} questions", held, "MB"),
        ):
            ratio = found[ours] / found[other]
            said = f"{ratio:.2f}× ({found[ours]:,.2f} {unit} against {found[other]:,.2f} {unit})"
            yield Figure(f"{what}, against {other}", size, said, f"≤ {WORST:g}×", ratio <= WORST)


def import_figures() -> Iterator[Figure]:
    """Yield what importing costs against importing numpy, each time in a new process."""
    statements = {
        "numpy": "import numpy",
        "memorata": "import memorata",
        "memorata.open": "from memorata import open",
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    with tempfile.TemporaryDirectory() as folder:
        environment = _with_bytecode(Path(folder))
        for _ in range(1 + _IMPORTS):
            for name, statement in statements.items():
                command = [sys.executable, "-c", _MEASURE_IMPORT.format(statement)]
                done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                times[name].append(float(done.stdout))
    middle = {name: float(np.median(spent[1:])) for name, spent in times.items()}
    ratio = middle["memorata"] / middle["numpy"]
    yield Figure(
        "import memorata",
        None,
        f"{ratio:.2f}× import numpy "
        f"({milliseconds(middle['memorata'])} against {milliseconds(middle['numpy'])})",
        "≤ 2×",
        ratio <= 2,
    )
    yield Figure(
        "… and what opening needs (from memorata import open)",
        None,
        f"{middle['memorata.open'] / middle['numpy']:.2f}× import numpy "
        f"({milliseconds(middle['memorata.open'])})",
    )


class _Finished(NamedTuple):
    seconds: float
    result: dict[str, float]


def _child(task: str, database: Path, questions: Path, edition: Edition | None = None) -> _Finished:
    """Run a task in a new process; the clock stops when its answer arrives, not when Python has tidied up."""
    command = [sys.executable, "-m", "benchmarks.engine_child", task, str(database), str(questions)]
    bytecode = questions.parent / "bytecode"
    environment = _with_bytecode(bytecode)
    if edition is not None:
        command.append(edition.package)
        environment = edition.environment(bytecode)
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None  # it is a pipe
        line = process.stdout.readline()
        spent = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    return _Finished(spent, json.loads(line))


def _with_bytecode(folder: Path) -> dict[str, str]:
    """Return the environment of processes that keep their bytecode in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder)}


def _saved(work: Path, size: int) -> Path:
    path = work / f"questions-{size}.npz"
    if not path.exists():
        questions = mixed(size, _QUESTIONS, seed=3)
        np.savez(path, texts=[q.text for q in questions], vectors=np.stack([q.vector for q in questions]))
    return path


def _state(path: Path) -> _State:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    log = path.with_name(path.name + "-wal")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT path, slots, change, generation FROM namespaces").fetchall()
    return _State(digest, log.stat().st_size if log.exists() else 0, tuple(rows))


def _forget_pages(path: Path) -> None:
    """Ask the kernel to drop the file from its page cache, where it can be asked."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
