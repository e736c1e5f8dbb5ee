"""What stands in quotation marks in a question: a text in which it stands as it is counts for more.

The bonus is in units of the largest idf of the corpus (OpenVault). Phrases are compared folded, as words of
their own (:func:`memorata.text.folding.contains_any`).

A phrase of words that are in no list ("Go", "The Who") is found by no word. So where words have spoken of all
candidates, or of none, those that meaning found are read for it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.model.checks import FloatArray, IntArray
from memorata.rank import Combination, best_first, phrase_bonus
from memorata.store.port import Found
from memorata.text.folding import contains_any, folded

QUOTED: Final = "as it is quoted"
"""What an explanation calls the worth of a phrase that stands in a text."""

_Detail: TypeAlias = Callable[[IntArray], Combination]


def with_phrases(recipe: Recipe, situation: Situation, found: Found, unspoken: IntArray) -> Found:
    """Return what words found with a bonus for texts in which a quoted phrase stands, best first again.

    Parameters
    ----------
    recipe
        Says what a phrase is worth, and how many are kept.
    situation
        The view and the question.
    found
        What words found.
    unspoken
        Other candidates, of which words have nothing to say; those in which a phrase stands join the list.
    """
    bonus = _bonus(recipe, situation, np.concatenate([found.slots, unspoken]))
    size = found.slots.size
    joining = bonus[size:] > 0
    slots = np.concatenate([found.slots, unspoken[joining]])
    scores = np.concatenate([found.scores + bonus[:size], bonus[size:][joining]])
    order = best_first(scores, recipe.lexical_pool)
    worth = dict(
        zip(slots.tolist(), np.concatenate([bonus[:size], bonus[size:][joining]]).tolist(), strict=True)
    )
    return Found(slots[order], scores[order], _told(found.detail, worth), found.ceiling)


def _bonus(recipe: Recipe, situation: Situation, slots: IntArray) -> FloatArray:
    if not slots.size:
        return np.zeros(0)
    count, _ = situation.view.document_frequencies(())
    wanted = [folded(phrase) for phrase in situation.question.phrases]
    contents = [memory.content for memory in situation.view.memories(slots)]
    hits = [sum(contains_any(content, (phrase,)) for phrase in wanted) for content in contents]
    return np.array([phrase_bonus(times, count, strength=recipe.phrase_weight) for times in hits], np.float64)


def _told(detail: _Detail | None, worth: Mapping[int, float]) -> _Detail:
    """Return what tells of words, and also of what quoted phrases were worth to each memory."""

    def tell(slots: IntArray) -> Combination:
        quoted = np.array([[worth.get(slot, 0.0) for slot in slots.tolist()]])
        if detail is None:
            return Combination.of("sum", [QUOTED], quoted)
        before = detail(slots)
        return Combination.of("sum", [*before.names, QUOTED], np.concatenate([before.parts, quoted]))

    return tell
