"""The pipeline that runs any recipe: legs, fusion, re-ranking, gate, repeats, diversity.

Each step takes the candidates' scores and returns new ones with the parts they are made of; an explanation is
the chain of those parts, read backwards from the score. Nothing here loops over memories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np

from recollect.duplicates.fingerprint import folded
from recollect.embed.reranker import Reranker
from recollect.engine.recipe import Recipe
from recollect.engine.words import Question
from recollect.index.lexical import LexicalQuery
from recollect.index.record import Records
from recollect.model.checks import BoolArray, FloatArray, IntArray
from recollect.model.explanation import Explanation
from recollect.model.period import Period
from recollect.rank import (
    BM25,
    FUSIONS,
    Combination,
    Fused,
    Leg,
    adaptive_mmr,
    best_first,
    boosted_query,
    composite_additive,
    composite_multiplicative,
    for_query,
    group_coverage,
    importance_decay,
    legs_for_query,
    min_max,
    mmr,
    phrase_bonus,
    preset,
    proximity,
    quality,
)
from recollect.rank.combination import stacked
from recollect.rank.temporal import boosted_additive, boosted_multiplicative
from recollect.store.port import Found, View
from recollect.text.query_type import QueryClassifier

_DAY: Final = 86_400.0
_HOUR: Final = 3_600.0

_PHRASE_DEPTH: Final = 3
"""How many times deeper words are searched when a phrase may lift what lies there."""

Explain = Callable[[int], Explanation]
"""Tells why the candidate at a position has its score after a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """What the searches found, before anything was decided."""

    vector: Found
    lexical: Found


@dataclass(frozen=True, slots=True)
class _Counts:
    """A :class:`~recollect.rank.Statistics` of the words of one question."""

    document_count: int
    frequencies: Mapping[str, int]
    average_length: float = 0.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Candidates in the order they are to be shown, and those the gate refused.

    Attributes
    ----------
    slots, scores
        The candidates that passed, in order.
    explain
        Tells why, by position in `slots`.
    refused
        The slot of the best candidate that did not pass; None if all did.
    refused_score, refused_explain, reason
        Its score, why it has it, and what it missed.
    """

    slots: IntArray
    scores: FloatArray
    explain: Explain
    refused: int | None = None
    refused_score: float = 0.0
    refused_explain: Callable[[], Explanation] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a run needs besides the recipe: the view, the question and the moment."""

    view: View
    question: Question
    classifier: QueryClassifier
    vector: np.ndarray[Any, np.dtype[np.float32]] | None
    least_similarity: float
    now: datetime
    period: Period | None
    reranker: Reranker | None = None


def run(recipe: Recipe, setting: Setting) -> Ranked:
    """Run a recipe and return every candidate that passed, best first."""
    legs = search(recipe, setting)
    fused = fuse(recipe, setting, legs)
    slots = np.array(fused.ids, np.intp)
    if not slots.size:
        return Ranked(slots, np.zeros(0), lambda position: Explanation.leaf("nothing", 0.0))
    records = setting.view.records(slots)
    scores, explain = fused.scores, _explain_fused(fused, legs)
    for step in (_confidence, _quality, _temporal):
        scores, explain = step(recipe, setting, records, scores, explain)
    scores, explain = _rerank(recipe, setting, slots, scores, explain)
    order = (-scores).argsort(kind="stable")
    slots, scores, records, explain = slots[order], scores[order], records[order], _moved(explain, order)
    passed, reasons = gate(recipe, setting, legs, slots, records)
    kept = np.flatnonzero(passed)
    if recipe.deduplicate:
        _, first = np.unique(records["fingerprint"][kept], return_index=True)
        kept = kept[np.sort(first)]
    kept = _diverse(recipe, setting, slots, scores, records, kept)
    refused = np.flatnonzero(~passed)[:1]
    result = Ranked(slots[kept], scores[kept], _moved(explain, kept))
    if not refused.size:
        return result
    worst = int(refused[0])
    return Ranked(
        result.slots,
        result.scores,
        result.explain,
        int(slots[worst]),
        float(scores[worst]),
        lambda: explain(worst),
        reasons(worst),
    )


