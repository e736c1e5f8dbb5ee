"""The communities leg: memories of the groups whose summaries share words with the question.

The global search of semstreams, after GraphRAG (Edge et al. 2024, "From Local to Global"): every community of
the graph has a summary; a word of the question counts 2 for standing in it and 1.5 more for being one of its
keywords; of the five best communities, the memories that share a word with the question are found. There it
is a way of searching by itself, whose summaries go to a language model as context; here it is a leg like
others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

import numpy as np

from memorata.engine.community_groups import summaries
from memorata.engine.excluding import permitted
from memorata.engine.leg_notes import noted
from memorata.engine.namespace_graph import NamespaceGraph
from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.index.lexical import LexicalQuery
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory
from memorata.rank.bm25 import BM25
from memorata.store.port import NOTHING, Found, Terms, View
from memorata.text.folding import folded

IN_SUMMARY: Final = 2.0
IN_KEYWORDS: Final = 1.5
_BEST: Final = 5
"""How many communities are looked into."""
_POOL: Final = 100
"""How many memories the leg finds at most."""
_NAMED: Final = 3
"""How many of its keywords an explanation names a community by."""


class _Group(NamedTuple):
    """A community: its memories, the keywords of its summary, and the words of the names in it."""

    slots: IntArray
    terms: tuple[str, ...]
    names: frozenset[str]


def gather(recipe: Recipe, situation: Situation, slots: IntArray, scores: FloatArray) -> Found:
    """Return the memories of the communities that a question is about.

    Parameters
    ----------
    recipe
        Has nothing to say about it but the weight of the leg.
    situation
        The view, the question, and where the graph is to be had.
    slots, scores
        The candidates so far; what a summary says does not depend on them.
    """
    words_of, overview = situation.words_of, situation.overview
    if situation.graph is None or words_of is None or overview is None or not situation.question.terms:
        return NOTHING
    known = situation.graph()
    groups = known.once(lambda: _groups(known, overview, words_of))
    terms, words = set(situation.question.terms), set(folded(situation.question.text).split())
    worth = [points(terms, words, group.terms, group.names) for group in groups]
    best = sorted((-value, place) for place, value in enumerate(worth) if value)[:_BEST]
    if not best:
        return NOTHING
    members = [groups[place].slots for _, place in best]
    owner = np.repeat([place for _, place in best], [each.size for each in members])
    total = np.repeat([-value for value, _ in best], [each.size for each in members])
    found = np.concatenate(members)
    kept = np.isin(found, _sharing(situation)) & np.isin(found, permitted(situation, np.unique(found)))
    if not kept.any():
        return NOTHING
    found, owner, total = found[kept], owner[kept], total[kept]
    # Whoever is in the same community counts the same; the question then says which of them is closer.
    close = np.zeros(found.size)
    if situation.vector is not None:
        close = situation.view.cosines(situation.vector, found)
    order = np.lexsort((found, -close, -total))[:_POOL]
    notes: dict[int, dict[str, float]] = {
        int(found[at]): {_said(groups[int(owner[at])]): float(total[at])} for at in order
    }
    return Found(found[order], total[order], noted(notes))


def points(terms: set[str], words: set[str], keywords: tuple[str, ...], names: frozenset[str]) -> float:
    """Return what a summary counts for a question, by its analysed terms and its plain words.

    Examples
    --------
    >>> points({"green", "tea"}, {"anna"}, ("tea", "milk"), frozenset({"anna"}))
    5.5
    """
    as_keywords = len(terms.intersection(keywords))
    return IN_SUMMARY * (as_keywords + len(words & names)) + IN_KEYWORDS * as_keywords


def _groups(
    known: NamespaceGraph,
    overview: Callable[[], AbstractContextManager[View]],
    words_of: Callable[[Memory], Terms],
) -> list[_Group]:
    # They are kept for the questions to come: what this one leaves out must not be missing from them.
    with overview() as view:
        found = summaries(known, view, words_of)
    return [
        _Group(slots, told.terms, frozenset(word for name in told.entities for word in folded(name).split()))
        for slots, told in found
    ]


def _sharing(situation: Situation) -> IntArray:
    """Return the memories that share a word with the question."""
    query = LexicalQuery(dict.fromkeys(situation.question.terms, 1.0), {"content": 1.0}, (), BM25())
    return situation.view.lexical(query, max(1, situation.view.count)).slots


def _said(group: _Group) -> str:
    return f"a community about {', '.join(group.terms[:_NAMED])}" if group.terms else "a community"
