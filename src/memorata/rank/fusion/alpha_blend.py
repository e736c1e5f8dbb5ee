"""Alpha blend with a budget: vector and text share one fixed boost on top of a base score.

Source: OpenVault, a memory extension for role-play chats, where the base is the forgetting curve and W is
the most that relevance may add to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.fusion.legs import Aligned, Fused, Id, LegLike, align, flat, fused, fusion
from memorata.rank.scores import max_scaled

Alpha = Annotated[float, Declared("Share of the budget that goes to vectors; the rest goes to text.", 0, 1)]
Budget = Annotated[float, Declared("The most that relevance adds to the base score.", 0, 50)]
Threshold = Annotated[float, Declared("Similarity below which a vector adds nothing.", 0, 0.95)]

_STABLE_BATCH = 3
"""With fewer memories than this the largest BM25 of the batch says too little to divide by."""


@frozen
class BlendSettings:
    """The two numbers of an alpha blend that settings of the older form become."""

    alpha: float = 0.7
    budget: float = 15.0

    def __post_init__(self) -> None:
        for name, value in zip(("alpha", "budget"), _settings(self.alpha, self.budget), strict=True):
            object.__setattr__(self, name, value)


@fusion("alpha_blend")
def alpha_blend(
    legs: Sequence[LegLike[Id]] | Aligned[Id],
    *,
    weights: Numbers | None = None,
    base: Mapping[Id, float] | None = None,
    alpha: Alpha = 0.7,
    budget: Budget = 15.0,
    threshold: Threshold = 0.5,
    limit: int | None = None,
) -> Fused[Id]:
    """Fuse a vector leg with any number of text legs under one budget: ``base + W·alpha·v + W·(1-alpha)·t``.

    The first leg holds cosines, every other leg BM25 scores. ``v = max(0, (sim - threshold) / (1 -
    threshold))`` and ``t = bm25 / max(bm25)``, so the text part never exceeds ``W·(1-alpha)``. In a batch
    (the union of the legs) of fewer than three memories the largest BM25 says too little to divide by, and
    the text part is the raw BM25 clamped to ``[0, W·(1-alpha)]``. With several text legs each has the share
    of that part that its weight has among them. An id that a leg did not find gets nothing from it.

    Parameters
    ----------
    legs
        Ranked lists with scores: vectors first, then text.
    weights
        One per leg, of which the first is not used (alpha is); None for equal text legs.
    base
        The base score of each id; 0 for ids it does not name. Its ids need not be in any leg.
    alpha
        From 0 to 1.
    budget
        W, at least 0.
    threshold
        Below 1.
    limit
        How many to return; None for all.

    Examples
    --------
    >>> fused = alpha_blend([{"a": 0.9, "b": 0.5}, {"b": 4.0, "a": 2.0, "c": 1.0}], base={"c": 6.0})
    >>> dict(zip(fused.ids, fused.scores.round(6).tolist()))
    {'a': 10.65, 'c': 7.125, 'b': 4.5}
    """
    aligned = align(legs)
    scores, scales = aligned.leg_scores(), aligned.weights(weights)
    share, total = _settings(alpha, budget)
    similar = checks.all_within("legs[0]", scores[0], -1, 1) if scores else np.zeros(0)
    vector = total * share * _rescaled(similar, threshold)
    per_leg = [vector] if scores else []
    text = scales[1:] / scales[1:].sum() * (total * (1 - share)) if scales[1:].any() else scales[1:] * 0.0
    for index, (leg, part) in enumerate(zip(scores[1:], text, strict=True), 1):
        per_leg.append(_text_part(checks.counts(f"legs[{index}]", leg), float(part), len(aligned.ids)))
    if base is not None:
        if not isinstance(base, Mapping):
            raise InvalidArgument("base", base, "a mapping from id to base score")
        ground = checks.numbers("base", [base.get(id_, 0.0) for id_ in aligned.ids])
        per_leg.insert(0, ground)
        aligned = Aligned(
            aligned.ids,
            ("base", *aligned.names),
            (ground.size, *aligned.sizes),
            np.concatenate([np.arange(ground.size), aligned.places]),
            (ground, *aligned.scores),
        )
    return fused(aligned, flat(per_leg), limit)


def migrated(vector_weight: float | None = None, keyword_weight: float | None = None) -> BlendSettings:
    """Return the blend that settings with two separate weights meant.

    ``W = Wv`` and ``alpha = Wv / (Wv + Wk)``. A missing weight takes the default under which both missing is
    the default blend: Wv = 15, and Wk = 15·0.3/0.7.

    Examples
    --------
    >>> migrated(vector_weight=12, keyword_weight=4)
    BlendSettings(alpha=0.75, budget=12.0)
    >>> migrated()
    BlendSettings(alpha=0.7, budget=15.0)
    """
    default = BlendSettings()
    if vector_weight is None and keyword_weight is None:
        return default
    vector = default.budget if vector_weight is None else checks.at_least("vector_weight", vector_weight, 0)
    missing = default.budget * (1 - default.alpha) / default.alpha
    keyword = missing if keyword_weight is None else checks.at_least("keyword_weight", keyword_weight, 0)
    if vector + keyword == 0:
        raise InvalidArgument("keyword_weight", keyword_weight, "above 0 when vector_weight is 0")
    # The sum of two weights may be too large for float64 where each is not; the sum of their halves never is.
    part = 0.5 if math.isinf(vector + keyword) else 1.0
    return BlendSettings(alpha=part * vector / (part * vector + part * keyword), budget=vector)


def _settings(alpha: float, budget: float) -> tuple[float, float]:
    return checks.probability("alpha", alpha), checks.at_least("budget", budget, 0)


def _rescaled(similarity: FloatArray, threshold: float) -> FloatArray:
    lowest = checks.within("threshold", threshold, -1, 1)
    if lowest == 1:
        raise InvalidArgument("threshold", threshold, "below 1")
    return np.maximum(0.0, (similarity - lowest) / (1 - lowest))


def _text_part(bm25: FloatArray, max_text: float, batch: int) -> FloatArray:
    if batch < _STABLE_BATCH:
        return np.minimum(bm25, max_text)
    return max_text * max_scaled(bm25)