def search(recipe: Recipe, setting: Setting) -> Legs:
    """Ask every leg of the recipe for its candidates."""
    view, question = setting.view, setting.question
    nothing = Found(np.zeros(0, np.intp), np.zeros(0))
    vector = nothing
    if recipe.vector_pool and setting.vector is not None:
        vector = view.nearest(setting.vector, recipe.vector_pool)
    terms: dict[str, float] = dict(question.terms)
    if recipe.entity_weight and terms:
        count, frequencies = view.document_frequencies(tuple(terms))
        _, named = view.document_frequencies(tuple(terms), field="entities")
        names = [term for term, times in named.items() if times]
        statistics = _Counts(count, frequencies)
        terms = dict(boosted_query(tuple(terms), names, statistics, entity_weight=recipe.entity_weight))
    query = LexicalQuery(
        terms,
        {
            "content": recipe.content_weight,
            "tags": recipe.tags_weight,
            "entities": recipe.entities_weight,
            "speaker": recipe.speaker_weight,
            "dates": recipe.dates_weight,
        },
        question.excluded,
        BM25(recipe.k1, recipe.b),
    )
    lexical = nothing
    if recipe.lexical_pool and query.terms:
        pool = recipe.lexical_pool * (_PHRASE_DEPTH if question.phrases else 1)
        lexical = view.lexical(query, pool)
        if question.phrases and lexical.slots.size:
            lexical = _with_phrases(recipe, setting, lexical)
    if question.excluded and vector.slots.size:
        vector = _without(vector, view.having(question.excluded, vector.slots))
    return Legs(vector, lexical)


def fuse(recipe: Recipe, setting: Setting, legs: Legs) -> Fused[int]:
    """Make one list of the legs."""
    share = recipe.vector_weight
    if recipe.legs_by_query:
        kind = setting.classifier.classify(setting.question.text)
        share = legs_for_query(kind.type, kind.confidence).alpha
    lists: list[Leg[int]] = []
    weights: list[float] = []
    for name, found, used, weight in (
        ("meaning", legs.vector, recipe.vector_pool and setting.vector is not None, share),
        ("words", legs.lexical, recipe.lexical_pool, 1 - share),
    ):
        if used:
            lists.append(Leg(found.slots, found.scores, name))
            weights.append(weight)
    if len(lists) == 1:
        # A leg that stands alone has all the weight, whatever it would have beside another.
        weights = [1.0]
    options: dict[str, Any] = {"weights": weights if any(weights) else None}
    if recipe.fusion in ("rrf", "zscored_rrf"):
        options |= {"k": recipe.rrf_k, "rank_base": recipe.rrf_base}
    elif recipe.fusion == "relative" and recipe.anchored:
        options["floors"] = [_zero(leg, setting) for leg in lists]
    elif recipe.fusion in ("comb_sum", "comb_mnz"):
        options["normaliser"] = recipe.normaliser
    elif recipe.fusion == "aligned":
        options["coverage"] = recipe.coverage
    elif recipe.fusion == "alpha_blend":
        lists = [Leg(f.slots, f.scores, n) for n, f in (("meaning", legs.vector), ("words", legs.lexical))]
        options = {"alpha": share, "budget": recipe.blend_budget, "threshold": recipe.blend_threshold}
        if recipe.forgetting:
            options["base"] = _forgetting(setting, legs)
    return FUSIONS[recipe.fusion](lists, **options)


def _zero(leg: Leg[int], setting: Setting) -> float:
    """Return the score at which a leg has nothing to say: no shared word, or a cosine of unrelated texts."""
    if leg.name == "words" or leg.checked_scores is None or not leg.checked_scores.size:
        return 0.0
    return min(setting.least_similarity, float(leg.checked_scores.min()))


