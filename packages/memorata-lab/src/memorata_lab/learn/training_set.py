r"""Training sets: queries, their candidates, and which of those were judged relevant.

They come from the log and its feedback, from a labelled file, or from both. Of a labelled query every memory
is judged: what the file does not name is not relevant. Of a logged one, what has feedback is.

Labelled queries in a file: JSON Lines, in the form of
:mod:`memorata_lab.evaluate.datasets.document_collections`.

::

    {"query": {"id": "q1", "text": "Where do I live?"}}
    {"qrel": {"query": "q1", "document": "019dffbb-f000-7000-8000-000000000000"}}

Where the file has lines of documents, these are remembered in a memory of their own and asked there; else a
judged document is the id of a memory in the database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from memorata import Config, Engine, RecallResult, Recipe, When
from memorata.extend import frozen
from memorata.extend.errors import DatasetError, InvalidArgument, MemorataError, MemoryNotFound
from memorata.extend.log import HeldLease, LoggedFeedback, LoggedRecall
from memorata.extend.model import BoolArray, Feedback, FloatArray, Signal
from memorata_lab.evaluate.datasets.document_collections import read_records
from memorata_lab.evaluate.metrics import measure
from memorata_lab.evaluate.runner import corpus_of, remembered
from memorata_lab.learn.logged_ranking import query_group, ranking, search_changes

METRIC = "ndcg@10"
"""What settings are compared by, where the caller does not say."""
_DEFAULT_LIMIT = 10
"""How many hits a recall returns by default."""
_MAX_DEPTH = 100
"""How many are asked for where a metric looks at the whole ranking."""


@frozen
class LabelledQuery:
    """A question, when it is asked, and how relevant which memories are."""

    text: str
    relevant: Mapping[str, float]
    when: datetime | None = None


@frozen(eq=False)
class Pairs:
    """Judged pairs of a question and a memory, of one embedder."""

    similarity: FloatArray
    confidence: FloatArray
    relevant: BoolArray
    groups: tuple[str, ...]


@frozen(eq=False)
class TrainingSet:
    """Queries that can be learnt from.

    - `recalls`: what was found for each, as it is in the log.
    - `gains`: by recall and memory, how relevant it is; only what is.
    - `rejected`: by recall, the memories that were judged not relevant.
    - `orphaned`: feedback about hits whose recall the log has dropped, which thresholds can learn from.
    - `queries`: by recall, the query, where it can be asked again; `engine` answers it.
    - `lease`: what the work is done under, renewed with every question that something is tried on.
    """

    recalls: tuple[LoggedRecall, ...]
    gains: Mapping[str, Mapping[str, float]]
    rejected: Mapping[str, frozenset[str]]
    orphaned: tuple[LoggedFeedback, ...] = ()
    queries: Mapping[str, LabelledQuery] = field(default_factory=dict)
    engine: Engine | None = None
    lease: HeldLease | None = None

    def under(self, lease: HeldLease) -> TrainingSet:
        """Return the same for work that is done under a lease, which a long search must not outlast."""
        return replace(self, lease=lease)

    @property
    def questions(self) -> tuple[LoggedRecall, ...]:
        """The recalls with at least one relevant memory, which rankings are compared on."""
        return tuple(recall for recall in self.recalls if self.gains.get(recall.id))

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of each of those: what asks the same is held out together."""
        return tuple(query_group(question) for question in self.questions)

    def values(
        self, recipe: Recipe, base: Recipe, metric: str = METRIC, *, search: bool = False
    ) -> FloatArray:
        """Return how well a recipe ranks each question: from the log, or by asking again where it must.

        Where it and the base search alike, nothing is searched again, except for labelled questions where
        they re-rank or vary what they show, which the log cannot tell. What is compared must be measured in
        one way: if one of the recipes needs a search (:func:`search_changes`), all of them are searched.
        """
        of = measure(metric)
        differing = search_changes(recipe, base)
        anew = search or bool(differing) or self._beyond_the_log(base)
        result = []
        for recall in self.questions:
            if self.lease is not None:
                self.lease.renew()
            gains = self.gains[recall.id]
            if anew and recall.id in self.queries and self.engine is not None:
                ids: Sequence[str] = self._searched(self.engine, recall, recipe, _depth(metric))
            elif not differing:
                ids = ranking(recall, recipe)
            else:
                raise InvalidArgument(
                    "recipe", recipe.name, f"one that needs no search; {differing[0]} does, and labels"
                )
            result.append(of(ids, gains))
        return np.array(result)

    def _searched(self, engine: Engine, recall: LoggedRecall, recipe: Recipe, limit: int) -> list[str]:
        query = self.queries[recall.id]
        result = engine.scope(recall.namespace, logged=False).recall(
            query.text, recipe=recipe, limit=limit, when=When(now=query.when)
        )
        _require_vectors(engine, recipe, result)
        return [hit.memory.id for hit in result]

    def _beyond_the_log(self, recipe: Recipe) -> bool:
        """Return whether a recipe does something to its results that a replay leaves out."""
        reranked = self.engine is not None and self.engine.reranker is not None and recipe.rerank_depth > 0
        return reranked or recipe.diversity != "none"

    def pairs(self, embedder: str) -> Pairs:
        """Return the judged pairs that an embedder has compared."""
        rows: list[tuple[float, float, bool, str]] = []
        for recall in self.recalls:
            if recall.embedder != embedder:
                continue
            similarity, confidence = recall.column("vector").tolist(), recall.column("confidence").tolist()
            unread = recall.column("unread").tolist()
            gains, rejected = self.gains.get(recall.id, {}), self.rejected.get(recall.id, frozenset())
            for place, id_ in enumerate(recall.ids):
                measured = similarity[place] == similarity[place] and not unread[place] > 0
                if measured and (id_ in gains or id_ in rejected):
                    rows.append((similarity[place], confidence[place], id_ in gains, query_group(recall)))
        for records, relevant in _judged(self.orphaned).values():
            last = records[-1]
            features = last.features
            if last.embedder == embedder and "vector" in features and not features.get("unread", 0) > 0:
                rows.append((features["vector"], features["confidence"], relevant, last.feedback.recall_id))
        similarities, confidences, relevant_flags, groups = zip(*rows, strict=True) if rows else ((),) * 4
        return Pairs(
            np.array(similarities, np.float64).clip(-1, 1),
            np.array(confidences, np.float64).clip(0, 1),
            np.array(relevant_flags, np.bool_),
            tuple(groups),
        )

    def with_more(self, other: TrainingSet) -> TrainingSet:
        """Return both together."""
        return TrainingSet(
            (*self.recalls, *other.recalls),
            {**self.gains, **other.gains},
            {**self.rejected, **other.rejected},
            (*self.orphaned, *other.orphaned),
            {**self.queries, **other.queries},
            self.engine or other.engine,
            self.lease or other.lease,
        )


