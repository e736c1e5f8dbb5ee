"""Fusion: the candidates of every leg, put on one scale and made into one ranked list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile
from operator import eq
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.query import RecallContext
from memorata.engine.recipes import Recipe, arguments_of, blends_two
from memorata.index.candidates import NO_CANDIDATES, LegCandidates
from memorata.index.record import WORKING, Records
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.entity import Period
from memorata.model.hit import Explanation
from memorata.rank import FUSIONS, Combination, Fused, importance_decay, legs_for_query
from memorata.rank.fusion.legs import Aligned, align_among, align_slots
from memorata.text.queries import QUESTION_MARKS
from memorata.text.tokens import folded, is_unspaced

_HOUR: Final = 3_600.0
NO_SLOTS: Final[IntArray] = np.zeros(0, np.intp)
VECTOR: Final = "vector"
LEXICAL: Final = "lexical"
SOFT: Final = "soft"
GRAPH: Final = "graph"
TEMPORAL: Final = "temporal"
GEO: Final = "geo"
"""The names of the legs, in explanations, in results and in the log."""
_NEARNESS: Final = ((0.5, "very close"), (0.2, "close"), (0.0, "somewhat close"))
"""The words for a cosine, by its least share of the way from noise to an equal text."""
_WAYS: Final = {
    SOFT: "by words of like meaning",
    GRAPH: "by a shared name",
    TEMPORAL: "by its time",
    GEO: "by its place",
}
_MAX_QUOTED_WORDS: Final = 2
_STEM_LETTERS: Final = 5
_WORD: Final = re.compile(r"\w+")
SUPPORT_SHARE: Final = 0.5
"""A leg supports candidates that reach this share of its best score."""
_FULL_MATCH_TERMS: Final = 12
"""A match of this many average terms of a query is a full one; in Chinese every two characters are a term."""
_UNDER_NOISE: Final = 0.4
"""How far below the noise the scale of cosines starts, as a share of the range above it."""


@frozen(eq=False)
class Legs:
    """The candidates of every leg, before fusion.

    `unread` are memories without a vector yet; in the vector leg their lexical score stands in. Where every
    leg scored all candidates, `union` has their slots, ascending. `embedded_text` is the text that was
    embedded, where it is not the whole query.
    """

    vector: LegCandidates
    lexical: LegCandidates
    more: tuple[ExtraLeg, ...] = ()
    unread: IntArray = field(default_factory=lambda: NO_SLOTS)
    union: IntArray = field(default_factory=lambda: NO_SLOTS)
    embedded_text: str = ""
    soft: LegCandidates = NO_CANDIDATES

    def with_leg(self, leg: ExtraLeg) -> Legs:
        """Return these legs and another; the same if that has no candidates."""
        return replace(self, more=(*self.more, leg)) if leg.candidates.slots.size else self

    def named(self) -> tuple[tuple[str, LegCandidates], ...]:
        """Return the legs by the names that explanations call them."""
        own = ((VECTOR, self.vector), (LEXICAL, self.lexical))
        soft = ((SOFT, self.soft),) if self.soft.slots.size else ()
        return (*own, *soft, *((leg.name, leg.candidates) for leg in self.more))


@frozen(eq=False)
class ExtraLeg:
    """The candidates of another leg, and its weight beside vector and lexical leg, which have 1 together."""

    name: str
    candidates: LegCandidates
    weight: float
    origins: IntArray = field(default_factory=lambda: NO_SLOTS)
    """The candidates it started from, which it cannot support."""


class Candidates:
    """The union of the candidates of all legs, best first."""

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
        """Return the scores of the legs, candidate by candidate."""
        cosines, matches = self._leg_scores(VECTOR, -np.inf), self._leg_scores(LEXICAL, 0.0)
        if self.legs.unread.size:
            cosines[np.isin(self.slots, self.legs.unread)] = -np.inf
        supported = np.zeros(self.slots.size, np.bool_)
        for leg in self.legs.more:
            supports = self._leg_scores(leg.name, 0.0) >= SUPPORT_SHARE * leg.candidates.scores[0]
            if leg.origins.size:
                # A few against some hundred: numpy.isin takes longer to begin than this takes in all.
                supports &= (self.slots[:, np.newaxis] != leg.origins).all(axis=1)
            supported |= supports
        return Evidence(cosines, matches, self.legs.lexical.ceiling, supported)

    def explain(self, position: int) -> Explanation:
        """Explain which legs have a candidate, at which rank and by which terms."""
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
                if self._is_origin(name, slot):
                    note += ": the first, from which the others follow"
                elif leg.detail is not None:
                    note += f": {_words(leg.detail(slot), self._query)}"
                if name == VECTOR and self.legs.embedded_text:
                    note += (
                        f", compared with “{self.legs.embedded_text}”: who is named is looked for by words"
                    )
            detail[name] = Explanation.leaf(name, value, note + self._doubts.get(name, ""))
        return parts.explain(position, "relevance", detail, self._in_words(detail, slot))

    def _in_words(self, detail: Mapping[str, Explanation], slot: IntArray) -> str:
        """Return in plain words by which legs a candidate was found."""
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
            elif name in _WAYS and not self._is_origin(name, slot):
                ways.append(_WAYS[name])
        *first, last = ways or ["by what is left of the others"]
        return f"found {', '.join(first)}{' and ' if first else ''}{last}"

    def _is_origin(self, name: str, slot: IntArray) -> bool:
        """Return whether a leg started from a candidate instead of finding it."""
        return any(leg.name == name and slot[0] in leg.origins for leg in self.legs.more)

    def _leg_scores(self, name: str, absent: float) -> FloatArray:
        """Return the score of each candidate in a leg."""
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
    """The evidence for each candidate, independent of the fusion."""

    cosines: FloatArray
    matches: FloatArray
    ceiling: float
    supported: BoolArray

    def take(self, order: IntArray) -> Evidence:
        """Return the evidence of the candidates in `order`."""
        return Evidence(self.cosines[order], self.matches[order], self.ceiling, self.supported[order])

    def worded(self, recipe: Recipe) -> BoolArray:
        """Return which candidates reach the least share of the best possible match by words."""
        enough: BoolArray = self.matches >= recipe.least_match * (self.ceiling or 1.0)
        return enough & (self.matches > 0)

    def passing(self, recipe: Recipe, context: RecallContext) -> BoolArray:
        """Return which candidates pass the gate by themselves: by their cosine or by their words."""
        if not recipe.vector_pool or context.vector is None:
            return self.worded(recipe)
        similar: BoolArray = self.cosines >= context.least_similarity
        return similar if recipe.only_vectors_pass else similar | self.worded(recipe)


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
        """Nearness of each candidate to the period of the query, in the order of `records`."""
        self.shown: Sequence[int] = ()

    def seen(self, positions: Sequence[int]) -> Trace:
        """Store which of the kept candidates were shown."""
        self.shown = positions
        return self


class TraceContext:
    """The numbers of a context that a ranking depends on."""

    __slots__ = (
        "about_time",
        "asks",
        "ceiling",
        "continues",
        "familiarity",
        "here",
        "least",
        "meant",
        "named",
        "noise",
        "now",
        "null",
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
        self.null = context.null
        self.named = bool(context.query.speakers)
        self.asks = any(mark in context.query.text for mark in QUESTION_MARKS)
        self.ceiling = ceiling

    def as_dict(self) -> dict[str, Any]:
        """Return the context as plain data."""
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
    """Return the candidates of all legs in one ranking."""
    share = recipe.vector_weight
    if recipe.legs_by_query:
        kind = context.query_type()
        share = legs_for_query(kind.type, kind.confidence).alpha
    placed = blends_two(recipe)
    if not placed and not (recipe.vector_pool and recipe.lexical_pool):
        share = 1.0 if recipe.vector_pool else 0.0
    if recipe.by_language:
        share *= context.familiarity
        if legs.soft.slots.size:
            # The soft leg does most of what a weaker embedder does; without it the embedder has its whole
            # share.
            share *= context.reliability
    fusion = FUSIONS[recipe.fusion]
    takes = arguments_of(fusion)
    with_vectors, with_words = bool(recipe.vector_pool) and context.vector is not None, recipe.lexical_pool
    lists: list[tuple[str, LegCandidates]] = []
    weights: list[float] = []
    more = () if placed else legs.more
    # The best soft score is the trust in its tables; the remaining weight goes to exact words.
    trust = min(1.0, float(legs.soft.scores[0])) if legs.soft.slots.size and not placed else 0.0
    soft = (1 - share) * recipe.soft_weight * trust
    for name, leg, used, weight in (
        (VECTOR, legs.vector, with_vectors or placed, share),
        (LEXICAL, legs.lexical, with_words or placed, 1 - share - soft),
        (SOFT, legs.soft, soft > 0, soft),
        *((extra.name, extra.candidates, True, extra.weight) for extra in more),
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
    if with_vectors and not more and 0 < legs.union.size == legs.vector.slots.size:
        slots, aligned = align_among(legs.union, *parts)
    else:
        slots, aligned = align_slots(*parts)
    if "base" in takes and recipe.forgetting:
        options["base"] = _base_importance(recipe, context, slots)
    noise, doubts = max(0.0, context.noise), {}
    if recipe.by_language and context.familiarity < 1:
        doubts[VECTOR] = f", at {context.familiarity:.0%}: the embedder knows so much of the query's letters"
    elif recipe.by_language and context.reliability < 1 and legs.soft.slots.size:
        doubts[VECTOR] = f", at {context.reliability:.0%}: so much does this embedder add to like words"
    if 0 < trust < 1:
        doubts[SOFT] = f", at {trust:.0%}: so far are token vectors of many languages trusted"
    return Candidates(slots, aligned, fusion(aligned, **options), legs, context.query.text, noise, doubts)


def ceiling_of(name: str, leg: LegCandidates, context: RecallContext) -> float | None:
    """Return the score that fusion takes for a full match; None for legs without one."""
    if name == SOFT:
        return float(leg.scores[0])
    if name != LEXICAL or not leg.scores.size:
        return None
    # No text has all words of a long query; as a full match that would leave exact words no weight.
    full = leg.ceiling * min(1.0, _FULL_MATCH_TERMS / max(1, len(context.query.terms)))
    return max(full, float(leg.scores[0]))


def floor_of(name: str, leg: LegCandidates, context: RecallContext) -> float:
    """Return the score that fusion takes for no evidence: no shared term, or a cosine of unrelated texts."""
    # No shared word or name, the wrong time, the other end of the world.
    zero = 0.0 if name != VECTOR else context.noise - _UNDER_NOISE * (1 - context.noise)
    # The walk includes cosines, too, which may be negative.
    return min(zero, float(leg.scores[-1])) if leg.scores.size else zero


def _quoted(parts: Combination, query: str) -> str:
    """Return the words of a query with the largest contributions, as they are written there."""
    worth: dict[str, float] = {}
    for name, value in zip(parts.names, parts.parts[:, 0].tolist(), strict=True):
        term = name.rpartition(" in ")[0] or name
        worth[term] = worth.get(term, 0.0) + value
    terms = sorted((term for term in worth if worth[term] > 0), key=lambda term: -worth[term])[
        :_MAX_QUOTED_WORDS
    ]
    words = [_as_written(term, query) for term in terms]
    return f"the word{'s' if len(words) > 1 else ''} {' and '.join(f'“{word}”' for word in words)}"


def _as_written(term: str, query: str) -> str:
    """Return the word of a query that a term was made from; the term itself where none begins like it.

    A stem may end otherwise than its word: "pony" becomes "poni". The terms of a script without spaces are
    not stems.
    """
    if is_unspaced(term):
        return term
    letters = folded(term)
    words = {
        word: sum(1 for _ in takewhile(bool, map(eq, folded(word), letters))) for word in _WORD.findall(query)
    }
    best = max(words, key=words.__getitem__, default=term)
    return best if words.get(best, 0) >= min(_STEM_LETTERS, len(term) - 1) else term


def _words(parts: Combination, query: str) -> str:
    """Return the contributions of terms, the largest first; a stem as the word of the query it is of."""
    terms = []
    for name, value in zip(parts.names, parts.parts[:, 0].tolist(), strict=True):
        term, mark, field = name.rpartition(" in ")
        if value:
            terms.append((f"{_as_written(term, query)}{mark}{field}" if mark else name, value))
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(terms, key=lambda pair: -pair[1]))


def _base_importance(recipe: Recipe, context: RecallContext, slots: IntArray) -> Mapping[int, float]:
    records = context.view.records(slots)
    hours = np.maximum(0.0, context.now.timestamp() - records["created"]) / _HOUR
    matters = 1 + 4 * records["importance"]
    passing, uses = records["tier"] == WORKING, records["accesses"]
    base = importance_decay(hours, matters, uses, transient=passing, floor=recipe.forgetting_floor)
    return dict(zip(slots.tolist(), base.tolist(), strict=True))
