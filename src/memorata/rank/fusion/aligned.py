"""Aligned fusion: relative scores with an eye to how much of the evidence each leg covers.

The published form (Memento's hybrid search) takes a z-score of each leg before its min-max. Both are affine,
so the min-max undoes the z-score and the pair equals the min-max alone; only the min-max is computed here,
and a test shows the equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused
from memorata.rank.fusion.registry import fusion
from memorata.rank.normalise import unit_range

_TWO_LEGS = (0.7, 0.3)
_COVERAGES = ("none", "item", "leg")


@fusion("aligned")
def aligned_fusion(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    coverage: Annotated[str, Declared("What counts as thin evidence.", choices=_COVERAGES)] = "none",
    single_leg_factor: Annotated[float, Declared("Item coverage: kept by an item of one leg.", 0, 1)] = 0.8,
    full_leg: Annotated[int, Declared("Leg coverage: results a leg needs to count in full.", 1, 50)] = 5,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse min-max scores with weights that reflect coverage.

    ``score = sum of w · min_max(leg)``, where

    - *item* coverage multiplies w by `single_leg_factor` for an id that a single leg found;
    - *leg* coverage multiplies each leg's w by ``min(results / full_leg, 1)``, and the weights are scaled to
      keep their sum.

    If all legs but one are empty the result is the min-max of that one, never its raw scores.

    Parameters
    ----------
    legs
        Ranked lists with scores; by convention the vector leg first, then the text leg.
    weights
        One per leg; None for 0.7 and 0.3 with two legs, and for equal weights that sum to 1 otherwise.
    coverage
        ``"none"``, ``"item"`` or ``"leg"``.
    single_leg_factor
        From 0 to 1.
    full_leg
        At least 1.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> legs = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}]
    >>> fused = aligned_fusion(legs, coverage="item")
    >>> dict(zip(fused.ids, fused.scores.round(6).tolist()))
    {'b': 0.65, 'a': 0.56, 'c': 0.0, 'd': 0.0}
    """
    aligned = align(legs)
    checks.one_of("coverage", coverage, _COVERAGES)
    factor = checks.probability("single_leg_factor", single_leg_factor)
    full = checks.whole("full_leg", full_leg, 1)
    scores = aligned.leg_scores()
    sizes = np.array(aligned.sizes)
    scales = _default(len(scores)) if weights is None else aligned.weights(weights)
    if np.count_nonzero(sizes) == 1:
        return fused(aligned, flat([unit_range(leg) for leg in scores]), limit)
    if coverage == "leg":
        scales = _covered(scales, sizes, full)
    values = flat([scale * unit_range(leg) for scale, leg in zip(scales, scores, strict=True)])
    if coverage == "item":
        values *= np.where(aligned.found() == 1, factor, 1.0)[aligned.places]
    return fused(aligned, values, limit)


def _default(count: int) -> FloatArray:
    return np.array(_TWO_LEGS) if count == len(_TWO_LEGS) else np.full(count, 1.0 / max(count, 1))


def _covered(scales: FloatArray, sizes: FloatArray, full: int) -> FloatArray:
    thinned = scales * np.minimum(sizes / float(full), 1.0)
    # The only legs with weight may all be empty; then nothing is left to scale up, and 0 is the truth.
    return thinned / thinned.sum() * scales.sum() if thinned.sum() > 0 else thinned