def from_feedback(
    engine: Engine, *, namespace: str | None = None, since: datetime | None = None
) -> TrainingSet:
    """Return the training set of the feedback on logged recalls, all of it or since a moment."""
    records = engine.admin.feedback.list(namespace=namespace, since=since)
    ids = tuple(dict.fromkeys(record.feedback.recall_id for record in records))
    recalls = engine.admin.feedback.recalls(namespace=namespace, limit=None, ids=ids)
    logged = {recall.id for recall in recalls}
    gains: dict[str, dict[str, float]] = {}
    rejected: dict[str, set[str]] = {}
    for (recall_id, memory_id), (_, relevant) in _judged(records).items():
        if recall_id in logged and relevant:
            gains.setdefault(recall_id, {})[memory_id] = 1.0
        elif recall_id in logged:
            rejected.setdefault(recall_id, set()).add(memory_id)
    unlogged = tuple(record for record in records if record.feedback.recall_id not in logged)
    irrelevant = {name: frozenset(items) for name, items in rejected.items()}
    return TrainingSet(tuple(reversed(recalls)), gains, irrelevant, unlogged)


def from_labels(
    engine: Engine,
    questions: Mapping[str, LabelledQuery],
    *,
    recipe: Recipe | None = None,
    namespace: str | None = None,
) -> TrainingSet:
    """Ask labelled questions and return what was found, without a trace in the log."""
    chosen = engine.admin.recipes.get(namespace=namespace) if recipe is None else recipe
    path = engine.namespace if namespace is None else namespace
    judged = list(dict.fromkeys(id_ for question in questions.values() for id_ in question.relevant))
    existing = engine.store.known([(path, id_) for id_ in judged])
    for id_ in judged:
        if (path, id_) not in existing:
            raise MemoryNotFound(id_, path)
    unlogged = engine.scope(path, logged=False)
    for question in questions.values():
        result = unlogged.recall(question.text, recipe=chosen, when=When(now=question.when))
        _require_vectors(engine, chosen, result)
    logged = unlogged.recall_log.recalls()
    queries = {f"labelled:{name}": question for name, question in questions.items()}
    recalls = tuple(replace(recall, id=id_) for recall, id_ in zip(logged, queries, strict=True))
    gains = {
        id_: {memory: gain for memory, gain in question.relevant.items() if gain > 0}
        for id_, question in queries.items()
    }
    rejected = {recall.id: frozenset(recall.ids) - gains[recall.id].keys() for recall in recalls}
    return TrainingSet(recalls, gains, rejected, (), queries, engine)


