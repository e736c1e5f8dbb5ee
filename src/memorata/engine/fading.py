"""The step that lets memories fade: a forgetting curve as a prior, beside what the question asks for.

``score · (1 - w + w · left)``, where `left` is what a curve of :mod:`memorata.rank.forgetting` has left of a
memory by now, from 0 to 1. What was used fades more slowly, what is pinned not at all. No shipped recipe does
it: on real conversations (``python -m benchmarks.quality --only locomo``) no curve wins,
and most cost answers.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from memorata.engine.recipe import Recipe
from memorata.engine.situation import Explain, Situation, Step
from memorata.engine.steps import chained, not_negative
from memorata.index.record import Records
from memorata.model.checks import FloatArray
from memorata.rank.combination import Combination
from memorata.rank.forgetting import half_life_decay, importance_decay, linear_decay

_HOUR: Final = 3_600.0
_DAY_HOURS: Final = 24.0
_MOST_IMPORTANT: Final = 5.0


def with_fading(
    recipe: Recipe, situation: Situation, records: Records, scores: FloatArray, explain: Explain
) -> Step:
    """Let the forgetting curve join in."""
    if recipe.fading == "none" or not recipe.fading_weight:
        return scores, explain
    relevant, base = not_negative(scores, explain)
    left = what_is_left(recipe, records, situation.now.timestamp())
    share = recipe.fading_weight
    both = Combination.unchecked(
        "product", ("relevance", "what time has left"), relevant, 1 - share + share * left
    )
    return both.scores, chained(both, "faded", "relevance", base)


def what_is_left(recipe: Recipe, records: Records, now: float) -> FloatArray:
    """Return the part of each memory, from 0 to 1, that a recipe's curve has left; 1 for pinned ones."""
    hours = np.maximum(0.0, now - records["created"]) / _HOUR
    uses, alike = records["accesses"].astype(np.float64), np.ones(len(records))
    length = recipe.fading_days * _DAY_HOURS
    if recipe.fading == "importance":
        matters = 1 + (_MOST_IMPORTANT - 1) * records["importance"]
        left = importance_decay(hours, matters, uses) / matters
    elif recipe.fading == "half_life":
        left = half_life_decay(hours, alike, uses, half_life=length)
    else:
        left = linear_decay(hours, alike, uses, horizon=length)
    return np.where(records["pinned"] != 0, 1.0, left)
