"""Whether recall from PostgreSQL is as good as from a file: the same questions of LoCoMo, put to both.

Run by ``python -m benchmarks.postgres --locomo locomo_dev.json.gz --cache vectors.db``. Each conversation is
remembered in an empty schema of the server and in memory, and asked with the same recipes and vectors.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg

from benchmarks.postgres_databases import progress
from benchmarks.postgres_server import Running
from memorata._environment import models_folder
from memorata.embed import Resources, open_embedder
from memorata.engine import RECIPES
from memorata_lab.evaluate.cached_embedder import CachedEmbedder
from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.datasets import open_dataset
from memorata_lab.evaluate.run_file import Run, read_run
from memorata_lab.evaluate.runner import run
from memorata_lab.evaluate.scores import Scores, compare, score

_NAMES: Final = ("balanced", "bm25", "vector")
_MEASURES: Final = ("any@5", "any@10", "mrr", "ndcg@10")
_EMBEDDER: Final = "arctic-embed-s"
_SHOWN: Final = 10
_FILE, _SERVER = "in a file", "on PostgreSQL"


def quality(server: Running, data: Path, cache: Path) -> Iterator[str]:
    """Yield a table of what both stores score, and how far apart they are."""
    dataset = open_dataset("locomo", data)
    questions = [each for stack in dataset.haystacks() for each in stack.questions]
    places: Mapping[str, Callable[[], AbstractContextManager[str]]] = {
        _FILE: lambda: nullcontext(":memory:"),
        _SERVER: _schemas(server.made("quality")),
    }
    resources = Resources(
        models=models_folder(os.environ, sys.platform, Path.home()),
        threads=None,
    )
    embedder = CachedEmbedder(open_embedder(_EMBEDDER, resources), cache)
    runs: dict[str, dict[str, Run]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for where, place in places.items():
            files = run(
                dataset,
                [RECIPES[name] for name in _NAMES],
                embedder=embedder,
                folder=Path(folder) / where,
                place=place,
                progress=lambda done, doing, where=where: _told(where, done, len(dataset)),  # type: ignore[misc]
            )
            runs[where] = {file.recipe: read_run(file.path) for file in files}
    embedder.close()
    yield f"### {dataset.name}, by turn, {_EMBEDDER}: {len(questions)} questions"
    yield ""
    yield "| | " + " | ".join(_MEASURES) + " | ms p50 | the same ten |"
    yield "|---" + "|--:" * (len(_MEASURES) + 2) + "|"
    for name in _NAMES:
        scores = {where: score(runs[where][name], questions, _MEASURES, "turn") for where in places}
        yield from _rows(name, scores, _same(runs[_FILE][name], runs[_SERVER][name], questions))
    yield ""
    yield "In brackets the difference from the file with its 95 % interval."
    yield ""


def _rows(name: str, scores: Mapping[str, Scores], same: float) -> Iterator[str]:
    gaps = compare(scores[_SERVER], scores[_FILE])
    for where, each in scores.items():
        cells = []
        for measure in _MEASURES:
            cell = f"{100 * each.measures[measure].micro.mean:.1f}"
            if where == _SERVER:
                gap = gaps.measures[measure].micro
                cell += f" ({100 * gap.mean:+.1f}: {100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
            cells.append(cell)
        cells.append("" if each.latency is None else f"{each.latency.p50:.1f}")
        cells.append(f"{same:.1%}" if where == _SERVER else "")
        yield f"| {name}, {where} | " + " | ".join(cells) + " |"


def _same(one: Run, other: Run, questions: Sequence[Question]) -> float:
    """Return the share of questions for which both rank the same ten in the same order."""
    tens = [
        {name: [id_ for id_, _ in answer.ranking[:_SHOWN]] for name, answer in each.answers.items()}
        for each in (one, other)
    ]
    return sum(tens[0][each.id] == tens[1][each.id] for each in questions) / len(questions)


def _schemas(url: str) -> Callable[[], AbstractContextManager[str]]:
    """Return what gives an empty schema each time, and drops it."""
    numbers = count()

    @contextmanager
    def schema() -> Iterator[str]:
        name = f"haystack_{next(numbers)}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
            connection.execute(f"CREATE SCHEMA {name}")
        yield f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name},public')}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(f"DROP SCHEMA {name} CASCADE")

    return schema


_last: dict[str, int] = {}


def _told(where: str, done: float, total: int) -> None:
    if int(done) > _last.get(where, 0):
        _last[where] = int(done)
        progress(f"  {where}: {int(done)} of {total} conversations")
