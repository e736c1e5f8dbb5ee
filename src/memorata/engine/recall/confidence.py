"""Confidence: the calibrated probability that a hit answers, and that a query is about what is stored.

A score orders the candidates of one query and is relative to the best of them: the best of a bad lot has 1. A
confidence is comparable between queries, stores and embedders. It is a logistic regression (Platt, 1999)
over nine features, each without a unit: of ten hits with a confidence of 0.7, seven answer. That of a recall
is how likely the query is about the store, where as many are about something else; it cannot tell whether an
answer was ever said. It compares the query with the store's null (:mod:`memorata.engine.recall.null`). With
`min_confidence` it is the gate.

``benchmarks/answer_confidence.py`` learns the weights of hits, ``benchmarks/gate.py`` those of a recall, with
every set left out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.evidence import Requirements, requirements_met
from memorata.engine.recall.fusion import LEXICAL, SOFT, VECTOR, Trace
from memorata.engine.recall.null import DEPTH
from memorata.model.checks import BoolArray, FloatArray, IntArray
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
BIAS: Final = -3.047
WEIGHTS: Final = np.array([0.722, -0.242, 0.587, 1.649, 5.88, 0.164, 0.486, -1.203, 0.17])
"""Learnt on 4,026 questions of thirteen sets, ten hits of each, found with two embedders: it fits both."""
RECALL_FEATURES: Final = (
    "best cosine above the store's null, in its spreads",
    "five best cosines above the store's null, in its spreads",
    "best cosine above noise",
    "five best cosines above noise",
    "best match by words",
    "names a speaker of the store",
    "asks",
)
RECALL_BIAS: Final = -2.799
RECALL_WEIGHTS: Final = np.array([1.097, 0.697, 0.778, -5.719, 4.414, 3.961, -0.804])
"""Learnt on 1,700 queries that thirteen sets answer and 870 of other sets; each set and kind counts alike."""
NO_SCORES: Final[FloatArray] = np.zeros(0)
_MIN_SPREAD: Final = 0.02
"""Added to the spread of a null: a small store has almost none."""
_MAX_OTHERS: Final = 5
"""The number of best other scores that a score is compared with."""
_USUAL_OTHER: Final = 0.75
"""The usual score of those, as a share of the best; stands for those that a small store does not have."""


@frozen(eq=False)
class LegScores:
    """What the legs say of all candidates, as shares of the best possible.

    - `familiarity`: the embedder's with the query.
    - `cosines`, `matches`, `soft`: of meaning, words, and words of like meaning (None without such a leg).
    """

    familiarity: float
    cosines: FloatArray
    matches: FloatArray
    soft: FloatArray | None

    @classmethod
    def of(cls, trace: Trace) -> LegScores:
        """Return those of a recall; 0 for a candidate that is not among the leg's."""
        moment, slots = trace.moment, trace.slots
        order = slots.argsort()
        ascending = slots[order]
        scores_of = {name: _aligned(ascending, order, own, scores) for name, own, scores in trace.legs}
        nothing = np.zeros(slots.size)
        familiarity, noise = moment.familiarity if moment.meant else 0.0, max(0.0, moment.noise)
        above = (scores_of.get(VECTOR, nothing) - noise) / (1.0 - noise)
        cosines = familiarity * np.minimum(np.maximum(above, 0.0), 1.0)
        matches = np.minimum(scores_of.get(LEXICAL, nothing) / (moment.ceiling or 1.0), 1.0)
        return cls(familiarity, cosines, matches, scores_of.get(SOFT))


def answer_features(
    legs: LegScores, scores: FloatArray, places: Sequence[int], lifted: Sequence[float], met: float
) -> FloatArray:
    """Return the features of candidates: a row for each, in the order of :data:`FEATURES`.

    - `scores`: the scores of all candidates.
    - `places`: which candidates, by their place in the ranking of all of them.
    - `lifted`: the score of each with what its text adds.
    - `met`: whether the best meet the requirements; see :func:`requirements_met`.
    """
    at = np.array(places, np.intp)
    familiarity, soft = legs.familiarity, legs.soft
    scores = scores.copy()
    scores[at] = lifted
    top = float(scores[scores.argmax()])
    scores = scores / top if top > 0 else np.zeros(scores.size)
    best = np.sort(scores)[::-1][: _MAX_OTHERS + 1]
    own, others = scores[at], best.sum() + (_MAX_OTHERS + 1 - best.size) * _USUAL_OTHER
    around = np.where(own >= best[-1], others - own, best[:_MAX_OTHERS].sum()) / _MAX_OTHERS
    features = np.empty((len(FEATURES), at.size))
    features[0] = legs.cosines[at]
    features[1] = legs.matches[at]
    # Without a token table the score replaces its feature: the weights were learnt with one.
    features[2] = familiarity * (own if soft is None else soft[at])
    features[3] = own
    features[4] = own - around
    features[5] = familiarity * _is_first(legs.cosines, at)
    features[6] = _is_first(legs.matches, at)
    features[7] = familiarity
    features[8] = met
    return features.T


