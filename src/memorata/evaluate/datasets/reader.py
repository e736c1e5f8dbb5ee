"""Data sets in files: names, hashes, counts after one pass, and relevance judgements.

A reader is a function from a path and options to a :class:`FileDataset`, which it gives a function that goes
through the files once; the rest of the :class:`~memorata.evaluate.dataset.Dataset` protocol follows from
that. Collections with one list of documents and one of queries (BEIR, SMART, our own JSON Lines) label their
queries by judgements in the manner of TREC (Voorhees & Harman, "TREC: Experiment and Evaluation in
Information Retrieval", 2005).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from memorata.evaluate.dataset import Document, Haystack, Question
from memorata.evaluate.files import sha256_of
from memorata.model.errors import DatasetError, shown

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
        self._name = f"{format}/{stem}" + (f" ({shown_options})" if shown_options else "")
        self._path = path
        self._files = dict(files)
        self._read = read
        self._sha256 = ""
        self._read_whole = False
        self._length = 0
        self._dropped: Mapping[str, int] = {}
        for file in self._files.values():
            if not file.is_file():
                raise DatasetError(file, None, "no such file")

    @property
    def name(self) -> str:
        """What it is called in tables, with the options it was read with."""
        return self._name

    @property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk; of several, the hash of their hashes by name."""
        if not self._sha256:
            self._sha256 = sha256_of(self._files)
        return self._sha256

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
