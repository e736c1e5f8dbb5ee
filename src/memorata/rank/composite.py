"""Composite scores: relevance first, then confidence, quality and what else speaks for a memory.

Sources: HAIA's memory scoring (confidence) and memini's re-ranking (quality). The additive form can float an
off-topic but popular memory to the top, because quality counts whatever the relevance; the multiplicative
form cannot, because it scales relevance.

Which weights fit depends on the category of the memory and on the type of query (HAIA's weight tables): a
preference is recognised by what it is about, so similarity leads; a correction is worth what we believe of
it, so confidence leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.scores import Combination

RelevanceWeight = Annotated[float, Declared("Weight of relevance.", 0, 1)]
QualityWeight = Annotated[float, Declared("Weight of the memory's own quality.", 0, 1)]

_SUM_TOLERANCE = 1e-6


def multiplicative(relevance: Numbers, confidence: Numbers) -> Combination:
    """Score by ``relevance · confidence``.

    Parameters
    ----------
    relevance
        One number per memory: a cosine, or a fused score.
    confidence
        One number from 0 to 1 per memory.

    Examples
    --------
    >>> multiplicative([0.95], [0.60]).scores.round(6)
    array([0.57])
    """
    relevant, confident = _with_confidence(relevance, confidence)
    return Combination.unchecked("product", ("relevance", "confidence"), relevant, confident)


def additive(
    relevance: Numbers,
    confidence: Numbers,
    *,
    alpha: Annotated[float, Declared("Weight of relevance.", 0, 1)] = 0.65,
    beta: Annotated[float, Declared("Weight of confidence; alpha and beta sum to 1.", 0, 1)] = 0.35,
) -> Combination:
    """Score by ``alpha · relevance + beta · confidence``, where alpha + beta = 1 (within 1e-6).

    Parameters
    ----------
    relevance, confidence
        As for :func:`multiplicative`.
    alpha, beta
        From 0 to 1.

    Examples
    --------
    >>> additive([0.95], [0.60]).scores.round(6)
    array([0.8275])
    >>> additive([0.95], [0.60], alpha=0.6, beta=0.6)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: beta must be 1 - alpha (0.4), got 0.6
    """
    relevant, confident = _with_confidence(relevance, confidence)
    weight, other_weight = checks.probability("alpha", alpha), checks.probability("beta", beta)
    if abs(weight + other_weight - 1) > _SUM_TOLERANCE:
        raise InvalidArgument("beta", beta, f"1 - alpha ({1 - weight:g})")
    return Combination.finite("sum", ("relevance", "confidence"), weight * relevant, other_weight * confident)


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
    relevant, good = _with_quality(relevance, quality)
    names, signals = ["relevance", "quality"], [relevant, good]
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
            checks.same_length(relevance=relevant, **{name: signal})
            names.append(name)
            signals.append(signal)
            scales.append(scale)
    checks.weights("weights", scales, len(scales))
    rows = (scale * signal for scale, signal in zip(scales, signals, strict=True))
    return Combination.finite("sum", tuple(names), *rows)


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
    relevant, good = _with_quality(relevance, quality)
    floor = checks.at_least("relevance_weight", relevance_weight, 0)
    gain = checks.at_least("quality_weight", quality_weight, 0)
    checks.weights("weights", [floor, gain], 2)
    return Combination.finite("product", ("relevance", "quality factor"), relevant, floor + gain * good)


def relative_to_best(relevance: Numbers) -> FloatArray:
    """Return each relevance divided by the set's maximum; a set with no relevance at all stays at 0.

    Examples
    --------
    >>> relative_to_best([2.0, 1.0, 0.0])
    array([1. , 0.5, 0. ])
    """
    relevant = checks.counts("relevance", relevance)
    best = relevant.max(initial=0.0)
    return np.asarray(relevant / best) if best > 0 else relevant.copy()


def _with_confidence(relevance: Numbers, confidence: Numbers) -> tuple[FloatArray, FloatArray]:
    relevant, confident = (
        checks.numbers("relevance", relevance),
        checks.probabilities("confidence", confidence),
    )
    checks.same_length(relevance=relevant, confidence=confident)
    return relevant, confident


def _with_quality(relevance: Numbers, quality: Numbers) -> tuple[FloatArray, FloatArray]:
    relevant, good = relative_to_best(relevance), checks.probabilities("quality", quality)
    checks.same_length(relevance=relevant, quality=good)
    return relevant, good


class Weights(NamedTuple):
    """A pair that sums to 1: similarity and confidence, or dense leg and sparse leg."""

    alpha: float
    beta: float


BALANCED = Weights(0.5, 0.5)

PRESETS: Mapping[str, Weights] = MappingProxyType(
    {"semantic": Weights(0.65, 0.35), "balanced": BALANCED, "confidence": Weights(0.35, 0.65)}
)
"""Similarity and confidence weights by preset name; ``semantic`` is the default."""

BY_CATEGORY: Mapping[str, Weights] = MappingProxyType(
    {
        "preference": Weights(0.70, 0.30),
        "personal_fact": Weights(0.50, 0.50),
        "technical_context": Weights(0.40, 0.60),
        "decision": Weights(0.35, 0.65),
        "correction": Weights(0.30, 0.70),
    }
)
"""Similarity and confidence weights by category of the memory; any other category is balanced."""

BY_QUERY_TYPE: Mapping[str, Weights] = MappingProxyType(
    {"factual": Weights(0.35, 0.65), "preference": Weights(0.70, 0.30), "conceptual": Weights(0.55, 0.45)}
)
"""Similarity and confidence weights by type of query."""

LEGS_BY_QUERY_TYPE: Mapping[str, Weights] = MappingProxyType(
    {"factual": Weights(0.3, 0.7), "preference": Weights(0.55, 0.45), "conceptual": Weights(0.7, 0.3)}
)
"""Dense and sparse leg weights by type of query."""

LeastConfidence = Annotated[float, Declared("How sure the classifier must be to be followed.", 0, 1)]


def preset(name: str = "semantic") -> Weights:
    """Return the weights of a named preset.

    Examples
    --------
    >>> preset()
    Weights(alpha=0.65, beta=0.35)
    """
    return PRESETS[checks.one_of("name", name, tuple(PRESETS))]


def for_category(category: str) -> Weights:
    """Return the weights for a memory of this category; balanced for a category without its own.

    Examples
    --------
    >>> for_category("correction"), for_category("recipe")
    (Weights(alpha=0.3, beta=0.7), Weights(alpha=0.5, beta=0.5))
    """
    return BY_CATEGORY.get(checks.text("category", category), BALANCED)


def for_query(query_type: str, confidence: float, *, least: LeastConfidence = 0.6) -> Weights:
    """Return similarity and confidence weights for a classified query; balanced when the class is unsure.

    Examples
    --------
    >>> for_query("factual", 0.6), for_query("factual", 0.59)
    (Weights(alpha=0.35, beta=0.65), Weights(alpha=0.5, beta=0.5))
    """
    return _followed(BY_QUERY_TYPE, query_type, confidence, least)


def legs_for_query(query_type: str, confidence: float, *, least: LeastConfidence = 0.6) -> Weights:
    """Return dense and sparse leg weights for a classified query; equal when the class is unsure.

    Examples
    --------
    >>> legs_for_query("conceptual", 0.9)
    Weights(alpha=0.7, beta=0.3)
    """
    return _followed(LEGS_BY_QUERY_TYPE, query_type, confidence, least)


def _followed(table: Mapping[str, Weights], query_type: str, confidence: float, least: float) -> Weights:
    checks.one_of("query_type", query_type, tuple(table))
    sure = checks.probability("confidence", confidence) >= checks.probability("least", least)
    return table[query_type] if sure else BALANCED
