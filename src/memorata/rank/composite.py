"""Composite re-ranking: relevance first, then what else speaks for a memory.

Source: memini. The additive form can float an off-topic but popular memory to the top, because quality counts
whatever the relevance; the multiplicative form cannot, because it only scales relevance.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared
from memorata.rank.combination import Combination, stacked

RelevanceWeight = Annotated[float, Declared("Weight of relevance.", 0, 1)]
QualityWeight = Annotated[float, Declared("Weight of the memory's own quality.", 0, 1)]


def composite_additive(
    relevance: Numbers,
    quality: Numbers,
    *,
    recency: Numbers | None = None,
    importance: Numbers | None = None,
    relevance_weight: RelevanceWeight = 0.80,
    quality_weight: QualityWeight = 0.20,
    recency_weight: Annotated[float, Declared("Weight of recency, where given.", 0, 1)] = 0.0,
    importance_weight: Annotated[float, Declared("Weight of importance, where given.", 0, 1)] = 0.0,
) -> Combination:
    """Score by ``wr·rel + wq·quality (+ wt·recency + wi·importance)``, rel divided by the set's maximum.

    Parameters
    ----------
    relevance
        One number of at least 0 per memory; scores that can be negative need a min-max first.
    quality, recency, importance
        One number from 0 to 1 per memory; the last two may be left out.
    relevance_weight, quality_weight, recency_weight, importance_weight
        Not negative, and not all 0.

    Examples
    --------
    >>> composite_additive([2.0, 1.0], [0.5, 1.0]).scores
    array([0.9, 0.6])
    """
    related, good = _checked(relevance, quality)
    names, signals = ["relevance", "quality"], [related, good]
    scales = [
        checks.at_least("relevance_weight", relevance_weight, 0),
        checks.at_least("quality_weight", quality_weight, 0),
    ]
    for name, values, weight in (
        ("recency", recency, recency_weight),
        ("importance", importance, importance_weight),
    ):
        scale = checks.at_least(f"{name}_weight", weight, 0)
        if values is not None:
            signal = checks.probabilities(name, values)
            checks.same_length(relevance=related, **{name: signal})
            names.append(name)
            signals.append(signal)
            scales.append(scale)
    checks.weights("weights", scales, len(scales))
    return Combination.of("sum", names, stacked(*(w * s for w, s in zip(scales, signals, strict=True))))


def composite_multiplicative(
    relevance: Numbers,
    quality: Numbers,
    *,
    relevance_weight: RelevanceWeight = 0.80,
    quality_weight: QualityWeight = 0.20,
) -> Combination:
    """Score by ``rel · (wr + wq · quality)``, rel divided by the set's maximum.

    Parameters
    ----------
    relevance, quality, relevance_weight, quality_weight
        As for :func:`composite_additive`.

    Examples
    --------
    >>> composite_multiplicative([2.0, 1.0], [0.5, 1.0]).scores
    array([0.9, 0.5])
    """
    related, good = _checked(relevance, quality)
    floor = checks.at_least("relevance_weight", relevance_weight, 0)
    gain = checks.at_least("quality_weight", quality_weight, 0)
    checks.weights("weights", [floor, gain], 2)
    return Combination.of("product", ("relevance", "quality factor"), stacked(related, floor + gain * good))


def relative_to_best(relevance: Numbers) -> FloatArray:
    """Return each relevance divided by the set's maximum; a set with no relevance at all stays at 0.

    Examples
    --------
    >>> relative_to_best([2.0, 1.0, 0.0])
    array([1. , 0.5, 0. ])
    """
    related = checks.counts("relevance", relevance)
    best = related.max(initial=0.0)
    return np.asarray(related / best) if best > 0 else related.copy()


def _checked(relevance: Numbers, quality: Numbers) -> tuple[FloatArray, FloatArray]:
    related, good = relative_to_best(relevance), checks.probabilities("quality", quality)
    checks.same_length(relevance=related, quality=good)
    return related, good
