"""Questions that need several paragraphs: MuSiQue, HotpotQA and 2WikiMultihopQA.

Trivedi et al., "MuSiQue: Multihop Questions via Single-hop Question Composition", TACL 2022; Yang et al.,
"HotpotQA", EMNLP 2018; Ho et al., "Constructing a Multi-hop QA Dataset for Comprehensive Evaluation of
Reasoning Steps", COLING 2020. MuSiQue is JSON Lines of questions with ``paragraphs``, some of which are
marked ``is_supporting``; the other two are JSON lists of questions with a ``context`` of titles and
sentences, and ``supporting_facts`` that name the titles.

Each question comes with its own few paragraphs. Searching only those is easy; the usual harder protocol, as
in HippoRAG (Gutiérrez et al., 2024), pools the paragraphs of all questions into one collection.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.json_records import Record, json_records
from memorata.evaluate.datasets.reader import FileDataset
from memorata.model import checks

_HOPS = re.compile(r"(\d+)hop")


def read_multihop(path: str | Path, *, pooled: bool = True) -> FileDataset:
    """Open MuSiQue, HotpotQA or 2WikiMultihopQA; each record's own fields say which.

    - `path`: the JSON or JSON Lines file, plain or gzip.
    - `pooled`: whether the paragraphs of all questions are one haystack, with equal ones (by title and text)
      taken once; otherwise each question is a haystack. Questions that MuSiQue marks as unanswerable lack a
      paragraph that the pool may well have, so pooling drops them.
    """
    file, together = Path(path), checks.flag("pooled", pooled)
    return FileDataset("multihop", file, {file.name: file}, partial(_read, file, together), pooled=pooled)


def _read(file: Path, pooled: bool, dropped: Counter[str]) -> Iterator[Haystack]:
    pool: dict[str, Document] = {}
    questions: list[Question] = []
    for record in json_records(file):
        documents, question = _musique(record) if record.has("paragraphs") else _hotpot(record)
        pool.update(documents)
        if question.answerable and not question.relevant:
            dropped["no supporting paragraph"] += 1
        elif pooled and not question.answerable:
            dropped["unanswerable"] += 1
        elif pooled:
            questions.append(question)
        else:
            yield Haystack(opaque("haystack", question.id), tuple(documents.values()), (question,))
    if pooled:
        yield Haystack(opaque("haystack", "pool"), tuple(pool.values()), tuple(questions))


def _musique(record: Record) -> tuple[dict[str, Document], Question]:
    """Return the paragraphs by id, and the question, of a record of MuSiQue."""
    documents: dict[str, Document] = {}
    supporting: dict[str, float] = {}
    for paragraph in record.items_of("paragraphs"):
        document = _document(paragraph.text("title"), paragraph.text("paragraph_text"))
        documents[document.id] = document
        if paragraph.child("is_supporting").a(bool):
            supporting[document.id] = 1.0
    name = record.child("id").name()
    if record.has("question_decomposition"):
        hops = str(len(record.child("question_decomposition").a(list)))
    elif match := _HOPS.match(name):
        hops = match[1]
    else:
        raise record.error(f"has no 'question_decomposition', and its id {name!r} does not begin as '2hop'")
    answerable = record.flag("answerable", True)
    question = Question(
        # The full edition has every question twice under one id, once with a paragraph taken away.
        id=name if answerable else f"{name}_unanswerable",
        text=record.text("question"),
        kind=f"{hops} hops",
        relevant=supporting if answerable else {},
        answerable=answerable,
    )
    return documents, question


def _hotpot(record: Record) -> tuple[dict[str, Document], Question]:
    """Return the paragraphs by id, and the question, of a record of HotpotQA or 2WikiMultihopQA."""
    if not record.has("context"):
        raise record.error("has neither 'paragraphs' (MuSiQue) nor 'context' (HotpotQA, 2WikiMultihopQA)")
    titles = {fact.at(0).words() for fact in record.items_of("supporting_facts")}
    documents: dict[str, Document] = {}
    supporting: dict[str, float] = {}
    for paragraph in record.items_of("context"):
        sentences = [sentence.words().strip() for sentence in paragraph.at(1)]
        document = _document(paragraph.at(0).words(), " ".join(filter(None, sentences)))
        documents[document.id] = document
        if document.title in titles:
            supporting[document.id] = 1.0
    question = Question(
        id=record.child("_id").name(),
        text=record.text("question"),
        kind=record.text("type", ""),
        relevant=supporting,
    )
    return documents, question


def _document(title: str, text: str) -> Document:
    """Return a paragraph, named by all that is in it, so that equal ones are one."""
    return Document(id=opaque("document", title, text), text=text, title=title)
