"""Data sets: haystacks of documents, questions whose answers lie in them, and their files and labels.

Every reader of a data set returns these, and nothing else reaches the runner. Labels live in questions only,
and identifiers are opaque (:func:`opaque`), because some sets give the answer away in their ids.

A reader is a function from a path and options to a :class:`FileDataset`, which it gives a function that goes
through the files once; the rest of the :class:`Dataset` protocol follows from that. Collections with one list
of documents and one of queries (BEIR, SMART, our own JSON Lines) label their queries by judgements in the
manner of TREC (Voorhees & Harman, "TREC: Experiment and Evaluation in Information Retrieval", 2005).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from memorata.extend import frozen
from memorata.extend.errors import DatasetError, InvalidArgument, shown
from memorata.extend.model import checks
from memorata_lab.evaluate.files import numbered_lines, sha256_of


@frozen
class Document:
    """One text to be remembered: a turn, a paragraph, an abstract.

    `id` is opaque and unique in its haystack; `session` and `position` are empty and None where there are
    none.
    """

    id: str
    text: str
    title: str = ""
    when: datetime | None = None
    speaker: str = ""
    session: str = ""
    position: int | None = None


@frozen
class Question:
    """One question with its labels, which the engine never sees.

    `relevant` has the gains of the relevant documents by id, `relevant_sessions` those of sessions; what is
    not named has none. Questions that are not `answerable` from the haystack are for measuring abstention.
    """

    id: str
    text: str
    kind: str = ""
    when: datetime | None = None
    relevant: Mapping[str, float] = field(default_factory=dict)
    relevant_sessions: Mapping[str, float] = field(default_factory=dict)
    answerable: bool = True


@frozen
class Haystack:
    """Documents that are searched together, and the questions about them."""

    id: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


class Dataset(Protocol):
    """A data set that can be read again and again, a haystack at a time."""

    @property
    def name(self) -> str:
        """What it is called in tables, with the options it was read with."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk; of several, the hash of their hashes by name."""
        ...

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions were left out, by reason, once the set has been read."""
        ...

    def haystacks(self) -> Iterator[Haystack]:
        """Yield the haystacks in the order of the file."""
        ...

    def __len__(self) -> int:
        """How many haystacks there are."""
        ...


def opaque(kind: str, *parts: object) -> str:
    """Return an identifier that says nothing: a hash of what it stands for."""
    digest = hashlib.sha256("\0".join((kind, *map(str, parts))).encode()).hexdigest()
    return f"{kind[0]}-{digest[:12]}"


GRANULARITIES: Final = ("turn", "session")
"""The two a question has labels for; a set without sessions has documents, which are called turns here."""


def gains_of(question: Question, granularity: str) -> Mapping[str, float]:
    """Return the gains of a question's relevant items at one granularity."""
    chosen = checks.one_of("granularity", granularity, GRANULARITIES)
    return question.relevant if chosen == "turn" else question.relevant_sessions


