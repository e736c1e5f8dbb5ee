"""Relative score fusion: a convex combination of scores that were each brought to the same range.

Source: Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", ACM TOIS 42(1), 2023;
the name is Weaviate's.
"""

from __future__ import annotations

from collections.abc import Sequence

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused
from memorata.rank.fusion.registry import fusion
from memorata.rank.normalise import between, ends


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
    checks.same_length(legs=aligned.sizes, floors=lows, ceilings=highs)
    per_leg = [
        share * _between(index, scores, low, high)
        for index, (share, scores, low, high) in enumerate(
            zip(shares, aligned.leg_scores(), lows, highs, strict=True)
        )
    ]
    return fused(aligned, flat(per_leg), limit)


def _between(index: int, scores: FloatArray, floor: float | None, ceiling: float | None) -> FloatArray:
    if not scores.size:
        return scores
    least, most = ends(scores)
    low = least if floor is None else checks.number(f"floors[{index}]", floor)
    if low > least:
        raise InvalidArgument(f"floors[{index}]", floor, f"at most the leg's minimum, {least:g}")
    high = most if ceiling is None else checks.number(f"ceilings[{index}]", ceiling)
    if high < most:
        raise InvalidArgument(f"ceilings[{index}]", ceiling, f"at least the leg's maximum, {most:g}")
    return between(scores, low, high)
