r"""Rankings and judgements in the text formats of TREC, which every evaluation tool reads.

A *run* has a line ``question Q0 item rank score tag`` for each ranked item; *qrels* have a line ``question 0
item gain`` for each judged one. As in ``trec_eval``, a run is ordered by score, whatever its ranks say, and
of equal scores the item that sorts last as text comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from os import PathLike
from pathlib import Path

import numpy as np

from memorata.evaluate.collection import Question
from memorata.evaluate.granularity import gains_of
from memorata.evaluate.lines import numbered_lines
from memorata.evaluate.run_file import Answered, Run, RunHeader
from memorata.model import InvalidArgument, checks
from memorata.model.errors import DatasetError, shown


def read_trec_run(path: str | PathLike[str], header: RunHeader) -> Run:
    """Return the rankings of a TREC run.

    Parameters
    ----------
    path
        The file. A line that is not a run's raises :class:`~memorata.model.errors.DatasetError` with its
        number.
    header
        What the format does not say: which data, which recipe, and what the ids are.
    """
    rankings: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        parts = line.split()
        if len(parts) != 6:
            reason = f"must be 'question Q0 item rank score tag', got {len(parts)} fields: {shown(line)}"
            raise DatasetError(path, number, reason)
        question, _, item, _, score, _ = parts
        scores = rankings.setdefault(question, {})
        if item in scores:
            raise DatasetError(path, number, f"{shown(item)} is ranked twice for question {shown(question)}")
        scores[item] = _number(path, number, "score", score)
    answers = {}
    for question, scores in rankings.items():
        ranking = tuple(sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True))
        answers[question] = Answered(question, ranking=ranking, top=ranking[0][1])
    return Run(header, answers)


def write_trec_run(path: str | PathLike[str], run: Run, tag: str = "memorata") -> None:
    """Write the rankings of `run` so that every reader finds them in the same order.

    Scores are kept where they fall strictly even when rounded to single precision, which ``trec_eval``
    computes with; otherwise the question's items get the scores n, n - 1, …, 1. Questions without a ranking
    do not appear.
    """
    _token("tag", tag)
    lines = []
    for question, answered in run.answers.items():
        _token("question", question)
        count = len(answered.ranking)
        scores = [score for _, score in answered.ranking]
        with np.errstate(over="ignore"):
            single = np.asarray(scores, np.float32)
        if not (np.isfinite(single).all() and (single[1:] < single[:-1]).all()):
            scores = [float(count - place) for place in range(count)]
        for rank, ((item, _), score) in enumerate(zip(answered.ranking, scores, strict=True), 1):
            lines.append(f"{question} Q0 {_token('item', item)} {rank} {score!r} {tag}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_qrels(path: str | PathLike[str]) -> dict[str, dict[str, float]]:
    """Return the gains in a qrels file by question and item; the second field is not looked at."""
    qrels: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        parts = line.split()
        if len(parts) != 4:
            reason = f"must be 'question 0 item gain', got {len(parts)} fields: {shown(line)}"
            raise DatasetError(path, number, reason)
        question, _, item, gain = parts
        gains = qrels.setdefault(question, {})
        if item in gains:
            raise DatasetError(path, number, f"{shown(item)} is judged twice for question {shown(question)}")
        gains[item] = _number(path, number, "gain", gain)
    return qrels


def write_qrels(path: str | PathLike[str], qrels: Mapping[str, Mapping[str, float]]) -> None:
    """Write gains by question and item; whole ones as whole numbers, for ``trec_eval`` reads no others."""
    lines = []
    for question, gains in qrels.items():
        _token("question", question)
        for item, gain in gains.items():
            value = checks.number(f"qrels[{question!r}][{item!r}]", gain)
            written = int(value) if value.is_integer() else value
            lines.append(f"{question} 0 {_token('item', item)} {written!r}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def qrels_of(questions: Iterable[Question], granularity: str) -> dict[str, dict[str, float]]:
    """Return the gains of `questions` by id, at the granularity of turns or of sessions.

    Questions that have none are left out: an empty entry could not be written.

    Examples
    --------
    >>> qrels_of([Question("q1", "Tea?", relevant={"t-1": 1}, relevant_sessions={"s-1": 1})], "session")
    {'q1': {'s-1': 1}}
    """
    return {question.id: dict(gains) for question in questions if (gains := gains_of(question, granularity))}


def _number(path: str | PathLike[str], number: int, name: str, value: str) -> float:
    try:
        parsed = float(value)
    except ValueError as error:
        raise DatasetError(path, number, f"{name} must be a number, got {shown(value)}") from error
    if not isfinite(parsed):
        raise DatasetError(path, number, f"{name} must be a finite number, got {shown(value)}")
    return parsed


def _token(argument: str, value: str) -> str:
    """Return `value` if it can stand as a field between spaces."""
    if checks.writable(argument, value).split() != [value]:
        raise InvalidArgument(argument, value, "text without spaces, for TREC's formats to hold it")
    return value
