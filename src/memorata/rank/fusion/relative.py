"""Fusions of scores brought to one scale: relative score fusion, aligned fusion, CombSUM and CombMNZ.

Sources: Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", ACM TOIS 42(1), 2023
(relative score fusion; the name is Weaviate's); Memento (aligned); Fox and Shaw, "Combination of multiple
searches", TREC-2, 1994, and Lee, "Analyses of multiple evidence combination", SIGIR 1997 (CombSUM, CombMNZ).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused, fusion
from memorata.rank.scores import NORMALISERS, extremes, scaled_between, unit_range

_DEFAULT_PAIR = (0.7, 0.3)
_COVERAGES = ("none", "item", "leg")
Normaliser = Annotated[
    str, Declared("How each leg's scores are made comparable.", choices=tuple(NORMALISERS))
]


@fusion("relative")
def relative_score_fusion(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    floors: Sequence[float | None] | None = None,
    ceilings: Sequence[float | None] | None = None,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse min-max scores: ``score = sum of w · (s - floor) / (ceiling - floor)``, the weights summing to 1.

    For two legs the weights ``(alpha, 1 - alpha)`` are the usual form; None is equal weights, alpha 0.5.
    An id that a leg did not find gets 0 from it.

    A leg's floor is its own minimum, so its last item gets 0 too. That is right for a leg that scored
    everything and hard on a short one: of two texts that BM25 found with 5.1 and 4.9, the second would get
    nothing. Where the least possible score is known (0 for BM25), give it as the floor; Bruch et al. call
    this the theoretical minimum. Likewise a leg's ceiling is its own maximum, so its best item gets 1 however
    weak it is; where the score of a good answer is known, give it as the ceiling.

    Parameters
    ----------
    legs
        Ranked lists with scores.
    weights
        One per leg; None for equal ones.
    floors
        One per leg, at most the leg's minimum; None for that minimum.
    ceilings
        One per leg, at least the leg's maximum; None for that maximum.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> fused = relative_score_fusion([{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}])
    >>> dict(zip(fused.ids, fused.scores.tolist()))
    {'b': 0.75, 'a': 0.5, 'c': 0.0, 'd': 0.0}
    >>> fused = relative_score_fusion([{"a": 0.9, "b": 0.5}, {"b": 12.0, "d": 3.0}], floors=[None, 0.0])
    >>> dict(zip(fused.ids, fused.scores.tolist()))
    {'a': 0.5, 'b': 0.5, 'd': 0.125}
    """
    aligned = align(legs)
    shares = aligned.shares(weights)
    lows = [None] * len(shares) if floors is None else list(floors)
    highs = [None] * len(shares) if ceilings is None else list(ceilings)
    if not len(aligned.sizes) == len(lows) == len(highs):
        checks.same_length(legs=aligned.sizes, floors=lows, ceilings=highs)
    per_leg = [
        share * _between(index, scores, low, high)
        for index, (share, scores, low, high) in enumerate(
            zip(shares, aligned.leg_scores(), lows, highs, strict=True)
        )
    ]
    return fused(aligned, flat(per_leg), limit)


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
    """Fuse min-max scores with weights that reflect how much of the evidence each leg covers.

    ``score = sum of w · min_max(leg)``, where

    - *item* coverage multiplies w by `single_leg_factor` for an id that a single leg found;
    - *leg* coverage multiplies each leg's w by ``min(results / full_leg, 1)``, and the weights are scaled to
      keep their sum.

    If all legs but one are empty the result is the min-max of that one, never its raw scores. The published
    form (Memento's hybrid search) takes a z-score of each leg before its min-max. Both are affine, so the
    min-max undoes the z-score; only the min-max is computed here, and a test shows the equality.

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
    scales = _default_weights(len(scores)) if weights is None else aligned.weights(weights)
    if np.count_nonzero(sizes) == 1:
        return fused(aligned, flat([unit_range(leg) for leg in scores]), limit)
    if coverage == "leg":
        scales = _covered(scales, sizes, full)
    values = flat([scale * unit_range(leg) for scale, leg in zip(scales, scores, strict=True)])
    if coverage == "item":
        values *= np.where(aligned.leg_counts() == 1, factor, 1.0)[aligned.places]
    return fused(aligned, values, limit)


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
        A name from :data:`~memorata.rank.scores.NORMALISERS`; ``"none"`` sums the scores as they are.
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
        agreed = _summands(aligned, weights, normaliser) * aligned.leg_counts()[aligned.places]
    return fused(aligned, agreed, limit)


def _between(index: int, scores: FloatArray, floor: float | None, ceiling: float | None) -> FloatArray:
    if not scores.size:
        return scores
    lowest, highest = extremes(scores)
    low = lowest if floor is None else _bound(f"floors[{index}]", floor)
    if low > lowest:
        raise InvalidArgument(f"floors[{index}]", floor, f"at most the leg's minimum, {lowest:g}")
    high = highest if ceiling is None else _bound(f"ceilings[{index}]", ceiling)
    if high < highest:
        raise InvalidArgument(f"ceilings[{index}]", ceiling, f"at least the leg's maximum, {highest:g}")
    return scaled_between(scores, low, high)


def _bound(name: str, bound: float) -> float:
    # Those of a recipe are floats, and come with every query.
    return bound if type(bound) is float and math.isfinite(bound) else checks.number(name, bound)


def _default_weights(count: int) -> FloatArray:
    return np.array(_DEFAULT_PAIR) if count == len(_DEFAULT_PAIR) else np.full(count, 1.0 / max(count, 1))


def _covered(scales: FloatArray, sizes: FloatArray, full: int) -> FloatArray:
    thinned = scales * np.minimum(sizes / float(full), 1.0)
    # The only legs with weight may all be empty; then nothing is left to scale up, and 0 is the truth.
    return thinned / thinned.sum() * scales.sum() if thinned.sum() > 0 else thinned


def _summands(aligned: Aligned[Id], weights: Numbers | None, normaliser: str) -> FloatArray:
    normalise = NORMALISERS[checks.one_of("normaliser", normaliser, tuple(NORMALISERS))]
    scales = aligned.weights(weights)
    with np.errstate(over="ignore"):
        return flat(
            [scale * normalise(scores) for scale, scores in zip(scales, aligned.leg_scores(), strict=True)]
        )
