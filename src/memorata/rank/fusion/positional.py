"""Fusions by position alone: reciprocal rank fusion, Borda count and inverse square rank.

Sources: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009 (RRF); Aslam and Montague, "Models for metasearch", SIGIR 2001 (Borda); Mourão,
Martins and Magalhães, "Multimodal medical information retrieval with unsupervised rank fusion", CMIG 39, 2015
(ISR).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused, fusion
from memorata.rank.scores import standardised

K = Annotated[float, Declared("Damping: the larger, the less the first places stand out.", 1, 100)]
RankBase = Annotated[int, Declared("Whether the first rank is 0 or 1.", 0, 1)]

_MAX_CACHED_ITEMS = 4096
"""Pools up to this size have their votes cached."""


@fusion("rrf")
def rrf(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    k: K = 60.0,
    rank_base: RankBase = 1,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by reciprocal ranks: ``score = sum over legs of weight / (k + rank)``.

    Two conventions are in use: ``k=60, rank_base=1``, the classic, and ``k=5, rank_base=0``, under which a
    first place in one leg can beat two middling places. (With k=60 on deep pools 2/(60+20) > 1/60: items
    that are nowhere good drown the best of a single leg.)

    Parameters
    ----------
    legs
        Ranked lists, best first; scores are not looked at.
    weights
        One per leg; None for 1 each.
    k
        At least 0; above 0 with `rank_base` 0.
    rank_base
        0 or 1.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> fused = rrf([["m1", "m3", "m2", "m5"], ["m2", "m1", "m4", "m3"]])
    >>> dict(zip(fused.ids, fused.scores.round(6).tolist()))
    {'m1': 0.032522, 'm2': 0.032266, 'm3': 0.031754, 'm4': 0.015873, 'm5': 0.015625}
    """
    aligned = align(legs)
    votes = _votes(aligned, k, rank_base)
    if weights is not None:
        with np.errstate(over="ignore"):
            votes = aligned.weights(weights).repeat(aligned.sizes) * votes
    return fused(aligned, votes, limit)


@fusion("zscored_rrf")
def zscored_rrf(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    k: K = 60.0,
    rank_base: RankBase = 1,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse by reciprocal ranks that are z-scored leg by leg: ``score = sum of weight · z(1 / (k + rank))``.

    The z-score is taken over the union, with 0 for items the leg did not find, so not being found by a leg
    counts against an item. This is how Pinecone's weighted hybrid example mixes dense and sparse results.

    Parameters
    ----------
    legs, weights, k, rank_base, limit
        As for :func:`rrf`.

    Examples
    --------
    >>> fused = zscored_rrf([["a", "b"], ["a", "c"]], weights=[0.6, 0.4])
    >>> fused.ids
    ['a', 'b', 'c']
    """
    aligned = align(legs)
    votes = _votes(aligned, k, rank_base)
    legs_count, union = len(aligned.sizes), len(aligned.ids)
    table = aligned.table(votes)
    with np.errstate(over="ignore"):
        scaled = [
            scale * standardised(row) for scale, row in zip(aligned.weights(weights), table, strict=True)
        ]
    everywhere = np.tile(np.arange(union), legs_count)
    filled = Aligned(aligned.ids, aligned.names, (union,) * legs_count, everywhere, aligned.scores)
    return fused(filled, flat(scaled), limit)


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
    legs, weights, limit
        As for :func:`rrf`.

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
        As for :func:`rrf`.

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
        agreed = flat(votes) * aligned.leg_counts()[aligned.places]
    return fused(aligned, agreed, limit)


def _votes(aligned: Aligned[Id], k: float, rank_base: int) -> FloatArray:
    if checks.whole("rank_base", rank_base) > 1:
        raise InvalidArgument("rank_base", rank_base, "0 or 1")
    start = checks.at_least("k", k, 0) + rank_base
    # A subnormal k has no reciprocal in float64, just as 0 has none at all.
    if start == 0 or math.isinf(1 / start):
        raise InvalidArgument("k", k, "above 0 when the first rank is 0")
    sizes = aligned.sizes
    return _reciprocals(start, sizes) if sum(sizes) <= _MAX_CACHED_ITEMS else _computed(start, sizes)


def _computed(start: float, sizes: tuple[int, ...]) -> FloatArray:
    votes = flat([1.0 / (start + np.arange(size, dtype=np.float64)) for size in sizes])
    votes.flags.writeable = False
    return votes


_reciprocals = lru_cache(maxsize=64)(_computed)
"""Small pools come in the same sizes again and again, and then this is a tenth of a search's fusion."""
