"""Candidates: what each leg of a recipe finds, made into one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from recollect.duplicates.fingerprint import folded
from recollect.engine.recipe import Recipe
from recollect.engine.situation import Explain, Situation
from recollect.index.lexical import LexicalQuery
from recollect.model.checks import FloatArray, IntArray
from recollect.model.explanation import Explanation
from recollect.rank import (
    BM25,
    FUSIONS,
    Combination,
    Fused,
    Leg,
    best_first,
    boosted_query,
    importance_decay,
    legs_for_query,
    phrase_bonus,
)
from recollect.store.port import Found

_HOUR: Final = 3_600.0
_PHRASE_DEPTH: Final = 3
"""How many times deeper words are searched when a phrase may lift what lies there."""


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """What the searches found, before anything was decided."""

    vector: Found
    lexical: Found


def search(recipe: Recipe, situation: Situation) -> Legs:
    """Ask every leg of the recipe for its candidates."""
    view, question = situation.view, situation.question
    nothing = Found(np.zeros(0, np.intp), np.zeros(0))
    vector = nothing
    if recipe.vector_pool and situation.vector is not None:
        vector = view.nearest(situation.vector, recipe.vector_pool, question.excluded)
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
            lexical = _with_phrases(recipe, situation, lexical)
    return Legs(vector, lexical)


def fuse(recipe: Recipe, situation: Situation, legs: Legs) -> Fused[int]:
    """Make one list of the legs."""
    share = recipe.vector_weight
    if recipe.legs_by_query:
        kind = situation.classifier.classify(situation.question.text)
        share = legs_for_query(kind.type, kind.confidence).alpha
    lists: list[Leg[int]] = []
    weights: list[float] = []
    for name, found, used, weight in (
        ("meaning", legs.vector, recipe.vector_pool and situation.vector is not None, share),
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
        options["floors"] = [_zero(leg, situation) for leg in lists]
        options["ceilings"] = [_full(leg, legs) for leg in lists]
    elif recipe.fusion in ("comb_sum", "comb_mnz"):
        options["normaliser"] = recipe.normaliser
    elif recipe.fusion == "aligned":
        options["coverage"] = recipe.coverage
    elif recipe.fusion == "alpha_blend":
        lists = [Leg(f.slots, f.scores, n) for n, f in (("meaning", legs.vector), ("words", legs.lexical))]
        options = {"alpha": share, "budget": recipe.blend_budget, "threshold": recipe.blend_threshold}
        if recipe.forgetting:
            options["base"] = _forgetting(situation, legs)
    return FUSIONS[recipe.fusion](lists, **options)


def explain_fused(fused: Fused[int], legs: Legs) -> Explain:
    """Return what tells, for each candidate, which legs found it, at which rank and by which words."""

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


def score_by(found: Found, slots: IntArray, absent: float) -> FloatArray:
    """Return the score a leg gave to each slot."""
    result = np.full(slots.size, absent)
    if found.slots.size:
        order = found.slots.argsort()
        at = np.minimum(np.searchsorted(found.slots, slots, sorter=order), found.slots.size - 1)
        same = found.slots[order[at]] == slots
        result[same] = found.scores[order[at]][same]
    return result


def _full(leg: Leg[int], legs: Legs) -> float | None:
    """Return the score at which words have said all they can; meaning has no such point."""
    if leg.name != "words" or not legs.lexical.scores.size:
        return None
    return max(legs.lexical.ceiling, float(legs.lexical.scores.max()))


def _zero(leg: Leg[int], situation: Situation) -> float:
    """Return the score at which a leg has nothing to say: no shared word, or a cosine of unrelated texts."""
    if leg.name == "words" or leg.checked_scores is None or not leg.checked_scores.size:
        return 0.0
    return min(situation.least_similarity, float(leg.checked_scores.min()))


def _with_phrases(recipe: Recipe, situation: Situation, found: Found) -> Found:
    """Return the list with a bonus for texts that hold a quoted phrase, best first again."""
    count, _ = situation.view.document_frequencies(())
    wanted = [folded(phrase) for phrase in situation.question.phrases]
    contents = [folded(memory.content) for memory in situation.view.memories(found.slots)]
    hits = [sum(phrase in content for phrase in wanted) for content in contents]
    bonus = [phrase_bonus(times, count, strength=recipe.phrase_weight) for times in hits]
    scores = found.scores + np.array(bonus)
    order = best_first(scores, recipe.lexical_pool)
    return Found(found.slots[order], scores[order], found.detail, found.ceiling)


def _words(parts: Combination) -> str:
    said = [(name, float(value)) for name, value in zip(parts.names, parts.parts[:, 0], strict=True) if value]
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(said, key=lambda pair: -pair[1]))


def _forgetting(situation: Situation, legs: Legs) -> Mapping[int, float]:
    slots = np.unique(np.concatenate([legs.vector.slots, legs.lexical.slots]))
    records = situation.view.records(slots)
    hours = np.maximum(0.0, situation.now.timestamp() - records["created"]) / _HOUR
    base = importance_decay(hours, 1 + 4 * records["importance"], records["accesses"])
    return dict(zip(slots.tolist(), base.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Counts:
    """A :class:`~recollect.rank.Statistics` of the words of one question."""

    document_count: int
    frequencies: Mapping[str, int]
    average_length: float = 0.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)
