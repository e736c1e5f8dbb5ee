"""The gate: what is good enough to be shown, and what the best that is not has missed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recollect.engine.candidates import Evidence
from recollect.engine.recipe import Recipe
from recollect.engine.situation import Situation
from recollect.model.checks import BoolArray, FloatArray


def gate(
    recipe: Recipe, situation: Situation, evidence: Evidence, confidence: FloatArray
) -> tuple[BoolArray, Callable[[int], str]]:
    """Return who is good enough, and a function that says what one who is not has missed.

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

    def missed(position: int) -> str:
        parts = []
        if not found[position]:
            if np.isfinite(cosine[position]):
                parts.append(f"similarity {cosine[position]:.3f} is below {situation.least_similarity:.3f}")
            if match[position] > 0:
                share = match[position] / ceiling
                parts.append(
                    f"its words are {share:.1%} of the best possible match, below {recipe.least_match:.1%}"
                )
            elif recipe.lexical_pool:
                parts.append("it shares no word with the question")
        if not certain[position]:
            parts.append(f"confidence {confidence[position]:.2f} is below {recipe.least_confidence:.2f}")
        return " and ".join(parts)

    return found & certain, missed
