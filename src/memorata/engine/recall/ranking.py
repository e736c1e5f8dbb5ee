"""The pipeline that runs any recipe: legs, fusion, re-ranking, gate, repeats, diversity.

No step loops over memories: all work on arrays over the candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial, reduce
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata._satellites import LEGS, declared, missing
from memorata.engine.recall.fusion import GRAPH, Candidates, Evidence, ExtraLeg, Trace, fuse
from memorata.engine.recall.legs import entity_leg, search, with_seeds
from memorata.engine.recall.query import Explain, RecallContext, Step
from memorata.engine.recall.result import MissedThreshold
from memorata.engine.recipes import Recipe
from memorata.index.candidates import LegCandidates
from memorata.index.record import FOREIGN, MACHINE, SPEAKER, WORKING, Records
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.errors import EmbedderError, MissingExtra
from memorata.model.hit import Explanation
from memorata.rank import (
    Combination,
    adaptive_mmr,
    best_first,
    boosted_additive,
    boosted_multiplicative,
    for_category,
    for_query,
    group_coverage,
    min_max,
    mmr,
    multiplicative,
    preset,
    proximity,
)
from memorata.rank.decay import half_life_decay, importance_decay, linear_decay
from memorata.rank.records import SESSION_BEST, neighbour_leads, newness, record_quality, session_means, talks
from memorata.rank.scores import competition_ranks, first_of_each
from memorata.rank.temporal import restricted


@frozen(eq=False)
class Ranked:
    """Candidates in their final order, and the best one that the gate refused."""

    slots: IntArray
    scores: FloatArray
    explain: Explain
    refused: int | None = None
    refused_score: float = 0.0
    refused_explain: Callable[[], Explanation] | None = None
    missed: Callable[[], tuple[MissedThreshold, ...]] | None = None
    trace: Trace | None = None


def run(recipe: Recipe, context: RecallContext) -> Ranked:
    """Run a recipe and return every candidate that passed, best first."""
    legs = search(recipe, context)
    candidates = fuse(recipe, context, legs)
    if recipe.graph != "none" and recipe.graph_weight:
        find, seeds = _graph_leg(recipe.graph), candidates.slots[: recipe.graph_seeds]
        leg = find(recipe, context, candidates.slots, candidates.scores)
        if leg.slots.size and recipe.graph == "names":
            trusted = candidates.evidence().passing(recipe, context)[: seeds.size]
            if not trusted.all():
                # What the gate refuses leads nowhere: its names are not those of the query.
                seeds = seeds[trusted]
                leg = find(recipe, context, seeds, candidates.scores[: trusted.size][trusted])
        if leg.slots.size:
            if recipe.graph == "names":
                leg = with_seeds(leg, seeds)
            # Names and the walk lead back to their seeds.
            origins = seeds if recipe.graph in ("names", "walk") else seeds[:0]
            linked = legs.with_leg(ExtraLeg(GRAPH, leg, recipe.graph_weight, origins))
            candidates = fuse(recipe, context, linked)
    return rank_candidates(recipe, context, candidates)


@cache
def _graph_leg(name: str) -> Callable[[Recipe, RecallContext, IntArray, FloatArray], LegCandidates]:
    """Return a graph leg by its name; all but `names` belong to satellites."""
    if name == "names":
        return entity_leg
    points = declared("legs")
    if name not in points:
        raise missing(f"the leg {name}", LEGS[name])
    leg: Callable[[Recipe, RecallContext, IntArray, FloatArray], LegCandidates] = points[name].load()
    return leg


def rank_candidates(recipe: Recipe, context: RecallContext, candidates: Candidates) -> Ranked:
    """Rank fused candidates: all steps of a recipe that need no search."""
    slots = candidates.slots
    if not slots.size:
        return Ranked(slots, np.zeros(0), lambda position: Explanation.leaf("nothing", 0.0))
    records = context.view.records(slots)
    if context.near is not None:
        # From here on by candidate, no longer by slot.
        context = replace(context, near=context.near[slots])
    if context.life.confidence_loss:
        records = context.life.aged(records, context.now)
    scores: FloatArray = candidates.scores
    explain: Explain = candidates.explain
    weigh_confidence = partial(with_confidence, slots=slots)
    for step in (with_session, with_speaker, weigh_confidence, with_quality, with_fading, with_temporal):
        scores, explain = step(recipe, context, records, scores, explain)
    scores, explain = reranked(recipe, context, slots, scores, explain)
    order = (-scores).argsort(kind="stable")
    slots, scores, explain = slots[order], scores[order], _moved(explain, order)
    confidence = records["confidence"][order]
    passed, missed = gate(recipe, context, candidates.evidence().take(order), confidence)
    kept = passed.nonzero()[0]
    if recipe.deduplicate:
        kept = kept[first_of_each(records["fingerprint"][order[kept]])]
    kept = _diverse(recipe, context, slots, scores, records["session"][order], kept)
    worst = int(passed.argmin())
    trace = Trace(context, candidates.legs, slots, scores, records, order, kept)
    result = Ranked(slots[kept], scores[kept], _moved(explain, kept), trace=trace)
    if passed[worst]:
        return result
    return replace(
        result,
        refused=int(slots[worst]),
        refused_score=float(scores[worst]),
        refused_explain=lambda: explain(worst),
        missed=lambda: missed(worst),
    )


def _diverse(
    recipe: Recipe,
    context: RecallContext,
    slots: IntArray,
    scores: FloatArray,
    sessions: IntArray,
    kept: IntArray,
) -> IntArray:
    if recipe.diversity != "none" and kept.size > 1:
        vectors = context.view.vectors(slots[kept])
        if recipe.diversity == "mmr":
            order = mmr(scores[kept], vectors, trade=recipe.trade, limit=kept.size)
        else:
            order = adaptive_mmr(scores[kept], vectors, limit=kept.size)
        kept = kept[order]
    if recipe.per_session and kept.size:
        sessions = sessions[kept]
        # A memory of no session is a session of its own.
        alone = np.where(sessions < 0, -1 - np.arange(kept.size), sessions)
        kept = kept[group_coverage(alone, per_group=recipe.per_session, within=kept.size)]
    return kept


def _moved(explain: Explain, order: IntArray) -> Explain:
    return lambda position: explain(int(order[position]))


_DAY: Final = 86_400.0
_MIN_USE: Final = 1e-9
"""Least divisor of the frequency, for candidates of which none was ever accessed."""


def with_confidence(
    recipe: Recipe,
    context: RecallContext,
    records: Records,
    scores: FloatArray,
    explain: Explain,
    slots: IntArray | None = None,
) -> Step:
    """Combine scores with confidence: added, multiplied, or as a ranking of its own in an RRF."""
    if recipe.confidence == "none":
        return scores, explain
    confidences = records["confidence"]
    if recipe.confidence == "multiplicative":
        both = multiplicative(scores, confidences)
        return both.scores, chained(both, "with confidence", "relevance", explain)
    alpha, beta = _confidence_weights(recipe, context, slots)
    if recipe.confidence == "additive":
        both = Combination.unchecked("sum", ("relevance", "confidence"), alpha * scores, beta * confidences)
        return both.scores, chained(both, "with confidence", "relevance", explain, weight=alpha)
    ranks = [competition_ranks(values) + recipe.rrf_base for values in (scores, confidences)]
    places = [(recipe.rrf_k + rank).astype(np.float64) for rank in ranks]
    both = Combination.unchecked("sum", ("relevance", "confidence"), alpha / places[0], beta / places[1])

    def why(position: int) -> Explanation:
        details = {
            name: Explanation.leaf(name, float(row[position]), f"rank {int(rank[position])}")
            for name, row, rank in zip(both.names, both.rows, ranks, strict=True)
        }
        return both.explain(position, "with confidence", details)

    return both.scores, why


def _confidence_weights(
    recipe: Recipe, context: RecallContext, slots: IntArray | None
) -> tuple[FloatArray | float, FloatArray | float]:
    """Return α and β, which sum to 1: one pair for all candidates or, by category, one for each."""
    if recipe.weighting == "fixed":
        return 1 - recipe.confidence_weight, recipe.confidence_weight
    if recipe.weighting == "query":
        kind = context.query_type()
        return for_query(kind.type, kind.confidence)
    if recipe.weighting == "category" and slots is not None:
        alpha = np.array([for_category(memory.category).alpha for memory in context.view.memories(slots)])
        return alpha, 1 - alpha
    return preset(recipe.weighting)


def with_session(
    recipe: Recipe, context: RecallContext, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Add the mean of a session's three best candidates to all of it, and a share of a better neighbour.

    Passages of a document, which have no speaker, are left alone: the best ones are often the wrong ones,
    about the same person at another time (TimeQA: hit@1 32 to 39, hit@5 68 to 77 without).
    """
    if not recipe.session_weight:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    sessions = records["session"]
    spoken = talks(sessions, records["lengths"][:, SPEAKER] > 0)
    means = np.where(spoken, session_means(sessions, relevant), relevant / SESSION_BEST)
    parts = {"relevance": relevant, "its session": recipe.session_weight * means}
    if recipe.neighbour_weight and (leads := neighbour_leads(sessions, records["position"], relevant)).any():
        parts["a better neighbour"] = recipe.neighbour_weight * np.where(spoken, leads, 0.0)
    both = Combination.unchecked("sum", tuple(parts), *parts.values())

    def why(position: int) -> Explanation:
        if sessions[position] >= 0 and spoken[position]:
            return both.explain(position, "with session", {"relevance": base(position)})
        alone = Explanation.leaf("on its own", float(both.rows[1][position]), "it is of no conversation")
        return both.explain(position, "without session", {"relevance": base(position), "its session": alone})

    return both.scores, why


