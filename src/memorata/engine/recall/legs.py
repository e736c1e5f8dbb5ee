"""The legs of a recall: candidates of the vector, lexical, temporal, geo and names legs for a query."""

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
from memorata.engine.recall.soft_leg import soft_leg
from memorata.engine.recipes import Recipe
from memorata.index.candidates import NO_CANDIDATES, LegCandidates
from memorata.index.lexical import LexicalQuery, distinct
from memorata.index.record import FIELDS, NOWHERE, Records
from memorata.index.search import NamespaceIndex
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.entity import Period, Place
from memorata.rank import BM25, Combination, best_first, boosted_query, phrase_bonus
from memorata.rank.bm25 import REACH, ContextWindow, inverse_document_frequency
from memorata.rank.distance import haversines, nearness
from memorata.rank.scores import ranked
from memorata.rank.temporal import proximity
from memorata.text.tokens import contains_any, count_contained, folded

_CONTEXT_SEEDS: Final = 50
"""The number of best lexical candidates whose neighbours become candidates: they may answer a question."""
_CONTEXT_POOL: Final = 50
"""Most candidates of the temporal and the geo leg."""
_SOFT_DEPTH, _SOFT_DEPTH_OTHER_SCRIPTS = 30, 50
"""The number of best vector and lexical candidates that are compared token by token; more for a query that is
not ASCII (Chinese loses 0.8 of nDCG@10 with thirty; fifty changed no other set)."""
_MENTIONED_SPEAKER_WEIGHT: Final = 0.3
"""Weight in the content of a speaker's name, where there are more than two speakers."""
_PHRASE_DEPTH: Final = 3
"""Factor on the lexical pool of a query with phrases, which lift candidates from below."""
_bm25 = lru_cache(maxsize=64)(BM25)
_reading = lru_cache(maxsize=64)(ContextWindow)


def search(recipe: Recipe, context: RecallContext) -> Legs:
    """Return the candidates of every leg of the recipe."""
    view, query = context.view, context.query
    completing = bool(recipe.complete or recipe.context_before or recipe.context_after)
    vector = NO_CANDIDATES
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
        # Of two speakers it is the other one who says a name; among several a name is also mentioned.
        name_weight = 0.0 if view.speakers().in_pairs else _MENTIONED_SPEAKER_WEIGHT
        weights = {
            term: times * (name_weight if term in query.speakers else 1) for term, times in terms.items()
        }
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
    lexical = NO_CANDIDATES
    if recipe.lexical_pool and (lexical_query.terms or query.roots):
        pool = recipe.lexical_pool * (_PHRASE_DEPTH if query.phrases else 1)
        lexical = without_excluded(context, partial(view.search, lexical_query), pool)
        if not lexical.slots.size and (read := query.read_otherwise()):
            lexical_query = replace(lexical_query, terms=read)
            lexical = without_excluded(context, partial(view.search, lexical_query), pool)
    legs = Legs(_cosines(vector), lexical, embedded_text="" if query.topic == query.text else query.topic)
    if context.about_time and context.period is not None:
        in_period = partial(timely, view.records(), view.without(None, ()), context.period)
        candidates = without_excluded(context, in_period, _CONTEXT_POOL, words=True)
        legs = legs.with_leg(ExtraLeg(TEMPORAL, candidates, recipe.time_weight))
    if context.here is not None:
        near_place = partial(
            nearby, view.records(), view.without(None, ()), context.here, scale=recipe.place_scale
        )
        candidates = without_excluded(context, near_place, _CONTEXT_POOL, words=True)
        legs = legs.with_leg(ExtraLeg(GEO, candidates, recipe.place_weight))
    if completing:
        legs = _completed(recipe, context, lexical_query, legs)
    if query.phrases and recipe.lexical_pool:
        # Where the lexical leg scored every candidate, or has none, it can gain candidates by phrases only.
        complete = legs.union.size or not legs.lexical.slots.size
        unscored = legs.vector.slots[~np.isin(legs.vector.slots, legs.lexical.slots)]
        words = with_phrases(recipe, context, legs.lexical, unscored if complete else NO_SLOTS)
        legs = replace(legs, lexical=words)
    return legs


