"""Similarity and confidence in one number: how well it answers, and how sure we are that it is true.

Source: HAIA's memory scoring; which weights fit which question is in :mod:`memorata.rank.weights`.
"""

from __future__ import annotations

from typing import Annotated

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.combination import Combination, stacked

_SUM_TOLERANCE = 1e-6


def multiplicative(similarity: Numbers, confidence: Numbers) -> Combination:
    """Score by ``similarity · confidence``.

    Parameters
    ----------
    similarity
        One cosine per memory, from -1 to 1.
    confidence
        One number from 0 to 1 per memory.

    Examples
    --------
    >>> multiplicative([0.95], [0.60]).scores.round(6)
    array([0.57])
    """
    similar, sure = _checked(similarity, confidence)
    return Combination.of("product", ("similarity", "confidence"), stacked(similar, sure))


def additive(
    similarity: Numbers,
    confidence: Numbers,
    *,
    alpha: Annotated[float, Declared("Weight of similarity.", 0, 1)] = 0.65,
    beta: Annotated[float, Declared("Weight of confidence; alpha and beta sum to 1.", 0, 1)] = 0.35,
) -> Combination:
    """Score by ``alpha · similarity + beta · confidence``, where alpha + beta = 1 (within 1e-6).

    Parameters
    ----------
    similarity, confidence
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
    similar, sure = _checked(similarity, confidence)
    weight, other = checks.probability("alpha", alpha), checks.probability("beta", beta)
    if abs(weight + other - 1) > _SUM_TOLERANCE:
        raise InvalidArgument("beta", beta, f"1 - alpha ({1 - weight:g})")
    return Combination.of("sum", ("similarity", "confidence"), stacked(weight * similar, other * sure))


def _checked(similarity: Numbers, confidence: Numbers) -> tuple[FloatArray, FloatArray]:
    similar = checks.all_within("similarity", similarity, -1, 1)
    sure = checks.probabilities("confidence", confidence)
    checks.same_length(similarity=similar, confidence=sure)
    return similar, sure
