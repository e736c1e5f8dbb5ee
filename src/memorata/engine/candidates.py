"""Candidates: what each leg of a recipe finds, made into one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from inspect import signature
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.excluding import asked_for, permitted
from memorata.engine.named_entities import named_terms
from memorata.engine.quoting import with_phrases
from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.index.lexical import LexicalQuery
from memorata.index.neighbours import distinct
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.explanation import Explanation
from memorata.model.parameter import parameters_of
from memorata.rank import (
    BM25,
    FUSIONS,
    Combination,
    Fused,
    boosted_query,
    importance_decay,
    legs_for_query,
)
from memorata.rank.context import REACH, ContextWindow
from memorata.rank.fusion.legs import Aligned, align_among, align_slots
from memorata.store.port import NOTHING, Found, View

_HOUR: Final = 3_600.0
_NOBODY: Final[IntArray] = np.zeros(0, np.intp)
_NAMED_IN_RECIPE: Final = {
    "k": "rrf_k",
    "rank_base": "rrf_base",
    "normaliser": "normaliser",
    "coverage": "coverage",
    "budget": "blend_budget",
    "threshold": "blend_threshold",
}
"""By the declared parameter of a fusion, the recipe's parameter that sets it."""
VOUCHED: Final = 0.5
"""A leg speaks for what reaches this share of the best it found."""
_LEADING: Final = 50
"""Of how many of the best by words the neighbours become candidates: they may answer what those ask."""
_UNDER_NOISE: Final = 0.4
"""How far below the noise the scale of meaning starts, as a share of what lies above it."""
_SITUATED: Final = 50
"""How many candidates the time and place legs find."""
_PHRASE_DEPTH: Final = 3
"""How many times deeper words are searched when a phrase may lift what lies there."""


_bm25 = lru_cache(maxsize=64)(BM25)
_reading = lru_cache(maxsize=64)(ContextWindow)


@frozen(eq=False)
class Legs:
    """What the searches found, before anything was decided.

    `unread` are memories that wait for their vector; in the list of meaning their words stand in. Where every
    leg was asked about all candidates, `everyone` are those, ascending. `asked` is what was embedded, where
    that is not the whole question.
    """

    vector: Found
    lexical: Found
    more: tuple[MoreLeg, ...] = ()
    unread: IntArray = field(default_factory=lambda: _NOBODY)
    everyone: IntArray = field(default_factory=lambda: _NOBODY)
    asked: str = ""

    def with_leg(self, leg: MoreLeg) -> Legs:
        """Return these legs and another; the same if it found nothing."""
        return replace(self, more=(*self.more, leg)) if leg.found.slots.size else self

    def named(self) -> tuple[tuple[str, Found], ...]:
        """Return the legs by the names that explanations call them."""
        both = (("meaning", self.vector), ("words", self.lexical))
        return (*both, *((leg.name, leg.found) for leg in self.more))


@frozen(eq=False)
class MoreLeg:
    """What another leg found, and what it is worth beside meaning and words, which are worth 1 together."""

    name: str
    found: Found
    weight: float
    origins: IntArray = field(default_factory=lambda: _NOBODY)
    """The candidates it started from: it cannot vouch for what it took on trust."""