@frozen
class FirstQuestions:
    """A :class:`~memorata_lab.evaluate.dataset.Dataset` with the first questions of another.

    Haystacks are whole: what is searched is the same. Those after the last question are not read.
    """

    whole: Dataset
    questions: int

    def __post_init__(self) -> None:
        checks.whole("questions", self.questions, 1)

    @property
    def name(self) -> str:
        """The set's name, and that it is not all of it."""
        return f"{self.whole.name}, first {self.questions} questions"

    @property
    def sha256(self) -> str:
        """The hash of the whole set."""
        return self.whole.sha256

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions of the whole set were left out."""
        return self.whole.dropped

    def haystacks(self) -> Iterator[Haystack]:
        """Yield haystacks until there are enough questions."""
        remaining = self.questions
        for haystack in self.whole.haystacks():
            questions = haystack.questions[:remaining]
            remaining -= len(questions)
            yield replace(haystack, questions=questions)
            if not remaining:
                return

    def __len__(self) -> int:
        """How many haystacks it takes."""
        return sum(1 for _ in self.haystacks())


_REQUIRED_FIELDS = ("question", "kind", "answerable", "relevant", "relevant_sessions")


def labels_name(dataset: str, sha256: str) -> str:
    """Return the name of the file for a data set."""
    return f"{slug(f'{dataset} {sha256[:8]}')}.labels.jsonl"


def slug(text: str) -> str:
    """Return a text as a part of the name of a file."""
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
    """Return the questions of a file, without their texts."""
    return tuple(_question(path, number, line) for number, line in numbered_lines(path))


def _question(path: str | PathLike[str], number: int, line: str) -> Question:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(path, number, f"not JSON: {error}") from error
    if not isinstance(record, dict) or sorted(record) != sorted(_REQUIRED_FIELDS):
        raise DatasetError(
            path, number, f"must be an object with {', '.join(_REQUIRED_FIELDS)}, got {shown(record)}"
        )
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


Read: TypeAlias = Callable[[Counter[str]], Iterator[Haystack]]
"""Yields haystacks, counting in its argument the questions that are left out."""


class FileDataset:
    """A data set in files that are read anew each time, so that it may be larger than memory.

    `format`, the name of `path` without endings and `options` name it in tables; `files` are hashed by the
    name they have in the set; `read` goes through them once.
    """

    def __init__(
        self, format: str, path: Path, files: Mapping[str, Path], read: Read, **options: object
    ) -> None:
        shown_options = ", ".join(f"{option}={value}" for option, value in options.items())
        stem = path.resolve().name.split(".")[0]
        self.name = f"{format}/{stem}" + (f" ({shown_options})" if shown_options else "")
        self._path = path
        self._files = dict(files)
        self._read = read
        self._read_whole = False
        self._length = 0
        self._dropped: Mapping[str, int] = {}
        for file in self._files.values():
            if not file.is_file():
                raise DatasetError(file, None, "no such file")

    @cached_property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk; of several, the hash of their hashes by name."""
        return sha256_of(self._files)

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions were left out, by reason; reads the set if it has not been read to its end."""
        self._read_once()
        return self._dropped

    def haystacks(self) -> Iterator[Haystack]:
        """Yield the haystacks in the order of the file."""
        dropped: Counter[str] = Counter()
        seen: set[str] = set()
        count = 0
        for haystack in self._read(dropped):
            for question in haystack.questions:
                if question.id in seen:
                    raise DatasetError(self._path, None, f"two questions have the id {shown(question.id)}")
                seen.add(question.id)
            count += 1
            yield haystack
        self._length, self._dropped, self._read_whole = count, MappingProxyType(dict(dropped)), True

    def __len__(self) -> int:
        """How many haystacks there are; reads the set if it has not been read to its end."""
        self._read_once()
        return self._length

    def _read_once(self) -> None:
        if not self._read_whole:
            deque(self.haystacks(), maxlen=0)


class Judgements:
    """Gains by query and document, as the collection names both."""

    def __init__(self) -> None:
        self._gains: dict[str, dict[str, float]] = {}

    def queries(self) -> set[str]:
        """Return the queries that have been judged, be it that nothing is relevant."""
        return set(self._gains)

    def gains(self, query: str) -> Mapping[str, float]:
        """Return the gains of the documents that were judged for a query."""
        return self._gains.get(query, {})

    def add(self, path: Path, line: int | None, query: str, document: str, gain: float) -> None:
        """Note a judgement that was read at this place; a gain of 0 or less says "not relevant"."""
        existing = self._gains.setdefault(query, {}).setdefault(document, gain)
        if existing != gain:
            reason = f"query {query!r} and document {document!r} are judged {gain:g}, and {existing:g} before"
            raise DatasetError(path, line, reason)

    def label(
        self, questions: Iterable[Question], documents: Mapping[str, Document], dropped: Counter[str]
    ) -> Iterator[Question]:
        """Yield the questions with their labels, without those for which no document is relevant.

        A judgement about a document that is not there (collections have a few, and a few empty documents)
        counts as none: it cannot be found.
        """
        for question in questions:
            relevant = {
                documents[name]: gain
                for name, gain in self.gains(question.id).items()
                if gain > 0 and name in documents
            }
            if not question.answerable:
                yield question
            elif not relevant:
                dropped["no relevant document"] += 1
            else:
                sessions: dict[str, float] = {}
                for document, gain in relevant.items():
                    if document.session:
                        sessions[document.session] = max(gain, sessions.get(document.session, gain))
                gains = {document.id: gain for document, gain in relevant.items()}
                yield replace(question, relevant=gains, relevant_sessions=sessions)
