"""Fusion: the candidates of every leg, put on one scale and made into one ranked list."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from inspect import signature
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.query import RecallContext
from memorata.engine.recipes.recipe import Recipe
from memorata.index.index import NOTHING, Found
from memorata.index.record import Records
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.explanation import Explanation
from memorata.model.parameter import parameters_of
from memorata.model.period import Period
from memorata.rank import FUSIONS, Combination, Fused, importance_decay, legs_for_query
from memorata.rank.fusion.legs import Aligned, align_among, align_slots

_HOUR: Final = 3_600.0
NO_SLOTS: Final[IntArray] = np.zeros(0, np.intp)
_NAMED_IN_RECIPE: Final = {
    "k": "rrf_k",
    "rank_base": "rrf_base",
    "normaliser": "normaliser",
    "coverage": "coverage",
    "budget": "blend_budget",
    "threshold": "blend_threshold",
}
"""By the declared parameter of a fusion, the recipe's parameter that sets it."""
VECTOR: Final = "vector"
LEXICAL: Final = "lexical"
SOFT: Final = "soft"
GRAPH: Final = "graph"
TEMPORAL: Final = "temporal"
GEO: Final = "geo"
"""The names of the legs, in explanations, in results and in the log."""
_NEARNESS: Final = ((0.5, "very close"), (0.2, "close"), (0.0, "somewhat close"))
"""From which share of the way from noise to the same text on meaning is called so."""
_WAYS: Final = {
    SOFT: "by words of like meaning",
    GRAPH: "by a shared name",
    TEMPORAL: "by its time",
    GEO: "by its place",
}
_QUOTED: Final = 2
_STEM: Final = 5
_WORD: Final = re.compile(r"\w+")
SUPPORT_SHARE: Final = 0.5
"""A leg speaks for what reaches this share of the best it found."""
_MOST_TERMS: Final = 12
"""As many words of a query, on average, are a full match; of a question in Chinese each two signs are one."""
_UNDER_NOISE: Final = 0.4
"""How far below the noise the scale of meaning starts, as a share of what lies above it."""


@frozen(eq=False)
class Legs:
    """What the searches found, before anything was decided.

    `unread` are memories that wait for their vector; in the list of meaning their words stand in. Where every
    leg was asked about all candidates, `everyone` are those, ascending. `asked` is what was embedded, where
    that is not the whole query.
    """

    vector: Found
    lexical: Found
    more: tuple[ExtraLeg, ...] = ()
    unread: IntArray = field(default_factory=lambda: NO_SLOTS)
    everyone: IntArray = field(default_factory=lambda: NO_SLOTS)
    asked: str = ""
    soft: Found = NOTHING

    def with_leg(self, leg: ExtraLeg) -> Legs:
        """Return these legs and another; the same if it found nothing."""
        return replace(self, more=(*self.more, leg)) if leg.found.slots.size else self

    def named(self) -> tuple[tuple[str, Found], ...]:
        """Return the legs by the names that explanations call them."""
        own = ((VECTOR, self.vector), (LEXICAL, self.lexical))
        soft = ((SOFT, self.soft),) if self.soft.slots.size else ()
        return (*own, *soft, *((leg.name, leg.found) for leg in self.more))


@frozen(eq=False)
class ExtraLeg:
    """What another leg found, and what it is worth beside meaning and words, which are worth 1 together."""

    name: str
    found: Found
    weight: float
    origins: IntArray = field(default_factory=lambda: NO_SLOTS)
    """The candidates it started from: it cannot vouch for what it took on trust."""


