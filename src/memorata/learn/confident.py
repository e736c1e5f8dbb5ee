"""Several recalls, one answer: ask again in other words and without a leg, and see what stays.

How far the answers agree (:mod:`memorata.learn.agreement`) is how sure one may be of the first. A caller can
require it: what too few of them found is left out, and where they agree too little, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memorata._frozen import frozen
from memorata.engine import Engine, Recall
from memorata.learn.agreement import Agreement, agreement
from memorata.model import checks
from memorata.model.errors import InvalidArgument


@frozen
class ConfidentRecall:
    """An answer, and how far others agree with it.

    Attributes
    ----------
    recall
        The answer as it was asked for; without its hits, if too little agreement was found.
    agreement
        How far the samples agree, and what each hit is supported by.
    samples
        What was asked, in words.
    refused
        Why nothing is shown; empty if something is.
    """

    recall: Recall
    agreement: Agreement
    samples: tuple[str, ...]
    refused: str = ""


def confident_recall(
    engine: Engine,
    text: str,
    *,
    variants: Sequence[str] = (),
    require: float = 0.0,
    support: float = 0.0,
    limit: int = 10,
    **options: Any,  # noqa: ANN401 - those of Engine.recall
) -> ConfidentRecall:
    """Recall, and say how sure one may be.

    Parameters
    ----------
    engine
        Whose memories.
    text
        The question.
    variants
        The same question in other words; without one it is also asked by meaning alone and by words alone.
    require
        The least agreement, from 0 to 1; with less, nothing is shown.
    support
        The least share of the samples that must have found a hit for it to be shown.
    limit, **options
        As for :meth:`~memorata.Engine.recall`.
    """
    least, share = checks.probability("require", require), checks.probability("support", support)
    others = checks.texts("variants", variants)
    recipe = engine.recipe_named(options.pop("recipe", None), namespace=options.get("namespace"))
    recipe = recipe.changed(options.pop("changes", None) or {})
    found = engine.recall(text, limit=limit, recipe=recipe, **options)
    samples = [("as asked", found)]
    with engine.recall_log.aside():
        samples += [
            (f"as {other!r}", engine.recall(other, limit=limit, recipe=recipe, **options)) for other in others
        ]
        if recipe.vector_pool and recipe.lexical_pool and engine.embedder is not None:
            for said, leg in (("by meaning alone", "lexical_pool"), ("by words alone", "vector_pool")):
                alone = recipe.changed({leg: 0})
                samples.append((said, engine.recall(text, limit=limit, recipe=alone, **options)))
    if len(samples) < 2:
        raise InvalidArgument(
            "variants", list(others), "at least one, where a recipe has one leg or there is no embedder"
        )
    rankings = [[hit.memory.id for hit in each] for _, each in samples]
    # Of sessions the limit counts those, and each has several hits.
    agreed = agreement(rankings, depth=max(1, *map(len, rankings)))
    names = tuple(said for said, _ in samples)
    if agreed.confidence < least:
        refused = f"the answers agree to {agreed.confidence:.2f}, below {least:.2f}"
        return ConfidentRecall(replace(found, hits=(), sessions=()), agreed, names, refused)
    kept = tuple(hit for hit in found if agreed.support[hit.memory.id] >= share)
    sessions = [
        replace(each, hits=tuple(hit for hit in each.hits if agreed.support[hit.memory.id] >= share))
        for each in found.sessions
    ]
    shown = tuple(each for each in sessions if each.hits)
    return ConfidentRecall(replace(found, hits=kept, sessions=shown), agreed, names)
