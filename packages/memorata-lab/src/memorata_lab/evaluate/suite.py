"""A suite: many sets in one form, every recipe on each, one table.

One gzip JSON-Lines file per set, one line per haystack: ``{"id", "memories": […], "questions": […]}``. A
memory has ``id``, ``text``, ``speaker``, ``session``, ``position``, ``time``; a question ``id``, ``text``,
``time``, ``kind``, ``gold`` (memories that answer it), ``gold_sessions`` (where only sessions are labelled,
which are asked for then), ``answerable`` and, where only a part of the haystack existed when it was asked,
``upto``. What is ranked is what the engine returns with its gate open, and so is its `confidence`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeAlias

import numpy as np

from memorata import Query, RecallResult, Recipe, When
from memorata import open as open_engine
from memorata.extend import frozen
from memorata.extend.embedding import Embedder
from memorata.extend.errors import DatasetError
from memorata.extend.log import Logging
from memorata_lab.evaluate.dataset import Document, Haystack
from memorata_lab.evaluate.metrics import auroc, ndcg, recall_any, reciprocal_rank
from memorata_lab.evaluate.runner import corpus_of

DEPTH: Final = 50
LEVERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "guard of languages": {"by_language": False},
    "words of like meaning": {"soft_weight": 0.0},
    "what was said before, by words": {"context_before": 0.0, "complete": True},
    "what was said before, by like meaning": {"soft_before": 0.0, "soft_question": 0.0},
    "more for a question before": {"soft_question": 0.4},
    "speakers apart": {"speakers_apart": False},
    "words of dates": {"dates_weight": 0.0},
    "shared names": {"graph": "none"},
    "session": {"session_weight": 0.0},
    "a better neighbour": {"neighbour_weight": 0.0},
    "assistants held back": {"machine_weight": 1.0},
    "newer conversations": {"continued_weight": 0.0},
    "named time": {"temporal": "none"},
    "known zero of scales": {"anchored": False},
    "texts read": {"text_depth": 0},
}
"""What a recipe may do beside searching by meaning and by words: what it is without, by parameter.

