"""The shipped recipes: ours, and the published formulas of others, to be compared on the same data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from memorata.engine.recipes.recipe import Recipe
from memorata.model import checks

# Set on LoCoMo dev, and kept because LongMemEval-S dev, MuSiQue, Cranfield and the Russian facts agreed;
# benchmarks/RESULTS.md has the measurements, and what happens without each of them.
_OURS: Final[dict[str, Any]] = {
    "vector_pool": 50,
    "lexical_pool": 50,
    "speaker_weight": 1.5,
    "speakers_apart": True,
    "dates_weight": 1.5,
    "b": 0.5,
    "context_before": 0.7,
    "anchored": True,
    "vector_weight": 0.5,
    "session_weight": 0.2,
    "machine_weight": 0.8,
    "quality": "multiplicative",
    "quality_weight": 0.05,
    "temporal": "multiplicative",
    "temporal_boost": 0.2,
    "least_match": 0.18,
}

_ALL: Final = (
    Recipe(
        name="balanced",
        doc="Our default: meaning, words in context, shared names, session, time; a gate, no repeats.",
        **_OURS,
        graph="names",
        graph_weight=0.25,
    ),
    Recipe(
        name="fast",
        doc="The same with words first, for embedders without a transformer, and no second search.",
        **(_OURS | {"vector_weight": 0.35}),
    ),
    Recipe(
        name="bm25", doc="Words alone.", vector_pool=0, fusion="comb_sum", normaliser="none", least_match=0
    ),
    Recipe(
        name="vector",
        doc="Embedding alone.",
        lexical_pool=0,
        fusion="comb_sum",
        normaliser="none",
        vector_weight=1.0,
    ),
    Recipe(
        name="memento",
        doc="Aligned fusion 0.7/0.3 with leg coverage, 30% for a walk over the graph, adaptive MMR.",
        fusion="aligned",
        coverage="leg",
        vector_weight=0.7,
        graph="walk",
        graph_weight=3 / 7,
        graph_seeds=10,
        diversity="adaptive",
        k1=1.5,
        b=0.75,
    ),
    Recipe(
        name="memini",
        doc="Relative score fusion in equal parts, quality 0.2 added, time 0.40, exact repeats removed.",
        vector_pool=50,
        lexical_pool=50,
        pool_per_hit=5,
        vector_weight=0.5,
        quality="additive",
        quality_weight=0.20,
        temporal="additive",
        temporal_boost=0.40,
        k1=1.2,
        b=0.75,
    ),
    Recipe(
        name="openvault",
        doc="Forgetting curve plus alpha blend (0.7, budget 15, threshold 0.5), rare names repeated.",
        fusion="alpha_blend",
        vector_weight=0.7,
        forgetting=True,
        entity_weight=1.0,
        k1=1.2,
        b=0.75,
    ),
    Recipe(
        name="haia",
        doc="Vectors alone, 0.65 similarity and 0.35 confidence, thresholds 0.75 and 0.50.",
        lexical_pool=0,
        vector_weight=1.0,
        fusion="comb_sum",
        normaliser="none",
        confidence="additive",
        least_similarity=0.75,
        least_confidence=0.50,
        only_vectors_pass=True,
    ),
    Recipe(
        name="semstreams",
        doc="Plain words and BM25 with vectors, paths from what is named with PageRank, in one RRF.",
        analyser="plain",
        fusion="rrf",
        graph="paths",
        graph_weight=0.5,
        k1=1.2,
        b=0.75,
    ),
    Recipe(name="azure", doc="Weighted RRF, 0.65 meaning, k 60.", fusion="rrf", vector_weight=0.65),
    Recipe(
        name="elastic", doc="Weighted RRF with one ratio the caller turns.", fusion="rrf", vector_weight=0.5
    ),
    Recipe(
        name="pinecone",
        doc="Z-scored RRF 0.6/0.4 of 100 and 100; its cross-encoder needs a re-ranker.",
        fusion="zscored_rrf",
        vector_weight=0.6,
    ),
    Recipe(
        name="adaptive",
        doc="Relative score fusion whose weights follow the type of question.",
        legs_by_query=True,
    ),
)

RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType({recipe.name: recipe for recipe in _ALL})
"""The shipped recipes by name."""


def recipe(name: str) -> Recipe:
    """Return a shipped recipe."""
    return RECIPES[checks.one_of("recipe", name, tuple(RECIPES))]
