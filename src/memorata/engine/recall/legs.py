"""The legs of a recall: what the vector, lexical, temporal, geo and graph legs find for a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final, TypeAlias

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.fusion import (
    GEO,
    LEXICAL,
    NO_SLOTS,
    TEMPORAL,
    VECTOR,
    ExtraLeg,
    Legs,
    ceiling_of,
    floor_of,
)
from memorata.engine.recall.query import RecallContext, named_terms
from memorata.engine.recall.soft import soft_leg
from memorata.engine.recipes.recipe import Recipe
from memorata.geo.distance import haversines, nearness
from memorata.index.index import NOTHING, Found, Index
from memorata.index.lexical import LexicalQuery, distinct
from memorata.index.record import FIELDS, NOWHERE, Records
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.rank import BM25, Combination, best_first, boosted_query, phrase_bonus
from memorata.rank.bm25 import inverse_document_frequency
from memorata.rank.context import REACH, ContextWindow
from memorata.rank.scores import ranked
from memorata.rank.temporal import proximity
from memorata.text.spelling import contains_any, folded

_LEADING: Final = 50
"""Of how many of the best by words the neighbours become candidates: they may answer what those ask."""
_CONTEXT_POOL: Final = 50
"""How many candidates the time and place legs find."""
_SOFT_DEPTH, _SOFT_DEPTH_ABROAD = 30, 50
"""So many of the best by meaning and by words are compared token by token; more for a query in other letters
than plain ones (Chinese loses 0.8 of nDCG@10 with thirty; fifty changed no other set)."""
_TALKED_ABOUT: Final = 0.3
"""Where more than two speak, what the name of one of them counts in what was said."""
_PHRASE_DEPTH: Final = 3
"""How many times deeper words are searched when a phrase may lift what lies there."""
_bm25 = lru_cache(maxsize=64)(BM25)
_reading = lru_cache(maxsize=64)(ContextWindow)


def search(recipe: Recipe, context: RecallContext) -> Legs:
    """Ask every leg of the recipe for its candidates."""
    view, query = context.view, context.query
    completing = bool(recipe.complete or recipe.context_before or recipe.context_after)
    vector = NOTHING
    if recipe.vector_pool and context.vector is not None:
        nearest = partial(view.search, context.vector, excluded=query.excluded, rough=completing)
        vector = without_excluded(context, nearest, recipe.vector_pool)
    terms: dict[str, float] = dict(query.terms)
    if recipe.entity_weight and terms:
        count, frequencies = view.document_frequencies(tuple(terms))
        names = named_terms(terms, query, view)
        statistics = _Counts(count, frequencies)
        terms = dict(boosted_query(tuple(terms), names, statistics, entity_weight=recipe.entity_weight))
    terms = {**query.background, **terms}
    also: dict[str, Mapping[str, float]] = {"roots": query.roots}
    if query.speakers:
        # Of two who talk it is the other who says a name; among several one is talked about as well.
        by_name = 0.0 if view.speakers().in_pairs else _TALKED_ABOUT
        weights = {term: times * (by_name if term in query.speakers else 1) for term, times in terms.items()}
        also["content"] = {term: weight for term, weight in weights.items() if weight}
    lexical_query = LexicalQuery(
        terms,
        {
            "content": recipe.content_weight,
            "tags": recipe.tags_weight,
            "entities": recipe.entities_weight,
            "speaker": recipe.speaker_weight,
            "dates": recipe.dates_weight,
            "roots": recipe.roots_weight,
        },
        query.excluded,
        _bm25(recipe.k1, recipe.b),
        also,
    )
    lexical = NOTHING
    if recipe.lexical_pool and (lexical_query.terms or query.roots):
        pool = recipe.lexical_pool * (_PHRASE_DEPTH if query.phrases else 1)
        lexical = without_excluded(context, partial(view.search, lexical_query), pool)
        if not lexical.slots.size and (read := query.read_otherwise()):
            lexical_query = replace(lexical_query, terms=read)
            lexical = without_excluded(context, partial(view.search, lexical_query), pool)
    legs = Legs(_cosines(vector), lexical, asked="" if query.topic == query.text else query.topic)
    if context.about_time and context.period is not None:
        then = partial(timely, view.records(), view.without(None, ()), context.period)
        candidates = without_excluded(context, then, _CONTEXT_POOL, words=True)
        legs = legs.with_leg(ExtraLeg(TEMPORAL, candidates, recipe.time_weight))
    if context.here is not None:
        there = partial(
            nearby, view.records(), view.without(None, ()), context.here, scale=recipe.place_scale
        )
        candidates = without_excluded(context, there, _CONTEXT_POOL, words=True)
        legs = legs.with_leg(ExtraLeg(GEO, candidates, recipe.place_weight))
    if completing:
        legs = _completed(recipe, context, lexical_query, legs)
    if query.phrases and recipe.lexical_pool:
        # Where words were asked about every candidate, or found none, they have spoken of all they can.
        spoken = legs.everyone.size or not legs.lexical.slots.size
        others = legs.vector.slots[~np.isin(legs.vector.slots, legs.lexical.slots)]
        words = with_phrases(recipe, context, legs.lexical, others if spoken else NO_SLOTS)
        legs = replace(legs, lexical=words)
    return legs


def timely(records: Records, slots: IntArray, period: Period, limit: int) -> Found:
    """Return which memories are from about a period, best first, with their proximity; ties by slot.

    Of memories inside the period none is closer than another.
    """
    return _closest(slots, proximity(records["event"][slots], period), limit)


def nearby(records: Records, slots: IntArray, here: Place, limit: int, scale: float) -> Found:
    """Return which memories are closest to a point, with how near each is: a half at `scale` metres."""
    slots = slots[records["lat"][slots] != NOWHERE]
    metres = haversines(here.lat, here.lon, records["lat"][slots], records["lon"][slots])
    return _closest(slots, nearness(metres, scale=scale), limit)


def _closest(slots: IntArray, scores: FloatArray, limit: int) -> Found:
    order = ranked(scores, limit)
    order = order[scores[order] > 0]
    return Found(slots[order], scores[order])


def _completed(recipe: Recipe, context: RecallContext, lexical_query: LexicalQuery, legs: Legs) -> Legs:
    """Score everything that any leg found by every leg, words being read in context."""
    view = context.view
    reading = _reading(recipe.context_before, recipe.context_after, recipe.context_words)
    parts = [leg.slots for _, leg in legs.named()]
    if recipe.context_before or recipe.context_after:
        neighbours = view.neighbours(legs.lexical.slots[:_LEADING], REACH)
        if (neighbours := neighbours[neighbours >= 0]).size:
            around = view.without(distinct(neighbours), ())
            if context.query.excluded or context.query.excluded_phrases:
                around = not_excluded(context, around)
            parts.append(around)
    slots = distinct(np.concatenate(parts))
    vector, lexical, unread = legs.vector, legs.lexical, slots[:0]
    cosines = words = NOTHING
    if recipe.vector_pool and context.vector is not None:
        cosines = view.score(context.vector, slots)
    if recipe.lexical_pool and (lexical_query.terms or context.query.roots):
        words = view.score(lexical_query, slots, reading)
        lexical = _best_first(words, words.scores > 0)
    if cosines is not NOTHING:
        compared = _compared(view, slots, cosines.scores, legs.vector)
        vector, unread = _cosines(_best_first(cosines, compared)), slots[~compared]
    soft = NOTHING
    if recipe.soft_weight and context.tables:
        depth = _SOFT_DEPTH if context.query.text.isascii() else _SOFT_DEPTH_ABROAD
        best = np.concatenate([vector.slots[:depth], lexical.slots[:depth]])
        soft = soft_leg(recipe, context, distinct(best))
    legs = Legs(vector, lexical, legs.more, legs.unread, slots, legs.asked, soft)
    return _with_pending(legs, unread, context) if unread.size and vector.slots.size else legs


def _compared(view: Index, slots: IntArray, cosines: FloatArray, vector: Found) -> BoolArray:
    """Return which of some ascending memories have a vector; those that meaning has found are among them."""
    compared: BoolArray = cosines != 0
    compared[slots.searchsorted(vector.slots)] = True
    doubtful = (~compared).nonzero()[0]
    if doubtful.size:
        # One that is read may as well have nothing at all in common with the query.
        compared[doubtful] = view.vectors(slots[doubtful]).any(axis=1) if view.status.pending else True
    return compared


def _with_pending(legs: Legs, unread: IntArray, context: RecallContext) -> Legs:
    """Let words stand in for the meaning of memories that wait for a vector, which nobody has compared yet.

    Otherwise what was said during a change of embedder would count half until it is read again.
    """
    words = legs.lexical
    waiting = np.isin(words.slots, unread)
    if not waiting.any():
        return legs
    slots, vector = words.slots[waiting], legs.vector
    low, high = floor_of(VECTOR, vector, context), float(vector.scores[0])
    share = words.scores[waiting] / (ceiling_of(LEXICAL, words, context) or 1.0)
    together = Found(
        np.concatenate([vector.slots, slots]), np.concatenate([vector.scores, low + share * (high - low)])
    )
    everyone = np.ones(together.slots.size, np.bool_)
    return replace(legs, vector=_best_first(together, everyone), unread=slots)


def _cosines(leg: Found) -> Found:
    """Return a list of meaning, best first, in which no rounding is left above 1 or below -1."""
    if not leg.scores.size or (leg.scores[0] <= 1 and leg.scores[-1] >= -1):
        return leg
    return replace(leg, scores=np.clip(leg.scores, -1.0, 1.0))


def _best_first(leg: Found, kept: BoolArray) -> Found:
    slots, scores = leg.slots[kept], leg.scores[kept]
    order = (-scores).argsort(kind="stable")
    return Found(slots[order], scores[order], leg.detail, leg.ceiling)


@frozen
class _Counts:
    """A :class:`~memorata.rank.Statistics` of the words of one query."""

    document_count: int
    frequencies: Mapping[str, int]
    average_length: float = 0.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


_OPTION: Final = re.compile(r"(?<!\S)-+\w\S*")
_MORE: Final = 4
"""How many times more is asked for each time."""
_PAGE_SIZE: Final = 500
"""How many texts are read together."""


def not_excluded(context: RecallContext, slots: IntArray) -> IntArray:
    """Return those of some memories in which nothing stands that must not occur."""
    kept = context.view.without(slots, context.query.excluded)
    return kept[_phrase_mask(context, kept)]


def without_excluded(
    context: RecallContext, find: Callable[[int], Found], limit: int, *, words: bool = False
) -> Found:
    """Return the best that a leg finds and that may be returned."""
    query = context.query
    candidates = find(limit)
    if not query.excluded_phrases and not (words and query.excluded):
        return candidates
    asked = limit
    while True:
        if words:
            kept = np.isin(candidates.slots, not_excluded(context, candidates.slots))
        else:
            kept = _phrase_mask(context, candidates.slots)
        if np.count_nonzero(kept) >= limit or candidates.slots.size < asked:
            best = kept.nonzero()[0][:limit]
            return replace(candidates, slots=candidates.slots[best], scores=candidates.scores[best])
        asked *= _MORE
        candidates = find(asked)


def _phrase_mask(context: RecallContext, slots: IntArray) -> BoolArray:
    """Return in which of some memories no phrase stands that must not occur."""
    kept = np.ones(slots.size, np.bool_)
    phrases = [folded(phrase) for phrase in context.query.excluded_phrases]
    words = [phrase for phrase in phrases if " " not in phrase]
    together = [phrase for phrase in phrases if " " in phrase]
    for start in range(0, slots.size if phrases else 0, _PAGE_SIZE):
        some = slots[start : start + _PAGE_SIZE]
        kept[start : start + some.size] = [
            not contains_any(memory.content, together)
            and not contains_any(_OPTION.sub(" ", memory.content), words)
            for memory in context.view.memories(some)
        ]
    return kept


QUOTED: Final = "as it is quoted"
"""What an explanation calls the worth of a phrase that stands in a text."""

_Detail: TypeAlias = Callable[[IntArray], Combination]


def with_phrases(recipe: Recipe, context: RecallContext, leg: Found, unspoken: IntArray) -> Found:
    """Return what words found with a bonus for texts in which a quoted phrase stands, best first again."""
    bonus = _bonus(recipe, context, np.concatenate([leg.slots, unspoken]))
    size = leg.slots.size
    joining = bonus[size:] > 0
    slots = np.concatenate([leg.slots, unspoken[joining]])
    scores = np.concatenate([leg.scores + bonus[:size], bonus[size:][joining]])
    order = best_first(scores, recipe.lexical_pool)
    worth = dict(
        zip(slots.tolist(), np.concatenate([bonus[:size], bonus[size:][joining]]).tolist(), strict=True)
    )
    return Found(slots[order], scores[order], _with_quoted(leg.detail, worth), leg.ceiling)


def _bonus(recipe: Recipe, context: RecallContext, slots: IntArray) -> FloatArray:
    if not slots.size:
        return np.zeros(0)
    count, _ = context.view.document_frequencies(())
    wanted = [folded(phrase) for phrase in context.query.phrases]
    contents = [memory.content for memory in context.view.memories(slots)]
    hits = [sum(contains_any(content, (phrase,)) for phrase in wanted) for content in contents]
    return np.array([phrase_bonus(times, count, strength=recipe.phrase_weight) for times in hits], np.float64)


def _with_quoted(detail: _Detail | None, worth: Mapping[int, float]) -> _Detail:
    """Return what tells of words, and also of what quoted phrases were worth to each memory."""

    def tell(slots: IntArray) -> Combination:
        quoted = np.array([[worth.get(slot, 0.0) for slot in slots.tolist()]])
        if detail is None:
            return Combination.of("sum", [QUOTED], quoted)
        before = detail(slots)
        return Combination.of("sum", [*before.names, QUOTED], np.concatenate([before.parts, quoted]))

    return tell


NAMES: Final = "names"
_POOL: Final = 30
"""How many memories the leg finds at most."""
_COMMON: Final = 0.02
"""A name that more than this share of the memories mention leads nowhere in particular."""
_ALWAYS: Final = 10
"""A name that so few mention leads somewhere however small the namespace is."""
_NUMBER: Final = FIELDS.index(NAMES)
# A name is there or not, however long the list of names is.
_PLAIN: Final = BM25(k1=1.0, b=0.0)


def entity_leg(recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray) -> Found:
    """Return the memories that mention what the best candidates mention."""
    view = context.view
    best = float(scores[0]) if scores.size else 0.0
    if best <= 0:
        return NOTHING
    seeds = slots[: recipe.graph_seeds]
    records = view.records(seeds)
    alone = records["session"] < 0
    # Most mention nobody, and need not be read to know it.
    leading_on = alone & (records["lengths"][:, _NUMBER] > 0)
    if not leading_on.any():
        return NOTHING
    seeds, asking = seeds[alone], seeds[leading_on]
    weight_of = scores[: recipe.graph_seeds][leading_on] / best
    names, query = view.names(asking), context.query.text
    asked = folded(query)
    weights: dict[str, float] = {}
    for listed, worth in zip(names, weight_of.tolist(), strict=True):
        for name in listed:
            key = folded(name)
            # Most names are no part of the query at all; "Art" is one of "party", and not named there.
            if key and not (key in asked and contains_any(query, (key,))):
                weights[key] = max(weights.get(key, 0.0), worth)
    if not weights:
        return NOTHING
    count, frequencies = view.document_frequencies(tuple(weights), field=NAMES)
    most = max(_ALWAYS, _COMMON * count)
    leading = {
        key: weight * inverse_document_frequency(frequencies[key], count)
        for key, weight in weights.items()
        if 2 <= frequencies[key] <= most and weight > 0
    }
    if not leading:
        return NOTHING
    lexical_query = LexicalQuery(leading, {NAMES: 1.0}, context.query.excluded, _PLAIN)
    candidates = without_excluded(context, partial(view.search, lexical_query), _POOL + seeds.size)
    others = (candidates.slots != seeds[:, np.newaxis]).all(axis=0)
    return Found(candidates.slots[others][:_POOL], candidates.scores[others][:_POOL], candidates.detail)


def with_seeds(candidates: Found, seeds: IntArray) -> Found:
    """Return what names led to, and first where they started, as near as the nearest of it.

    What a seed leads to completes an answer and does not replace it. Without this, MuSiQue loses 11 points of
    MRR and short facts 7 of hit@1.
    """
    own = np.full(seeds.size, candidates.scores[0])
    return Found(
        np.concatenate([seeds, candidates.slots]), np.concatenate([own, candidates.scores]), candidates.detail
    )