The first of these tells whether a recipe does it at all.
"""
Seen: TypeAlias = Callable[["QuestionScore", list[bool], RecallResult], None]


@frozen
class QuestionScore:
    """One question with one recipe: what was found of its labels, how sure it was, how long it took."""

    set: str
    recipe: str
    kind: str
    answerable: bool
    hit1: float
    hit5: float
    ndcg10: float
    mrr: float
    confidence: float
    milliseconds: float


def run_suite(
    folder: Path,
    recipes: Sequence[Recipe],
    embedder: Embedder | None,
    *,
    sets: Sequence[str] = (),
    most_questions: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    seen: Seen | None = None,
    timed: bool = True,
) -> Iterator[QuestionScore]:
    """Ask every question of every set in a folder, or of those named, with every recipe.

    - `most_questions`: of each haystack; those whose ids hash lowest, so that it is always the same ones.
    - `seen`: called with what was asked, which hits are right, and the result.
    - `timed`: whether each is also asked as people do, to tell how long that takes; that doubles the work.
    """
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if sets and name not in sets:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                haystack = json.loads(line)
                if "memories" not in haystack:
                    break
                progress(f"{name}: {haystack['id']}")
                try:
                    yield from _haystack(name, haystack, recipes, embedder, most_questions, seen, timed)
                except (KeyError, TypeError) as error:
                    raise DatasetError(str(path), number, f"is no haystack of a suite: {error!r}") from error


def without_levers(recipe: Recipe) -> list[Recipe]:
    """Return a recipe and, for each lever that it uses, the same recipe without."""
    used = {
        lever: off for lever, off in LEVERS.items() if getattr(recipe, name := next(iter(off))) != off[name]
    }
    return [recipe, *(replace(recipe, name=f"without {lever}", **off) for lever, off in used.items())]


def _haystack(
    name: str,
    haystack: Mapping[str, Any],
    recipes: Sequence[Recipe],
    embedder: Embedder | None,
    most_questions: int | None,
    seen: Seen | None,
    timed: bool,
) -> Iterator[QuestionScore]:
    facts, questions = haystack["memories"], haystack["questions"]
    if most_questions is not None:
        questions = sorted(
            questions, key=lambda question: hashlib.sha256(question["id"].encode()).hexdigest()
        )
        questions = sorted(questions[:most_questions], key=lambda question: str(question["id"]))
    corpus = corpus_of(Haystack(haystack["id"], tuple(map(_document, facts)), ()))
    last = corpus.moment
    with open_engine(
        ":memory:",
        embedder=embedder,
        clock=lambda: last,
        config={"durable": False, "logging": Logging(recalls=False)},
    ) as engine:
        start = 0
        for step in sorted({question.get("upto") or len(facts) for question in questions}):
            engine.remember_many(corpus.memories[start:step], duplicates="off")
            start = step
            for question in questions:
                if (question.get("upto") or len(facts)) != step:
                    continue
                now = last if question["time"] is None else datetime.fromisoformat(question["time"])
                # Where conversations are labelled, they are what is asked for.
                by_session = bool(question["gold_sessions"]) and not question["gold"]
                gold = question["gold_sessions" if by_session else "gold"]
                label_of = corpus.sessions if by_session else corpus.documents
                asked = Query(question["text"], sessions=by_session)
                ask = partial(engine.recall, asked, when=When(now=now))
                for recipe in recipes:
                    began = perf_counter()
                    if timed:
                        ask(recipe=recipe)
                    ended = perf_counter()
                    every = ask(recipe=recipe.ungated(), limit=DEPTH)
                    took = 1e3 * ((ended if timed else perf_counter()) - began)
                    ranking = [label_of[hit.memory.id] for hit in every.hits]
                    values = _measured(list(dict.fromkeys(ranking)), dict.fromkeys(gold, 1.0))
                    kind, answerable = question["kind"], question["answerable"]
                    scored = QuestionScore(
                        name, recipe.name, kind, answerable, *values, every.confidence, took
                    )
                    if seen is not None and every.hits:
                        seen(scored, [item in gold for item in ranking], every)
                    yield scored


def _document(fact: Mapping[str, Any]) -> Document:
    when = None if fact["time"] is None else datetime.fromisoformat(fact["time"])
    speaker, session = fact["speaker"], fact["session"] or ""
    return Document(fact["id"], fact["text"], "", when, speaker, session, fact["position"])


def _measured(ranking: Sequence[str], gains: Mapping[str, float]) -> tuple[float, float, float, float]:
    if not gains or not ranking:
        return 0.0, 0.0, 0.0, 0.0
    return (
        recall_any(ranking, gains, 1),
        recall_any(ranking, gains, 5),
        ndcg(ranking, gains, 10),
        reciprocal_rank(ranking, gains),
    )


@frozen
class SuiteRow:
    """What one recipe reached on one set; `auroc` is None where all questions can be answered, or none."""

    set: str
    recipe: str
    questions: int
    hit1: float
    hit5: float
    ndcg10: float
    mrr: float
    auroc: float | None
    milliseconds: float


def suite_rows(scores: Sequence[QuestionScore], *, by_kind: bool = False) -> list[SuiteRow]:
    """Return a row for each set, or kind of question of it, and recipe, in the order asked."""
    groups: dict[tuple[str, str], list[QuestionScore]] = {}
    for score in scores:
        name = f"{score.set}: {score.kind}" if by_kind and score.kind else score.set
        groups.setdefault((name, score.recipe), []).append(score)
    return [_row(name, recipe, group) for (name, recipe), group in groups.items()]


def _row(name: str, recipe: str, group: Sequence[QuestionScore]) -> SuiteRow:
    right = [score for score in group if score.answerable]
    sure = (
        [score.confidence for score in right],
        [score.confidence for score in group if not score.answerable],
    )
    hit1, hit5, ndcg10, mrr = (
        float(np.mean([getattr(score, measure) for score in right])) if right else 0.0
        for measure in ("hit1", "hit5", "ndcg10", "mrr")
    )
    took = float(np.median([score.milliseconds for score in group]))
    separation = auroc(*sure) if all(sure) else None
    return SuiteRow(name, recipe, len(right), hit1, hit5, ndcg10, mrr, separation, took)