def timely(records: Records, slots: IntArray, period: Period, limit: int) -> LegCandidates:
    """Return the memories from about a period, best first, with their proximity; ties by slot.

    Of memories inside the period none is closer than another.
    """
    return _closest(slots, proximity(records["event"][slots], period), limit)


def nearby(records: Records, slots: IntArray, here: Place, limit: int, scale: float) -> LegCandidates:
    """Return the memories closest to a point, with the nearness of each: a half at `scale` metres."""
    slots = slots[records["lat"][slots] != NOWHERE]
    metres = haversines(here.lat, here.lon, records["lat"][slots], records["lon"][slots])
    return _closest(slots, nearness(metres, scale=scale), limit)


def _closest(slots: IntArray, scores: FloatArray, limit: int) -> LegCandidates:
    order = ranked(scores, limit)
    order = order[scores[order] > 0]
    return LegCandidates(slots[order], scores[order])


def _completed(recipe: Recipe, context: RecallContext, lexical_query: LexicalQuery, legs: Legs) -> Legs:
    """Score the candidates of any leg by every leg, the lexical one in context."""
    view = context.view
    reading = _reading(recipe.context_before, recipe.context_after, recipe.context_words)
    parts = [leg.slots for _, leg in legs.named()]
    if recipe.context_before or recipe.context_after:
        neighbours = view.neighbours(legs.lexical.slots[:_CONTEXT_SEEDS], REACH)
        if (neighbours := neighbours[neighbours >= 0]).size:
            around = view.without(distinct(neighbours), ())
            if context.query.excluded or context.query.excluded_phrases:
                around = not_excluded(context, around)
            parts.append(around)
    slots = distinct(np.concatenate(parts))
    vector, lexical, unread = legs.vector, legs.lexical, slots[:0]
    cosines = words = NO_CANDIDATES
    if recipe.vector_pool and context.vector is not None:
        cosines = view.score(context.vector, slots)
    if recipe.lexical_pool and (lexical_query.terms or context.query.roots):
        words = view.score(lexical_query, slots, reading)
        lexical = _best_first(words, words.scores > 0)
    if cosines is not NO_CANDIDATES:
        compared = _compared(view, slots, cosines.scores, legs.vector)
        vector, unread = _cosines(_best_first(cosines, compared)), slots[~compared]
    soft = NO_CANDIDATES
    if recipe.soft_weight and context.tables:
        depth = _SOFT_DEPTH if context.query.text.isascii() else _SOFT_DEPTH_OTHER_SCRIPTS
        best = np.concatenate([vector.slots[:depth], lexical.slots[:depth]])
        soft = soft_leg(recipe, context, distinct(best))
    legs = Legs(vector, lexical, legs.more, legs.unread, slots, legs.embedded_text, soft)
    return _with_pending(legs, unread, context) if unread.size and vector.slots.size else legs


def _compared(view: NamespaceIndex, slots: IntArray, cosines: FloatArray, vector: LegCandidates) -> BoolArray:
    """Return which of the ascending slots have a vector; those of the vector leg are among them."""
    compared: BoolArray = cosines != 0
    compared[slots.searchsorted(vector.slots)] = True
    uncertain = (~compared).nonzero()[0]
    if uncertain.size:
        # A memory with a vector may have a cosine of exactly 0, too.
        compared[uncertain] = view.vectors(slots[uncertain]).any(axis=1) if view.status.pending else True
    return compared


def _with_pending(legs: Legs, unread: IntArray, context: RecallContext) -> Legs:
    """Replace the missing cosines of memories without a vector by their lexical scores.

    Otherwise memories written during a change of embedder would count half until they are embedded.
    """
    words = legs.lexical
    waiting = np.isin(words.slots, unread)
    if not waiting.any():
        return legs
    slots, vector = words.slots[waiting], legs.vector
    low, high = floor_of(VECTOR, vector, context), float(vector.scores[0])
    share = words.scores[waiting] / (ceiling_of(LEXICAL, words, context) or 1.0)
    together = LegCandidates(
        np.concatenate([vector.slots, slots]), np.concatenate([vector.scores, low + share * (high - low)])
    )
    every = np.ones(together.slots.size, np.bool_)
    return replace(legs, vector=_best_first(together, every), unread=slots)


