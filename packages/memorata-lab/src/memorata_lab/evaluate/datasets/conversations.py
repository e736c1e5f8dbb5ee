"""Questions about long conversations: LoCoMo and LongMemEval.

LoCoMo (Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024) is a JSON
list of conversations; ``session_N`` holds the turns of a session, ``session_N_date_time`` its date, and
``qa`` the questions, whose ``evidence`` names turns as ``D<session>:<turn>``. Some evidence is malformed.
Every ``D8:6`` in it counts, wherever it stands (``"D8:6; D9:17"`` is two turns), also when written ``D:8:6``
or ``D08:06``; what names no turn of the conversation counts as nothing, and a question for which nothing is
left is dropped.

LongMemEval (Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR
2025) is a JSON list with, for each question, the sessions that are searched; the editions S, M and oracle
have this format. The official protocol leaves out the questions whose id ends in ``_abs`` (nothing in the
history answers them) when it measures retrieval; they are marked as not answerable here, and have no labels.
A question whose evidence was said by the assistant has no turn label when only the user's turns are read, but
keeps its session labels. The ids of evidence sessions begin with "answer", so no session id of the file goes
into a document, not even hashed: documents and sessions are named by their place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from memorata.extend.model import MONTHS, checks
from memorata_lab.evaluate.dataset import Document, FileDataset, Haystack, Question, opaque
from memorata_lab.evaluate.files import Record, json_records

KINDS = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
"""The categories by their number in the file."""
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")
_LOCOMO_DATE = re.compile(r"(\d\d?):(\d\d) ([ap]m) on (\d\d?) ([a-z]+),? (\d{4})", re.IGNORECASE)
_AFTERWARDS = timedelta(hours=1)
"""Questions are asked this long after the last session began; the set gives them no date."""


def read_locomo(path: str | Path, *, captions: bool = True) -> FileDataset:
    """Open LoCoMo: one haystack for each conversation, one document for each turn.

    With `captions`, a turn with a photo ends in the words that describe it: "… (shares a photo: a red kite)".
    """
    file, with_captions = Path(path), checks.flag("captions", captions)
    return FileDataset(
        "locomo", file, {file.name: file}, partial(_read_locomo, file, with_captions), captions=captions
    )


def _read_locomo(file: Path, captions: bool, dropped: Counter[str]) -> Iterator[Haystack]:
    for record in json_records(file):
        sample = record.child("sample_id").name() if record.has("sample_id") else f"conv-{record.number}"
        documents = _documents(sample, record.child("conversation"), captions)
        if not documents:
            raise record.error("conversation has no turns")
        last = max(when for document in documents.values() if (when := document.when))
        questions = tuple(_questions(sample, record, documents, last + _AFTERWARDS, dropped))
        yield Haystack(opaque("haystack", sample), tuple(documents.values()), questions)


def _documents(sample: str, conversation: Record, captions: bool) -> dict[tuple[int, int], Document]:
    """Return the turns of a conversation by the numbers that evidence names them by."""
    documents: dict[tuple[int, int], Document] = {}
    if not isinstance(conversation.value, dict):
        raise conversation.error("must be an object with 'session_1', 'session_1_date_time', …")
    numbers = sorted(int(match[1]) for key in conversation.value if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        when = _locomo_moment(conversation.child(f"session_{number}_date_time"))
        for position, turn in enumerate(conversation.items_of(f"session_{number}")):
            match = _TURN.fullmatch(turn.text("dia_id"))
            if not match:
                raise turn.child("dia_id").error(f"must be as in 'D1:3', got {turn.text('dia_id')!r}")
            label = int(match[1]), int(match[2])
            if label in documents:
                raise turn.error(f"is the second turn with the dia_id {match[0]!r}")
            if text := _text(turn, captions):
                documents[label] = Document(
                    id=opaque("document", sample, number, position),
                    text=text,
                    when=when,
                    speaker=turn.text("speaker"),
                    session=opaque("session", sample, number),
                    position=position,
                )
    return documents


def _text(turn: Record, captions: bool) -> str:
    """Return the text of a turn, with the caption of its picture."""
    text = turn.text("text").strip()
    caption = turn.text("blip_caption", "").strip()
    return f"{text} (shares a photo: {caption})".strip() if caption and captions else text


def _questions(
    sample: str,
    record: Record,
    documents: dict[tuple[int, int], Document],
    when: datetime,
    dropped: Counter[str],
) -> Iterator[Question]:
    """Yield the questions of a conversation that have evidence in it."""
    for number, item in enumerate(record.items_of("qa"), 1):
        category = item.child("category").a(int)
        if category not in KINDS:
            raise item.child("category").error(f"must be a category from 1 to 5, got {category}")
        evidence = [
            (int(session), int(turn))
            for reference in item.items_of("evidence")
            for session, turn in _TURN.findall(reference.a(str))
        ]
        evidence_documents = [documents[label] for label in evidence if label in documents]
        text = item.text("question")
        if not evidence_documents:
            dropped["no evidence"] += 1
            continue
        yield Question(
            id=f"{sample}:{number}",
            text=text,
            kind=KINDS[category],
            when=when,
            relevant={document.id: 1.0 for document in evidence_documents},
            relevant_sessions={document.session: 1.0 for document in evidence_documents},
        )


def _locomo_moment(date: Record) -> datetime:
    """Return a date as the set writes it; it names no zone, and is read as UTC."""
    match = _LOCOMO_DATE.fullmatch(date.a(str).strip())
    if not match or match[5].lower() not in MONTHS or not 1 <= int(match[1]) <= 12:
        raise date.error(f"must be a date as in '1:56 pm on 8 May, 2023', got {date.value!r}")
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "pm" else 0)
    month = MONTHS.index(match[5].lower()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError as error:
        raise date.error(f"must be a date of the calendar, got {date.value!r} ({error})") from error


_LONGMEMEVAL_DATE = re.compile(r"(\d{4})/(\d\d?)/(\d\d?) \([A-Z][a-z]{2}\) (\d\d?):(\d\d)")
_ROLES = ("user", "assistant")
TURNS = ("all", "user")


def read_longmemeval(path: str | Path, *, turns: str = "all") -> FileDataset:
    """Open LongMemEval S, M or oracle: one haystack for each question, one document for each turn.

    The file is read a question at a time, so M needs no more memory than its largest history. Only the user's
    `turns` are read where these say so.
    """
    file, speakers = Path(path), checks.one_of("turns", turns, TURNS)
    return FileDataset(
        "longmemeval", file, {file.name: file}, partial(_read_longmemeval, file, speakers), turns=turns
    )


def _read_longmemeval(file: Path, turns: str, dropped: Counter[str]) -> Iterator[Haystack]:
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
    dates = [_longmemeval_moment(item) for item in record.items_of("haystack_dates")]
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
        when=_longmemeval_moment(record.child("question_date")),
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


def _longmemeval_moment(date: Record) -> datetime:
    """Return a date as the set writes it; it names no zone, and is read as UTC."""
    match = _LONGMEMEVAL_DATE.fullmatch(date.a(str))
    try:
        if match:
            year, month, day, hour, minute = map(int, match.groups())
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError as error:
        raise date.error(f"must be a date of the calendar, got {date.value!r} ({error})") from error
    raise date.error(f"must be a date as in '2023/04/12 (Wed) 06:37', got {date.value!r}")
