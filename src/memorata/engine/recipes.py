"""Recipes are data: which words, legs, fusion, re-ranking, gates and diversity a recall uses.

One pipeline runs any of them. Every parameter declares its range and meaning, so that the command line, the
tuner and the web page are generated from this file.
"""

# Annotations are evaluated with the class: as texts they would be read and compiled one by one, in 3 ms.
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cached_property, lru_cache, partial
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from memorata._frozen import frozen
from memorata._satellites import RECIPES as MISSING
from memorata._satellites import loaded, missing
from memorata.embed.port import carried
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared, Parameter, check_fields, parameters_of
from memorata.rank.composite import PRESETS
from memorata.rank.decay import CURVES as _CURVES
from memorata.rank.fusion import FUSIONS
from memorata.rank.scores import NORMALISERS

CURVES: Final = ("none", *_CURVES)
FORMS: Final = ("none", "additive", "multiplicative")
TEMPORAL_FORMS: Final = (*FORMS, "restrict")
GRAPHS: Final = ("none", "names", "walk", "paths", "communities")
CONFIDENCE_FORMS: Final = (*FORMS, "rrf")
WEIGHTINGS: Final = (*PRESETS, "fixed", "query", "category")
_FUSIONS: Final = tuple(FUSIONS)
_NORMALISERS: Final = tuple(NORMALISERS)
_NAMED_IN_RECIPE: Final = {
    "k": "rrf_k",
    "rank_base": "rrf_base",
    "normaliser": "normaliser",
    "coverage": "coverage",
    "budget": "blend_budget",
    "threshold": "blend_threshold",
}
"""By the declared parameter of a fusion, the recipe's parameter that sets it."""
_MAX_POOL: Final = 1000
_ANY: Final = -1.0
"""A least similarity that every cosine reaches."""

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
    walk_damping: Annotated[
        float, _candidates("Walk: share that goes on; the rest starts again.", 0, 0.99)
    ] = 0.75
    walk_iterations: Annotated[int, _candidates("Walk: most steps of the exact walk.", 1, 1000)] = 25
    path_decay: Annotated[float, _candidates("Paths: what is left of the score with each step.", 0.01, 1)] = (
        0.85
    )
    path_depth: Annotated[
        int,
        _candidates("Paths: most steps; a relation is one, two entities in one memory are two.", 1, 5),
    ] = 2

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
        float,
        _reranking(
            "What is untrusted (tools, pages, unknown speakers) counts times this; 0 leaves it out.", 0, 1
        ),
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

    above_noise: Annotated[
        bool,
        _thresholds("Where least_similarity is -1, require the cosine that the embedder was calibrated to."),
    ] = True
    least_similarity: Annotated[float, _thresholds("Least cosine by itself; -1 for none.", -1, 1)] = _ANY
    reference_noise: Annotated[
        float,
        _thresholds(
            "Noise ceiling of the embedders that least_similarity was written for, to carry it over to "
            "the one in use by its own; 0 takes it as it is.",
            0,
            0.9,
        ),
    ] = 0.0
    least_match: Annotated[float, _thresholds("Least share of the best possible word match.", 0, 1)] = 0.05
    least_confidence: Annotated[float, _thresholds("Least confidence.", 0, 1)] = 0.0
    min_confidence: Annotated[
        float,
        _thresholds(
            "Show nothing if the confidence that the query is about what is stored is lower.",
            0,
            1,
            search=True,
        ),
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
        checks.writable("name", self.name)
        checks.text("doc", self.doc)
        check_fields(self, PARAMETERS)
        if not self.vector_pool and not self.lexical_pool:
            raise InvalidArgument("lexical_pool", 0, "above 0 when vector_pool is 0")
        if not self.missing("rrf_k") and not self.rrf_k and not self.rrf_base:
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

    def similarity_for(self, noise: float) -> float:
        """Return the least similarity for an embedder with this noise ceiling; 0 for one not measured.

        Examples
        --------
        >>> haia = RECIPES["haia"]
        >>> [round(haia.similarity_for(noise), 2) for noise in (0.65, 0.26, 0.0)]
        [0.75, 0.47, 0.75]
        >>> Recipe(name="mine").similarity_for(0.26)
        0.26
        """
        if self.least_similarity == _ANY:
            return noise if self.above_noise else _ANY
        return carried(self.least_similarity, noise, self.reference_noise)

    def ungated(self) -> Self:
        """Return a recipe that ranks alike and lets every candidate through."""
        return replace(
            self,
            above_noise=False,
            least_similarity=_ANY,
            reference_noise=0.0,
            least_match=0.0,
            least_confidence=0.0,
            min_confidence=0.0,
            least_agreement=0.0,
            least_support=0.0,
            only_vectors_pass=False,
        )

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return this recipe with some parameters changed; each must act in the recipe that results.

        Examples
        --------
        >>> Recipe(name="mine").changed({"vector_weight": 0.7}).vector_weight
        0.7
        >>> Recipe(name="mine").changed({"rrf_k": 5.0})
        Traceback (most recent call last):
        ...
        memorata.model.errors.InvalidArgument: rrf_k must be left at 60.0 in recipe 'mine', for it acts only \
        where fusion is rrf or zscored_rrf, or confidence is rrf, got 5.0
        """
        if not isinstance(changes, Mapping):
            raise InvalidArgument("changes", changes, "a mapping of parameters to values")
        names = [parameter.name for parameter in PARAMETERS]
        for name in changes:
            checks.one_of("parameter", name, names)
        result = replace(self, **changes)
        for name in changes:
            before, missing = getattr(self, name), result.missing(name)
            if missing and getattr(result, name) != before:
                reason = f"left at {before!r} in recipe {self.name!r}, for it acts only where {missing}"
                raise InvalidArgument(name, changes[name], reason)
        return result

    def missing(self, name: str) -> str:
        """Return where a parameter would act that changes nothing in this recipe; empty for one that acts.

        Examples
        --------
        >>> mine = Recipe(name="mine")
        >>> mine.missing("fading_days"), mine.missing("trade"), mine.missing("k1")
        ('fading is half_life or linear', 'diversity is mmr', '')
        """
        return next((need.where for need in NEEDS.get(name, ()) if not need.met(self)), "")

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
        larger: dict[str, Any] = {name: pool_size for name, pool in pools.items() if 0 < pool < pool_size}
        return replace(self, **larger) if larger else self

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


@lru_cache(maxsize=64)
def arguments_of(fusion: Callable[..., Any]) -> Mapping[str, str]:
    """Return the arguments of a fusion and, for each that a recipe sets, its name in the recipe."""
    declared = {parameter.name for parameter in parameters_of(fusion)}
    return {
        name: _NAMED_IN_RECIPE.get(name, "") if name in declared else ""
        for name in signature(fusion).parameters
    }


def blends_two(recipe: Recipe) -> bool:
    """Return whether a recipe's fusion takes the vector and the lexical leg only.

    A fusion with a parameter `alpha` identifies its two legs by their position.
    """
    return "alpha" in arguments_of(FUSIONS[recipe.fusion])


@frozen
class Need:
    """A condition without which some parameters change nothing, and the same in words."""

    where: str
    met: Callable[[Recipe], object]


def _taken_by_fusions() -> dict[str, tuple[Need, ...]]:
    """Return the needs of the parameters that only some fusions take."""
    takers: dict[str, list[str]] = {}
    for name in _FUSIONS:
        for argument, parameter in arguments_of(FUSIONS[name]).items():
            own = parameter or {"floors": "anchored", "base": "forgetting"}.get(argument)
            if own:
                takers.setdefault(own, []).append(name)

    def need(parameter: str, names: list[str]) -> Need:
        where = f"fusion is {' or '.join(names)}"
        if parameter not in ("rrf_k", "rrf_base"):
            return Need(where, lambda recipe: recipe.fusion in names)
        where += ", or confidence is rrf"
        return Need(where, lambda recipe: recipe.fusion in names or recipe.confidence == "rrf")

    return {parameter: (need(parameter, names),) for parameter, names in takers.items()}


def _needs() -> dict[str, tuple[Need, ...]]:
    """Return the needs of every parameter that does not act in all recipes."""
    words = Need("lexical_pool is above 0", lambda recipe: recipe.lexical_pool)
    vectors = Need("vector_pool is above 0", lambda recipe: recipe.vector_pool)
    legs = Need("fusion is not alpha_blend", lambda recipe: not blends_two(recipe))
    two = Need(
        "vector_pool and lexical_pool are above 0",
        lambda recipe: (recipe.vector_pool and recipe.lexical_pool) or blends_two(recipe),
    )
    completing = Need(
        "complete is yes, or context_before or context_after is above 0",
        lambda recipe: recipe.complete or recipe.context_before or recipe.context_after,
    )
    soft = Need("soft_weight is above 0", lambda recipe: recipe.soft_weight)

    def above(name: str) -> Need:
        return Need(f"{name} is above 0", lambda recipe: getattr(recipe, name))

    def one_of(name: str, *values: str) -> Need:
        return Need(f"{name} is {' or '.join(values)}", lambda recipe: getattr(recipe, name) in values)

    def used(name: str) -> Need:
        return Need(f"{name} is not none", lambda recipe: getattr(recipe, name) != "none")

    weighed = one_of("confidence", "additive", "rrf")
    walk, paths = (legs, one_of("graph", "walk")), (legs, one_of("graph", "paths"))
    own = {
        "content_weight tags_weight entities_weight speaker_weight dates_weight roots_weight": (words,),
        "k1 b entity_weight phrase_weight least_match context_before context_after": (words,),
        "context_words": (
            words,
            Need("context_before or context_after is above 0", lambda r: r.context_before or r.context_after),
        ),
        "speaker_share": (Need("speakers_apart is yes", lambda r: r.speakers_apart), vectors),
        "complete": (
            Need(
                "context_before and context_after are 0",
                lambda r: not r.context_before and not r.context_after,
            ),
        ),
        "soft_weight": (words, completing, legs),
        "soft_before soft_question": (soft, words, completing, legs),
        "by_language": (vectors,),
        "graph time_weight place_weight place_scale": (legs,),
        "graph_weight": (legs, used("graph")),
        "graph_seeds": (legs, one_of("graph", "names", "walk", "paths")),
        "seed_entity_weight seed_memory_weight seed_degree_weight walk_damping walk_iterations": walk,
        "path_decay path_depth": paths,
        "vector_weight": (
            two,
            Need("legs_by_query is no", lambda recipe: not recipe.legs_by_query),
        ),
        "legs_by_query": (two,),
        "weighting": (weighed,),
        "confidence_weight": (weighed, one_of("weighting", "fixed")),
        "neighbour_weight": (above("session_weight"),),
        "quality_weight": (used("quality"),),
        "recency_days": (above("recency_weight"),),
        "forgetting_floor": (
            Need(
                "fading is importance, or forgetting is yes",
                lambda r: r.fading == "importance" or r.forgetting,
            ),
        ),
        "fading_weight": (used("fading"),),
        "fading_days": (one_of("fading", "half_life", "linear"),),
        "temporal_boost": (used("temporal"),),
        "rerank_weight": (above("rerank_depth"),),
        "text_depth": (
            Need(
                "diversity is none and per_session is 0",
                lambda recipe: recipe.diversity == "none" and not recipe.per_session,
            ),
        ),
        "above_noise": (
            vectors,
            Need("least_similarity is -1", lambda recipe: recipe.least_similarity == _ANY),
        ),
        "least_similarity": (vectors,),
        "reference_noise": (
            vectors,
            Need("least_similarity is above -1", lambda recipe: recipe.least_similarity != _ANY),
        ),
        "only_vectors_pass": (vectors, words),
        "trade": (one_of("diversity", "mmr"),),
    }
    single = {name: needs for names, needs in own.items() for name in names.split()}
    return {**_taken_by_fusions(), **single}


NEEDS: Final[Mapping[str, tuple[Need, ...]]] = MappingProxyType(_needs())
"""The needs of each parameter that does not act in every recipe."""


class ShippedRecipes(Mapping[str, Recipe]):
    """Recipes by name: those of the core, and, once another name or all are asked for, those of satellites.

    Examples
    --------
    >>> RECIPES["fast"].vector_pool, "mine" in RECIPES
    (50, False)
    """

    def __init__(self, data: Mapping[str, Mapping[str, Any]]) -> None:
        self._data = data
        self._own = {name: Recipe(name=name, **self._whole(name)) for name in data}

    def __getitem__(self, name: str) -> Recipe:
        if name in self._own:
            return self._own[name]
        if name in MISSING and name not in self._all:
            raise missing(f"the recipe {name}", MISSING[name])
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> Mapping[str, Recipe]:
        added = (each.items() for each in loaded("recipes"))
        return {**self._own, **{name: Recipe(name=name, **data) for items in added for name, data in items}}

    def _whole(self, name: str) -> dict[str, Any]:
        """Return what a recipe sets, with what the recipe sets that it is like."""
        own = dict(self._data[name])
        like = own.pop("like", None)
        return own if like is None else self._whole(like) | own


RECIPES: Final = ShippedRecipes(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")))
"""The shipped recipes by name."""


def recipe(name: str) -> Recipe:
    """Return a shipped recipe."""
    return RECIPES[checks.one_of("recipe", name, tuple(RECIPES))]
