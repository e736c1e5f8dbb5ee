"""A recipe with its gate open: the same ranking, with everything shown.

A gate decides what is good enough to show, and a ranking that it has cut cannot be measured at depth.
"""

from __future__ import annotations

import math
from typing import Final

from memorata.engine import Recipe

_LOWEST: Final = math.nextafter(-1.0, 0.0)
"""The lowest cosine a recipe can ask for, -1 being the word for "as calibrated"."""


def opened(recipe: Recipe) -> Recipe:
    """Return a recipe that ranks alike and lets every candidate through.

    Examples
    --------
    >>> from memorata.engine import open, recipe
    >>> engine = open(":memory:", embedder="lexical")
    >>> said = engine.remember_many(["Anna likes tea.", "Bob sails."])
    >>> strict = recipe("haia")
    >>> [len(engine.recall("tea", recipe=each)) for each in (strict, opened(strict))]
    [0, 2]
    """
    return recipe.changed(
        {"least_similarity": _LOWEST, "least_match": 0.0, "least_confidence": 0.0, "only_vectors_pass": False}
    )
