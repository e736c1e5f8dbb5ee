"""LongMemEval: questions about a user's long history of chats with an assistant, each with its own history.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025. The
editions S, M and oracle have one format: a JSON list with, for each question, the sessions that are searched.

The official protocol leaves out the questions whose id ends in ``_abs`` (nothing in the history answers them)
when it measures retrieval; they are marked as not answerable here, and have no labels. A question whose
evidence was said by the assistant has no turn label when only the user's turns are read, but keeps its
session labels. The ids of evidence sessions begin with "answer", so no session id of the file goes into a
document, not even hashed: documents and sessions are named by their place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.json_records import Record, json_records
from memorata.evaluate.datasets.reader import FileDataset
from memorata.model import checks

_DATE = re.compile(r"(\d{4})/(\d\d?)/(\d\d?) \([A-Z][a-z]{2}\) (\d\d?):(\d\d)")
_ROLES = ("user", "assistant")
TURNS = ("all", "user")


def read_longmemeval(path: str | Path, *, turns: str = "all") -> FileDataset:
    """Open LongMemEval S, M or oracle: one haystack for each question, one document for each turn.

    The file is read a question at a time, so M needs no more memory than its largest history.

    - `path`: the JSON file, plain or gzip.
    - `turns`: "all", or "user" to leave out what the assistant said.
    """
    file, speakers = Path(path), checks.one_of("turns", turns, TURNS)
    return FileDataset("longmemeval", file, {file.name: file}, partial(_read, file, speakers), turns=turns)


def _read(file: Path, turns: str, dropped: Counter[str]) -> Iterator[Haystack]:
    for record in json_records(file):
        haystack = _haystack(record, turns)
        (question,) = haystack.questions
        if question.answerable and not question.relevant_sessions:
            dropped["no evidence session"] += 1
        else:
            yield haystack


def _haystack(record: Record, turns: str) -> Haystack:
    """Return the history of one question, and the question."""
    question_id = record.child("question_id").name()
    sessions = list(record.items_of("haystack_sessions"))
    names = [item.name() for item in record.items_of("haystack_session_ids")]
    dates = [_moment(item) for item in record.items_of("haystack_dates")]
    for key, values in (("haystack_session_ids", names), ("haystack_dates", dates)):
        if len(values) != len(sessions):
            raise record.error(f"has {len(sessions)} haystack_sessions, but {len(values)} {key}")
    evidence = {item.name() for item in record.items_of("answer_session_ids")}
    documents: list[Document] = []
    turns_labelled: dict[str, float] = {}
    sessions_labelled: dict[str, float] = {}
    for place, (session, name, when) in enumerate(zip(sessions, names, dates, strict=True)):
        # By place and not by name: one name may occur twice, and may give the answer away.
        session_id = opaque("session", question_id, place)
        for position, turn in enumerate(session):
            role = _role(turn)
            text = turn.text("content")
            labelled = turn.flag("has_answer", False)
            # A few turns of the official files are empty; there is nothing in them to be found.
            if not text.strip() or turns == "user" != role:
                continue
            document = Document(
                id=opaque("document", question_id, place, position),
                text=text,
                when=when,
                speaker=role,
                session=session_id,
                position=position,
            )
            documents.append(document)
            if name in evidence:
                sessions_labelled[session_id] = 1.0
            if labelled:
                turns_labelled[document.id] = 1.0
    answerable = not question_id.endswith("_abs")
    question = Question(
        id=question_id,
        text=record.text("question"),
        kind=record.text("question_type"),
        when=_moment(record.child("question_date")),
        relevant=turns_labelled if answerable else {},
        relevant_sessions=sessions_labelled if answerable else {},
        answerable=answerable,
    )
    return Haystack(opaque("haystack", question_id), tuple(documents), (question,))


def _role(turn: Record) -> str:
    role = turn.text("role")
    if role not in _ROLES:
        raise turn.child("role").error(f"must be 'user' or 'assistant', got {role!r}")
    return role


def _moment(date: Record) -> datetime:
    """Return a date as the set writes it; it names no zone, and is read as UTC."""
    match = _DATE.fullmatch(date.a(str))
    try:
        if match:
            year, month, day, hour, minute = map(int, match.groups())
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError as error:
        raise date.error(f"must be a date of the calendar, got {date.value!r} ({error})") from error
    raise date.error(f"must be a date as in '2023/04/12 (Wed) 06:37', got {date.value!r}")