class Candidates:
    """The union of what the legs found, best first."""

    def __init__(
        self,
        union: IntArray,
        aligned: Aligned[int],
        fused: Fused[int],
        legs: Legs,
        query: str = "",
        noise: float = 0.0,
        doubts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._query, self._noise, self._doubts = query, noise, doubts
        self.slots: IntArray = union[fused.order]
        self.scores = fused.scores
        self.legs = legs
        self._aligned = aligned
        self._fused = fused

    def evidence(self) -> Evidence:
        """Return what each leg said of each candidate."""
        cosines, matches = self._given(VECTOR, -np.inf), self._given(LEXICAL, 0.0)
        if self.legs.unread.size:
            cosines[np.isin(self.slots, self.legs.unread)] = -np.inf
        supported = np.zeros(self.slots.size, np.bool_)
        for leg in self.legs.more:
            spoken_for = self._given(leg.name, 0.0) >= SUPPORT_SHARE * leg.found.scores[0]
            if leg.origins.size:
                # A few against some hundred: numpy.isin takes longer to begin than this takes in all.
                spoken_for &= (self.slots[:, np.newaxis] != leg.origins).all(axis=1)
            supported |= spoken_for
        return Evidence(cosines, matches, self.legs.lexical.ceiling, supported)

    def explain(self, position: int) -> Explanation:
        """Tell which legs found a candidate, at which rank and by which words."""
        parts = self._fused.parts
        slot = self.slots[position : position + 1]
        detail = {}
        for name, leg in self.legs.named():
            if name not in parts.names:
                continue
            value = float(parts.parts[parts.names.index(name), position])
            where = np.flatnonzero(leg.slots == slot[0])
            note = "not found by this leg"
            if name == VECTOR and slot[0] in self.legs.unread:
                note = "no vector of this embedder yet; its words stand in"
            elif where.size:
                note = f"rank {int(where[0]) + 1} of {leg.slots.size}, score {leg.scores[where[0]]:.4f}"
                if leg.detail is not None:
                    note += f": {_words(leg.detail(slot))}"
                if name == VECTOR and self.legs.asked:
                    note += f", compared with “{self.legs.asked}”: who is named is looked for by words"
            detail[name] = Explanation.leaf(name, value, note + self._doubts.get(name, ""))
        return parts.explain(position, "relevance", detail, self._in_words(detail, slot))

    def _in_words(self, detail: Mapping[str, Explanation], slot: IntArray) -> str:
        """Return in plain words how a candidate was found."""
        ways = []
        for name, leg in self.legs.named():
            where = np.flatnonzero(leg.slots == slot[0])
            if not where.size or name not in detail or not detail[name].value:
                continue
            if name == VECTOR and slot[0] not in self.legs.unread:
                share = (float(leg.scores[where[0]]) - self._noise) / (1.0 - self._noise)
                nearness = next((word for least, word in _NEARNESS if share >= least), "")
                ways += [f"by meaning ({nearness})"] if nearness else []
            elif name == LEXICAL and leg.detail is not None:
                ways.append(f"by {_quoted(leg.detail(slot), self._query)}")
            elif name in _WAYS:
                ways.append(_WAYS[name])
        *first, last = ways or ["by what is left of the others"]
        return f"found {', '.join(first)}{' and ' if first else ''}{last}"

    def _given(self, name: str, absent: float) -> FloatArray:
        """Return the score a leg gave to each candidate."""
        aligned = self._aligned
        result = np.full(len(aligned.ids), absent)
        start = 0
        for leg, size, scores in zip(aligned.names, aligned.sizes, aligned.scores, strict=True):
            if leg == name and scores is not None:
                result[aligned.places[start : start + size]] = scores
            start += size
        return result[self._fused.order]


@frozen(eq=False)
class Evidence:
    """What speaks for each candidate, whatever became of it in the fusion."""

    cosines: FloatArray
    matches: FloatArray
    ceiling: float
    supported: BoolArray

    def take(self, order: IntArray) -> Evidence:
        """Return the evidence of the candidates in `order`."""
        return Evidence(self.cosines[order], self.matches[order], self.ceiling, self.supported[order])


class Trace:
    """The candidates of one recall in their final order, with what they were ranked by."""

    __slots__ = (
        *("kept", "legs", "moment", "near", "order"),
        *("records", "scores", "shown", "slots", "unread"),
    )

    def __init__(
        self,
        context: RecallContext,
        legs: Legs,
        slots: IntArray,
        scores: FloatArray,
        records: Records,
        order: IntArray,
        kept: IntArray,
    ) -> None:
        self.moment = TraceContext(context, legs.lexical.ceiling)
        self.legs = [(name, leg.slots, leg.scores) for name, leg in legs.named()]
        self.unread = legs.unread
        self.slots = slots
        self.scores = scores
        self.records = records
        self.order = order
        self.kept = kept
        self.near = context.near
        """How near each is to the time asked for, as records and before they were ordered."""
        self.shown: Sequence[int] = ()

    def seen(self, positions: Sequence[int]) -> Trace:
        """Note which of the kept candidates were shown."""
        self.shown = positions
        return self


class TraceContext:
    """The numbers of a situation that a ranking depends on."""

    __slots__ = (
        "about_time",
        "ceiling",
        "continues",
        "familiarity",
        "here",
        "least",
        "meant",
        "noise",
        "now",
        "period",
        "reliability",
    )

    def __init__(self, context: RecallContext, ceiling: float) -> None:
        self.now = context.now
        self.period = context.period
        self.about_time = context.about_time
        self.continues = context.continues
        self.here = context.here is not None
        self.least = context.least_similarity
        self.noise = context.noise
        self.familiarity = context.familiarity
        self.reliability = context.reliability
        self.meant = context.vector is not None
        self.ceiling = ceiling

    def as_dict(self) -> dict[str, Any]:
        """Return the moment as plain data."""
        return {
            "least_similarity": self.least,
            "noise": self.noise,
            "familiarity": self.familiarity,
            "reliability": self.reliability,
            "ceiling": self.ceiling,
            "meant": self.meant,
            "about_time": self.about_time,
            "continues": self.continues,
            "here": self.here,
            "period": None if self.period is None else _period_data(self.period),
        }


def _period_data(period: Period) -> dict[str, Any]:
    return {
        "start": period.start.isoformat(),
        "end": period.end.isoformat(),
        "tolerance": period.tolerance.total_seconds(),
    }


def fuse(recipe: Recipe, context: RecallContext, legs: Legs) -> Candidates:
    """Make one list of the legs."""
    share = recipe.vector_weight
    if recipe.legs_by_query:
        kind = context.query_type()
        share = legs_for_query(kind.type, kind.confidence).alpha
    if recipe.by_language:
        share *= context.familiarity
        if legs.soft.slots.size:
            # Words of like meaning do most of what a weaker embedder does, which has all its share without.
            share *= context.reliability
    fusion = FUSIONS[recipe.fusion]
    takes = _arguments(fusion)
    with_vectors, with_words = bool(recipe.vector_pool) and context.vector is not None, recipe.lexical_pool
    placed = blends_two(recipe)
    lists: list[tuple[str, Found]] = []
    weights: list[float] = []
    more = () if placed else legs.more
    # As far as its tables are trusted, which is what its best has; what they are not is for exact words.
    trust = min(1.0, float(legs.soft.scores[0])) if legs.soft.slots.size and not placed else 0.0
    soft = (1 - share) * recipe.soft_weight * trust
    for name, leg, used, weight in (
        (VECTOR, legs.vector, with_vectors or placed, share),
        (LEXICAL, legs.lexical, with_words or placed, 1 - share - soft),
        (SOFT, legs.soft, soft > 0, soft),
        *((extra.name, extra.found, True, extra.weight) for extra in more),
    ):
        if used:
            lists.append((name, leg))
            weights.append(weight)
    if len(lists) == 1:
        # A leg that stands alone has all the weight, whatever it would have beside another.
        weights = [1.0]
    parts = [leg.slots for _, leg in lists], [leg.scores for _, leg in lists], [name for name, _ in lists]
    options: dict[str, Any] = {name: getattr(recipe, field) for name, field in takes.items() if field}
    if placed:
        options["alpha"] = share
    elif any(weights):
        options["weights"] = tuple(weights)
    if "floors" in takes and recipe.anchored:
        options["floors"] = [floor_of(name, leg, context) for name, leg in lists]
        options["ceilings"] = [ceiling_of(name, leg, context) for name, leg in lists]
    if with_vectors and not more and 0 < legs.everyone.size == legs.vector.slots.size:
        slots, aligned = align_among(legs.everyone, *parts)
    else:
        slots, aligned = align_slots(*parts)
    if "base" in takes and recipe.forgetting:
        options["base"] = _forgetting(recipe, context, slots)
    noise, doubts = max(0.0, context.noise), {}
    if recipe.by_language and context.familiarity < 1:
        doubts[VECTOR] = f", at {context.familiarity:.0%}: the embedder knows so much of the query's letters"
    elif recipe.by_language and context.reliability < 1 and legs.soft.slots.size:
        doubts[VECTOR] = f", at {context.reliability:.0%}: so much does this embedder add to like words"
    if 0 < trust < 1:
        doubts[SOFT] = f", at {trust:.0%}: so far are token vectors of many languages trusted"
    return Candidates(slots, aligned, fusion(aligned, **options), legs, context.query.text, noise, doubts)


def blends_two(recipe: Recipe) -> bool:
    """Return whether a recipe's fusion has room for meaning and words alone.

    One with a share of its own tells its legs apart by their place, and is given these two.
    """
    return "alpha" in _arguments(FUSIONS[recipe.fusion])


@lru_cache(maxsize=64)
def _arguments(fusion: Callable[..., Fused[int]]) -> Mapping[str, str]:
    """Return the arguments a fusion takes and, for each that a recipe sets, the name it has there."""
    declared = {parameter.name for parameter in parameters_of(fusion)}
    return {
        name: _NAMED_IN_RECIPE.get(name, "") if name in declared else ""
        for name in signature(fusion).parameters
    }


def ceiling_of(name: str, leg: Found, context: RecallContext) -> float | None:
    """Return the score that fusion takes for a full match by words; None for other legs."""
    if name == SOFT:
        return float(leg.scores[0])
    if name != LEXICAL or not leg.scores.size:
        return None
    # No text has all the words of a long query; were that a full match, exact words would have no say.
    full = leg.ceiling * min(1.0, _MOST_TERMS / max(1, len(context.query.terms)))
    return max(full, float(leg.scores[0]))


def floor_of(name: str, leg: Found, context: RecallContext) -> float:
    """Return the score that fusion takes for no evidence: no shared term, or a cosine of unrelated texts."""
    # No shared word or name, the wrong time, the other end of the world.
    zero = 0.0 if name != VECTOR else context.noise - _UNDER_NOISE * (1 - context.noise)
    # A walk, too, counts closeness in, and comes by what points away from the query.
    return min(zero, float(leg.scores[-1])) if leg.scores.size else zero


def _quoted(parts: Combination, query: str) -> str:
    """Return the words of a query that counted most, as they stand there."""
    worth: dict[str, float] = {}
    for name, value in zip(parts.names, parts.parts[:, 0].tolist(), strict=True):
        term = name.rpartition(" in ")[0] or name
        worth[term] = worth.get(term, 0.0) + value
    terms = sorted((term for term in worth if worth[term] > 0), key=lambda term: -worth[term])[:_QUOTED]
    words = [_as_written(term, query) for term in terms]
    return f"the word{'s' if len(words) > 1 else ''} {' and '.join(f'“{word}”' for word in words)}"


def _as_written(term: str, query: str) -> str:
    """Return the word of a query that a term was made of; the term itself where none begins like it."""
    stem = term[:_STEM]
    return next((word for word in _WORD.findall(query) if word.lower().startswith(stem)), term)


def _words(parts: Combination) -> str:
    # Tokenizers mark where words begin and go on, which says nothing to a reader.
    terms = [
        (name.removeprefix("▁").removeprefix("##"), float(value))
        for name, value in zip(parts.names, parts.parts[:, 0], strict=True)
        if value
    ]
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(terms, key=lambda pair: -pair[1]))


def _forgetting(recipe: Recipe, context: RecallContext, slots: IntArray) -> Mapping[int, float]:
    records = context.view.records(slots)
    hours = np.maximum(0.0, context.now.timestamp() - records["created"]) / _HOUR
    matters = 1 + 4 * records["importance"]
    base = importance_decay(hours, matters, records["accesses"], floor=recipe.forgetting_floor)
    return dict(zip(slots.tolist(), base.tolist(), strict=True))