class Candidates:
    """The union of what the legs found, best first.

    Attributes
    ----------
    slots, scores
        The memories and their fused scores.
    legs
        What they were made of.
    """

    def __init__(self, union: IntArray, aligned: Aligned[int], fused: Fused[int], legs: Legs) -> None:
        self.slots: IntArray = union[fused.order]
        self.scores = fused.scores
        self.legs = legs
        self._aligned = aligned
        self._fused = fused

    def evidence(self) -> Evidence:
        """Return what each leg said of each candidate."""
        cosines, matches = self._given("meaning", -np.inf), self._given("words", 0.0)
        if self.legs.unread.size:
            cosines[np.isin(self.slots, self.legs.unread)] = -np.inf
        vouched = np.zeros(self.slots.size, np.bool_)
        for leg in self.legs.more:
            spoken_for = self._given(leg.name, 0.0) >= VOUCHED * leg.found.scores[0]
            vouched |= spoken_for & ~np.isin(self.slots, leg.origins) if leg.origins.size else spoken_for
        return Evidence(cosines, matches, self.legs.lexical.ceiling, vouched)

    def explain(self, position: int) -> Explanation:
        """Tell which legs found a candidate, at which rank and by which words."""
        parts = self._fused.parts
        slot = self.slots[position : position + 1]
        detail = {}
        for name, found in self.legs.named():
            if name not in parts.names:
                continue
            value = float(parts.parts[parts.names.index(name), position])
            where = np.flatnonzero(found.slots == slot[0])
            note = "not found by this leg"
            if name == "meaning" and slot[0] in self.legs.unread:
                note = "no vector of this embedder yet; its words stand in"
            elif where.size:
                note = f"rank {int(where[0]) + 1} of {found.slots.size}, score {found.scores[where[0]]:.4f}"
                if found.detail is not None:
                    note += f": {_words(found.detail(slot))}"
                if name == "meaning" and self.legs.asked:
                    note += f", compared with “{self.legs.asked}”: who is named is looked for by words"
            detail[name] = Explanation.leaf(name, value, note)
        return parts.explain(position, "relevance", detail)

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
    """What speaks for each candidate, whatever became of it in the fusion.

    Attributes
    ----------
    cosines
        How close its meaning is; minus infinity if it was not found by meaning.
    matches
        Its BM25 score; 0 if it was not found by words.
    ceiling
        The BM25 score of a text that says everything the question asks for; 0 if nothing was asked by words.
    vouched
        Whether another leg speaks for it: its time or place was asked for, or it shares a rare name with one
        that was found.
    """

    cosines: FloatArray
    matches: FloatArray
    ceiling: float
    vouched: BoolArray

    def take(self, order: IntArray) -> Evidence:
        """Return the evidence of the candidates in `order`."""
        return Evidence(self.cosines[order], self.matches[order], self.ceiling, self.vouched[order])


def search(recipe: Recipe, situation: Situation) -> Legs:
    """Ask every leg of the recipe for its candidates."""
    view, question = situation.view, situation.question
    completing = bool(recipe.complete or recipe.context_before or recipe.context_after)
    vector = NOTHING
    if recipe.vector_pool and situation.vector is not None:
        nearest = partial(view.nearest, situation.vector, excluded=question.excluded, rough=completing)
        vector = _cosines(asked_for(situation, nearest, recipe.vector_pool))
    terms: dict[str, float] = dict(question.terms)
    if recipe.entity_weight and terms:
        count, frequencies = view.document_frequencies(tuple(terms))
        names = named_terms(terms, question, view)
        statistics = _Counts(count, frequencies)
        terms = dict(boosted_query(tuple(terms), names, statistics, entity_weight=recipe.entity_weight))
    also: dict[str, Mapping[str, float]] = {"roots": question.roots}
    if question.speakers:
        also["content"] = {term: times for term, times in terms.items() if term not in question.speakers}
    query = LexicalQuery(
        terms,
        {
            "content": recipe.content_weight,
            "tags": recipe.tags_weight,
            "entities": recipe.entities_weight,
            "speaker": recipe.speaker_weight,
            "dates": recipe.dates_weight,
            "roots": recipe.roots_weight,
        },
        question.excluded,
        _bm25(recipe.k1, recipe.b),
        also,
    )
    lexical = NOTHING
    if recipe.lexical_pool and (query.terms or question.roots):
        pool = recipe.lexical_pool * (_PHRASE_DEPTH if question.phrases else 1)
        lexical = asked_for(situation, partial(view.lexical, query), pool)
        if not lexical.slots.size and (read := question.read_otherwise()):
            query = replace(query, terms=read)
            lexical = asked_for(situation, partial(view.lexical, query), pool)
    found = Legs(vector, lexical, asked="" if question.topic == question.text else question.topic)
    if situation.about_time and situation.period is not None:
        then = partial(view.timely, situation.period)
        timely = asked_for(situation, then, _SITUATED, words=True)
        found = found.with_leg(MoreLeg("time", timely, recipe.time_weight))
    if situation.here is not None:
        there = partial(view.nearby, situation.here, scale=recipe.place_scale)
        nearby = asked_for(situation, there, _SITUATED, words=True)
        found = found.with_leg(MoreLeg("place", nearby, recipe.place_weight))
    if completing:
        found = _completed(recipe, situation, query, found)
    if question.phrases and recipe.lexical_pool:
        # Where words were asked about every candidate, or found none, they have spoken of all they can.
        spoken = found.everyone.size or not found.lexical.slots.size
        others = found.vector.slots[~np.isin(found.vector.slots, found.lexical.slots)]
        words = with_phrases(recipe, situation, found.lexical, others if spoken else _NOBODY)
        found = replace(found, lexical=words)
    return found


