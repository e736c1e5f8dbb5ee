"""The steps that re-rank candidates: session, speaker, confidence, quality, time, a re-ranker's opinion.

Each takes the scores and returns new ones with the parts they are made of, so that an explanation is the
chain of those parts, read backwards from the score.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np

from memorata.engine.recipe import Recipe
from memorata.engine.situation import Explain, Situation, Step
from memorata.index.record import MACHINE, Records
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import EmbedderError, MissingExtra
from memorata.model.explanation import Explanation
from memorata.rank import (
    Combination,
    additive,
    best_first,
    boosted_additive,
    boosted_multiplicative,
    composite_additive,
    composite_multiplicative,
    for_query,
    min_max,
    multiplicative,
    preset,
    proximity,
    quality,
)
from memorata.rank.context import session_means

_DAY: Final = 86_400.0


def with_confidence(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Let confidence join in."""
    if recipe.confidence == "none":
        return scores, explain
    sure = records["confidence"]
    if recipe.confidence == "multiplicative":
        both = multiplicative(scores, sure)
        return both.scores, chained(both, "with confidence", "relevance", explain)
    if recipe.weighting == "query":
        kind = situation.classifier.classify(situation.question.text)
        alpha, beta = for_query(kind.type, kind.confidence)
    else:
        alpha, beta = preset(recipe.weighting)
    both = additive(scores, sure, alpha=alpha, beta=beta)
    return both.scores, chained(both, "with confidence", "relevance", explain, weight=alpha)


def with_session(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Let the three best candidates of a session speak for all of it: a conversation has a topic."""
    if not recipe.session_weight:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    sessions = records["session"]
    shared = recipe.session_weight * session_means(sessions, relevant)
    both = Combination.unchecked("sum", ("relevance", "its session"), relevant, shared)

    def why(position: int) -> Explanation:
        if sessions[position] >= 0:
            return both.explain(position, "with session", {"relevance": base(position)})
        # The same share of every such score: it has no session, and none is to be seen here.
        alone = Explanation.leaf("on its own", float(shared[position]), "it is of no session")
        return both.explain(position, "without session", {"relevance": base(position), "its session": alone})

    return both.scores, why


def with_speaker(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Hold back what an assistant said: what people tell of themselves is what they ask for later."""
    if recipe.machine_weight == 1:
        return scores, explain
    said_by_machine = records["role"] == MACHINE
    if not said_by_machine.any():
        return scores, explain
    relevant, base = not_negative(scores, explain)
    factor = np.where(said_by_machine, recipe.machine_weight, 1.0)
    both = Combination.unchecked("product", ("relevance", "speaker"), relevant, factor)
    return both.scores, chained(both, "with speaker", "relevance", base)


def with_quality(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Let the memory's own quality join in."""
    if recipe.quality == "none":
        return scores, explain
    good = _qualities(records, situation.now)
    relevant, base = not_negative(scores, explain)
    best = _best(relevant)
    share, gain = 1 - recipe.quality_weight, recipe.quality_weight
    form = composite_additive if recipe.quality == "additive" else composite_multiplicative
    both = form(relevant, good, relevance_weight=share, quality_weight=gain)
    weight = share if recipe.quality == "additive" else None
    carrier = "relevance" if best > 0 else ""
    return both.scores, chained(both, "with quality", carrier, base, weight=weight, best=best)


def with_temporal(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Let being from the right time join in."""
    if recipe.temporal == "none" or situation.period is None:
        return scores, explain
    near = proximity(records["event"], situation.period)
    form = boosted_additive if recipe.temporal == "additive" else boosted_multiplicative
    both = form(scores, near, boost=recipe.temporal_boost)
    return both.scores, chained(both, "with time", "composite", explain)


def reranked(
    recipe: Recipe, situation: Situation, slots: IntArray, scores: FloatArray, explain: Explain
) -> Step:
    """Let a re-ranker read the best candidates; the others keep their own share of the score."""
    if not recipe.rerank_depth or situation.reranker is None:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    best = _best(relevant)
    if best <= 0:
        return scores, explain
    read = best_first(relevant, recipe.rerank_depth)
    texts = [memory.content for memory in situation.view.memories(slots[read])]
    opinion = np.zeros(scores.size)
    try:
        opinion[read] = min_max(situation.reranker.score(situation.question.text, texts))
    except (EmbedderError, MissingExtra) as error:
        situation.failures.append(f"the re-ranker failed, so nothing was re-ranked: {error}")
        return scores, explain
    kept = 1 - recipe.rerank_weight
    names = ("relevance", situation.reranker.name)
    both = Combination.unchecked("sum", names, kept * (relevant / best), recipe.rerank_weight * opinion)
    return both.scores, chained(both, "re-ranked", "relevance", base, weight=kept, best=best)


def chained(
    both: Combination,
    label: str,
    carrier: str,
    before: Explain,
    *,
    weight: float | None = None,
    best: float | None = None,
) -> Explain:
    """Return the explanation of a step in which one part, the carrier, is what came before.

    The carrier may have been divided by the best of the set and multiplied by a weight, in that order.
    """

    def explain(position: int) -> Explanation:
        if not carrier:
            return both.explain(position, label, {})
        part = before(position)
        if best is not None:
            part = Explanation.of("ratio", "relative to the best", [part, Explanation.leaf("best", best)])
        if weight is not None:
            part = Explanation.of("product", carrier, [Explanation.leaf("weight", weight), part])
        return both.explain(position, label, {carrier: part})

    return explain


def _best(relevant: FloatArray) -> float:
    """Return the greatest of some scores that start at 0."""
    # One call into C; max passes through Python.
    return float(relevant[relevant.argmax()]) if relevant.size else 0.0


def not_negative(scores: FloatArray, explain: Explain) -> Step:
    """Return scores that start at 0, for steps that need them so; z-scored fusions go below."""
    if scores.size == 0 or scores[scores.argmin()] >= 0:
        return scores, explain
    scaled = min_max(scores)
    low, high = float(scores.min()), float(scores.max())

    def scaled_explain(position: int) -> Explanation:
        note = f"min-max of {scores[position]:.4f} between {low:.4f} and {high:.4f}"
        return Explanation.leaf("relevance", float(scaled[position]), note)

    return scaled, scaled_explain


def _qualities(records: Records, now: datetime) -> FloatArray:
    age = np.maximum(0.0, now.timestamp() - records["created"]) / _DAY
    tiers, uses = records["tier"].astype(np.intp), records["accesses"].astype(np.float64)
    return quality(tiers, records["importance"], records["confidence"], uses, age)
