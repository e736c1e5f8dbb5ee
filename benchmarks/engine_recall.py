"""How long a recall takes: at every size, with a filter, among many namespaces, and beside the embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine_data import Question, about, batches, keywords, mixed, natural
from benchmarks.engine_report import Figure
from benchmarks.engine_store import Built, built, built_namespaces, namespace_name, opened
from benchmarks.latency import Spread, asked, milliseconds
from memorata import Query
from memorata.engine import Engine
from memorata.engine import open as open_engine

LIMIT = 10
_QUESTIONS = 300
_WARMING = 60
_TARGETS = {10_000: (0.001, np.inf), 100_000: (0.004, 0.015), 1_000_000: (0.025, np.inf)}
"""By size, the median and the 99th percentile that are wanted, in seconds."""


def recalling(engine: Engine) -> Callable[[Question], list[str]]:
    """Return a function that answers a question, vector given, with the texts of the best ten."""
    return lambda question: [
        hit.memory.content for hit in engine.recall(Query(question.text, vector=question.vector), limit=LIMIT)
    ]


def at_size(made: Built) -> tuple[Spread, Spread]:
    """Return the times of questions of a few words and of natural ones, none of them asked before."""
    with opened(made.path) as engine:
        run = recalling(engine)
        asked({"": run}, mixed(made.size, _WARMING, seed=2))
        few = asked({"": run}, keywords(made.size, _QUESTIONS))[""]
        whole = asked({"": run}, natural(made.size, _QUESTIONS))[""]
    return few, whole


def recall_figures(size: int, few: Spread, whole: Spread) -> Iterator[Figure]:
    """Yield what was measured at one size against the targets."""
    both = Spread(few.wall + whole.wall, few.processor + whole.processor)
    median, slow = _TARGETS.get(size, (np.inf, np.inf))
    yield _timed("hybrid recall, median", size, both.median, both.processor_median, median)
    yield _timed("hybrid recall, 99th percentile", size, both.p99, both.processor_p99, slow)
    yield Figure(
        "… by kind of question",
        size,
        f"few words {milliseconds(few.median)}, natural {milliseconds(whole.median)}",
    )


def filtered_figures(made: Built) -> Iterator[Figure]:
    """Yield the times of recalls with filters that keep one memory in a hundred, beside those without."""
    with opened(made.path) as engine:

        def with_filter(name: str, key: str) -> Callable[[Question], None]:
            def run(question: Question) -> None:
                wanted = {name: getattr(question, key)}
                hits = engine.recall(
                    Query(question.text, vector=question.vector), limit=LIMIT, filter=wanted
                ).hits
                assert hits[0].memory.content == question.answer, question.text

            return run

        runs = {
            "": recalling(engine),
            "by category": with_filter("category", "category"),
            "by metadata": with_filter("metadata.shelf", "shelf"),
        }
        asked(runs, keywords(made.size, _WARMING, seed=2))
        times = asked(runs, keywords(made.size, _QUESTIONS // 3))
    for name in list(runs)[1:]:
        yield Figure(
            f"recall, filter {name} keeps 1 %",
            made.size,
            f"{milliseconds(times[name].median)} median, {times[name].median / times[''].median:.2f}× "
            f"one without ({milliseconds(times[''].median)})",
        )


class _Pair(NamedTuple):
    """The same kind of question for a namespace on its own and for one of many."""

    alone: Question
    namespace: str
    among: Question


def namespace_figures(work: Path, namespaces: int = 1_000, each: int = 100) -> Iterator[Figure]:
    """Yield what it costs to be one of many namespaces."""
    many, one = built_namespaces(work, namespaces, each), built(work, each)
    chance = np.random.default_rng(0)
    order = np.sort(chance.choice(namespaces, min(namespaces, _QUESTIONS), replace=False)).tolist()
    among = about([each * number + int(chance.integers(0, each)) for number in order])
    alone = about(chance.integers(0, each, len(order)).tolist())
    pairs = [_Pair(*pair) for pair in zip(alone, map(namespace_name, order), among, strict=True)]
    now = datetime.now(UTC)
    with opened(many) as engine:

        def load(pair: _Pair) -> None:
            with engine.store.view(pair.namespace, now):
                pass

        loading = asked({"": load}, pairs)[""]
    with opened(many) as engine, opened(one.path) as single:
        runs: dict[str, Callable[[_Pair], object]] = {
            "alone": lambda pair: single.recall(
                Query(pair.alone.text, vector=pair.alone.vector), limit=LIMIT
            ),
            "among": lambda pair: engine.recall(
                Query(pair.among.text, vector=pair.among.vector), limit=LIMIT, namespace=pair.namespace
            ),
        }
        asked(runs, pairs)
        times = asked(runs, [pairs[place] for place in chance.permutation(len(pairs))])
    ratio = times["among"].median / times["alone"].median
    yield Figure(
        f"recall in one of {namespaces:,} namespaces of {each}",
        namespaces * each,
        f"{milliseconds(times['among'].median)} median, {ratio:.2f}× one alone "
        f"({milliseconds(times['alone'].median)})",
        "as for 100 memories (≤ 1.25×)",
        ratio <= 1.25,
    )
    yield Figure(
        f"loading one of {namespaces:,} namespaces",
        namespaces * each,
        f"{milliseconds(loading.median)} median, {milliseconds(loading.p99)} p99 (processor "
        f"{milliseconds(loading.processor_median)}, {milliseconds(loading.processor_p99)})",
        "≤ 5 ms",
        loading.median <= 0.005,
    )


def embedding_figures(work: Path, size: int) -> Iterator[Figure]:
    """Yield what share of a recall is embedding the question, with the embedder one gets by default."""
    with open_engine(work / f"embedded-{size}.db") as engine:
        for batch in batches(size):
            engine.remember_many(batch.items())
        for question in natural(size, _WARMING, seed=2):
            engine.recall(question.text, limit=LIMIT)
        shares, totals = [], []
        for question in natural(size, _QUESTIONS // 2):
            steps = engine.recall(question.text, limit=LIMIT).milliseconds
            totals.append(sum(steps.values()) / 1e3)
            shares.append(steps["embedding"] / 1e3 / totals[-1])
        name = "none" if engine.embedder is None else engine.embedder.name.partition("@")[0]
    share = float(np.median(shares))
    yield Figure(
        f"share of embedding the question ({name})",
        size,
        f"{share:.0%} of {milliseconds(float(np.median(totals)))}",
        "≥ 70 %",
        share >= 0.7,
    )


def _timed(what: str, size: int, wall: float, processor: float, target: float) -> Figure:
    said = f"{milliseconds(wall)} (processor {milliseconds(processor)})"
    if not np.isfinite(target):
        return Figure(what, size, said)
    return Figure(what, size, said, f"≤ {target * 1e3:g} ms", wall <= target)
