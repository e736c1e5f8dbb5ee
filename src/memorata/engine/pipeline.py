"""The pipeline that runs any recipe: legs, fusion, re-ranking, gate, repeats, diversity.

Nothing here loops over memories: every step works on arrays over the candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.bridging import bridge
from memorata.engine.candidates import Candidates, MoreLeg, fuse, search
from memorata.engine.fading import with_fading
from memorata.engine.gate import gate
from memorata.engine.recipe import Recipe
from memorata.engine.shortfall import Shortfall
from memorata.engine.situation import Explain, Situation
from memorata.engine.steps import (
    reranked,
    with_confidence,
    with_quality,
    with_session,
    with_speaker,
    with_temporal,
)
from memorata.engine.trace import Trace
from memorata.model.checks import FloatArray, IntArray
from memorata.model.explanation import Explanation
from memorata.rank import adaptive_mmr, group_coverage, mmr
from memorata.rank.order import first_of_each
from memorata.store.port import Found

_GRAPH_LEGS: Final = {"names": "shared names", "walk": "walk", "paths": "paths", "communities": "communities"}
"""By what a recipe calls it, what explanations call a leg over the graph."""


@frozen(eq=False)
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
    refused_score, refused_explain, missed
        Its score, and what tells why it has it and what it missed.
    trace
        What all candidates were ranked by, for the log; None if there were none.
    """

    slots: IntArray
    scores: FloatArray
    explain: Explain
    refused: int | None = None
    refused_score: float = 0.0
    refused_explain: Callable[[], Explanation] | None = None
    missed: Callable[[], tuple[Shortfall, ...]] | None = None
    trace: Trace | None = None


def run(recipe: Recipe, situation: Situation) -> Ranked:
    """Run a recipe and return every candidate that passed, best first."""
    legs = search(recipe, situation)
    candidates = fuse(recipe, situation, legs)
    if recipe.graph != "none" and recipe.graph_weight:
        name = _GRAPH_LEGS[recipe.graph]
        found = _graph_leg(recipe.graph)(recipe, situation, candidates.slots, candidates.scores)
        if found.slots.size:
            # Only the walk comes back to where it started.
            origins = candidates.slots[: recipe.graph_seeds if recipe.graph == "walk" else 0]
            linked = legs.with_leg(MoreLeg(name, found, recipe.graph_weight, origins))
            candidates = fuse(recipe, situation, linked)
    return settle(recipe, situation, candidates)


def _graph_leg(kind: str) -> Callable[[Recipe, Situation, IntArray, FloatArray], Found]:
    """Return a leg over the graph; what walks over all of it is loaded by the recipes that do."""
    if kind == "walk":
        from memorata.engine.walking import walk

        return walk
    if kind == "paths":
        from memorata.engine.path_expansion import expand

        return expand
    if kind == "communities":
        from memorata.engine.community_leg import gather

        return gather
    return bridge


def settle(recipe: Recipe, situation: Situation, candidates: Candidates) -> Ranked:
    """Rank candidates that were fused: all the steps of a recipe that need no search."""
    slots = candidates.slots
    if not slots.size:
        return Ranked(slots, np.zeros(0), lambda position: Explanation.leaf("nothing", 0.0))
    records = situation.life.aged(situation.view.records(slots), situation.now)
    scores: FloatArray = candidates.scores
    explain: Explain = candidates.explain
    for step in (with_session, with_speaker, with_confidence, with_quality, with_fading, with_temporal):
        scores, explain = step(recipe, situation, records, scores, explain)
    scores, explain = reranked(recipe, situation, slots, scores, explain)
    order = (-scores).argsort(kind="stable")
    slots, scores, explain = slots[order], scores[order], _moved(explain, order)
    confidence = records["confidence"][order]
    passed, missed = gate(recipe, situation, candidates.evidence().take(order), confidence)
    kept = passed.nonzero()[0]
    if recipe.deduplicate:
        kept = kept[first_of_each(records["fingerprint"][order[kept]])]
    kept = _diverse(recipe, situation, slots, scores, records["session"][order], kept)
    worst = int(passed.argmin())
    trace = Trace(situation, candidates.legs, slots, scores, records, order, kept)
    result = Ranked(slots[kept], scores[kept], _moved(explain, kept), trace=trace)
    if passed[worst]:
        return result
    return Ranked(
        result.slots,
        result.scores,
        result.explain,
        int(slots[worst]),
        float(scores[worst]),
        lambda: explain(worst),
        lambda: missed(worst),
        trace,
    )


def _diverse(
    recipe: Recipe,
    situation: Situation,
    slots: IntArray,
    scores: FloatArray,
    sessions: IntArray,
    kept: IntArray,
) -> IntArray:
    if recipe.diversity != "none" and kept.size > 1:
        vectors = situation.view.vectors(slots[kept])
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