def _cosines(leg: LegCandidates) -> LegCandidates:
    """Return the vector leg with its scores clipped to [-1, 1], against rounding."""
    if not leg.scores.size or (leg.scores[0] <= 1 and leg.scores[-1] >= -1):
        return leg
    return replace(leg, scores=np.clip(leg.scores, -1.0, 1.0))


def _best_first(leg: LegCandidates, kept: BoolArray) -> LegCandidates:
    slots, scores = leg.slots[kept], leg.scores[kept]
    order = (-scores).argsort(kind="stable")
    return LegCandidates(slots[order], scores[order], leg.detail, leg.ceiling)


@frozen
class _Counts:
    """A :class:`~memorata.rank.Statistics` of the terms of one query."""

    document_count: int
    frequencies: Mapping[str, int]
    average_length: float = 0.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


_OPTION: Final = re.compile(r"(?<!\S)-+\w\S*")
_WIDENING_FACTOR: Final = 4
"""Factor on the limit of each further search."""
_PAGE_SIZE: Final = 500
"""Texts that are read together."""


def not_excluded(context: RecallContext, slots: IntArray) -> IntArray:
    """Return the slots whose memories have no excluded term or phrase."""
    kept = context.view.without(slots, context.query.excluded)
    return kept[_phrase_mask(context, kept)]


def without_excluded(
    context: RecallContext, find: Callable[[int], LegCandidates], limit: int, *, words: bool = False
) -> LegCandidates:
    """Return the best candidates of a leg without what the query excludes; `words` to check terms, too."""
    query = context.query
    candidates = find(limit)
    if not query.excluded_phrases and not (words and query.excluded):
        return candidates
    depth = limit
    while True:
        if words:
            kept = np.isin(candidates.slots, not_excluded(context, candidates.slots))
        else:
            kept = _phrase_mask(context, candidates.slots)
        if np.count_nonzero(kept) >= limit or candidates.slots.size < depth:
            best = kept.nonzero()[0][:limit]
            return replace(candidates, slots=candidates.slots[best], scores=candidates.scores[best])
        depth *= _WIDENING_FACTOR
        candidates = find(depth)


def _phrase_mask(context: RecallContext, slots: IntArray) -> BoolArray:
    """Return which slots have memories without an excluded phrase."""
    kept = np.ones(slots.size, np.bool_)
    phrases = [folded(phrase) for phrase in context.query.excluded_phrases]
    words = [phrase for phrase in phrases if " " not in phrase]
    several_words = [phrase for phrase in phrases if " " in phrase]
    for start in range(0, slots.size if phrases else 0, _PAGE_SIZE):
        page = slots[start : start + _PAGE_SIZE]
        kept[start : start + page.size] = [
            not contains_any(memory.content, several_words)
            and not contains_any(_OPTION.sub(" ", memory.content), words)
            for memory in context.view.memories(page)
        ]
    return kept


QUOTED: Final = "as it is quoted"
"""The name of the phrase bonus in explanations."""

_Detail: TypeAlias = Callable[[IntArray], Combination]


def with_phrases(
    recipe: Recipe, context: RecallContext, leg: LegCandidates, unscored: IntArray
) -> LegCandidates:
    """Return the lexical leg with a bonus for texts that have a quoted phrase, best first again."""
    bonus = _bonus(recipe, context, np.concatenate([leg.slots, unscored]))
    size = leg.slots.size
    joining = bonus[size:] > 0
    slots = np.concatenate([leg.slots, unscored[joining]])
    scores = np.concatenate([leg.scores + bonus[:size], bonus[size:][joining]])
    order = best_first(scores, recipe.lexical_pool)
    worth = dict(
        zip(slots.tolist(), np.concatenate([bonus[:size], bonus[size:][joining]]).tolist(), strict=True)
    )
    return LegCandidates(slots[order], scores[order], _with_quoted(leg.detail, worth), leg.ceiling)