def _judged(records: Iterable[LoggedFeedback]) -> dict[tuple[str, str], tuple[list[LoggedFeedback], bool]]:
    """Return, by recall and memory, its feedback and whether that says relevant, where it says either."""
    by_hit: dict[tuple[str, str], list[LoggedFeedback]] = {}
    for record in records:
        by_hit.setdefault((record.feedback.recall_id, record.feedback.memory_id), []).append(record)
    verdicts = {key: relevance([record.feedback for record in group]) for key, group in by_hit.items()}
    return {key: (by_hit[key], relevant) for key, relevant in verdicts.items() if relevant is not None}


def _depth(metric: str) -> int:
    """Return how many hits a metric looks at: what a recall shows, unless it says that it needs more.

    How many are asked for says how many candidates some recipes look at, so more would be another ranking.
    """
    _, _, cutoff = metric.partition("@")
    return max(_DEFAULT_LIMIT, int(cutoff)) if cutoff else _MAX_DEPTH


def _require_vectors(engine: Engine, recipe: Recipe, result: RecallResult) -> None:
    """Raise if the vector leg had no part in a result where it should have had."""
    if engine.embedder is not None and recipe.vector_pool and not result.embedder and result.degraded:
        # What is learnt from words alone, because a service was away, would be in use when it is back.
        raise MemorataError(f"a question cannot be learnt from: {'; '.join(result.degraded)}")


_POSITIVE_SIGNALS: Final = frozenset({Signal.THUMBS_UP, Signal.RELEVANT, Signal.CLICK})
_NEUTRAL_RATING: Final = 3


def relevance(reactions: Iterable[Feedback]) -> bool | None:
    """Return whether a hit was relevant, by all feedback on it; None if that says neither.

    The latest opinion counts; clicks only where there is none.

    >>> from datetime import UTC, datetime
    >>> noon, later = datetime(2026, 5, 7, 12, tzinfo=UTC), datetime(2026, 5, 7, 13, tzinfo=UTC)
    >>> relevance([Feedback("r", "m", Signal.IRRELEVANT, noon), Feedback("r", "m", Signal.CLICK, later)])
    False
    >>> relevance([Feedback("r", "m", Signal.RATING, noon, rating=3)]) is None
    True
    """
    decided = [reaction for reaction in reactions if reaction.rating != _NEUTRAL_RATING]
    opinions = [reaction for reaction in decided if reaction.signal is not Signal.CLICK]
    if not decided:
        return None
    # Of feedback at the same moment, the last.
    last = max(reversed(opinions or decided), key=lambda reaction: reaction.given_at)
    if last.rating is not None:
        return last.rating > _NEUTRAL_RATING
    return last.signal in _POSITIVE_SIGNALS


@contextmanager
def labelled_training_set(
    engine: Engine, path: str | PathLike[str], *, recipe: Recipe | None = None, namespace: str | None = None
) -> Iterator[TrainingSet]:
    """Give what a labelled file has to teach, for the length of a block."""
    file = Path(path)
    if not file.is_file():
        raise DatasetError(file, None, "no such file")
    chosen = engine.admin.recipes.get(namespace=namespace) if recipe is None else recipe
    records = read_records(file, of_memories=True)
    if not records.documents:
        labelled = {
            name: LabelledQuery(query.text, records.judgements.gains(name), query.when)
            for name, query in records.queries.items()
            if query.answerable
        }
        yield from_labels(engine, labelled, recipe=chosen, namespace=namespace)
        return
    haystack = records.haystack(Counter())
    corpus = corpus_of(haystack)
    memories = {document: memory for memory, document in corpus.documents.items()}
    with remembered(
        ":memory:",
        corpus,
        embedder=engine.embedder,
        config=Config(
            reranker=engine.reranker,
            analyser=engine.analyser.name,
            language=engine.analyser.language,
            life=engine.admin.lifecycle.rules,
        ),
    ) as apart:
        questions = {
            question.id: LabelledQuery(
                question.text, {memories[id_]: gain for id_, gain in question.relevant.items()}, question.when
            )
            for question in haystack.questions
            if question.answerable
        }
        yield from_labels(apart, questions, recipe=chosen)