def _completed(recipe: Recipe, situation: Situation, query: LexicalQuery, found: Legs) -> Legs:
    """Score everything that any leg found by every leg, words being read in context."""
    view = situation.view
    reading = _reading(recipe.context_before, recipe.context_after, recipe.context_words)
    parts = [each.slots for _, each in found.named()]
    if recipe.context_before or recipe.context_after:
        around = view.neighbours(found.lexical.slots[:_LEADING], REACH)
        if situation.question.excluded or situation.question.excluded_phrases:
            around = permitted(situation, around)
        parts.append(around)
    slots = distinct(np.concatenate(parts))
    vector, lexical, unread = found.vector, found.lexical, slots[:0]
    if recipe.vector_pool and situation.vector is not None:
        cosines = view.cosines(situation.vector, slots)
        compared = _compared(view, slots, cosines, found.vector)
        vector, unread = _cosines(_best_first(Found(slots, cosines), compared)), slots[~compared]
    if recipe.lexical_pool and (query.terms or situation.question.roots):
        words = view.in_context(query, slots, reading)
        lexical = _best_first(words, words.scores > 0)
    found = Legs(vector, lexical, found.more, found.unread, slots, found.asked)
    return _with_unread(found, unread, situation) if unread.size and vector.slots.size else found


def _compared(view: View, slots: IntArray, cosines: FloatArray, vector: Found) -> BoolArray:
    """Return which of some ascending memories have a vector; those that meaning has found are among them."""
    compared: BoolArray = cosines != 0
    compared[slots.searchsorted(vector.slots)] = True
    doubtful = (~compared).nonzero()[0]
    if doubtful.size:
        # One that is read may as well have nothing at all in common with the question.
        compared[doubtful] = view.vectors(slots[doubtful]).any(axis=1) if view.pending else True
    return compared


def _with_unread(legs: Legs, unread: IntArray, situation: Situation) -> Legs:
    """Let words stand in for the meaning of memories that wait for a vector, which nobody has compared yet.

    Otherwise what was said during a change of embedder would count half until it is read again.
    """
    words = legs.lexical
    waiting = np.isin(words.slots, unread)
    if not waiting.any():
        return legs
    slots, vector = words.slots[waiting], legs.vector
    low, high = _zero("meaning", vector, situation), float(vector.scores[0])
    share = words.scores[waiting] / (_full("words", words) or 1.0)
    together = Found(
        np.concatenate([vector.slots, slots]), np.concatenate([vector.scores, low + share * (high - low)])
    )
    everyone = np.ones(together.slots.size, np.bool_)
    return replace(legs, vector=_best_first(together, everyone), unread=slots)


