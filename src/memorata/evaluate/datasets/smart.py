"""SMART: the format of the Cranfield collection and others of the first decades of retrieval.

Cleverdon, "The Cranfield Tests on Index Language Devices", 1967; Salton's SMART system gave its files their
form. A line ``.I 7`` begins a document or query; ``.T`` begins its title, ``.W`` its text, ``.A`` its authors
and ``.B`` where it appeared. The judgements are lines of query, document and grade.

Two things to know. The judgements number the queries by their place in the file, from 1: Cranfield's own
query numbers have gaps. And relevance is binary: grades 1 to 4 are degrees of relevance with 1 the highest;
-1, 0 and 5 say "not relevant".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from functools import partial
from pathlib import Path

from memorata._frozen import frozen
from memorata.evaluate.dataset import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.reader import FileDataset, Judgements
from memorata.evaluate.files import numbered_lines
from memorata.model.errors import DatasetError, shown

_FILES = {
    "documents": (re.compile(r"\.all\b", re.IGNORECASE), "cran.all.1400"),
    "queries": (re.compile(r"\.(qry|que)\b", re.IGNORECASE), "cran.qry"),
    "judgements": (re.compile(r"qrels?\b|\.rel\b", re.IGNORECASE), "cranqrel"),
}
_BEGIN = re.compile(r"\.I\s+(\S+)\s*")
_SECTION = re.compile(r"\.([A-Z])\s*")
_RELEVANT, _NOT_RELEVANT = {"1", "2", "3", "4"}, {"-1", "0", "5"}


def read_smart(path: str | Path) -> FileDataset:
    r"""Open a folder in the SMART format, such as Cranfield, as one haystack.

    Documents with neither title nor text (Cranfield has two) are left out, and judgements of them with them.

    - `path`: the folder, with one file each like ``cran.all.1400``, ``cran.qry`` and ``cranqrel``, plain or
      gzip.
    """
    folder = Path(path)
    corpus, queries, qrels = files = [_only(folder, kind) for kind in _FILES]
    return FileDataset(
        "smart", folder, {file.name: file for file in files}, partial(_read, corpus, queries, qrels)
    )


def _read(corpus: Path, queries: Path, qrels: Path, dropped: Counter[str]) -> Iterator[Haystack]:
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
    judgements = _judgements(qrels, len(questions))
    labelled = tuple(judgements.label(questions, documents, dropped))
    yield Haystack(opaque("haystack", "smart"), tuple(documents.values()), labelled)


def _judgements(qrels: Path, queries: int) -> Judgements:
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
    pattern, example = _FILES[kind]
    if not folder.is_dir():
        raise DatasetError(folder, None, "no such folder")
    files = [file for file in sorted(folder.iterdir()) if pattern.search(file.name)]
    files = [file for file in files if "readme" not in file.name.lower()]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise DatasetError(folder, None, f"expected one file of {kind}, named as {example!r}, found {names}")
    return files[0]
