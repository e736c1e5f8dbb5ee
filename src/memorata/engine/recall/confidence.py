"""How likely a hit answers the query: a calibrated probability, from what the legs said of it.

A score orders the candidates of one query and is relative to the best of them: the best of a bad lot has 1. A
confidence can be compared between queries, stores and embedders. It is a logistic regression (Platt, 1999)
over nine features, each without a unit: of ten hits with a confidence of 0.7, seven answer. That of a recall
is how likely one of the first five hits answers. ``benchmarks/answer_confidence.py`` learns the weights, with
every set left out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from memorata.engine.recall.fusion import LEXICAL, SOFT, VECTOR
from memorata.engine.recall.result import Trace
from memorata.engine.recall.text_evidence import Asked, requirements_met
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory

FEATURES: Final = (
    "cosine above noise",
    "share of the best match by words",
    "share of the best by words of like meaning",
    "score",
    "score above the other best",
    "first by meaning",
    "first by words",
    "language known",
    "what is asked for is met",
)
BIAS: Final = -3.42
WEIGHTS: Final = (1.282, 0.166, 1.193, 2.087, 5.259, 0.391, 0.309, -2.096, 0.254)
"""Learnt on 4,093 questions of fourteen sets, ten hits of each, which they call right or wrong."""
RECALL_FEATURES: Final = (
    "what is asked for is met",
    "best cosine above noise",
    "words of the first hit",
    "language known",
)
RECALL_BIAS: Final = 1.171
RECALL_WEIGHTS: Final = (0.882, 2.161, 1.262, -1.919)
"""Learnt on the same questions."""
_FIRST: Final = 5
"""Whether one of so many hits answers is what the confidence of a recall is about."""
_OTHERS: Final = 5
"""With how many of the best others a score is compared."""


def answer_features(trace: Trace, places: Sequence[int], lifted: Sequence[float], met: float) -> FloatArray:
    """Return the features of candidates: a row for each, in the order of :data:`FEATURES`.

    - `places`: which candidates, by their place in the ranking of all of them.
    - `lifted`: the score of each with what its text says for it.
    - `met`: whether the best meet what is asked for; see :func:`.text_evidence.requirements_met`.
    """
    at = np.array(places, np.intp)
    known, cosines, matches, soft = _evidence(trace)
    scores = trace.scores.copy()
    scores[at] = lifted
    top = float(scores[scores.argmax()])
    scores = scores / top if top > 0 else np.zeros(scores.size)
    best = np.sort(scores)[::-1][: _OTHERS + 1]
    among = scores >= best[-1]
    around = np.where(among, (best.sum() - scores) / _OTHERS, best[:_OTHERS].sum() / _OTHERS)
    rows = (
        cosines,
        matches,
        # Where no table has a say, the score stands in: what was learnt was learnt with one.
        known * (scores if soft is None else soft),
        scores,
        scores - around,
        known * _is_first(cosines),
        _is_first(matches),
        np.full(scores.size, known),
        np.full(scores.size, met),
    )
    return np.column_stack([row[at] for row in rows])


def recall_features(trace: Trace, places: Sequence[int], met: float) -> FloatArray:
    """Return the features of a recall from those of its first hits, in the order of `RECALL_FEATURES`."""
    known, cosines, matches, _ = _evidence(trace)
    first = np.array(places[:_FIRST], np.intp)
    return np.array([met, cosines[first].max(initial=0.0), matches[first[0]], known])


class Estimates:
    """The confidences of a recall and of its hits, computed together when one of them is first asked for.

    - `positions`: of the hits that were read among the candidates that were kept, best first.
    - `memories`: those hits, in the same order.
    - `lifted`: their scores with what their texts say for them; set later, as is `order`: in which of these
      the hits are shown.
    """

    def __init__(
        self, trace: Trace | None, asked: Asked, positions: Sequence[int], memories: Sequence[Memory]
    ) -> None:
        self._trace, self.asked, self._positions, self.memories = trace, asked, positions, memories
        self.lifted: Sequence[float] = ()
        self.order: Sequence[int] = ()

    def of(self, number: int) -> float:
        """Return how likely the hit with this number, counted from 0, answers."""
        return self._of_hits[number]

    def answered(self) -> float:
        """Return how likely one of the first five hits answers."""
        if self._trace is None or not self.order:
            return 0.0
        return float(_probability(self.of_recall @ np.array(RECALL_WEIGHTS) + RECALL_BIAS))

    @property
    def of_recall(self) -> FloatArray:
        """The features of the recall; see :func:`recall_features`."""
        assert self._trace is not None  # callers looked
        return recall_features(self._trace, [self._places[number] for number in self.order], self._met)

    @cached_property
    def features(self) -> FloatArray:
        """The features of the hits, by their numbers; see :func:`answer_features`."""
        if self._trace is None or not self.lifted:
            return np.zeros((0, len(FEATURES)))
        return answer_features(self._trace, self._places, self.lifted, self._met)

    @cached_property
    def _of_hits(self) -> list[float]:
        if self._trace is None:
            return [0.0] * len(self._positions)
        probabilities: list[float] = _probability(self.features @ np.array(WEIGHTS) + BIAS).tolist()
        return probabilities

    @cached_property
    def _places(self) -> list[int]:
        assert self._trace is not None  # callers looked
        places: list[int] = self._trace.kept[np.array(self._positions, np.intp)].tolist()
        return places

    @cached_property
    def _met(self) -> float:
        assert self._trace is not None  # callers looked
        scores = self._trace.scores[np.array(self._places, np.intp)]
        return requirements_met(self.asked, self.memories, scores)


def _evidence(trace: Trace) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """Return how well the embedder knows the query; cosines, words and words of like meaning of all."""
    moment = trace.moment
    given = {name: _aligned(trace.slots, slots, scores) for name, slots, scores in trace.legs}
    nothing = np.zeros(trace.slots.size)
    known, noise = moment.familiarity if moment.meant else 0.0, max(0.0, moment.noise)
    cosines = known * np.clip((given.get(VECTOR, nothing) - noise) / (1.0 - noise), 0.0, 1.0)
    matches = np.minimum(given.get(LEXICAL, nothing) / (moment.ceiling or 1.0), 1.0)
    return known, cosines, matches, given.get(SOFT)


def _probability(logits: FloatArray) -> FloatArray:
    probabilities: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def _aligned(everyone: IntArray, slots: IntArray, scores: FloatArray) -> FloatArray:
    """Return the score that a leg gave to each of all candidates; 0 for one that it did not find."""
    order = everyone.argsort(kind="stable")
    at = np.minimum(everyone.searchsorted(slots, sorter=order), everyone.size - 1)
    places = order[at]
    present = everyone[places] == slots
    result = np.zeros(everyone.size)
    result[places[present]] = scores[present]
    return result


def _is_first(values: FloatArray) -> FloatArray:
    first = np.zeros(values.size)
    if values.size and values[values.argmax()] > 0:
        first[values.argmax()] = 1.0
    return first
