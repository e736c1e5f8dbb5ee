"""Seed weights: how much of the walk begins at each entity that the question may be about.

The mix of the memento system: what the entity is, what its memories say, and how well connected it is.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared


def seed_weights(
    entity_similarity: Numbers,
    memory_similarity: Numbers,
    degrees: Numbers,
    *,
    entity_weight: Annotated[float, Declared("Weight of the entity's own cosine.", 0, 1)] = 0.5,
    memory_weight: Annotated[float, Declared("Weight of its memories' mean cosine.", 0, 1)] = 0.3,
    degree_weight: Annotated[float, Declared("Weight of how well connected it is.", 0, 1)] = 0.2,
) -> FloatArray:
    r"""Return the seeds' weights, which sum to 1.

    .. math:: 0.5 \cos(e, q) + 0.3\, \overline{\cos(m, q)} + 0.2\, \frac{\ln(1 + deg)}{\ln(1 + \max deg)}

    divided by their sum. Where no degree is above 1, the last term is 1 for an entity with an edge and 0
    without. An entity whose sum is below 0 points away from the question and gets 0; when none is above 0,
    all get the same.

    Parameters
    ----------
    entity_similarity
        Cosine of each entity with the question, from -1 to 1.
    memory_similarity
        Mean cosine of each entity's memories with the question, from -1 to 1; 0 for an entity without any.
    degrees
        How many edges each entity has.
    entity_weight, memory_weight, degree_weight
        At least 0 each, and not all 0.

    Examples
    --------
    0.5 + 0.3 + 0.2 · 1 = 1, and 0 + 0 + 0.2 · ln 2 / ln 4 = 0.1.

    >>> seed_weights([1.0, 0.0], [1.0, 0.0], [3, 1]).round(4).tolist()
    [0.9091, 0.0909]
    """
    entity = checks.all_within("entity_similarity", entity_similarity, -1.0, 1.0)
    memory = checks.all_within("memory_similarity", memory_similarity, -1.0, 1.0)
    degree = checks.counts("degrees", degrees)
    checks.same_length(entity_similarity=entity, memory_similarity=memory, degrees=degree)
    named = {"entity_weight": entity_weight, "memory_weight": memory_weight, "degree_weight": degree_weight}
    parts = [checks.at_least(argument, value, 0) for argument, value in named.items()]
    shares = checks.weights("entity_weight", parts, 3)
    shares = shares / shares.sum()
    raw = np.maximum(shares[0] * entity + shares[1] * memory + shares[2] * _connectedness(degree), 0.0)
    total = raw.sum()
    return raw / total if total > 0 else np.full(raw.size, 1.0 / max(raw.size, 1))


def _connectedness(degrees: FloatArray) -> FloatArray:
    most = degrees.max(initial=0.0)
    return np.log1p(degrees) / np.log1p(most) if most > 1 else (degrees > 0).astype(np.float64)
