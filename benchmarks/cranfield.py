"""BM25 against bm25s on real texts: the same scores, the same quality, and how fast.

Cranfield is the oldest test collection: 1,400 abstracts on aerodynamics and 225 questions with judgements
(Cleverdon, "The Cranfield tests on index language devices", 1967). It is read where it lies and never copied.
Both get the same tokens. Relevance is taken as yes or no: a judged grade from 1 to 4 is yes, -1 is no.

Run ``python -m benchmarks.cranfield [FOLDER]``.
"""

from __future__ import annotations

import argparse
import gzip
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split

import bm25s
import numpy as np
from rich.console import Console

from benchmarks.postings import Postings
from benchmarks.timing import interleaved
from memorata.text import analyser

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "cranfield"
_TEXTS, _QUESTIONS, _JUDGEMENTS = "cran.all.1400.gz", "cran.qry", "cranqrel"
_K1, _B = 1.5, 0.75
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Collection:
    """The texts, the questions, and for each question the rows of the texts that answer it."""

    texts: list[str]
    questions: list[str]
    relevant: list[set[int]]


def collection(folder: Path) -> Collection:
    """Read Cranfield in its SMART format.

    Judgements count the questions from 1 in the order of the file; the numbers printed beside the questions
    are others, with gaps, and matching by them is a mistake often made.
    """
    with gzip.open(folder / _TEXTS, "rt", encoding="utf-8") as file:
        texts = list(_field_w(file.read()))
    questions = list(_field_w((folder / _QUESTIONS).read_text(encoding="utf-8")))
    relevant: list[set[int]] = [set() for _ in questions]
    for line in (folder / _JUDGEMENTS).read_text(encoding="utf-8").splitlines():
        question, text, grade = map(int, line.split())
        if grade > 0:
            relevant[question - 1].add(text - 1)
    return Collection(texts, questions, relevant)


def ndcg(rows: Sequence[int], relevant: set[int]) -> float:
    """Return the normalised discounted gain of the first ten, the ideal taken over all relevant texts."""
    gain = sum(1 / math.log2(place + 2) for place, row in enumerate(rows[:_DEPTH]) if row in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(len(relevant), _DEPTH)))


def main(arguments: list[str] | None = None) -> int:
    """Compare the two and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cranfield", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where the three files lie")
    folder = parser.parse_args(arguments).folder
    console = Console(width=110, highlight=False)
    missing = [name for name in (_TEXTS, _QUESTIONS, _JUDGEMENTS) if not (folder / name).is_file()]
    if missing:
        console.print(
            f"Cranfield is not in {folder} (no {', '.join(missing)}); name its folder as an argument."
        )
        return 2
    for line in findings(collection(folder)):
        console.print(line)
    return 0


def findings(cranfield: Collection) -> Iterator[str]:
    """Yield one line for each thing measured."""
    read = analyser("snowball", language="english").tokens
    texts, queries = [read(text) for text in cranfield.texts], [read(text) for text in cranfield.questions]
    words = sum(map(len, queries)) / len(queries)
    yield f"{len(texts):,} texts, {len(queries)} questions of {words:.1f} terms on average"

    ours = Postings(texts)
    for dtype in ("float32", "float64"):
        theirs = _bm25s(texts, dtype, "numpy")
        # bm25s leaves out the constant factor k1 + 1, which changes no order.
        apart = max(
            float(np.abs(ours.scores(query) - (_K1 + 1) * theirs.get_scores(query)).max())
            for query in queries
        )
        yield f"largest difference of a score from bm25s in {dtype}: {apart:.1e}"

    theirs = _bm25s(texts, "float32", "numpy")
    judged = [number for number, rows in enumerate(cranfield.relevant) if rows]
    for name, found in (
        ("ours", [ours.search(query, _DEPTH)[0].tolist() for query in queries]),
        ("bm25s", [_retrieved(theirs, [query])[0].tolist() for query in queries]),
    ):
        mean = sum(ndcg(found[number], cranfield.relevant[number]) for number in judged) / len(judged)
        yield f"nDCG@{_DEPTH} of {name}: {mean:.4f} over {len(judged)} questions"

    compiled = _bm25s(texts, "float32", "numba")
    times = interleaved(
        {
            "ours": lambda: [ours.search(query, _DEPTH) for query in queries],
            "bm25s, one by one": lambda: [_retrieved(theirs, [query]) for query in queries],
            "bm25s, all in one call": partial(_retrieved, theirs, queries),
            "bm25s compiled by numba, one by one": lambda: [
                _retrieved(compiled, [query]) for query in queries
            ],
            "bm25s compiled by numba, all in one call": partial(_retrieved, compiled, queries),
        }
    )
    best = min(times["ours"])
    yield f"all questions, first {_DEPTH}: ours {best * 1e3:.1f} ms"
    for name in list(times)[1:]:
        yield f"  {name}: {min(times[name]) * 1e3:.1f} ms, {min(times[name]) / best:.2f} times as long"


def _field_w(text: str) -> Iterator[str]:
    """Yield the words (field W) of every record."""
    for record in re.split(r"^\.I \d+\s*$", text, flags=re.MULTILINE)[1:]:
        yield re.split(r"^\.W\s*$", record, maxsplit=1, flags=re.MULTILINE)[1].strip()


def _bm25s(texts: Sequence[Sequence[str]], dtype: str, backend: str) -> Any:  # noqa: ANN401 - it has no types
    made = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype=dtype, backend=backend)
    made.index(texts, show_progress=False)
    return made


def _retrieved(made: Any, queries: list[list[str]]) -> Any:  # noqa: ANN401
    return made.retrieve(queries, k=_DEPTH, show_progress=False).documents


if __name__ == "__main__":
    sys.exit(main())
