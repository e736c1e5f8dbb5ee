"""Anybody's ranking file: a run of ours, or TREC's format, against labels in TREC's format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from memorata.evaluate.collection import Question
from memorata.evaluate.run_file import Run, RunHeader, read_run
from memorata.evaluate.trec import read_qrels, read_trec_run
from memorata.model.errors import DatasetError


def is_trec(path: Path) -> bool:
    """Return whether a file is not one of ours, which begin with a brace."""
    try:
        with path.open("rb") as file:
            return not file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read: {error.strerror}") from error


def read_anybodys(qrels: Path) -> Callable[[Path], Run]:
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
    """Return what finds the labels of a run in a qrels file.

    Parameters
    ----------
    qrels
        The labels.
    kinds
        The kind of each question, as :func:`kinds_of` has it: runs that are to be compared need the same. By
        default those that a run itself names.
    """
    gains = read_qrels(qrels)

    def questions(path: Path, run: Run) -> tuple[Question, ...]:
        known = kinds_of([run]) if kinds is None else kinds
        return tuple(
            Question(name, "", known.get(name, ""), relevant=each, relevant_sessions=each)
            for name, each in gains.items()
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
