"""A hybrid recall against what people would use instead, and against the bare searches it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bm25s
import numpy as np

from benchmarks.engine_data import Question, batches, keywords, mixed, natural
from benchmarks.engine_recall import recalling
from benchmarks.engine_report import Figure
from benchmarks.engine_store import Built, opened, texts_of, vectors_of
from benchmarks.latency import Spread, asked, milliseconds
from benchmarks.peers import POOL, Way, peers
from benchmarks.postings import Postings
from memorata.index.vectors import MAX_EXACT_VECTORS, Vectors

_OURS = "memorata"
_QUESTIONS = 100
_WARMING = 20
_TIMES_FASTER = 10
_TIMES_BARE = 2.5


def peer_figures(work: Path, made: Built) -> Iterator[Figure]:
    """Yield how many times as long each peer takes on the same memories, vectors and questions."""
    others = [make(work / f"peer-{number}") for number, make in enumerate(peers())]
    for batch in batches(made.size):
        for other in others:
            other.add(batch)
    with opened(made.path) as engine:
        runs: dict[str, Callable[[Question], list[str]]] = {_OURS: recalling(engine)}
        ways: list[Way] = []
        for other in others:
            other.ready()
            ways += other.ways()
        runs |= {way.name: way.run for way in ways}
        asked(runs, mixed(made.size, _WARMING, seed=2))
        exact = keywords(made.size, _QUESTIONS)
        times = {"few words": asked(runs, exact), "natural": asked(runs, natural(made.size, _QUESTIONS))}
        found = {name: sum(each.answer in run(each) for each in exact) for name, run in runs.items()}
    for other in others:
        other.close()
    both = {name: _joined([kind[name] for kind in times.values()]) for name in runs}
    hybrid = {way.name for way in ways if way.is_hybrid}
    for name in runs:
        kinds = ", ".join(f"{kind} {milliseconds(spread[name].median)}" for kind, spread in times.items())
        said = f"{milliseconds(both[name].median)} ({kinds}; finds {found[name] / len(exact):.0%})"
        if name == _OURS:
            yield Figure("hybrid recall, beside the peers", made.size, said)
            continue
        ratio = both[name].median / both[_OURS].median
        computing = both[name].processor_median / both[_OURS].processor_median
        yield Figure(
            name,
            made.size,
            f"{ratio:.1f}× ours, {computing:.1f}× by processor time: {said}",
            f"≥ {_TIMES_FASTER}×" if name in hybrid else "",
            ratio >= _TIMES_FASTER if name in hybrid else None,
        )


class _Bare(NamedTuple):
    """A question with its words read already."""

    question: Question
    tokens: list[str]


def bare_figures(made: Built) -> Iterator[Figure]:
    """Yield a recall against the sum of a bare vector search and a bare BM25 search of a hundred each."""
    rows = vectors_of(made.size)
    own = Vectors(rows.shape[1], exact=made.size <= MAX_EXACT_VECTORS)
    own.add(np.arange(made.size, dtype=np.int32), rows)
    with opened(made.path) as engine:
        tokens = [engine.analyser.tokens(text) for text in texts_of(made.size)]
        postings = Postings(tokens)
        library = bm25s.BM25(method="lucene", backend="numba")
        library.index(tokens, show_progress=False)
        known = set().union(*tokens)
        recall = recalling(engine)
        runs: dict[str, Callable[[_Bare], Any]] = {
            _OURS: lambda bare: recall(bare.question),
            "numpy": lambda bare: _nearest(rows, bare.question.vector),
            "bm25s": lambda bare: library.retrieve([bare.tokens], k=POOL, show_progress=False),
            "own vectors": lambda bare: own.search(bare.question.vector, POOL, None, rows.__getitem__),
            "own postings": lambda bare: postings.search(bare.tokens, POOL),
        }

        def read(questions: Sequence[Question]) -> list[_Bare]:
            # bm25s fails on words that nobody said.
            spoken = ([t for t in engine.analyser.tokens(q.text) if t in known] for q in questions)
            return [_Bare(*pair) for pair in zip(questions, spoken, strict=True)]

        asked(runs, read(mixed(made.size, _WARMING, seed=2)))
        times = asked(runs, read(mixed(made.size, 2 * _QUESTIONS)))
    ours = times[_OURS].median
    for name, pair, wanted in (
        ("numpy and bm25s (numba)", ("numpy", "bm25s"), True),
        ("our own vectors and postings", ("own vectors", "own postings"), False),
    ):
        total = float(np.median(np.sum([times[part].wall for part in pair], axis=0)))
        parts = " + ".join(milliseconds(times[part].median) for part in pair)
        yield Figure(
            f"recall against the bare searches of {name}",
            made.size,
            f"{ours / total:.2f}× ({milliseconds(ours)} against {parts})",
            f"≤ {_TIMES_BARE}×" if wanted else "",
            ours / total <= _TIMES_BARE if wanted else None,
        )


def _nearest(rows: Any, query: Any) -> Any:  # noqa: ANN401 - the shortest search that numpy can write
    scores = rows @ query
    best = np.argpartition(scores, -POOL)[-POOL:]
    return best[np.argsort(-scores[best])]


def _joined(spreads: Sequence[Spread]) -> Spread:
    wall = tuple(time for spread in spreads for time in spread.wall)
    return Spread(wall, tuple(time for spread in spreads for time in spread.processor))