def gate(
    recipe: Recipe, setting: Setting, legs: Legs, slots: IntArray, records: Records
) -> tuple[BoolArray, Callable[[int], str]]:
    """Return who is good enough, and a function that says what one who is not has missed.

    A memory passes by meaning (a cosine of at least the threshold) or by words (a share of the best possible
    match), whichever it has, and must in any case be certain enough.
    """
    cosine, match = _at(legs.vector, slots, -np.inf), _at(legs.lexical, slots, 0.0)
    ceiling = legs.lexical.ceiling or 1.0
    near = cosine >= setting.least_similarity
    worded = (match > 0) & (match >= recipe.least_match * ceiling)
    certain = records["confidence"] >= recipe.least_confidence
    found = near if recipe.only_vectors_pass else near | worded
    if not recipe.vector_pool or setting.vector is None:
        found = worded

    def missed(position: int) -> str:
        parts = []
        if not found[position]:
            if np.isfinite(cosine[position]):
                parts.append(f"similarity {cosine[position]:.3f} is below {setting.least_similarity:.3f}")
            if match[position] > 0:
                share = match[position] / ceiling
                parts.append(
                    f"its words are {share:.1%} of the best possible match, below {recipe.least_match:.1%}"
                )
            elif recipe.lexical_pool:
                parts.append("it shares no word with the question")
        if not certain[position]:
            parts.append(
                f"confidence {records['confidence'][position]:.2f} is below {recipe.least_confidence:.2f}"
            )
        return " and ".join(parts)

    return found & certain, missed


def _explain_fused(fused: Fused[int], legs: Legs) -> Explain:
    def explain(position: int) -> Explanation:
        parts = fused.parts
        slot = np.array([fused.ids[position]], np.intp)
        detail = {}
        for name, found in (("meaning", legs.vector), ("words", legs.lexical)):
            if name not in parts.names:
                continue
            value = float(parts.parts[parts.names.index(name), position])
            where = np.flatnonzero(found.slots == slot[0])
            note = "not found by this leg"
            if where.size:
                note = f"rank {int(where[0]) + 1} of {found.slots.size}, score {found.scores[where[0]]:.4f}"
                if found.detail is not None:
                    note += f": {_words(found.detail(slot))}"
            detail[name] = Explanation.leaf(name, value, note)
        return parts.explain(position, "relevance", detail)

    return explain


def _words(parts: Combination) -> str:
    said = [(name, float(value)) for name, value in zip(parts.names, parts.parts[:, 0], strict=True) if value]
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(said, key=lambda pair: -pair[1]))


Step = tuple[FloatArray, Explain]


