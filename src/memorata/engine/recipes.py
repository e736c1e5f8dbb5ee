"""Recipes are data: which words, legs, fusion, re-ranking, gates and diversity a recall uses.

One pipeline runs any of them. Every parameter declares its range and meaning, so that the command line, the
tuner and the web page are generated from this file.
"""

# Annotations are evaluated with the class: as texts they would be read and compiled one by one, in 3 ms.
import math
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared, Parameter, check_fields, parameters_of
from memorata.rank.composite import PRESETS
from memorata.rank.decay import CURVES as _CURVES
from memorata.rank.fusion import FUSIONS
from memorata.rank.scores import NORMALISERS
from memorata.text.analysers import ANALYSERS

CURVES: Final = ("none", *_CURVES)
FORMS: Final = ("none", "additive", "multiplicative")
TEMPORAL_FORMS: Final = (*FORMS, "restrict")
GRAPHS: Final = ("none", "names", "walk", "paths", "communities")
CONFIDENCE_FORMS: Final = (*FORMS, "rrf")
WEIGHTINGS: Final = (*PRESETS, "fixed", "query", "category")
_FUSIONS: Final = tuple(FUSIONS)
_NORMALISERS: Final = tuple(NORMALISERS)
_BY_RANK: Final = ("rrf", "zscored_rrf")
"""The fusions that divide by rrf_k and a rank."""
_MAX_POOL: Final = 1000

GROUPS: Final = (
    "Words",
    "Candidates",
    "Time and place",
    "Fusion",
    "Confidence, quality, re-ranking",
    "Thresholds and variety",
)
"""The headings of parameters, in the order in which pages and documents show them."""
_words: Final = partial(Declared, group=GROUPS[0], search=True)
_candidates: Final = partial(Declared, group=GROUPS[1], search=True)
_time: Final = partial(Declared, group=GROUPS[2])
_fusion: Final = partial(Declared, group=GROUPS[3])
_reranking: Final = partial(Declared, group=GROUPS[4])
_thresholds: Final = partial(Declared, group=GROUPS[5])


