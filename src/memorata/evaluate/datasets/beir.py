"""BEIR: a folder with a corpus, queries and judgements by split, the common form of many test collections.

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models",
NeurIPS 2021. ``corpus.jsonl`` has lines with ``_id``, ``title`` and ``text``; ``queries.jsonl`` with ``_id``
and ``text``; ``qrels/SPLIT.tsv`` a header and lines of query id, document id and gain. Each may be gzip
(``.gz``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.json_records import json_records
from memorata.evaluate.datasets.reader import FileDataset, Judgements
from memorata.evaluate.files import numbered_lines
from memorata.model import checks
from memorata.model.errors import DatasetError, shown


def read_beir(path: str | Path, *, split: str = "test") -> FileDataset:
    r"""Open a folder in the format of BEIR, as one haystack.

    - `path`: the folder.
    - `split`: whose judgements are read: "test", "dev" or "train", as far as the folder has them. Queries
      without judgements there belong to other splits, and are not counted as dropped; judged queries that are
      missing from the folder are.
    """
    folder = Path(path)
    splits = {file.name.split(".")[0]: file for file in sorted(folder.glob("qrels/*.tsv*"))}
    if not splits:
        raise DatasetError(folder, None, "is not a BEIR folder: it has no qrels/test.tsv or the like")
    qrels = splits[checks.one_of("split", split, list(splits))]
    corpus = _plain_or_gzip(folder / "corpus.jsonl")
    queries = _plain_or_gzip(folder / "queries.jsonl")
    files = {file.relative_to(folder).as_posix(): file for file in (corpus, queries, qrels)}
    return FileDataset("beir", folder, files, partial(_read, corpus, queries, qrels), split=split)


def _read(corpus: Path, queries: Path, qrels: Path, dropped: Counter[str]) -> Iterator[Haystack]:
    judgements = _judgements(qrels)
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


def _judgements(qrels: Path) -> Judgements:
    """Return the judgements of the split."""
    judgements = Judgements()
    for number, line in numbered_lines(qrels):
        cells = line.split("\t")
        if len(cells) != 3:
            reason = f"expected query id, document id and gain between tabs, got {shown(line)}"
            raise DatasetError(qrels, number, reason)
        gain = _number(cells[2])
        if gain is None and number > 1:
            raise DatasetError(qrels, number, f"expected a gain, got {cells[2]!r}")
        if gain is not None:
            judgements.add(qrels, number, cells[0], cells[1], gain)
    return judgements


def _number(text: str) -> float | None:
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