def _confidence(
    recipe: Recipe, setting: Setting, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    if recipe.confidence == "none":
        return scores, explain
    sure = records["confidence"]
    if recipe.confidence == "multiplicative":
        both = Combination.of("product", ("relevance", "confidence"), stacked(scores, sure))
        return both.scores, _chained(both, "with confidence", "relevance", explain)
    if recipe.weighting == "query":
        kind = setting.classifier.classify(setting.question.text)
        alpha, beta = for_query(kind.type, kind.confidence)
    else:
        alpha, beta = preset(recipe.weighting)
    both = Combination.of("sum", ("relevance", "confidence"), stacked(alpha * scores, beta * sure))
    return both.scores, _chained(both, "with confidence", "relevance", explain, weight=alpha)


def _quality(
    recipe: Recipe, setting: Setting, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    if recipe.quality == "none":
        return scores, explain
    good = _qualities(records, setting.now)
    relevant, base = _not_negative(scores, explain)
    weights = {"relevance_weight": 1 - recipe.quality_weight, "quality_weight": recipe.quality_weight}
    best = float(relevant.max(initial=0.0))
    form = composite_additive if recipe.quality == "additive" else composite_multiplicative
    both = form(relevant, good, **weights)
    if best <= 0:
        return both.scores, _chained(both, "with quality", "", base)
    weight = weights["relevance_weight"] if recipe.quality == "additive" else None
    return both.scores, _chained(both, "with quality", "relevance", base, weight=weight, best=best)


def _temporal(
    recipe: Recipe, setting: Setting, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    if recipe.temporal == "none" or setting.period is None:
        return scores, explain
    near = proximity(records["event"], setting.period)
    form = boosted_additive if recipe.temporal == "additive" else boosted_multiplicative
    both = form(scores, near, boost=recipe.temporal_boost)
    return both.scores, _chained(both, "with time", "composite", explain)


def _rerank(recipe: Recipe, setting: Setting, slots: IntArray, scores: FloatArray, explain: Explain) -> Step:
    """Let a re-ranker read the best candidates; the others keep their own share of the score."""
    if not recipe.rerank_depth or setting.reranker is None:
        return scores, explain
    relevant, base = _not_negative(scores, explain)
    best = float(relevant.max(initial=0.0))
    if best <= 0:
        return scores, explain
    read = best_first(relevant, recipe.rerank_depth)
    texts = [memory.content for memory in setting.view.memories(slots[read])]
    opinion = np.zeros(scores.size)
    opinion[read] = min_max(setting.reranker.score(setting.question.text, texts))
    kept = 1 - recipe.rerank_weight
    parts = stacked(kept * (relevant / best), recipe.rerank_weight * opinion)
    both = Combination.of("sum", ("relevance", setting.reranker.name), parts)
    return both.scores, _chained(both, "re-ranked", "relevance", base, weight=kept, best=best)


def _chained(
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
            return both.explain(position, label)
        part = before(position)
        if best is not None:
            part = Explanation.of("ratio", "relative to the best", [part, Explanation.leaf("best", best)])
        if weight is not None:
            part = Explanation.of("product", carrier, [Explanation.leaf("weight", weight), part])
        return both.explain(position, label, {carrier: part})

    return explain


def _not_negative(scores: FloatArray, explain: Explain) -> Step:
    """Return scores that start at 0, for steps that need them so; z-scored fusions go below."""
    if scores.size == 0 or scores.min() >= 0:
        return scores, explain
    scaled = min_max(scores)
    low, high = float(scores.min()), float(scores.max())

    def scaled_explain(position: int) -> Explanation:
        note = f"min-max of {scores[position]:.4f} between {low:.4f} and {high:.4f}"
        return Explanation.leaf("relevance", float(scaled[position]), note)

    return scaled, scaled_explain


def _qualities(records: Records, now: datetime) -> FloatArray:
    age = np.maximum(0.0, now.timestamp() - records["created"]) / _DAY
    return quality(records["tier"], records["importance"], records["confidence"], records["accesses"], age)


def _forgetting(setting: Setting, legs: Legs) -> Mapping[int, float]:
    slots = np.unique(np.concatenate([legs.vector.slots, legs.lexical.slots]))
    records = setting.view.records(slots)
    hours = np.maximum(0.0, setting.now.timestamp() - records["created"]) / _HOUR
    base = importance_decay(hours, 1 + 4 * records["importance"], records["accesses"])
    return dict(zip(slots.tolist(), base.tolist(), strict=True))


def _diverse(
    recipe: Recipe, setting: Setting, slots: IntArray, scores: FloatArray, records: Records, kept: IntArray
) -> IntArray:
    if recipe.diversity != "none" and kept.size > 1:
        vectors = setting.view.vectors(slots[kept])
        if recipe.diversity == "mmr":
            order = mmr(scores[kept], vectors, trade=recipe.trade, limit=kept.size)
        else:
            order = adaptive_mmr(scores[kept], vectors, limit=kept.size)
        kept = kept[order]
    if recipe.per_session and kept.size:
        sessions = records["session"][kept]
        # A memory of no session is a session of its own.
        alone = np.where(sessions < 0, -1 - np.arange(kept.size), sessions)
        kept = kept[group_coverage(alone, per_group=recipe.per_session, within=kept.size)]
    return kept


def _with_phrases(recipe: Recipe, setting: Setting, found: Found) -> Found:
    """Return the list with a bonus for texts that hold a quoted phrase, best first again."""
    count, _ = setting.view.document_frequencies(())
    wanted = [folded(phrase) for phrase in setting.question.phrases]
    contents = [folded(memory.content) for memory in setting.view.memories(found.slots)]
    hits = [sum(phrase in content for phrase in wanted) for content in contents]
    bonus = [phrase_bonus(times, count, strength=recipe.phrase_weight) for times in hits]
    scores = found.scores + np.array(bonus)
    order = best_first(scores, recipe.lexical_pool)
    return Found(found.slots[order], scores[order], found.detail, found.ceiling)


def _at(found: Found, slots: IntArray, absent: float) -> FloatArray:
    """Return the score a leg gave to each slot."""
    result = np.full(slots.size, absent)
    if found.slots.size:
        order = found.slots.argsort()
        at = np.minimum(np.searchsorted(found.slots, slots, sorter=order), found.slots.size - 1)
        same = found.slots[order[at]] == slots
        result[same] = found.scores[order[at]][same]
    return result


def _without(found: Found, dropped: BoolArray) -> Found:
    return Found(found.slots[~dropped], found.scores[~dropped])


def _moved(explain: Explain, order: IntArray) -> Explain:
    return lambda position: explain(int(order[position]))