def _cosines(found: Found) -> Found:
    """Return a list of meaning, best first, in which no rounding is left above 1 or below -1."""
    if not found.scores.size or (found.scores[0] <= 1 and found.scores[-1] >= -1):
        return found
    return replace(found, scores=np.clip(found.scores, -1.0, 1.0))


def _best_first(found: Found, kept: BoolArray) -> Found:
    slots, scores = found.slots[kept], found.scores[kept]
    order = (-scores).argsort(kind="stable")
    return Found(slots[order], scores[order], found.detail, found.ceiling)


def fuse(recipe: Recipe, situation: Situation, legs: Legs) -> Candidates:
    """Make one list of the legs."""
    share = recipe.vector_weight
    if recipe.legs_by_query:
        kind = situation.classifier.classify(situation.question.text)
        share = legs_for_query(kind.type, kind.confidence).alpha
    fusion = FUSIONS[recipe.fusion]
    takes = _arguments(fusion)
    with_vectors, with_words = bool(recipe.vector_pool) and situation.vector is not None, recipe.lexical_pool
    placed = blends_two(recipe)
    lists: list[tuple[str, Found]] = []
    weights: list[float] = []
    more = () if placed else legs.more
    for name, found, used, weight in (
        ("meaning", legs.vector, with_vectors or placed, share),
        ("words", legs.lexical, with_words or placed, 1 - share),
        *((leg.name, leg.found, True, leg.weight) for leg in more),
    ):
        if used:
            lists.append((name, found))
            weights.append(weight)
    if len(lists) == 1:
        # A leg that stands alone has all the weight, whatever it would have beside another.
        weights = [1.0]
    parts = [found.slots for _, found in lists], [found.scores for _, found in lists], [n for n, _ in lists]
    if with_vectors and not more and 0 < legs.everyone.size == legs.vector.slots.size:
        slots, aligned = align_among(legs.everyone, *parts)
    else:
        slots, aligned = align_slots(*parts)
    options: dict[str, Any] = {name: getattr(recipe, field) for name, field in takes.items() if field}
    if placed:
        options["alpha"] = share
    elif any(weights):
        options["weights"] = tuple(weights)
    if "floors" in takes and recipe.anchored:
        options["floors"] = [_zero(name, found, situation) for name, found in lists]
        options["ceilings"] = [_full(name, found) for name, found in lists]
    if "base" in takes and recipe.forgetting:
        options["base"] = _forgetting(situation, slots)
    return Candidates(slots, aligned, fusion(aligned, **options), legs)


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


def _full(name: str, found: Found) -> float | None:
    """Return the score at which words have said all they can; meaning has no such point."""
    if name != "words" or not found.scores.size:
        return None
    return max(found.ceiling, float(found.scores[0]))


def _zero(name: str, found: Found, situation: Situation) -> float:
    """Return the score at which a leg has nothing to say: no shared word, or a cosine of unrelated texts."""
    # No shared word or name, the wrong time, the other end of the world.
    zero = 0.0 if name != "meaning" else situation.noise - _UNDER_NOISE * (1 - situation.noise)
    # A walk, too, counts closeness in, and comes by what points away from the question.
    return min(zero, float(found.scores[-1])) if found.scores.size else zero


def _words(parts: Combination) -> str:
    said = [(name, float(value)) for name, value in zip(parts.names, parts.parts[:, 0], strict=True) if value]
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(said, key=lambda pair: -pair[1]))


def _forgetting(situation: Situation, slots: IntArray) -> Mapping[int, float]:
    records = situation.view.records(slots)
    hours = np.maximum(0.0, situation.now.timestamp() - records["created"]) / _HOUR
    base = importance_decay(hours, 1 + 4 * records["importance"], records["accesses"])
    return dict(zip(slots.tolist(), base.tolist(), strict=True))


@frozen
class _Counts:
    """A :class:`~memorata.rank.Statistics` of the words of one question."""

    document_count: int
    frequencies: Mapping[str, int]
    average_length: float = 0.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)
