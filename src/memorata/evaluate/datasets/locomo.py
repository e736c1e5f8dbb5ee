"""LoCoMo: questions about very long conversations between two people, with the turns that answer them.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. The file is a JSON
list of conversations; ``session_N`` holds the turns of a session, ``session_N_date_time`` its date, and
``qa`` the questions, whose ``evidence`` names turns as ``D<session>:<turn>``.

Some evidence is malformed. Every ``D8:6`` in it counts, wherever it stands (``"D8:6; D9:17"`` is two turns),
also when written ``D:8:6`` or ``D08:06``; what names no turn of the conversation counts as nothing, and a
question for which nothing is left is dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.json_records import Record, json_records
from memorata.evaluate.datasets.reader import FileDataset
from memorata.model import checks

KINDS = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
"""The categories by their number in the file."""
# Named here, because the names that the standard library parses change with the locale.
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")
_DATE = re.compile(r"(\d\d?):(\d\d) ([ap]m) on (\d\d?) ([a-z]+),? (\d{4})", re.IGNORECASE)
_AFTERWARDS = timedelta(hours=1)
"""Questions are asked this long after the last session began; the set gives them no date."""


def read_locomo(path: str | Path, *, captions: bool = True) -> FileDataset:
    """Open LoCoMo: one haystack for each conversation, one document for each turn.

    - `path`: the JSON file, plain or gzip.
    - `captions`: whether a turn with a photo also has the words that describe it: "… (shares a photo: a red
      kite)".
    """
    file, with_captions = Path(path), checks.flag("captions", captions)
    return FileDataset(
        "locomo", file, {file.name: file}, partial(_read, file, with_captions), captions=captions
    )


def _read(file: Path, captions: bool, dropped: Counter[str]) -> Iterator[Haystack]:
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
        when = _moment(conversation.child(f"session_{number}_date_time"))
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


def _moment(date: Record) -> datetime:
    """Return a date as the set writes it; it names no zone, and is read as UTC."""
    match = _DATE.fullmatch(date.a(str).strip())
    if not match or match[5].lower() not in _MONTHS or not 1 <= int(match[1]) <= 12:
        raise date.error(f"must be a date as in '1:56 pm on 8 May, 2023', got {date.value!r}")
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "pm" else 0)
    month = _MONTHS.index(match[5].lower()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError as error:
        raise date.error(f"must be a date of the calendar, got {date.value!r} ({error})") from error
