"""The names leg: from the best memories over the names they mention to others that mention them.

"Where was the author of that song born?" needs two memories, and the second shares no word with the question;
what it shares, with the first, is a name. So the best candidates of the other legs are asked whom and what
they mention that the question does not, and memories that mention the same become candidates, rare names
counting more: one step of a walk over the graph of memories and entities, as HippoRAG (Gutiérrez et al.,
2024) takes many.

What was said in a conversation leads to its neighbours in the session instead (see
:mod:`memorata.rank.context`): there, names alone were measured to bring in as much chatter as answers.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from memorata.engine.excluding import asked_for
from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.index.lexical import LexicalQuery
from memorata.index.record import FIELDS
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.bm25 import BM25, inverse_document_frequency
from memorata.store.port import NOTHING, Found
from memorata.text.folding import contains_any, folded

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


def bridge(recipe: Recipe, situation: Situation, slots: IntArray, scores: FloatArray) -> Found:
    """Return the memories that mention what the best candidates mention.

    Parameters
    ----------
    recipe
        Says how many of the best are asked.
    situation
        The view and the question.
    slots, scores
        The candidates so far, best first.
    """
    view = situation.view
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
    question = situation.question.text
    asked = folded(question)
    weights: dict[str, float] = {}
    for memory, worth in zip(view.memories(asking), weight_of.tolist(), strict=True):
        for name in memory.entities:
            key = folded(name)
            # Most names are no part of the question at all; "Art" is one of "party", and not named there.
            if key and not (key in asked and contains_any(question, (key,))):
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
    query = LexicalQuery(leading, {NAMES: 1.0}, situation.question.excluded, _PLAIN)
    found = asked_for(situation, partial(view.lexical, query), _POOL + seeds.size)
    others = (found.slots != seeds[:, np.newaxis]).all(axis=0)
    return Found(found.slots[others][:_POOL], found.scores[others][:_POOL], found.detail)
