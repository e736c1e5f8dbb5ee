r"""Collections of documents with judged queries: BEIR, SMART, multi-hop sets, and plain forms of our own.

BEIR (Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", NeurIPS 2021): ``corpus.jsonl`` has lines with ``_id``, ``title`` and ``text``; ``queries.jsonl``
with ``_id`` and ``text``; ``qrels/SPLIT.tsv`` a header and lines of query id, document id and gain. Each may
be gzip (``.gz``).

SMART is the format of the Cranfield collection (Cleverdon, "The Cranfield Tests on Index Language Devices",
1967). A line ``.I 7`` begins a document or query; ``.T`` begins its title, ``.W`` its text, ``.A`` its
authors and ``.B`` where it appeared. The judgements are lines of query, document and grade. They number the
queries by their place in the file, from 1: Cranfield's own query numbers have gaps. And relevance is binary:
grades 1 to 4 are degrees of relevance with 1 the highest; -1, 0 and 5 say "not relevant".

MuSiQue (Trivedi et al., TACL 2022) is JSON Lines of questions with ``paragraphs``, some of which are marked
``is_supporting``; HotpotQA (Yang et al., EMNLP 2018) and 2WikiMultihopQA (Ho et al., COLING 2020) are JSON
lists of questions with a ``context`` of titles and sentences, and ``supporting_facts`` that name the titles.
Each question comes with its own few paragraphs. Searching only those is easy; the usual harder protocol, as
in HippoRAG (Gutiérrez et al., 2024), pools the paragraphs of all questions into one collection.

Our own plain forms are lines of fact, tab, question, and JSON Lines of documents, queries and judgements, of
which every line has one of three keys, in any order::

    {"document": {"id": "a", "text": "I moved to Lisbon."}}
    {"query": {"id": "q1", "text": "Where do I live?"}}
    {"qrel": {"query": "q1", "document": "a"}}

A document may also have a ``title``, ``when`` (ISO 8601; UTC where it names no zone), ``speaker``,
``session`` and ``position``; a query ``kind``, ``when`` and ``answerable`` (true); a judgement ``gain`` (1).
A session is as relevant as the best of its documents. All documents are one haystack.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from functools import partial
from pathlib import Path

from memorata.extend import frozen
from memorata.extend.errors import DatasetError, shown
from memorata.extend.model import checks
from memorata_lab.evaluate.dataset import Document, FileDataset, Haystack, Judgements, Question, opaque
from memorata_lab.evaluate.files import Record, json_records, numbered_lines


def read_beir(path: str | Path, *, split: str = "test") -> FileDataset:
    """Open a folder in the format of BEIR, as one haystack, with the judgements of a split.

    Queries without judgements there belong to other splits, and are not counted as dropped; judged queries
    that are missing from the folder are.
    """
    folder = Path(path)
    splits = {file.name.split(".")[0]: file for file in sorted(folder.glob("qrels/*.tsv*"))}
    if not splits:
        raise DatasetError(folder, None, "is not a BEIR folder: it has no qrels/test.tsv or the like")
    qrels = splits[checks.one_of("split", split, list(splits))]
    corpus = _plain_or_gzip(folder / "corpus.jsonl")
    queries = _plain_or_gzip(folder / "queries.jsonl")
    files = {file.relative_to(folder).as_posix(): file for file in (corpus, queries, qrels)}
    return FileDataset("beir", folder, files, partial(_read_beir, corpus, queries, qrels), split=split)


def _read_beir(corpus: Path, queries: Path, qrels: Path, dropped: Counter[str]) -> Iterator[Haystack]:
    judgements = _beir_judgements(qrels)
    documents: dict[str, Document] = {}
    seen: set[str] = set()
    for record in json_records(corpus):
        name = record.child("_id").name()
        text, title = record.text("text"), record.text("title", "")
        document = Document(id=opaque("document", name), text=text, title=title)
        if document.id in seen:
            raise record.error(f"is the second document with the _id {name!r}")
        seen.add(document.id)
        if text.strip() or title.strip():
            documents[name] = document
    judged = judgements.queries()
    questions = [
        Question(id=name, text=record.text("text"))
        for record in json_records(queries)
        if (name := record.child("_id").name()) in judged
    ]
    if missing := judged - {question.id for question in questions}:
        dropped["no such query"] += len(missing)
    labelled = tuple(judgements.label(questions, documents, dropped))
    yield Haystack(opaque("haystack", "beir"), tuple(documents.values()), labelled)


def _beir_judgements(qrels: Path) -> Judgements:
    """Return the judgements of the split."""
    judgements = Judgements()
    for number, line in numbered_lines(qrels):
        cells = line.split("\t")
        if len(cells) != 3:
            reason = f"expected query id, document id and gain between tabs, got {shown(line)}"
            raise DatasetError(qrels, number, reason)
        gain = _finite(cells[2])
        if gain is None and number > 1:
            raise DatasetError(qrels, number, f"expected a gain, got {cells[2]!r}")
        if gain is not None:
            judgements.add(qrels, number, cells[0], cells[1], gain)
    return judgements


def _finite(text: str) -> float | None:
    """Return a finite number, or None for what is none, such as the header."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _plain_or_gzip(file: Path) -> Path:
    """Return the file, or its compressed form if only that is there."""
    compressed = file.with_name(file.name + ".gz")
    return compressed if compressed.is_file() and not file.is_file() else file