def _bonus(recipe: Recipe, context: RecallContext, slots: IntArray) -> FloatArray:
    if not slots.size:
        return np.zeros(0)
    count, _ = context.view.document_frequencies(())
    phrases = {folded(phrase) for phrase in context.query.phrases}
    contents = [memory.content for memory in context.view.memories(slots)]
    hits = [count_contained(content, phrases) for content in contents]
    return np.array([phrase_bonus(times, count, strength=recipe.phrase_weight) for times in hits], np.float64)


def _with_quoted(detail: _Detail | None, worth: Mapping[int, float]) -> _Detail:
    """Return the detail of the lexical leg with the bonus of phrases for each memory."""

    def detail_with_bonus(slots: IntArray) -> Combination:
        quoted = np.array([[worth.get(slot, 0.0) for slot in slots.tolist()]])
        if detail is None:
            return Combination.of("sum", [QUOTED], quoted)
        before = detail(slots)
        return Combination.of("sum", [*before.names, QUOTED], np.concatenate([before.parts, quoted]))

    return detail_with_bonus


NAMES: Final = "names"
_NAMES_POOL: Final = 30
"""Most candidates of the names leg."""
_MAX_NAME_SHARE: Final = 0.02
"""A name that a larger share of the memories mentions is too common to lead anywhere."""
_MIN_NAME_LIMIT: Final = 10
"""A name of up to this many memories is followed however small the namespace is."""
_NAMES_FIELD: Final = FIELDS.index(NAMES)
# A name is present or not, however long the list of names is.
_BINARY_BM25: Final = BM25(k1=1.0, b=0.0)


def entity_leg(recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray) -> LegCandidates:
    """Return the memories that share names with the best candidates."""
    view = context.view
    best = float(scores[0]) if scores.size else 0.0
    if best <= 0:
        return NO_CANDIDATES
    seeds = slots[: recipe.graph_seeds]
    records = view.records(seeds)
    alone = records["session"] < 0
    # Most have no names, which their records show without reading them.
    with_names = alone & (records["lengths"][:, _NAMES_FIELD] > 0)
    if not with_names.any():
        return NO_CANDIDATES
    seeds, naming = seeds[alone], seeds[with_names]
    weight_of = scores[: recipe.graph_seeds][with_names] / best
    names, query = view.names(naming), context.query.text
    folded_query = folded(query)
    weights: dict[str, float] = {}
    for listed, worth in zip(names, weight_of.tolist(), strict=True):
        for name in listed:
            key = folded(name)
            # Substrings first: most names are no part of the query. "Art" is part of "party" and not named.
            if key and not (key in folded_query and contains_any(query, (key,))):
                weights[key] = max(weights.get(key, 0.0), worth)
    if not weights:
        return NO_CANDIDATES
    count, frequencies = view.document_frequencies(tuple(weights), field=NAMES)
    most = max(_MIN_NAME_LIMIT, _MAX_NAME_SHARE * count)
    leading = {
        key: weight * inverse_document_frequency(frequencies[key], count)
        for key, weight in weights.items()
        if 2 <= frequencies[key] <= most and weight > 0
    }
    if not leading:
        return NO_CANDIDATES
    lexical_query = LexicalQuery(leading, {NAMES: 1.0}, context.query.excluded, _BINARY_BM25)
    candidates = without_excluded(context, partial(view.search, lexical_query), _NAMES_POOL + seeds.size)
    unseeded = (candidates.slots != seeds[:, np.newaxis]).all(axis=0)
    return LegCandidates(
        candidates.slots[unseeded][:_NAMES_POOL], candidates.scores[unseeded][:_NAMES_POOL], candidates.detail
    )


def with_seeds(candidates: LegCandidates, seeds: IntArray) -> LegCandidates:
    """Return the candidates after their seeds, which get the best candidate's score.

    A candidate of a seed completes an answer and does not replace it. Without this, MuSiQue loses 11 points
    of MRR and short facts 7 of hit@1.
    """
    own = np.full(seeds.size, candidates.scores[0])
    return LegCandidates(
        np.concatenate([seeds, candidates.slots]), np.concatenate([own, candidates.scores]), candidates.detail
    )
