"""Fusions by position alone: Borda count and inverse square rank.

Sources: Aslam and Montague, "Models for metasearch", SIGIR 2001 (Borda); Mourão, Martins and Magalhães,
"Multimodal medical information retrieval with unsupervised rank fusion", CMIG 39, 2015 (ISR).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memorata.model.checks import Numbers
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused
from memorata.rank.fusion.registry import fusion


@fusion("borda")
def borda(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by points: in a union of n items a leg gives its first n points, its second n-1, and so on.

    An id that a leg did not find gets nothing from it. (Aslam and Montague share the points a leg did not
    give among the ids it did not find; that is left out here, as everywhere in this package.)

    Parameters
    ----------
    legs
        Ranked lists, best first; scores are not looked at.
    weights
        One per leg; None for 1 each.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> fused = borda([["a", "b", "c"], ["b", "c"]])
    >>> dict(zip(fused.ids, fused.scores.tolist()))
    {'b': 5.0, 'a': 3.0, 'c': 3.0}
    """
    aligned = align(legs)
    count = len(aligned.ids)
    with np.errstate(over="ignore"):
        points = [
            scale * (count - np.arange(size))
            for scale, size in zip(aligned.weights(weights), aligned.sizes, strict=True)
        ]
    return fused(aligned, flat(points), limit)


@fusion("isr")
def isr(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by inverse square rank: ``score = N · sum of w / rank²``, N the number of legs that found the id.

    Ranks start at 1.

    Parameters
    ----------
    legs, weights, limit
        As for :func:`borda`.

    Examples
    --------
    >>> fused = isr([["a", "b"], ["b"]])
    >>> dict(zip(fused.ids, fused.scores.tolist()))
    {'b': 2.5, 'a': 1.0}
    """
    aligned = align(legs)
    votes = [
        scale / np.square(np.arange(1.0, size + 1))
        for scale, size in zip(aligned.weights(weights), aligned.sizes, strict=True)
    ]
    with np.errstate(over="ignore"):
        agreed = flat(votes) * aligned.found()[aligned.places]
    return fused(aligned, agreed, limit)