_SMART_FILES = {
    "documents": (re.compile(r"\.all\b", re.IGNORECASE), "cran.all.1400"),
    "queries": (re.compile(r"\.(qry|que)\b", re.IGNORECASE), "cran.qry"),
    "judgements": (re.compile(r"qrels?\b|\.rel\b", re.IGNORECASE), "cranqrel"),
}
_BEGIN = re.compile(r"\.I\s+(\S+)\s*")
_SECTION = re.compile(r"\.([A-Z])\s*")
_RELEVANT, _NOT_RELEVANT = {"1", "2", "3", "4"}, {"-1", "0", "5"}


def read_smart(path: str | Path) -> FileDataset:
    """Open a folder in the SMART format, such as Cranfield, as one haystack.

    It has one file each like ``cran.all.1400``, ``cran.qry`` and ``cranqrel``. Documents with neither title
    nor text (Cranfield has two) are left out, and judgements of them with them.
    """
    folder = Path(path)
    corpus, queries, qrels = files = [_only(folder, kind) for kind in _SMART_FILES]
    return FileDataset(
        "smart", folder, {file.name: file for file in files}, partial(_read_smart, corpus, queries, qrels)
    )


def _read_smart(corpus: Path, queries: Path, qrels: Path, dropped: Counter[str]) -> Iterator[Haystack]:
    documents: dict[str, Document] = {}
    seen: set[str] = set()
    for entry in _entries(corpus):
        if entry.name in seen:
            raise DatasetError(corpus, entry.line, f"the second document with .I {entry.name}")
        seen.add(entry.name)
        text, title = entry.text("W"), entry.text("T")
        if text or title:
            documents[entry.name] = Document(opaque("document", entry.name), text, title)
    questions = [
        Question(id=str(place), text=entry.text("W")) for place, entry in enumerate(_entries(queries), 1)
    ]
    judgements = _smart_judgements(qrels, len(questions))
    labelled = tuple(judgements.label(questions, documents, dropped))
    yield Haystack(opaque("haystack", "smart"), tuple(documents.values()), labelled)


def _smart_judgements(qrels: Path, queries: int) -> Judgements:
    """Return the judgements about that many queries."""
    judgements = Judgements()
    for number, line in numbered_lines(qrels):
        cells = line.split()
        if len(cells) != 3 or not cells[0].isdecimal() or cells[2] not in _RELEVANT | _NOT_RELEVANT:
            reason = f"expected query, document and a grade of -1 or 0 to 5, got {shown(line)}"
            raise DatasetError(qrels, number, reason)
        if not 1 <= int(cells[0]) <= queries:
            reason = f"expected one of the {queries} queries by its place, got {cells[0]}"
            raise DatasetError(qrels, number, reason)
        gain = 1.0 if cells[2] in _RELEVANT else 0.0
        judgements.add(qrels, number, str(int(cells[0])), cells[1], gain)
    return judgements


@frozen
class _Entry:
    """One document or query: its number as written, its line, and its lines by section."""

    name: str
    line: int
    sections: dict[str, list[str]] = field(default_factory=dict)

    def text(self, section: str) -> str:
        """Return the words of a section on one line; its line breaks only kept it within a punched card."""
        return " ".join(" ".join(self.sections.get(section, ())).split())


def _entries(path: Path) -> Iterator[_Entry]:
    """Yield the documents or queries of a file."""
    entry: _Entry | None = None
    into: list[str] | None = None
    for number, line in numbered_lines(path):
        if begin := _BEGIN.fullmatch(line):
            if entry:
                yield entry
            entry, into = _Entry(begin[1], number), None
        elif entry and (section := _SECTION.fullmatch(line)):
            # A section may come twice (Cranfield 576): it goes on then.
            into = entry.sections.setdefault(section[1], [])
        elif into is not None:
            into.append(line)
        else:
            expected = "a section such as '.W'" if entry else "'.I' and a number"
            raise DatasetError(path, number, f"expected {expected}, got {shown(line)}")
    if entry is None:
        raise DatasetError(path, None, "holds no records")
    yield entry


def _only(folder: Path, kind: str) -> Path:
    """Return the one file of a folder that is named as files of this kind are."""
    pattern, example = _SMART_FILES[kind]
    if not folder.is_dir():
        raise DatasetError(folder, None, "no such folder")
    files = [file for file in sorted(folder.iterdir()) if pattern.search(file.name)]
    files = [file for file in files if "readme" not in file.name.lower()]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise DatasetError(folder, None, f"expected one file of {kind}, named as {example!r}, found {names}")
    return files[0]


_HOPS = re.compile(r"(\d+)hop")


def read_multihop(path: str | Path, *, pooled: bool = True) -> FileDataset:
    """Open MuSiQue, HotpotQA or 2WikiMultihopQA; each record's own fields say which.

    Where `pooled`, the paragraphs of all questions are one haystack, with equal ones taken once; otherwise
    each question is a haystack. Questions that MuSiQue marks as unanswerable lack a paragraph that the pool
    may well have, so pooling drops them.
    """
    file, together = Path(path), checks.flag("pooled", pooled)
    return FileDataset(
        "multihop", file, {file.name: file}, partial(_read_multihop, file, together), pooled=pooled
    )


def _read_multihop(file: Path, pooled: bool, dropped: Counter[str]) -> Iterator[Haystack]:
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
        document = _paragraph(paragraph.text("title"), paragraph.text("paragraph_text"))
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
        document = _paragraph(paragraph.at(0).words(), " ".join(filter(None, sentences)))
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


def _paragraph(title: str, text: str) -> Document:
    """Return a paragraph, named by all that is in it, so that equal ones are one."""
    return Document(id=opaque("document", title, text), text=text, title=title)


def read_jsonl(path: str | Path) -> FileDataset:
    """Open a file in our own plain form, as one haystack."""
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
    """Open a file of facts and questions, as one haystack; a fact that comes twice is one document."""
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