@frozen(kw_only=True)
class Recipe:
    """How a recall is done.

    Examples
    --------
    >>> Recipe(name="words only", vector_pool=0).vector_pool
    0
    >>> Recipe(name="x", vector_weight=1.5)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: vector_weight must be a number from 0 to 1, got 1.5
    """

    name: str
    doc: str = ""

    analyser: Annotated[str, _words("How words are read.", choices=tuple(ANALYSERS))] = "snowball"
    vector_pool: Annotated[int, _candidates("Candidates by meaning; 0 leaves the leg out.", 0, _MAX_POOL)] = (
        100
    )
    lexical_pool: Annotated[int, _candidates("Candidates by words; 0 leaves the leg out.", 0, _MAX_POOL)] = (
        100
    )
    pool_per_hit: Annotated[int, _candidates("At least so many of both for each hit asked for.", 0, 20)] = 1

    content_weight: Annotated[float, _words("Weight of words in the content.", 0, 5)] = 1.0
    tags_weight: Annotated[float, _words("Weight of words in tags.", 0, 5)] = 0.5
    entities_weight: Annotated[float, _words("Weight of words in entity names.", 0, 5)] = 0.5
    speaker_weight: Annotated[float, _words("Weight of the speaker's name.", 0, 5)] = 0.3
    speakers_apart: Annotated[
        bool, _words("Look for a named speaker among those who speak, not in what was said.")
    ] = False
    speaker_share: Annotated[
        float, _words("Then embed the question without the name of who says this share or more.", 0, 1)
    ] = 0.15
    dates_weight: Annotated[float, _words("Weight of the words of the date.", 0, 5)] = 1.0
    roots_weight: Annotated[float, _words("Weight of the beginnings of Cyrillic words.", 0, 5)] = 0.5
    k1: Annotated[float, _words("BM25: how soon repeating a word stops helping.", 0, 3)] = 0.9
    b: Annotated[float, _words("BM25: how much long texts are held back.", 0, 1)] = 0.4
    entity_weight: Annotated[float, _words("Extra weight of rare names in the question.", 0, 10)] = 0.0
    phrase_weight: Annotated[float, _words("Worth of a quoted phrase, in largest idfs.", 0, 5)] = 1.0
    context_before: Annotated[float, _words("Words: weight of what was said just before.", 0, 1)] = 0.0
    context_after: Annotated[float, _words("Words: weight of what was said just after.", 0, 1)] = 0.0
    context_words: Annotated[float, _words("Longer texts lean on that less.", 1, 1000)] = 30.0
    complete: Annotated[bool, _candidates("Score what one leg found by the others, too.")] = False

    soft_weight: Annotated[
        float, _words("Share of the words' part that goes to words of like meaning.", 0, 1)
    ] = 0.0
    soft_before: Annotated[
        float, _words("Words of like meaning: weight of what was said just before.", 0, 1)
    ] = 0.0
    soft_question: Annotated[
        float, _words("Words of like meaning: weight of a question that was asked just before.", 0, 1)
    ] = 0.0
    by_language: Annotated[
        bool,
        _words("Weigh meaning by how well the embedder knows the query's language, and by how good it is."),
    ] = False

    graph: Annotated[
        str,
        _candidates(
            "Graph leg: one step over shared names, a walk from the best, paths from what is named, or "
            "communities whose summaries match.",
            choices=GRAPHS,
        ),
    ] = "none"
    graph_weight: Annotated[
        float, _candidates("Graph leg: its worth; meaning and words have 1.", 0, 2, search=False)
    ] = 0.25
    graph_seeds: Annotated[
        int, _candidates("Graph leg: how many of the best, or of the named, it starts from.", 1, 20)
    ] = 3
    seed_entity_weight: Annotated[
        float, _candidates("Walk: weight of an entity's own closeness to the query as a start.", 0, 1)
    ] = 0.5
    seed_memory_weight: Annotated[
        float, _candidates("Walk: weight of the closeness of its memories.", 0, 1)
    ] = 0.3
    seed_degree_weight: Annotated[float, _candidates("Walk: weight of how well connected it is.", 0, 1)] = 0.2

    time_weight: Annotated[float, _time("Time leg: worth of being from the time asked for.", 0, 2)] = 0.5
    place_weight: Annotated[float, _time("Place leg: worth of being near.", 0, 2)] = 0.5
    place_scale: Annotated[
        float, _time("Place leg: metres at which near counts half.", 10, 100_000, search=True)
    ] = 1000.0

    fusion: Annotated[str, _fusion("How the legs become one list.", choices=_FUSIONS)] = "relative"
    vector_weight: Annotated[float, _fusion("Share of meaning; the rest is words.", 0, 1)] = 0.5
    legs_by_query: Annotated[bool, _fusion("Let the type of question choose that share.")] = False
    anchored: Annotated[bool, _fusion("Relative fusion: measure from a known zero, not a list's last.")] = (
        False
    )
    rrf_k: Annotated[float, _fusion("RRF: how little first places stand out.", 0, 100)] = 60.0
    rrf_base: Annotated[int, _fusion("RRF: whether the first rank is 0 or 1.", 0, 1)] = 1
    normaliser: Annotated[str, _fusion("CombSUM: how scores are scaled.", choices=_NORMALISERS)] = "min_max"
    coverage: Annotated[str, _fusion("Aligned fusion: coverage.", choices=("none", "item", "leg"))] = "none"
    blend_budget: Annotated[float, _fusion("Alpha blend: the most relevance adds.", 1, 30)] = 15.0
    blend_threshold: Annotated[float, _fusion("Alpha blend: least similarity.", -1, 0.95)] = 0.5
    forgetting: Annotated[bool, _fusion("Alpha blend: start from the forgetting curve.")] = False

    confidence: Annotated[
        str,
        _reranking(
            "How confidence joins in: added, multiplied, or as another ranked list in an RRF.",
            choices=CONFIDENCE_FORMS,
        ),
    ] = "none"
    weighting: Annotated[
        str,
        _reranking(
            "Where its weight comes from: a preset, confidence_weight (fixed), the type of query or the "
            "category of each memory.",
            choices=WEIGHTINGS,
        ),
    ] = "semantic"
    confidence_weight: Annotated[
        float, _reranking("Fixed weighting: β, the share of confidence; α = 1 - β is relevance's.", 0, 1)
    ] = 0.35
    session_weight: Annotated[float, _reranking("Worth of the three best of its session.", 0, 1)] = 0.0
    neighbour_weight: Annotated[
        float, _reranking("Worth of how far a turn beside it stands above it, in a session.", 0, 1)
    ] = 0.0
    machine_weight: Annotated[float, _reranking("What an assistant said counts times this.", 0, 1)] = 1.0
    continued_weight: Annotated[
        float, _reranking("What old talks with an assistant lose if a query goes on with one.", 0, 1)
    ] = 0.0
    untrusted_weight: Annotated[
        float, _reranking("What is tagged untrusted counts times this; 0 leaves it out.", 0, 1)
    ] = 1.0
    quality: Annotated[str, _reranking("How the memory's own quality joins in.", choices=FORMS)] = "none"
    quality_weight: Annotated[float, _reranking("Weight of quality.", 0, 1)] = 0.20
    recency_weight: Annotated[float, _reranking("Weight of being recent.", 0, 1)] = 0.0
    recency_days: Annotated[float, _reranking("Days that halve how recent a memory is.", 0.1, 3650)] = 30.0
    importance_weight: Annotated[float, _reranking("Weight of the memory's importance.", 0, 1)] = 0.0
    frequency_weight: Annotated[float, _reranking("Weight of how often it was accessed.", 0, 1)] = 0.0
    fading: Annotated[str, _time("The curve by which old memories fade.", choices=CURVES)] = "none"
    forgetting_floor: Annotated[
        float, _time("Forgetting by importance: what importance 5 never falls below; 5 never fades.", 0, 5)
    ] = 5.0
    fading_weight: Annotated[float, _time("How much of the score can fade.", 0, 1)] = 0.2
    fading_days: Annotated[
        float, _time("Days that halve an unused memory, or end it where the curve is a line.", 1, 3650)
    ] = 30.0
    temporal: Annotated[str, _time("How being from the right time joins in.", choices=TEMPORAL_FORMS)] = (
        "none"
    )
    temporal_boost: Annotated[float, _time("Worth of being from the right time.", 0, 1)] = 0.40

    rerank_depth: Annotated[
        int, _reranking("Candidates a re-ranker reads; 0 for none.", 0, 100, search=True)
    ] = 0
    rerank_weight: Annotated[float, _reranking("Share of the re-ranker's opinion.", 0, 1, search=True)] = 0.2

    text_depth: Annotated[
        int,
        _reranking(
            "Of so many of the best read who tells it, which years, words in order.", 0, 100, search=True
        ),
    ] = 0

    least_similarity: Annotated[
        float, _thresholds("Least cosine by itself; -1 for what the embedder was calibrated to.", -1, 1)
    ] = -1.0
    least_match: Annotated[float, _thresholds("Least share of the best possible word match.", 0, 1)] = 0.05
    least_confidence: Annotated[float, _thresholds("Least confidence.", 0, 1)] = 0.0
    min_confidence: Annotated[
        float,
        _thresholds("Show nothing if the confidence of the recall is lower.", 0, 1, search=True),
    ] = 0.0
    only_vectors_pass: Annotated[bool, _thresholds("Words alone cannot pass the gate.")] = False

    samples: Annotated[
        int,
        _thresholds(
            "Ask in so many other ways, too (each leg alone, without a word); say how far the answers agree.",
            0,
            8,
            search=True,
        ),
    ] = 0
    least_agreement: Annotated[
        float, _thresholds("Samples: show nothing if the answers agree less.", 0, 1, search=True)
    ] = 0.0
    least_support: Annotated[
        float, _thresholds("Samples: show what at least this share of them found.", 0, 1, search=True)
    ] = 0.0

    deduplicate: Annotated[bool, _thresholds("Show the same content once.")] = True
    diversity: Annotated[str, _thresholds("Variety.", choices=("none", "mmr", "adaptive"), search=True)] = (
        "none"
    )
    trade: Annotated[float, _thresholds("MMR: 1 is relevance alone.", 0, 1, search=True)] = 0.7
    per_session: Annotated[int, _thresholds("Hits of a session before others get a turn; 0: any.", 0, 20)] = 0

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        checks.text("doc", self.doc)
        check_fields(self, PARAMETERS)
        if not self.vector_pool and not self.lexical_pool:
            raise InvalidArgument("lexical_pool", 0, "above 0 when vector_pool is 0")
        by_rank = self.fusion in _BY_RANK or self.confidence == "rrf"
        if by_rank and not self.rrf_k and not self.rrf_base:
            raise InvalidArgument("rrf_k", 0.0, "above 0 when rrf_base is 0")
        if not (self.seed_entity_weight or self.seed_memory_weight or self.seed_degree_weight):
            raise InvalidArgument("seed_entity_weight", 0.0, "above 0 where the other two seed weights are 0")
        quality = self.quality_weight if self.quality != "none" else 0.0
        own = quality + self.recency_weight + self.importance_weight + self.frequency_weight
        # Three tenths and seven tenths are a little more than 1 in floats.
        if round(own, 9) > 1:
            raise InvalidArgument(
                "recency_weight", self.recency_weight, "so small that all weights of a memory's own sum to 1"
            )

    def ungated(self) -> Self:
        """Return a recipe that ranks alike and lets every candidate through."""
        # Below every cosine; -1 stands for what the embedder was calibrated to.
        lowest = math.nextafter(-1.0, 0.0)
        return replace(
            self,
            least_similarity=lowest,
            least_match=0.0,
            least_confidence=0.0,
            min_confidence=0.0,
            least_agreement=0.0,
            least_support=0.0,
            only_vectors_pass=False,
        )

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return this recipe with some parameters changed; an unknown name is an error.

        Examples
        --------
        >>> Recipe(name="mine").changed({"vector_weight": 0.7}).vector_weight
        0.7
        """
        if not isinstance(changes, Mapping):
            raise InvalidArgument("changes", changes, "a mapping of parameters to values")
        names = [parameter.name for parameter in PARAMETERS]
        for name in changes:
            checks.one_of("parameter", name, names)
        return replace(self, **changes)

    def for_limit(self, limit: int) -> Self:
        """Return this recipe with pools for so many hits, up to 1,000 each.

        Examples
        --------
        >>> mine = Recipe(name="mine", vector_pool=50, lexical_pool=0, pool_per_hit=5)
        >>> [mine.for_limit(limit).vector_pool for limit in (10, 30, 3_000)], mine.for_limit(30).lexical_pool
        ([50, 150, 1000], 0)
        """
        pool_size = min(self.pool_per_hit * limit, _MAX_POOL)
        pools = {"vector_pool": self.vector_pool, "lexical_pool": self.lexical_pool}
        larger = {name: pool_size for name, pool in pools.items() if 0 < pool < pool_size}
        return self.changed(larger) if larger else self

    def shortfall(self, limit: int, count: int) -> str:
        """Return the note that `limit` is above the pools and leaves out memories; empty if it is not."""
        searched = max(self.vector_pool, self.lexical_pool)
        if min(limit, count) <= searched:
            return ""
        return f"limit {limit} is above the {searched} candidates that each leg searched, of {count} memories"

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


PARAMETERS: Final[tuple[Parameter, ...]] = parameters_of(Recipe)
"""Every declared parameter of a recipe."""


_SHIPPED: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def _data(name: str) -> dict[str, Any]:
    """Return what a shipped recipe sets, with what the recipe sets that it is like."""
    own = dict(_SHIPPED[name])
    like = own.pop("like", None)
    return own if like is None else _data(like) | own


RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType(
    {name: Recipe(name=name, **_data(name)) for name in _SHIPPED}
)
"""The shipped recipes by name."""


def recipe(name: str) -> Recipe:
    """Return a shipped recipe."""
    return RECIPES[checks.one_of("recipe", name, tuple(RECIPES))]
