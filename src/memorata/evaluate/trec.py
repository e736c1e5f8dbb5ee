r"""Rankings and judgements in the text formats of TREC, which every evaluation tool reads.

A *run* has a line ``question Q0 item rank score tag`` for each ranked item; *qrels* have a line ``question 0
item gain`` for each judged one. As in ``trec_eval``, a run is ordered by score, whatever its ranks say, and
of equal scores the item that sorts last as text comes first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from math import isfinite
from os import PathLike
from pathlib import Path

from memorata.evaluate.dataset import Question
from memorata.evaluate.files import numbered_lines
from memorata.evaluate.run_file import Answer, Run, RunHeader, read_run
from memorata.model.errors import DatasetError, shown


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
        values[item] = _number(path, number, name, value)
    return table


def _number(path: str | PathLike[str], number: int, name: str, value: str) -> float:
    try:
        parsed = float(value)
    except ValueError as error:
        raise DatasetError(path, number, f"{name} must be a number, got {shown(value)}") from error
    if not isfinite(parsed):
        raise DatasetError(path, number, f"{name} must be a finite number, got {shown(value)}")
    return parsed


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
