"""The gate: what is good enough to be shown, and what the best that is not has missed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memorata.engine.candidates import Evidence
from memorata.engine.recipe import Recipe
from memorata.engine.shortfall import Shortfall
from memorata.engine.situation import Situation
from memorata.model.checks import BoolArray, FloatArray


def gate(
    recipe: Recipe, situation: Situation, evidence: Evidence, confidence: FloatArray
) -> tuple[BoolArray, Callable[[int], tuple[Shortfall, ...]]]:
    """Return who is good enough, and a function that tells what one who is not has missed.

    A memory passes by meaning (a cosine of at least the threshold) or by words (a share of the best possible
    match), whichever it has, and must in any case be certain enough. One that another leg speaks for passes,
    too, if its time or place was asked for, or beside others that pass by themselves.
    """
    cosine, match, ceiling = evidence.cosines, evidence.matches, evidence.ceiling or 1.0
    near = cosine >= situation.least_similarity
    worded = (match > 0) & (match >= recipe.least_match * ceiling)
    certain = confidence >= recipe.least_confidence
    found = near if recipe.only_vectors_pass else near | worded
    if not recipe.vector_pool or situation.vector is None:
        found = worded
    if situation.about_time or situation.here is not None or found.any():
        found = found | evidence.vouched

    def missed(position: int) -> tuple[Shortfall, ...]:
        parts: list[Shortfall] = []
        if not found[position]:
            known = bool(np.isfinite(cosine[position]))
            if known or worded[position]:
                # Words that would do are not asked for here: meaning has to be near, and is not, or unknown.
                value = float(cosine[position]) if known else None
                parts.append(Shortfall("similarity", value, situation.least_similarity))
            if not worded[position] and (match[position] > 0 or recipe.lexical_pool):
                parts.append(Shortfall("words", float(match[position] / ceiling), recipe.least_match))
        if not certain[position]:
            parts.append(Shortfall("confidence", float(confidence[position]), recipe.least_confidence))
        return tuple(parts)

    return found & certain, missed
