"""The labels of a data set beside the runs on it, so that a run can be scored again without the set.

JSON Lines, one question each: its id, its kind, whether it can be answered, and what is relevant by document
and by session. No text of the set is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from memorata.evaluate.collection import Question
from memorata.evaluate.lines import numbered_lines
from memorata.model import checks
from memorata.model.errors import DatasetError, InvalidArgument, shown

_NEEDED = ("question", "kind", "answerable", "relevant", "relevant_sessions")


def labels_name(dataset: str, sha256: str) -> str:
    """Return the name of the file for a data set.

    Examples
    --------
    >>> labels_name("locomo/dev (captions=True)", "9f8e7d6c5b4a")
    'locomo-dev-captions=true-9f8e7d6c.labels.jsonl'
    """
    return f"{slug(f'{dataset} {sha256[:8]}')}.labels.jsonl"


def slug(text: str) -> str:
    """Return a text as a part of the name of a file.

    Examples
    --------
    >>> slug("locomo/dev (captions=True)")
    'locomo-dev-captions=true'
    """
    return re.sub(r"[^\w=+-]+", "-", text.casefold()).strip("-")


def write_labels(path: str | PathLike[str], questions: Iterable[Question]) -> None:
    """Write the labels of questions, in their order; a file that is there is replaced as a whole."""
    lines = [
        json.dumps(
            {
                "question": question.id,
                "kind": question.kind,
                "answerable": question.answerable,
                "relevant": dict(question.relevant),
                "relevant_sessions": dict(question.relevant_sessions),
            },
            ensure_ascii=False,
            allow_nan=False,
        )
        for question in questions
    ]
    target = Path(path)
    draft = target.with_name(f"{target.name}.part")
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    draft.replace(target)


def read_labels(path: str | PathLike[str]) -> tuple[Question, ...]:
    """Return the questions of a file, without their texts.

    Raises
    ------
    DatasetError
        A line is not what :func:`write_labels` writes; the message names it.
    """
    return tuple(_question(path, number, line) for number, line in numbered_lines(path))


def _question(path: str | PathLike[str], number: int, line: str) -> Question:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(path, number, f"not JSON: {error}") from error
    if not isinstance(record, dict) or sorted(record) != sorted(_NEEDED):
        raise DatasetError(path, number, f"must be an object with {', '.join(_NEEDED)}, got {shown(record)}")
    try:
        return Question(
            id=checks.text("question", record["question"]),
            text="",
            kind=checks.text("kind", record["kind"]),
            answerable=checks.flag("answerable", record["answerable"]),
            relevant=_gains("relevant", record["relevant"]),
            relevant_sessions=_gains("relevant_sessions", record["relevant_sessions"]),
        )
    except InvalidArgument as error:
        raise DatasetError(path, number, str(error)) from error


def _gains(name: str, value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        raise InvalidArgument(name, value, "an object from id to gain")
    return {item: checks.number(f"{name}[{item!r}]", gain) for item, gain in value.items()}
