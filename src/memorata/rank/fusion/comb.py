"""CombSUM and CombMNZ: add the scores up, and perhaps multiply by how many legs agree.

Source: Fox and Shaw, "Combination of multiple searches", TREC-2, 1994; normalisation before summing after
Lee, "Analyses of multiple evidence combination", SIGIR 1997.
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
from memorata.rank.normalise import NORMALISERS

Normaliser = Annotated[
    str, Declared("How each leg's scores are made comparable.", choices=tuple(NORMALISERS))
]


@fusion("comb_sum")
def comb_sum(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    normaliser: Normaliser = "min_max",
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by the sum of normalised scores: ``score = sum of w · normalised(leg)``.

    Parameters
    ----------
    legs
        Ranked lists with scores.
    weights
        One per leg; None for 1 each.
    normaliser
        A name from :data:`~memorata.rank.normalise.NORMALISERS`; ``"none"`` sums the scores as they are.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> comb_sum([{"a": 3.0, "b": 1.0}, {"b": 4.0}], normaliser="none").scores
    array([5., 3.])
    """
    aligned = align(legs)
    return fused(aligned, _summands(aligned, weights, normaliser), limit)


@fusion("comb_mnz")
def comb_mnz(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    normaliser: Normaliser = "min_max",
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by CombSUM times the number of legs that found the item.

    Parameters
    ----------
    legs, weights, normaliser, limit
        As for :func:`comb_sum`.

    Examples
    --------
    >>> comb_mnz([{"a": 3.0, "b": 1.0}, {"b": 4.0}], normaliser="none").scores
    array([10.,  3.])
    """
    aligned = align(legs)
    with np.errstate(over="ignore"):
        agreed = _summands(aligned, weights, normaliser) * aligned.found()[aligned.places]
    return fused(aligned, agreed, limit)


def _summands(aligned: Aligned[Id], weights: Numbers | None, normaliser: str) -> FloatArray:
    normalise = NORMALISERS[checks.one_of("normaliser", normaliser, tuple(NORMALISERS))]
    scales = aligned.weights(weights)
    with np.errstate(over="ignore"):
        return flat(
            [scale * normalise(scores) for scale, scores in zip(scales, aligned.leg_scores(), strict=True)]
        )
