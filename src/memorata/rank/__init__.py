"""What comes first? The field's ranking formulas as pure functions on numpy arrays.

Each file computes what its name says; nothing here knows of storage, clocks or randomness, so the package can
be used alone. All of it is loaded at once: a recall uses every file.
"""

from __future__ import annotations

from memorata.rank.bm25 import BM25, Statistics, inverse_document_frequency
from memorata.rank.composite import (
    Weights,
    additive,
    composite_additive,
    composite_multiplicative,
    for_category,
    for_query,
    legs_for_query,
    multiplicative,
    preset,
    relative_to_best,
)
from memorata.rank.decay import (
    CURVES,
    corroborated,
    decayed,
    half_life_decay,
    importance_decay,
    linear_decay,
)
from memorata.rank.distance import haversines, nearness
from memorata.rank.diversity import adaptive_mmr, adaptive_trade, group_coverage, mmr
from memorata.rank.entity_boost import boosted_query, entity_base, phrase_bonus, repeats
from memorata.rank.fusion import (
    FUSIONS,
    BlendSettings,
    Fused,
    Leg,
    align,
    aligned_fusion,
    alpha_blend,
    borda,
    comb_mnz,
    comb_sum,
    fusion,
    isr,
    migrated,
    relative_score_fusion,
    rrf,
    zscored_rrf,
)
from memorata.rank.records import TIER_SALIENCE, quality, salience, usage
from memorata.rank.scores import (
    NORMALISERS,
    Combination,
    best_first,
    max_scaled,
    min_max,
    rank_based,
    z_score,
)
from memorata.rank.similarity import cosine, cosines, max_similarity, unit_rows
from memorata.rank.temporal import boosted_additive, boosted_multiplicative, proximity

__all__ = [
    "BM25",
    "CURVES",
    "FUSIONS",
    "NORMALISERS",
    "TIER_SALIENCE",
    "BlendSettings",
    "Combination",
    "Fused",
    "Leg",
    "Statistics",
    "Weights",
    "adaptive_mmr",
    "adaptive_trade",
    "additive",
    "align",
    "aligned_fusion",
    "alpha_blend",
    "best_first",
    "boosted_additive",
    "boosted_multiplicative",
    "boosted_query",
    "borda",
    "comb_mnz",
    "comb_sum",
    "composite_additive",
    "composite_multiplicative",
    "corroborated",
    "cosine",
    "cosines",
    "decayed",
    "entity_base",
    "for_category",
    "for_query",
    "fusion",
    "group_coverage",
    "half_life_decay",
    "haversines",
    "importance_decay",
    "inverse_document_frequency",
    "isr",
    "legs_for_query",
    "linear_decay",
    "max_scaled",
    "max_similarity",
    "migrated",
    "min_max",
    "mmr",
    "multiplicative",
    "nearness",
    "phrase_bonus",
    "preset",
    "proximity",
    "quality",
    "rank_based",
    "relative_score_fusion",
    "relative_to_best",
    "repeats",
    "rrf",
    "salience",
    "unit_rows",
    "usage",
    "z_score",
    "zscored_rrf",
]


def __dir__() -> list[str]:
    return sorted(__all__)
