r"""Monotone curves from similarity to probability: isotonic and logistic regression.

The isotonic curve has no shape given in advance: of all curves that never fall, it is the one of the least
squares, found by pooling adjacent violators (Ayer et al., *Ann. Math. Stat.* 26, 1955; for classifiers,
Zadrozny & Elkan, KDD 2002). It needs some hundreds of labelled pairs. The logistic curve has two parameters
and needs some dozens; its labels are softened as in J. Platt, "Probabilistic outputs for support vector
machines", 1999.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.learn.thresholds import MIN_PAIRS, labelled_pairs
from memorata.model import checks
from memorata.model.checks import Flags, FloatArray, Numbers
from memorata.model.errors import InvalidArgument


@frozen
class Isotonic:
    """A rising curve through points, straight between them and level beyond the first and last."""

    similarities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        at = checks.all_within("similarities", self.similarities, -1, 1)
        worth = checks.probabilities("probabilities", self.probabilities)
        checks.same_length(similarities=at, probabilities=worth)
        if not at.size or (np.diff(at) <= 0).any():
            raise InvalidArgument(
                "similarities", self.similarities, "at least one number, each above the last"
            )
        if (np.diff(worth) < 0).any():
            raise InvalidArgument("probabilities", self.probabilities, "numbers that never fall")
        object.__setattr__(self, "similarities", tuple(at.tolist()))
        object.__setattr__(self, "probabilities", tuple(worth.tolist()))

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        similarities = checks.all_within("similarity", similarity, -1, 1)
        return np.interp(similarities, self.similarities, self.probabilities)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "kind": "isotonic",
            "similarities": list(self.similarities),
            "probabilities": list(self.probabilities),
        }


def fit_isotonic(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Isotonic:
    r"""Fit the rising curve of the least squares, :math:`\min_f \sum_i (y_i - f(s_i))^2`.

    - `similarity`, `relevant`, `least`: as for :func:`~memorata.learn.thresholds.labelled_pairs`.

    A point is kept at both ends of every level piece, so between two pieces the curve climbs in a straight
    line, and at the pairs it was fitted to it is the isotonic regression itself.

    >>> curve = fit_isotonic([0.1, 0.2, 0.3, 0.4], [False, True, False, True], least=4)
    >>> curve([0.1, 0.2, 0.3, 0.4]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    at, place, times = np.unique(similar, return_inverse=True, return_counts=True)
    weights = times.astype(np.float64)
    means = np.bincount(place, weights=labels.astype(np.float64)) / weights
    level = rising_means(means, weights)
    edge = np.r_[True, level[1:] != level[:-1]]
    ends = edge | np.r_[edge[1:], True]
    return Isotonic(tuple(at[ends].tolist()), tuple(level[ends].tolist()))


def rising_means(values: Numbers, weights: Numbers) -> FloatArray:
    r"""Return the rising sequence nearest to `values`: the least :math:`\sum w_i (v_i - f_i)^2`.

    Neighbours that fall are pooled into their mean until nothing falls; each value is pooled at most once, so
    the cost is linear.
    """
    heights, weight = checks.numbers("values", values), checks.numbers("weights", weights)
    checks.same_length(values=heights, weights=weight)
    if (weight <= 0).any():
        raise InvalidArgument("weights", weight.tolist(), "numbers above 0")
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    with checks.finite_arithmetic("values", values):
        for value, mass in zip(heights.tolist(), weight.tolist(), strict=True):
            size = 1
            while means and means[-1] >= value:
                before, held = means.pop(), masses.pop()
                # A mean of two lies between them; the rounded quotient may not, and would then fall again.
                value = min(max((before * held + value * mass) / (held + mass), value), before)
                mass += held
                size += sizes.pop()
            means.append(value)
            masses.append(mass)
            sizes.append(size)
    return np.repeat(np.array(means, np.float64), sizes)


_ITERATIONS: Final = 100
_SETTLED: Final = 1e-10


@frozen
class Logistic:
    """The curve :math:`1 / (1 + e^{-(a + b s)})` with a slope :math:`b` of at least 0."""

    intercept: float
    slope: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", checks.number("intercept", self.intercept))
        object.__setattr__(self, "slope", checks.at_least("slope", self.slope, 0))

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        similarities = checks.all_within("similarity", similarity, -1, 1)
        with checks.finite_arithmetic("slope", self.slope):
            return _logistic(self.intercept + self.slope * similarities)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {"kind": "logistic", "intercept": self.intercept, "slope": self.slope}


def fit_logistic(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Logistic:
    r"""Fit the S-shape of the highest likelihood, by Newton's method.

    The labels are softened as Platt does, to :math:`(N_+ + 1)/(N_+ + 2)` and :math:`1/(N_- + 2)`, so that
    pairs which one threshold separates do not drive the slope to infinity. Where similarity speaks against
    relevance the best curve that does not fall is level, at the share of relevant pairs.

    - `similarity`, `relevant`, `least`: as for :func:`~memorata.learn.thresholds.labelled_pairs`.

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
