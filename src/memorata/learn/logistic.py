r"""A rising curve from similarity to probability with the shape of an S, of two numbers.

Logistic regression with labels softened as in J. Platt, "Probabilistic outputs for support vector machines",
1999, by Newton's method. It needs some dozens of labelled pairs.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.learn.labels import LEAST_PAIRS, labelled_pairs
from memorata.model import checks
from memorata.model.checks import Flags, FloatArray, Numbers

_ITERATIONS: Final = 100
_SETTLED: Final = 1e-10


@frozen
class Logistic:
    r"""The curve :math:`1 / (1 + e^{-(a + b s)})` with a slope :math:`b` of at least 0.

    Examples
    --------
    >>> Logistic(intercept=-5.0, slope=10.0)([0.5]).tolist()
    [0.5]
    """

    intercept: float
    slope: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", checks.number("intercept", self.intercept))
        object.__setattr__(self, "slope", checks.at_least("slope", self.slope, 0))

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        asked = checks.all_within("similarity", similarity, -1, 1)
        with checks.finite_arithmetic("slope", self.slope):
            return _logistic(self.intercept + self.slope * asked)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {"kind": "logistic", "intercept": self.intercept, "slope": self.slope}


def fit_logistic(similarity: Numbers, relevant: Flags, *, least: int = LEAST_PAIRS) -> Logistic:
    r"""Fit the S-shape of the highest likelihood, by Newton's method.

    The labels are softened as Platt does, to :math:`(N_+ + 1)/(N_+ + 2)` and :math:`1/(N_- + 2)`, so that
    pairs which one threshold separates do not drive the slope to infinity. Where similarity speaks against
    relevance the best curve that does not fall is level, at the share of relevant pairs.

    Parameters
    ----------
    similarity, relevant, least
        As for :func:`~memorata.learn.labels.labelled_pairs`.

    Examples
    --------
    >>> curve = fit_logistic([0.1, 0.2, 0.8, 0.9], [False, False, True, True], least=4)
    >>> curve([0.1, 0.5, 0.9]).round(2)
    array([0.22, 0.5 , 0.78])
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    positive = int(np.count_nonzero(labels))
    negative = labels.size - positive
    wanted = np.where(labels, (positive + 1) / (positive + 2), 1 / (negative + 2))
    centre, spread = float(similar.mean()), float(similar.std())
    share = float(wanted.mean())
    level = Logistic(float(np.log(share / (1 - share))), 0.0)
    if spread < _SETTLED:
        return level
    # Around the mean and at unit spread the two numbers hardly depend on each other.
    scaled = (similar - centre) / spread
    rows = np.stack([np.ones(scaled.size), scaled])
    fitted = np.array([level.intercept, 0.0])
    worth = _loss(fitted, rows, wanted)
    for _ in range(_ITERATIONS):
        chance = _logistic(fitted @ rows)
        slope = rows @ (chance - wanted)
        bend = (rows * (chance * (1 - chance))) @ rows.T
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        size = 1.0
        # Half the step until it is one downhill; Newton's own may overshoot where the curve is flat.
        while size > _SETTLED and _loss(fitted - size * step, rows, wanted) > worth:
            size /= 2
        fitted = fitted - size * step
        worth = _loss(fitted, rows, wanted)
        if np.abs(size * step).max() < _SETTLED:
            break
    slope_there = float(fitted[1]) / spread
    if slope_there <= 0:
        return level
    return Logistic(float(fitted[0]) - slope_there * centre, slope_there)


def _loss(fitted: FloatArray, rows: FloatArray, wanted: FloatArray) -> float:
    """Return the negative log-likelihood, log(1 + e^z) - y·z, without overflow."""
    at = fitted @ rows
    return float((np.logaddexp(0.0, at) - wanted * at).sum())


def _logistic(values: FloatArray) -> FloatArray:
    # e^-|z| never overflows; the other half of the curve is one minus this one.
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)
