"""How long `fast` takes end to end: the question as text, embedded by a static model, to ten memories.

Beside it, in turns and on the same questions, plain BM25 as people get it from bm25s: the question tokenised,
stemmed and searched, by numpy and compiled by numba. That one does less: no meaning, no fields, no time, no
reasons, and it cannot be written to.

Run ``python -m benchmarks.engine_fast``; the model is looked for where ``MEMORATA_MODELS`` says.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded
from benchmarks.engine_data import Question, batches, mixed
from benchmarks.engine_report import Figure, shown
from benchmarks.engine_store import texts_of
from benchmarks.latency import Spread, asked, load, milliseconds
from memorata.engine import open as open_engine

MODEL = "potion-base-8M"
LIMIT = 10
_QUESTIONS = 600
_WARMING = 60
_TARGET = 0.002
_OURS = "fast"


def fast_figures(work: Path, size: int) -> Iterator[Figure]:
    """Yield the times of `fast`, embedding included, and of plain BM25, asked the same questions in turns."""
    with open_engine(work / f"fast-{size}.db", embedder=MODEL, recipe="fast") as engine:
        for batch in batches(size):
            engine.remember_many(batch.items(), duplicates="off")
        steps: list[dict[str, float]] = []

        def ours(question: Question) -> None:
            found = engine.recall(question.text, limit=LIMIT)
            [hit.memory.content for hit in found]
            steps.append(dict(found.milliseconds))

        runs: dict[str, Callable[[Question], None]] = {_OURS: ours, **_plain(size)}
        asked(runs, mixed(size, _WARMING, seed=2))
        steps.clear()
        times = asked(runs, mixed(size, _QUESTIONS))
    yield from _figures(size, times, steps)


def _plain(size: int) -> dict[str, Callable[[Question], None]]:
    """Return searches with bm25s, from the text of a question to ten texts."""
    # It loads numpy, which must first be told to use one thread.
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = texts_of(size)

    def search(backend: str) -> Callable[[Question], None]:
        index = bm25s.BM25(method="lucene", backend=backend)
        index.index(
            bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
        )

        def run(question: Question) -> None:
            terms = bm25s.tokenize([question.text], stopwords="en", stemmer=stemmer, show_progress=False)
            places, _ = index.retrieve(terms, k=LIMIT, show_progress=False)
            [texts[place] for place in places[0]]

        return run

    return {"bm25s": search("numpy"), "bm25s, numba": search("numba")}


def _figures(size: int, times: dict[str, Spread], steps: list[dict[str, float]]) -> Iterator[Figure]:
    ours = times[_OURS]
    yield Figure(
        f"`fast` with {MODEL}, question embedded, median",
        size,
        f"{milliseconds(ours.median)} (processor {milliseconds(ours.processor_median)})",
        f"≤ {_TARGET * 1e3:g} ms",
        ours.median <= _TARGET,
    )
    yield Figure(
        "… 99th percentile",
        size,
        f"{milliseconds(ours.p99)} (processor {milliseconds(ours.processor_p99)})",
    )
    parts = {name: sorted(each[name] for each in steps)[len(steps) // 2] for name in steps[0]}
    yield Figure("… of which, medians", size, ", ".join(f"{n} {value:.2f} ms" for n, value in parts.items()))
    for name, other in list(times.items())[1:]:
        computing = ours.processor_median / other.processor_median
        yield Figure(
            f"… against plain BM25 by {name}",
            size,
            f"{ours.median / other.median:.2f}× its time, {computing:.2f}× by processor "
            f"({milliseconds(other.median)}, p99 {milliseconds(other.p99)})",
        )


def main() -> int:
    """Measure at ten thousand memories, and print the table."""
    with tempfile.TemporaryDirectory(prefix="memorata-fast-") as folder:
        figures = list(fast_figures(Path(folder), 10_000))
    shown(f"fast, end to end (load average {load():.1f} at the end)", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
