"""What a distance is worth in a ranking.

A hyperbola rather than an exponential: both are 1 at no distance and fall for ever, but the exponential has
fallen to nothing after a few scales, so that 100 km and 10,000 km away would tie at 0. Under the hyperbola a
distance ten times as long is worth about a tenth, at any size, as in gravity models of travel (Wilson 1971,
"A family of spatial interaction models").
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared


def nearness(
    metres: Numbers,
    *,
    scale: Annotated[float, Declared("Metres at which a memory counts half.", 10, 100_000)] = 1_000.0,
) -> FloatArray:
    """Return ``1 / (1 + metres / scale)`` for each distance: 1 here, a half at `scale`, never 0.

    Examples
    --------
    >>> nearness([0, 1_000, 9_000], scale=1_000)
    array([1. , 0.5, 0.1])
    """
    away, half = checks.counts("metres", metres), checks.above("scale", scale, 0)
    # Dividing by the larger of the two keeps the quotient finite for every scale above 0.
    larger = np.maximum(away, half)
    return np.asarray((half / larger) / (half / larger + away / larger))
