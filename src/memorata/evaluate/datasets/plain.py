r"""Our own plain forms: JSON Lines of documents, queries and judgements; and lines of fact, tab, question.

Every line has one of three keys, and lines may come in any order::

    {"document": {"id": "a", "text": "I moved to Lisbon."}}
    {"query": {"id": "q1", "text": "Where do I live?"}}
    {"qrel": {"query": "q1", "document": "a"}}

A document may also have a ``title``, ``when`` (ISO 8601; UTC where it names no zone), ``speaker``,
``session`` and ``position``; a query ``kind``, ``when`` and ``answerable`` (true); a judgement ``gain`` (1).
A session is as relevant as the best of its documents. All documents are one haystack.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from memorata._frozen import frozen
from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.reader import FileDataset, Judgements
from memorata.evaluate.files import Record, json_records, numbered_lines
from memorata.model.errors import DatasetError, shown


def read_jsonl(path: str | Path) -> FileDataset:
    """Open a file in our own plain form, as one haystack.

    - `path`: the JSON Lines file, plain or gzip.
    """
    file = Path(path)
    return FileDataset("jsonl", file, {file.name: file}, partial(_read_jsonl, file))


def _read_jsonl(file: Path, dropped: Counter[str]) -> Iterator[Haystack]:
    yield read_records(file).haystack(dropped)


@frozen
class PlainRecords:
    """The documents and the queries of a file by their names there, and the judgements."""

    documents: dict[str, Document]
    queries: dict[str, Question]
    judgements: Judgements

    def haystack(self, dropped: Counter[str]) -> Haystack:
        """Return the documents with the labelled queries; `dropped` counts those that nothing answers."""
        labelled = tuple(self.judgements.label(self.queries.values(), self.documents, dropped))
        return Haystack(opaque("haystack", "jsonl"), tuple(self.documents.values()), labelled)


def read_records(file: Path, *, of_memories: bool = False) -> PlainRecords:
    """Return what the lines of a file say; `of_memories` lets judgements name ids of memories instead.

    They do so where the file has no documents at all.
    """
    documents: dict[str, Document] = {}
    questions: dict[str, Question] = {}
    judgements = Judgements()
    judged: list[tuple[Record, str, str]] = []
    for record in json_records(file):
        if record.has("document"):
            name, document = _document(record.child("document"))
            if name in documents:
                raise record.error(f"is the second document with the id {name!r}")
            documents[name] = document
        elif record.has("query"):
            question = _question(record.child("query"))
            if question.id in questions:
                raise record.error(f"is the second query with the id {question.id!r}")
            questions[question.id] = question
        elif record.has("qrel"):
            qrel = record.child("qrel")
            names = qrel.child("query").name(), qrel.child("document").name()
            judgements.add(file, record.line, *names, _gain(qrel))
            judged.append((record, *names))
        else:
            raise record.error("has neither 'document' nor 'query' nor 'qrel'")
    # Lines may come in any order, so only now is it known what is missing.
    for record, query, name in judged:
        if query not in questions:
            raise record.error(f"judges the query {query!r}, which is not in the file")
        if name not in documents and not (of_memories and not documents):
            raise record.error(f"judges the document {name!r}, which is not in the file")
    return PlainRecords(documents, questions, judgements)


def _question(record: Record) -> Question:
    """Return what a line of a query says, as yet without labels."""
    return Question(
        id=record.child("id").name(),
        text=record.text("text"),
        kind=record.text("kind", ""),
        when=record.child("when").moment() if record.has("when") else None,
        answerable=record.flag("answerable", True),
    )


def _gain(qrel: Record) -> float:
    """Return how relevant the document of a judgement is."""
    if not qrel.has("gain"):
        return 1.0
    gain = qrel.child("gain")
    value = float(gain.a(int) if isinstance(gain.value, int) else gain.a(float))
    if not math.isfinite(value):
        raise gain.error(f"must be a finite number, got {value}")
    return value


def _document(record: Record) -> tuple[str, Document]:
    """Return a document and the name the file has for it."""
    name = record.child("id").name()
    text, title = record.text("text"), record.text("title", "")
    if not text.strip() and not title.strip():
        raise record.error("has no text that is not blank")
    return name, Document(
        id=opaque("document", name),
        text=text,
        title=title,
        when=record.child("when").moment() if record.has("when") else None,
        speaker=record.text("speaker", ""),
        session=opaque("session", record.child("session").name()) if record.has("session") else "",
        position=record.child("position").a(int) if record.has("position") else None,
    )


def read_facts(path: str | Path) -> FileDataset:
    r"""Open a file of facts and questions, as one haystack; a fact that comes twice is one document.

    - `path`: the file, plain or gzip, without a header.
    """
    file = Path(path)
    return FileDataset("facts", file, {file.name: file}, partial(_read_facts, file))


def _read_facts(file: Path, dropped: Counter[str]) -> Iterator[Haystack]:
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    for number, line in numbered_lines(file):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise DatasetError(file, number, f"expected a fact, a tab and a question, got {shown(line)}")
        fact, question = cells
        document = Document(opaque("document", fact), fact)
        documents[document.id] = document
        questions.append(Question(id=str(number), text=question, relevant={document.id: 1.0}))
    if not documents:
        raise DatasetError(file, None, "holds no records")
    yield Haystack(opaque("haystack", "facts"), tuple(documents.values()), tuple(questions))
