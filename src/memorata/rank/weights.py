"""Which weights for which query: presets, by category of memory, and by type of query.

A preference is recognised by what it is about, so similarity leads; a correction is worth what we believe of
it, so confidence leads. Source: HAIA's weight tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from memorata.model import checks
from memorata.model.parameter import Declared


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
