"""A recipe with its gate open: the same ranking, with everything shown.

A gate decides what is good enough to show, and a ranking that it has cut cannot be measured at depth. Opening
it is more than lowering thresholds: anchored fusion measures meaning from the gate's cosine, so a lower one
would change the ranking itself. The floor of that scale is the smaller of the gate's cosine and the least
cosine among the candidates, which shows how far the gate opens without moving it: down to that least cosine.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from recollect.engine import Engine, Recipe

_CALIBRATED: Final = -1.0
_LOWEST: Final = math.nextafter(_CALIBRATED, 0.0)
"""The lowest cosine a recipe can ask for, -1 being the word for "as calibrated"."""


def opened(recipe: Recipe, engine: Engine, text: str, now: datetime) -> Recipe:
    """Return a recipe that ranks the answers to a question alike and lets every candidate through.

    Parameters
    ----------
    recipe
        The recipe as shipped.
    engine
        What will be asked; it is asked for the least cosine where the recipe's ranking depends on it.
    text, now
        The question and its moment.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from recollect.engine import open, recipe
    >>> engine, now = open(":memory:", embedder="lexical"), datetime(2026, 5, 7, tzinfo=UTC)
    >>> said = engine.remember_many(["Anna likes tea.", "Bob sails."])
    >>> strict = recipe("haia")
    >>> wide = opened(strict, engine, "tea", now)
    >>> [len(engine.recall("tea", recipe=each, now=now)) for each in (strict, wide)]
    [0, 2]
    """
    least = _LOWEST
    if recipe.anchored and recipe.fusion == "relative" and recipe.vector_pool and engine.embedder is not None:
        gate = recipe.least_similarity
        if gate == _CALIBRATED:
            gate = engine.embedder.similarity_threshold
        least = max(_LOWEST, min(gate, _least_cosine(recipe.vector_pool, engine, text, now)))
    return recipe.changed(
        {"least_similarity": least, "least_match": 0.0, "least_confidence": 0.0, "only_vectors_pass": False}
    )


def _least_cosine(pool: int, engine: Engine, text: str, now: datetime) -> float:
    alone = Recipe(
        name="meaning",
        vector_pool=pool,
        lexical_pool=0,
        vector_weight=1.0,
        fusion="comb_sum",
        normaliser="none",
        least_similarity=_LOWEST,
        deduplicate=False,
    )
    hits = engine.recall(text, recipe=alone, limit=pool, now=now).hits
    return hits[-1].score if hits else math.inf