def recall_features(trace: Trace) -> FloatArray:
    """Return the features of a recall, in the order of :data:`RECALL_FEATURES`.

    Those of meaning are 0 where nothing was compared by meaning, and count as far as the embedder knows the
    language of the query.
    """
    moment = trace.moment
    scores_of = {name: scores for name, _, scores in trace.legs}
    cosines, matches = scores_of.get(VECTOR, NO_SCORES), scores_of.get(LEXICAL, NO_SCORES)
    by_meaning = np.zeros(4)
    if moment.meant and cosines.size:
        noise, null = max(0.0, moment.noise), moment.null
        best = np.sort((cosines - noise) / (1.0 - noise))[::-1][:DEPTH]
        shares, usual = np.array([best[0], best.mean()]), np.array([null.best, null.five])
        above = (shares - usual[:, 0]) / (usual[:, 1] + _MIN_SPREAD)
        by_meaning = moment.familiarity * np.concatenate([above, shares])
    match = min(1.0, float(matches.max(initial=0.0)) / (moment.ceiling or 1.0))
    return np.array([*by_meaning, match, moment.named, moment.asks])


class Estimates:
    """The confidences of a recall and of its hits, computed on first use.

    - `positions`: positions of the hits among the kept candidates, best first.
    - `memories`: the memories of these hits, in the same order.
    - `lifted`: their scores with what their texts add; set later, as is `order`: the order in which the hits
      are shown.
    """

    def __init__(
        self,
        trace: Trace | None,
        requirements: Requirements,
        positions: Sequence[int],
        memories: Sequence[Memory],
    ) -> None:
        self._trace, self._positions = trace, positions
        self.requirements, self.memories = requirements, memories
        self.lifted: Sequence[float] = ()
        self.order: Sequence[int] = ()

    def of(self, number: int) -> float:
        """Return the probability that the hit with this number, counted from 0, answers."""
        return self._of_hits[number]

    def answered(self) -> float:
        """Return the probability that the query is about what is stored."""
        if self._trace is None or not self.order:
            return 0.0
        return float(_probability(self.of_recall @ RECALL_WEIGHTS + RECALL_BIAS))

    @property
    def of_recall(self) -> FloatArray:
        """The features of the recall; see :func:`recall_features`."""
        assert self._trace is not None  # callers check
        return recall_features(self._trace)

    @cached_property
    def features(self) -> FloatArray:
        """The features of the hits, by their numbers; see :func:`answer_features`."""
        if self._trace is None or not self.lifted:
            return np.zeros((0, len(FEATURES)))
        return answer_features(self._legs, self._trace.scores, self._places, self.lifted, self._met)

    @cached_property
    def _of_hits(self) -> list[float]:
        if self._trace is None:
            return [0.0] * len(self._positions)
        probabilities: list[float] = _probability(self.features @ WEIGHTS + BIAS).tolist()
        return probabilities

    @cached_property
    def _legs(self) -> LegScores:
        assert self._trace is not None  # callers check
        return LegScores.of(self._trace)

    @cached_property
    def _places(self) -> list[int]:
        assert self._trace is not None  # callers check
        places: list[int] = self._trace.kept[np.array(self._positions, np.intp)].tolist()
        return places

    @cached_property
    def _met(self) -> float:
        assert self._trace is not None  # callers check
        scores = self._trace.scores[np.array(self._places, np.intp)]
        return requirements_met(self.requirements, self.memories, scores)


def _probability(logits: FloatArray) -> FloatArray:
    probabilities: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def _aligned(ascending: IntArray, order: IntArray, slots: IntArray, scores: FloatArray) -> FloatArray:
    """Return a leg's score of each candidate, whose slots are ascending in an order; 0 for one without."""
    at = np.minimum(ascending.searchsorted(slots), ascending.size - 1)
    present = ascending[at] == slots
    result = np.zeros(order.size)
    if present.all():
        result[order[at]] = scores
    else:
        result[order[at[present]]] = scores[present]
    return result


def _is_first(values: FloatArray, places: IntArray) -> BoolArray:
    """Return for each place whether it has the first of the largest values, if that is above 0."""
    if not values.size:
        return np.zeros(places.size, np.bool_)
    first = int(values.argmax())
    is_first: BoolArray = places == (first if values[first] > 0 else -1)
    return is_first
