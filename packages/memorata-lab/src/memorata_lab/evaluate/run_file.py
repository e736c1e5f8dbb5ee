r"""Run files: the ranking of every question, to be scored again, and the machine it ran on.

The file is JSON Lines. The first line says what was run on what; each further line is one question:

.. code-block:: json

    {"memorata_run": 1, "dataset": "locomo", "sha256": "…", "recipe": {"name": "balanced"}, "embedder": "…",
     "granularity": "turn", "code": "0.1.0", "seed": 0, "created": "2026-05-07T12:00:00+00:00"}
    {"question": "q1", "kind": "multi-hop", "ranking": [["t-1", 0.9], ["t-7", 0.4]], "milliseconds": 1.8,
     "top": 0.9, "abstained": false}

Each line is written to the end and handed to the system before the next question is asked. A run that was
killed loses one question at most, and goes on where it was.

Rankings and judgements are also read in the text formats of TREC, which every evaluation tool writes. A *run*
has a line ``question Q0 item rank score tag`` for each ranked item; *qrels* have a line ``question 0 item
gain`` for each judged one. As in ``trec_eval``, a run is ordered by score, whatever its ranks say, and of
equal scores the item that sorts last as text comes first.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from memorata.extend import frozen
from memorata.extend.embedding import Embedder
from memorata.extend.errors import DatasetError, InvalidArgument, shown
from memorata.extend.model import checks
from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.files import numbered_lines

VERSION: Final = 1
"""The version of the format; a file of another one is not guessed at."""
TIMED: Final = 32
"""How many questions are embedded to see how long it takes."""
_LOG: Final = logging.getLogger(__name__)
_HEADER_PREFIX: Final = b'{"memorata_run"'
"""How every file of ours begins, so that no other file is ever taken for one of ours that was cut off."""


@frozen
class RunHeader:
    """What was run on what: the data with its hash and options, and how.

    `recipe` has the recipe's parameters; `embedder` is empty if none was used; `granularity` says what the
    ids in the rankings are: "turn" (or any other document) or "session"; `seed` is where everything random
    started.
    """

    dataset: str
    sha256: str
    recipe: Mapping[str, Any]
    embedder: str
    granularity: str
    code: str
    seed: int
    created: datetime

    def __post_init__(self) -> None:
        for name in ("dataset", "sha256", "embedder", "granularity", "code"):
            checks.writable(name, getattr(self, name))
        if not isinstance(self.recipe, Mapping):
            raise InvalidArgument("recipe", self.recipe, "a mapping that JSON can hold")
        try:
            # What comes back is what a reader of the file will see, so that the two compare equal.
            recipe = json.loads(json.dumps(dict(self.recipe), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument("recipe", self.recipe, "a mapping that JSON can hold") from error
        object.__setattr__(self, "recipe", recipe)
        object.__setattr__(self, "seed", checks.whole("seed", self.seed))
        object.__setattr__(self, "created", checks.instant("created", self.created))

    def as_dict(self) -> dict[str, Any]:
        """Return the header as the first line of the file holds it."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {"memorata_run": VERSION, **values, "created": self.created.isoformat()}

    def differences(self, other: RunHeader) -> list[str]:
        """Return what makes the other run another one; the time it was begun does not."""
        names = [part.name for part in fields(self) if part.name != "created"]
        return [
            f"{name} is {shown(getattr(self, name))}, not {shown(getattr(other, name))}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]


@frozen
class Answer:
    """The ranking of one question.

    `ranking` has ids with their scores, best first, none of them twice; the order counts, not the scores.
    `top` is how well the best is supported, before anything was cut off, comparable between questions; None
    where nothing was found at all. `abstained` says whether the engine would rather not have answered.
    """

    question: str
    kind: str = ""
    ranking: tuple[tuple[str, float], ...] = ()
    milliseconds: float | None = None
    top: float | None = None
    abstained: bool = False

    def __post_init__(self) -> None:
        checks.writable("question", self.question)
        checks.writable("kind", self.kind)
        object.__setattr__(self, "ranking", _ranking(self.ranking))
        if self.milliseconds is not None:
            object.__setattr__(self, "milliseconds", checks.at_least("milliseconds", self.milliseconds, 0))
        if self.top is not None:
            object.__setattr__(self, "top", checks.number("top", self.top))
        object.__setattr__(self, "abstained", checks.flag("abstained", self.abstained))

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the ranking, best first."""
        return tuple(item for item, _ in self.ranking)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as a line of the file holds it."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return values | {"ranking": [list(pair) for pair in self.ranking]}


@frozen
class Run:
    """A whole run: its header, and the answers by question in the order of the file."""

    header: RunHeader
    answers: Mapping[str, Answer] = field(default_factory=dict)


class RunWriter:
    """Writes a run question by question, and goes on with one that was interrupted, unless it is `again`.

    A file that exists must have the same header but for the time; else it is refused with what differs, and
    left as it is. A last line that was cut off is removed. A file that another process writes is refused.
    """

    def __init__(self, path: str | PathLike[str], header: RunHeader, *, again: bool = False) -> None:
        self.path = fspath(path)
        self.header = header
        self._finished: set[str] = set()
        try:
            self._file = open(self.path, "a+b")  # noqa: SIM115 - close() closes it
        except OSError as error:
            raise DatasetError(self.path, None, f"cannot be written: {error.strerror}") from error
        try:
            self._claim()
            if again:
                self._file.truncate(0)
            self._take_up()
        except BaseException:
            self._file.close()
            raise

    @property
    def finished(self) -> frozenset[str]:
        """The ids of the questions that are in the file."""
        return frozenset(self._finished)

    def append(self, answered: Answer) -> None:
        """Write one answer; it is with the system when this returns."""
        if answered.question in self._finished:
            raise InvalidArgument("question", answered.question, "one that has no answer in this run yet")
        self._write(answered.as_dict())
        self._finished.add(answered.question)

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        self._file.flush()

    def _claim(self) -> None:
        """Refuse a file that another process is writing: every answer would be in it twice."""
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DatasetError(self.path, None, "is being written by another evaluation") from error
        except OSError as error:
            # Some file systems have no locks; an evaluation goes on there.
            _LOG.info("%s cannot be kept from other writers: %s", self.path, error.strerror)

    def _take_up(self) -> None:
        """Check what is in the file and cut off what was left unfinished."""
        self._file.seek(0)
        content = self._file.read()
        complete = content.rfind(b"\n") + 1
        torn = content[complete:]
        if complete == 0:
            if not (torn.startswith(_HEADER_PREFIX) or _HEADER_PREFIX.startswith(torn)):
                raise DatasetError(self.path, 1, f"not a run of Memorata: it begins with {shown(torn[:20])}")
            self._file.truncate(0)
            self._write(self.header.as_dict())
            return
        # Read before cutting: a file that turns out to be something else is left as it is.
        lines = content[:complete].decode("utf-8", "surrogateescape")
        run = _parse(self.path, [(n, line) for n, line in enumerate(lines.split("\n"), 1) if line.strip()])
        differs = run.header.differences(self.header)
        if differs:
            reason = (
                "this is another run: its " + "; its ".join(differs) + ". Name another file, or remove it"
            )
            raise DatasetError(self.path, 1, reason)
        if torn:
            self._file.truncate(complete)
        self._finished = set(run.answers)


def read_run(path: str | PathLike[str]) -> Run:
    """Return the run in a file, every line of it checked.

    Of an answer, only "question" and "ranking" must be there; a "top" that is not there is the highest score.
    """
    return _parse(path, list(numbered_lines(path)))


def _parse(path: str | PathLike[str], lines: list[tuple[int, str]]) -> Run:
    if not lines:
        raise DatasetError(path, None, "empty: the header of a run is missing")
    number, first = lines[0]
    header = _header(path, number, _record(path, number, first))
    answers: dict[str, Answer] = {}
    for number, line in lines[1:]:
        answered = _answered(path, number, _record(path, number, line))
        if answered.question in answers:
            raise DatasetError(path, number, f"question {shown(answered.question)} was answered before")
        answers[answered.question] = answered
    return Run(header, answers)


def _record(path: str | PathLike[str], number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DatasetError(path, number, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise DatasetError(path, number, f"must be a JSON object, got {shown(record)}")
    return record


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


def _header(path: str | PathLike[str], number: int, record: dict[str, Any]) -> RunHeader:
    if "memorata_run" not in record:
        raise DatasetError(path, number, "not the header of a run: 'memorata_run' is missing")
    version = record.pop("memorata_run")
    if version != VERSION or isinstance(version, bool):
        raise DatasetError(path, number, f"a run of version {shown(version)}; this Memorata reads {VERSION}")
    names = [part.name for part in fields(RunHeader)]
    _same_names(path, number, record, needed=names, allowed=names)
    try:
        created = datetime.fromisoformat(checks.text("created", record["created"]))
    except ValueError as error:
        raise DatasetError(path, number, f"created is not a time in ISO 8601: {error}") from error
    try:
        return RunHeader(**record | {"created": created})
    except InvalidArgument as error:
        raise DatasetError(path, number, str(error)) from error


def _answered(path: str | PathLike[str], number: int, record: dict[str, Any]) -> Answer:
    names = [part.name for part in fields(Answer)]
    _same_names(path, number, record, needed=["question", "ranking"], allowed=names)
    try:
        record["ranking"] = _ranking(record["ranking"])
        record.setdefault("top", max((score for _, score in record["ranking"]), default=None))
        return Answer(**record)
    except InvalidArgument as error:
        raise DatasetError(path, number, str(error)) from error


def _same_names(
    path: str | PathLike[str], number: int, record: dict[str, Any], needed: list[str], allowed: list[str]
) -> None:
    missing = [name for name in needed if name not in record]
    if missing:
        raise DatasetError(path, number, f"{', '.join(map(repr, missing))} is missing")
    # A misspelt name would otherwise be a value that silently does not count.
    unknown = [name for name in record if name not in allowed]
    if unknown:
        raise DatasetError(path, number, f"{shown(unknown[0])} is unknown; known are {', '.join(allowed)}")


def _ranking(value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, list | tuple):
        raise InvalidArgument("ranking", value, "a list of pairs of id and score")
    pairs: dict[str, float] = {}
    for index, pair in enumerate(value):
        place = f"ranking[{index}]"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InvalidArgument(place, pair, "a pair of id and score")
        item, score = checks.writable(f"{place}[0]", pair[0]), checks.number(f"{place}[1]", pair[1])
        if item in pairs:
            raise InvalidArgument(place, item, "an item that was not ranked before")
        pairs[item] = score
    return tuple(pairs.items())


@frozen
class Machine:
    """Where a run was made and what it took."""

    python: str
    system: str
    processors: int
    peak_megabytes: float | None = None
    embedding_p50: float | None = None
    embedding_p95: float | None = None


def machine(times: Sequence[float] = ()) -> Machine:
    """Return this machine, with the memory used so far and the spread of embedding times."""
    p50, p95 = np.percentile(times, [50, 95]).tolist() if len(times) else (None, None)
    return Machine(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        processors=os.cpu_count() or 1,
        peak_megabytes=peak_megabytes(),
        embedding_p50=p50,
        embedding_p95=p95,
    )


def embedding_times(embedder: Embedder, texts: Sequence[str]) -> list[float]:
    """Return how many milliseconds each of the first questions takes to embed, the model being loaded."""
    sample = list(dict.fromkeys(filter(None, texts)))[:TIMED]
    if sample:
        embedder.embed_query(sample[0])
    times = []
    for text in sample:
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
    """Return where the machine of a run is written down."""
    path = Path(run)
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.machine.json")


def write_machine(run: str | PathLike[str], description: Machine) -> None:
    """Write down the machine of a run, beside it."""
    machine_path(run).write_text(json.dumps(asdict(description), indent=2) + "\n", encoding="utf-8")


def read_machine(run: str | PathLike[str]) -> Machine | None:
    """Return the machine of a run; None if there is no file of it."""
    path = machine_path(run)
    if not path.exists():
        return None
    try:
        saved = Machine(**json.loads(path.read_text(encoding="utf-8")))
        checks.whole("processors", saved.processors, 1)
        for name in ("peak_megabytes", "embedding_p50", "embedding_p95"):
            if getattr(saved, name) is not None:
                checks.at_least(name, getattr(saved, name), 0)
    except (ValueError, TypeError, RecursionError, InvalidArgument) as error:
        raise DatasetError(path, None, f"not the machine of a run: {error}") from error
    return saved


def read_trec_run(path: str | PathLike[str], header: RunHeader) -> Run:
    """Return the rankings of a TREC run; the header says what the format does not."""
    answers = {}
    for question, scores in _table(path, "question Q0 item rank score tag", "ranked").items():
        ranking = tuple(sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True))
        answers[question] = Answer(question, ranking=ranking, top=ranking[0][1])
    return Run(header, answers)


def read_qrels(path: str | PathLike[str]) -> dict[str, dict[str, float]]:
    """Return the gains in a qrels file by question and item; the second field is not looked at."""
    return _table(path, "question 0 item gain", "judged")


def _table(path: str | PathLike[str], form: str, verb: str) -> dict[str, dict[str, float]]:
    """Return the scores or gains of lines in this form, by question and item."""
    names = form.split()
    name = "score" if "score" in names else "gain"
    table: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        parts = line.split()
        if len(parts) != len(names):
            raise DatasetError(path, number, f"must be '{form}', got {len(parts)} fields: {shown(line)}")
        question, item, value = parts[0], parts[2], parts[names.index(name)]
        values = table.setdefault(question, {})
        if item in values:
            raise DatasetError(path, number, f"{shown(item)} is {verb} twice for question {shown(question)}")
        try:
            values[item] = checks.number(name, float(value))
        except ValueError as error:
            kind = "a finite number" if isinstance(error, InvalidArgument) else "a number"
            raise DatasetError(path, number, f"{name} must be {kind}, got {shown(value)}") from error
    return table


def is_trec(path: Path) -> bool:
    """Return whether a file is not one of ours, which begin with a brace."""
    try:
        with path.open("rb") as file:
            return not file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read: {error.strerror}") from error


def run_reader(qrels: Path) -> Callable[[Path], Run]:
    """Return a reader of runs that are to be scored with these labels.

    A TREC run does not say what it is a run on; it is taken for one on the questions of the labels, whose
    hash stands for the data.
    """

    def read(path: Path) -> Run:
        if not is_trec(path):
            return read_run(path)
        sha256 = hashlib.sha256(qrels.read_bytes()).hexdigest()
        name = path.name.partition(".")[0]
        header = RunHeader(qrels.name, sha256, {"name": name}, "", "turn", "", 0, datetime.now(UTC))
        return read_trec_run(path, header)

    return read


def judged_by(
    qrels: Path, kinds: Mapping[str, str] | None = None
) -> Callable[[Path, Run], tuple[Question, ...]]:
    """Return what finds the labels of a run in a qrels file."""
    gains = read_qrels(qrels)

    def questions(path: Path, run: Run) -> tuple[Question, ...]:
        kind_of = kinds_of([run]) if kinds is None else kinds
        return tuple(
            Question(
                name, "", kind_of.get(name, ""), relevant=relevant_gains, relevant_sessions=relevant_gains
            )
            for name, relevant_gains in gains.items()
        )

    return questions


def kinds_of(runs: Iterable[Run]) -> dict[str, str]:
    """Return the kind of each question that any of the runs names one for; the first that does counts.

    A run that was interrupted, or was written by another system, does not know the kind of every question.
    """
    kinds: dict[str, str] = {}
    for run in runs:
        for name, answered in run.answers.items():
            if answered.kind:
                kinds.setdefault(name, answered.kind)
    return kinds
