"""Thresholds and gates: what is good enough to be shown, and saying so when nothing is.

A memory below the threshold of one leg may still enter through another. A gate never returns something merely
because it is the best of a bad lot; it says what the best rejected one was and what it missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import BoolArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

SimilarityThreshold = Annotated[float, Declared("Least similarity; depends on the embedder.", -1, 1)]
ConfidenceThreshold = Annotated[float, Declared("Least confidence.", 0, 1)]


@frozen(eq=False)
class Gate:
    """Who passed, and the best of those who did not.

    Attributes
    ----------
    passed
        Whether each item passed.
    best_rejected
        The index of the rejected item with the highest score, or None if none was rejected.
    reason
        What that item missed, in words; empty if none was rejected.
    """

    passed: BoolArray
    best_rejected: int | None
    reason: str


def score_gate(scores: Numbers, least: float) -> Gate:
    """Let through every score of at least `least`.

    Examples
    --------
    >>> gate = score_gate([0.9, 0.3, 0.4], 0.5)
    >>> gate.passed.tolist(), gate.best_rejected, gate.reason
    ([True, False, False], 2, 'score 0.4 is below 0.5')
    """
    given, floor = checks.numbers("scores", scores), checks.number("least", least)
    passed = given >= floor
    worst = _best_rejected(given, passed)
    return Gate(passed, worst, "" if worst is None else f"score {given[worst]:.4g} is below {floor:.4g}")


def similarity_gate(
    similarity: Numbers,
    confidence: Numbers,
    *,
    least_similarity: SimilarityThreshold = 0.75,
    least_confidence: ConfidenceThreshold = 0.50,
) -> Gate:
    """Let through what is both similar and certain enough; both bounds are included.

    The defaults are the classic ones of HAIA. The similarity threshold depends on the embedder: each
    embedder carries its own calibrated value, which should be given here.

    Parameters
    ----------
    similarity
        One cosine per item.
    confidence
        One number from 0 to 1 per item.
    least_similarity, least_confidence
        The thresholds.

    Examples
    --------
    >>> gate = similarity_gate([0.8, 0.7, 0.9], [0.9, 0.9, 0.4])
    >>> gate.passed.tolist(), gate.best_rejected, gate.reason
    ([True, False, False], 2, 'confidence 0.4 is below 0.5')
    """
    similar = checks.all_within("similarity", similarity, -1, 1)
    sure = checks.probabilities("confidence", confidence)
    checks.same_length(similarity=similar, confidence=sure)
    near = checks.within("least_similarity", least_similarity, -1, 1)
    certain = checks.probability("least_confidence", least_confidence)
    passed = (similar >= near) & (sure >= certain)
    worst = _best_rejected(similar, passed)
    if worst is None:
        return Gate(passed, None, "")
    missed = []
    if similar[worst] < near:
        missed.append(f"similarity {similar[worst]:.4g} is below {near:.4g}")
    if sure[worst] < certain:
        missed.append(f"confidence {sure[worst]:.4g} is below {certain:.4g}")
    return Gate(passed, worst, " and ".join(missed))


def leg_gate(leg_scores: Mapping[str, Numbers], least: Mapping[str, float]) -> Gate:
    """Let through what reaches the threshold of at least one leg.

    Parameters
    ----------
    leg_scores
        By leg, one score per item; NaN is not allowed, so give 0 or less for "not found" by convention of
        the leg.
    least
        By leg, its threshold; a leg without one lets nothing through by itself.

    Notes
    -----
    The best rejected item is the one that came closest to a threshold, in units of that threshold's leg:
    the smallest shortfall ``least - score`` over all legs.

    Examples
    --------
    >>> gate = leg_gate({"vector": [0.9, 0.2, 0.1], "text": [0.0, 7.0, 4.5]}, {"vector": 0.5, "text": 5.0})
    >>> gate.passed.tolist(), gate.best_rejected, gate.reason
    ([True, True, False], 2, 'vector 0.1 is below 0.5 and text 4.5 is below 5')
    """
    for argument, value in (("leg_scores", leg_scores), ("least", least)):
        if not isinstance(value, Mapping):
            raise InvalidArgument(argument, value, "a mapping by the names of legs")
        if not checks.texts(argument, value):
            raise InvalidArgument(argument, value, "at least one leg")
    unknown = set(least) - set(leg_scores)
    if unknown:
        raise InvalidArgument("least", sorted(unknown), f"thresholds of the legs {', '.join(leg_scores)}")
    given = {leg: checks.numbers(f"leg_scores[{leg!r}]", scores) for leg, scores in leg_scores.items()}
    checks.same_length(**{f"leg_scores[{leg!r}]": scores for leg, scores in given.items()})
    floors = {leg: checks.number(f"least[{leg!r}]", floor) for leg, floor in least.items()}
    with checks.finite_arithmetic("leg_scores", leg_scores):
        surplus = np.stack([given[leg] - floor for leg, floor in floors.items()]).max(axis=0)
    passed = surplus >= 0
    worst = _best_rejected(surplus, passed)
    if worst is None:
        return Gate(passed, None, "")
    reason = " and ".join(
        f"{leg} {given[leg][worst]:.4g} is below {floor:.4g}" for leg, floor in floors.items()
    )
    return Gate(passed, worst, reason)


def _best_rejected(scores: Numbers, passed: BoolArray) -> int | None:
    rejected = np.flatnonzero(~passed)
    return int(rejected[np.asarray(scores)[rejected].argmax()]) if rejected.size else None
