"""How likely a hit answers the query: a calibrated probability, from what the legs said of it.

A score orders the candidates of one query and is relative to the best of them: the best of a bad lot has 1. A
confidence can be compared between queries, stores and embedders. It is a logistic regression (Platt, 1999)
over nine features, each without a unit: of ten hits with a confidence of 0.7, seven answer.
``benchmarks/answer_confidence.py`` learns the weights, with every set left out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from memorata.engine.recall.fusion import LEXICAL, SOFT, VECTOR
from memorata.engine.recall.query import ParsedQuery
from memorata.engine.recall.result import Trace
from memorata.model.checks import FloatArray, IntArray
from memorata.text.analysers import Analyser

FEATURES: Final = (
    "cosine above noise",
    "share of the best match by words",
    "share of the best by words of like meaning",
    "score",
    "score above the other best",
    "first by meaning",
    "first by words",
    "language known",
    "said by another than is named",
)
BIAS: Final = -2.824
WEIGHTS: Final = (1.646, 0.467, 1.535, 1.039, 3.835, 0.444, 0.595, -2.075, -2.254)
"""Learnt on 5,183 questions of fifteen sets, ten hits of each, which they call right or wrong."""
_OTHERS: Final = 5
"""With how many of the best others a score is compared."""


def answer_features(trace: Trace, places: Sequence[int], others_speak: Sequence[bool]) -> FloatArray:
    """Return the features of candidates: a row for each, in the order of :data:`FEATURES`.

    - `places`: which candidates, by their place in the ranking of all of them.
    - `others_speak`: for each, whether somebody else says it than the query names.
    """
    moment, at = trace.moment, np.array(places, np.intp)
    given = {name: _aligned(trace.slots, slots, scores) for name, slots, scores in trace.legs}
    nothing = np.zeros(trace.slots.size)
    known = moment.familiarity if moment.meant else 0.0
    noise = max(0.0, moment.noise)
    cosines = np.clip((given.get(VECTOR, nothing) - noise) / (1.0 - noise), 0.0, 1.0)
    matches = np.minimum(given.get(LEXICAL, nothing) / (moment.ceiling or 1.0), 1.0)
    scores = trace.scores / trace.scores[0] if trace.scores[0] > 0 else nothing
    best = scores[: _OTHERS + 1]
    around = np.where(
        np.arange(scores.size) <= _OTHERS, (best.sum() - scores) / _OTHERS, best[:_OTHERS].sum() / _OTHERS
    )
    # Where no table has a say, the score stands in: what was learnt was learnt with one.
    soft = given.get(SOFT, scores)
    rows = (
        known * cosines,
        matches,
        known * soft,
        scores,
        scores - around,
        known * _is_first(cosines),
        _is_first(matches),
        np.full(scores.size, known),
    )
    return np.column_stack([*(row[at] for row in rows), np.array(others_speak, np.float64)])


def confidences(trace: Trace, places: Sequence[int], others_speak: Sequence[bool]) -> list[float]:
    """Return how likely each of some candidates answers; takes what :func:`answer_features` does."""
    if not places:
        return []
    logits = answer_features(trace, places, others_speak) @ np.array(WEIGHTS) + BIAS
    probabilities: list[float] = (1.0 / (1.0 + np.exp(-logits))).tolist()
    return probabilities


class Estimates:
    """The confidences of the hits of a recall, computed together when one of them is first asked for."""

    def __init__(self, trace: Trace | None, positions: Sequence[int], others_speak: Sequence[bool]) -> None:
        self._trace, self._positions = trace, positions
        if trace is not None:
            trace.others_speak = others_speak

    def of(self, number: int) -> float:
        """Return the confidence of the hit with this number, counted from 0."""
        return self._all[number]

    @cached_property
    def _all(self) -> list[float]:
        if self._trace is None:
            return [0.0] * len(self._positions)
        places = self._trace.kept[np.array(self._positions, np.intp)].tolist()
        return confidences(self._trace, places, self._trace.others_speak)


def names_another(query: ParsedQuery, analyser: Analyser, speaker: str) -> bool:
    """Return whether a query names somebody who speaks, and it is another than this one."""
    if not query.speakers or not speaker:
        return False
    return set(query.speakers).isdisjoint(analyser.tokens(speaker))


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
