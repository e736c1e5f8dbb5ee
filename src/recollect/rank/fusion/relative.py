"""Relative score fusion: a convex combination of scores that were each brought to the same range.

Source: Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", ACM TOIS 42(1), 2023;
the name is Weaviate's.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model.checks import Numbers
from recollect.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused
from recollect.rank.fusion.registry import fusion
from recollect.rank.normalise import unit_range


@fusion("relative")
def relative_score_fusion(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse min-max scores: ``score = sum of w · min_max(leg)`` with the weights scaled to sum to 1.

    For two legs the weights ``(alpha, 1 - alpha)`` are the usual form; None is equal weights, alpha 0.5.
    An id that a leg did not find gets 0 from it, as does the last item of that leg.

    Parameters
    ----------
    legs
        Ranked lists with scores.
    weights
        One per leg; None for equal ones.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> fused = relative_score_fusion([{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}])
    >>> dict(zip(fused.ids, fused.scores.tolist()))
    {'b': 0.75, 'a': 0.5, 'c': 0.0, 'd': 0.0}
    """
    aligned = align(legs)
    scales = aligned.weights(weights)
    shares = scales / scales.sum() if scales.size else scales
    per_leg = [share * unit_range(scores) for share, scores in zip(shares, aligned.leg_scores(), strict=True)]
    return fused(aligned, flat(per_leg), limit)