def with_speaker(
    recipe: Recipe, context: RecallContext, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Lower the scores of assistants, of untrusted memories, and of old sessions if a query continues one.

    Queries are mostly about statements of users; the text of a tool or a page may be an injection.
    """
    roles = records["role"]
    factors = [
        (name, np.where(roles & bit, weight, 1.0))
        for name, bit, weight in (
            ("speaker", MACHINE, recipe.machine_weight),
            ("trust", FOREIGN, recipe.untrusted_weight),
        )
        if weight != 1 and (roles & bit).any()
    ]
    if recipe.continued_weight and context.continues and (roles & MACHINE).any():
        factors.append(("newer conversations", newness(records["session"], recipe.continued_weight)))
    if not factors:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    names = ("relevance", *(name for name, _ in factors))
    both = Combination.unchecked("product", names, relevant, *(factor for _, factor in factors))
    return both.scores, chained(both, "with speaker", "relevance", base)


def with_quality(
    recipe: Recipe, context: RecallContext, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Combine scores with quality, recency, importance and frequency, which do not depend on the query.

    Relevance has the weight that theirs leave of 1; with quality it is divided by the best of the set.
    """
    own = _own_merits(recipe, records, context.now)
    if not own:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    best = _best(relevant) if recipe.quality != "none" else None
    relative = relevant / best if best else relevant
    share, factor = 1 - round(sum(weight for _, weight, _ in own), 9), recipe.quality == "multiplicative"
    if factor:
        first, *remaining = (weight * values for _, weight, values in own)
        gain: FloatArray = reduce(np.add, remaining, first)
        both = Combination.unchecked("product", ("relevance", "quality factor"), relative, share + gain)
    else:
        names = ("relevance", *(name for name, _, _ in own))
        rows = (weight * values for _, weight, values in own)
        both = Combination.unchecked("sum", names, share * relative, *rows)
    carrier = "relevance" if best is None or best > 0 else ""
    weight = None if factor else share
    return both.scores, chained(both, "with quality", carrier, base, weight=weight, best=best)


def _own_merits(recipe: Recipe, records: Records, now: datetime) -> list[tuple[str, float, FloatArray]]:
    """Return name, weight and values from 0 to 1 of each factor that a recipe weighs beside relevance."""
    own: list[tuple[str, float, FloatArray]] = []
    if recipe.quality != "none":
        own.append(("quality", recipe.quality_weight, _qualities(records, now)))
    if recipe.recency_weight:
        days = np.maximum(0.0, now.timestamp() - records["created"]) / _DAY
        own.append(("recency", recipe.recency_weight, np.exp2(-days / recipe.recency_days)))
    if recipe.importance_weight:
        own.append(("importance", recipe.importance_weight, records["importance"]))
    if recipe.frequency_weight:
        used = np.log1p(records["accesses"].astype(np.float64))
        own.append(("frequency", recipe.frequency_weight, used / max(float(used.max()), _MIN_USE)))
    return own


def with_temporal(
    recipe: Recipe, context: RecallContext, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Combine scores with the proximity to the period of the query."""
    if recipe.temporal == "none" or context.period is None:
        return scores, explain
    if recipe.temporal == "restrict" and context.near is not None:
        both = restricted(scores, context.near, boost=recipe.temporal_boost)
        return both.scores, _dated(both, records, context, explain)
    near = proximity(records["event"], context.period)
    form = boosted_additive if recipe.temporal == "additive" else boosted_multiplicative
    both = form(scores, near, boost=recipe.temporal_boost)
    return both.scores, chained(both, "with time", "composite", explain)


def _dated(both: Combination, records: Records, context: RecallContext, before: Explain) -> Explain:
    """Return the explanation of a score that was restricted to a period."""
    period, near = context.period, context.near
    assert period is not None  # callers check
    assert near is not None

    def explain(position: int) -> Explanation:
        at = datetime.fromtimestamp(float(records["event"][position]), UTC)
        if at < period.start:
            where = f"{_span(period.start - at)} before the time asked for"
        elif at > period.end:
            where = f"{_span(at - period.end)} after the time asked for"
        else:
            where = "of the time asked for"
        note = f"{where}, nearness {near[position]:.2f}"
        factor = Explanation.leaf("time factor", float(both.parts[1, position]), note)
        return both.explain(position, "with time", {"composite": before(position), "time factor": factor})

    return explain


def _span(apart: timedelta) -> str:
    """Return how far apart two times are, in the largest unit that fits, rounded down."""
    for unit, length in (("year", 365), ("month", 30), ("day", 1)):
        if count := apart // timedelta(days=length):
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "less than a day"


def reranked(
    recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray, explain: Explain
) -> Step:
    """Combine the best scores with those of a re-ranker; other candidates keep their own share."""
    if not recipe.rerank_depth or context.reranker is None:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    best = _best(relevant)
    if best <= 0:
        return scores, explain
    read = best_first(relevant, recipe.rerank_depth)
    texts = [memory.content for memory in context.view.memories(slots[read])]
    reranker_scores = np.zeros(scores.size)
    try:
        reranker_scores[read] = min_max(context.reranker.score(context.query.text, texts))
    except (EmbedderError, MissingExtra) as error:
        context.failures.append(f"the re-ranker failed, so nothing was re-ranked: {error}")
        return scores, explain
    share = 1 - recipe.rerank_weight
    names = ("relevance", context.reranker.name)
    both = Combination.unchecked(
        "sum", names, share * (relevant / best), recipe.rerank_weight * reranker_scores
    )
    return both.scores, chained(both, "re-ranked", "relevance", base, weight=share, best=best)


def chained(
    both: Combination,
    label: str,
    carrier: str,
    before: Explain,
    *,
    weight: FloatArray | float | None = None,
    best: float | None = None,
) -> Explain:
    """Return the explanation of a step in which one part, the carrier, is the score before it.

    The carrier may have been divided by the best of the set and multiplied by a weight, in that order.
    """

    def explain(position: int) -> Explanation:
        if not carrier:
            return both.explain(position, label, {})
        part = before(position)
        if best is not None:
            part = Explanation.of("ratio", "relative to the best", [part, Explanation.leaf("best", best)])
        if weight is not None:
            share = float(weight if isinstance(weight, float | int) else weight[position])
            part = Explanation.of("product", carrier, [Explanation.leaf("weight", share), part])
        return both.explain(position, label, {carrier: part})

    return explain


def _best(relevant: FloatArray) -> float:
    """Return the largest of some scores that start at 0."""
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
    return record_quality(tiers, records["importance"], records["confidence"], uses, age)


_HOUR: Final = 3_600.0
_DAY_HOURS: Final = 24.0
_MAX_IMPORTANCE: Final = 5.0


def with_fading(
    recipe: Recipe, context: RecallContext, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Multiply scores by the retention of a forgetting curve."""
    if recipe.fading == "none" or not recipe.fading_weight:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    left = retention(recipe, records, context.now.timestamp())
    share = recipe.fading_weight
    both = Combination.unchecked(
        "product", ("relevance", "what time has left"), relevant, 1 - share + share * left
    )
    return both.scores, chained(both, "faded", "relevance", base)


def retention(recipe: Recipe, records: Records, now: float) -> FloatArray:
    """Return the retention of each memory by a recipe's forgetting curve, from 0 to 1; 1 for pinned ones."""
    hours = np.maximum(0.0, now - records["created"]) / _HOUR
    uses, alike = records["accesses"].astype(np.float64), np.ones(len(records))
    length = recipe.fading_days * _DAY_HOURS
    if recipe.fading == "importance":
        matters = 1 + (_MAX_IMPORTANCE - 1) * records["importance"]
        passing, floor = records["tier"] == WORKING, recipe.forgetting_floor
        left = importance_decay(hours, matters, uses, transient=passing, floor=floor) / matters
    elif recipe.fading == "half_life":
        left = half_life_decay(hours, alike, uses, half_life=length)
    else:
        left = linear_decay(hours, alike, uses, horizon=length)
    return np.where(records["pinned"] != 0, 1.0, left)


def gate(
    recipe: Recipe, context: RecallContext, evidence: Evidence, confidence: FloatArray
) -> tuple[BoolArray, Callable[[int], tuple[MissedThreshold, ...]]]:
    """Return the pass mask, and a function that returns the thresholds a rejected candidate missed.

    A candidate passes by its cosine (at least the threshold) or by its lexical score (a share of the best
    possible match), and must in any case reach the least confidence. One that another leg supports passes,
    too, if the query is about a time or a place, or beside others that pass by themselves.
    """
    cosine, match, ceiling = evidence.cosines, evidence.matches, evidence.ceiling or 1.0
    worded = evidence.worded(recipe)
    certain = confidence >= recipe.least_confidence
    passed = evidence.passing(recipe, context)
    if context.about_time or context.here is not None or passed.any():
        passed = passed | evidence.supported

    def missed(position: int) -> tuple[MissedThreshold, ...]:
        parts: list[MissedThreshold] = []
        if not passed[position]:
            measured = bool(np.isfinite(cosine[position]))
            if measured or worded[position]:
                # A lexical match is refused only where the recipe lets vectors alone pass.
                value = float(cosine[position]) if measured else None
                parts.append(MissedThreshold("similarity", value, context.least_similarity))
            if not worded[position] and (match[position] > 0 or recipe.lexical_pool):
                parts.append(MissedThreshold("lexical", float(match[position] / ceiling), recipe.least_match))
        if not certain[position]:
            parts.append(MissedThreshold("confidence", float(confidence[position]), recipe.least_confidence))
        return tuple(parts)

    return passed & certain, missed
