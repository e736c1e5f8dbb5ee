"""What must not occur: words that the store leaves out by its lists, and phrases that the texts are read for.

A word that must not occur is looked up by its term before anything is selected, and costs nothing. Whether
words stand together is in no list, and how each of them was read depends on the language of its text; so
what a leg has found is read, what holds the phrase goes, and more is asked for as long as it took the places
of others. Phrases are compared as quoted ones are (:func:`memorata.text.folding.contains_any`).

One word with a minus before it in a text is an option of a command, and no word that must not occur: whoever
asks for "cmake -DCMAKE_BUILD_TYPE=Release" wants the memory that says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from memorata.engine.situation import Situation
from memorata.model.checks import BoolArray, IntArray
from memorata.store.port import Found
from memorata.text.folding import contains_any, folded

_OPTION: Final = re.compile(r"(?<!\S)-+\w\S*")
_MORE: Final = 4
"""How many times more is asked for each time."""
_AT_ONCE: Final = 500
"""How many texts are read together."""


def permitted(situation: Situation, slots: IntArray) -> IntArray:
    """Return those of some memories in which nothing stands that must not occur."""
    kept = situation.view.without(slots, situation.question.excluded)
    return kept[_unsaid(situation, kept)]


def asked_for(
    situation: Situation, find: Callable[[int], Found], limit: int, *, words: bool = False
) -> Found:
    """Return the best that a leg finds and that may be returned.

    Parameters
    ----------
    situation
        The view and the question.
    find
        Finds so many at most; the same ones and more, if asked for more.
    limit
        How many are wanted.
    words
        Whether the words that must not occur are left out here as well; False for legs that do so themselves.
    """
    question = situation.question
    found = find(limit)
    if not question.excluded_phrases and not (words and question.excluded):
        return found
    asked = limit
    while True:
        if words:
            kept = np.isin(found.slots, permitted(situation, found.slots))
        else:
            kept = _unsaid(situation, found.slots)
        if np.count_nonzero(kept) >= limit or found.slots.size < asked:
            best = kept.nonzero()[0][:limit]
            return replace(found, slots=found.slots[best], scores=found.scores[best])
        asked *= _MORE
        found = find(asked)


def _unsaid(situation: Situation, slots: IntArray) -> BoolArray:
    """Return in which of some memories no phrase stands that must not occur."""
    kept = np.ones(slots.size, np.bool_)
    phrases = [folded(phrase) for phrase in situation.question.excluded_phrases]
    words = [phrase for phrase in phrases if " " not in phrase]
    together = [phrase for phrase in phrases if " " in phrase]
    for start in range(0, slots.size if phrases else 0, _AT_ONCE):
        some = slots[start : start + _AT_ONCE]
        kept[start : start + some.size] = [
            not contains_any(memory.content, together)
            and not contains_any(_OPTION.sub(" ", memory.content), words)
            for memory in situation.view.memories(some)
        ]
    return kept
