r"""What a similarity is worth: the probability that a pair this similar is relevant.

A cosine of 0.6 says much with one embedder and nothing with the next. From labelled pairs of one embedder two
curves can be fitted, both rising: a step curve of the least squares, with no shape given in advance (isotonic
regression by pooling adjacent violators: Ayer et al., *Ann. Math. Stat.* 26, 1955; for classifiers, Zadrozny
& Elkan, KDD 2002), and an S-shape of two numbers (logistic regression with Platt's softened labels, 1999).
The first needs some hundreds of pairs, the second some dozens.

How well probabilities keep their word is the expected calibration error (Naeini et al., AAAI 2015). Measured
on the pairs that were fitted it flatters, the isotonic one most; :func:`out_of_fold` measures on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from recollect.learn.folds import grouped_folds
from recollect.learn.labels import LEAST_PAIRS, labelled_pairs
from recollect.model import checks
from recollect.model.checks import Flags, FloatArray, Numbers
from recollect.model.errors import InvalidArgument

_ITERATIONS: Final = 100
_SETTLED: Final = 1e-10


class Calibration(Protocol):
    """A rising curve from similarity to probability that can be written down."""

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data, which :func:`calibration_of` reads back."""
        ...


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising curve through points, straight between them and level beyond the first and last.

    Examples
    --------
    >>> Isotonic((0.2, 0.6), (0.0, 0.8))([0.1, 0.4, 0.9]).round(2)
    array([0. , 0.4, 0.8])
    """

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
        asked = checks.all_within("similarity", similarity, -1, 1)
        return np.interp(asked, self.similarities, self.probabilities)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "kind": "isotonic",
            "similarities": list(self.similarities),
            "probabilities": list(self.probabilities),
        }


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """How often what was called likely came true, by bins of equal width that hold anything.

    Attributes
    ----------
    predicted, observed
        The mean probability of each bin, and the share of its pairs that are relevant.
    counts
        How many pairs are in it.
    error
        The expected calibration error.
    """

    predicted: FloatArray
    observed: FloatArray
    counts: FloatArray
    error: float


def fit_isotonic(similarity: Numbers, relevant: Flags, *, least: int = LEAST_PAIRS) -> Isotonic:
    r"""Fit the rising curve of the least squares, :math:`\min_f \sum_i (y_i - f(s_i))^2`.

    Parameters
    ----------
    similarity, relevant, least
        As for :func:`~recollect.learn.labels.labelled_pairs`.

    Notes
    -----
    A point is kept at both ends of every level piece, so between two pieces the curve climbs in a straight
    line, and at the pairs it was fitted to it is the isotonic regression itself.

    Examples
    --------
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

    Parameters
    ----------
    values
        One number per place, in the order that is to rise.
    weights
        One number above 0 for each.

    Examples
    --------
    >>> rising_means([1.0, 3.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0])
    array([1. , 2.5, 2.5, 4. ])
    """
    given, weight = checks.numbers("values", values), checks.numbers("weights", weights)
    checks.same_length(values=given, weights=weight)
    if (weight <= 0).any():
        raise InvalidArgument("weights", weight.tolist(), "numbers above 0")
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    with checks.finite_arithmetic("values", values):
        for value, mass in zip(given.tolist(), weight.tolist(), strict=True):
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


def fit_logistic(similarity: Numbers, relevant: Flags, *, least: int = LEAST_PAIRS) -> Logistic:
    r"""Fit the S-shape of the highest likelihood, by Newton's method.

    The labels are softened as Platt does, to :math:`(N_+ + 1)/(N_+ + 2)` and :math:`1/(N_- + 2)`, so that
    pairs which one threshold separates do not drive the slope to infinity. Where similarity speaks against
    relevance the best curve that does not fall is level, at the share of relevant pairs.

    Parameters
    ----------
    similarity, relevant, least
        As for :func:`~recollect.learn.labels.labelled_pairs`.

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


def calibration_of(data: Mapping[str, Any]) -> Calibration:
    """Read a curve back from the plain data of its ``as_dict``.

    Examples
    --------
    >>> calibration_of({"kind": "logistic", "intercept": -5.0, "slope": 10.0})
    Logistic(intercept=-5.0, slope=10.0)
    """
    if not isinstance(data, Mapping):
        raise InvalidArgument("data", data, "a mapping, as as_dict returns it")
    kind = checks.one_of("data['kind']", data.get("kind"), ("isotonic", "logistic"))
    names = ("similarities", "probabilities") if kind == "isotonic" else ("intercept", "slope")
    if set(data) != {"kind", *names}:
        raise InvalidArgument("data", sorted(map(str, data)), f"kind, {names[0]} and {names[1]}")
    first, second = (data[name] for name in names)
    return Isotonic(first, second) if kind == "isotonic" else Logistic(first, second)


def reliability(probability: Numbers, relevant: Flags, *, bins: int = 10) -> Reliability:
    r"""Return how often what was called likely came true, and the expected calibration error.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \, \bigl| \bar y_b - \bar p_b \bigr|

    Parameters
    ----------
    probability, relevant
        One of each per pair; at least one pair.
    bins
        How many bins of equal width from 0 to 1; a probability of 1 is in the last.

    Examples
    --------
    >>> found = reliability([0.9, 0.9, 0.1, 0.1], [True, False, False, False], bins=2)
    >>> found.predicted.tolist(), found.observed.tolist(), round(found.error, 3)
    ([0.1, 0.9], [0.0, 0.5], 0.25)
    """
    chance, labels = checks.probabilities("probability", probability), checks.flags("relevant", relevant)
    count = checks.same_length(probability=chance, relevant=labels)
    if not count:
        raise InvalidArgument("probability", [], "at least one probability")
    number = checks.whole("bins", bins, 1)
    place = np.minimum((chance * number).astype(np.intp), number - 1)
    held = np.bincount(place, minlength=number).astype(np.float64)
    some = held > 0
    predicted = np.bincount(place, weights=chance, minlength=number)[some] / held[some]
    observed = np.bincount(place, weights=labels.astype(np.float64), minlength=number)[some] / held[some]
    error = float((held[some] / count * np.abs(observed - predicted)).sum())
    return Reliability(predicted, observed, held[some], error)


def expected_calibration_error(probability: Numbers, relevant: Flags, *, bins: int = 10) -> float:
    """Return how far probabilities are from how often they came true, as in :func:`reliability`.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.9, 0.1, 0.1], [True, False, False, False], bins=2), 3)
    0.25
    """
    return reliability(probability, relevant, bins=bins).error


def out_of_fold(
    similarity: Numbers,
    relevant: Flags,
    groups: Sequence[str],
    fit: Callable[[FloatArray, Any], Calibration] = fit_isotonic,
    *,
    count: int = 5,
    seed: int = 0,
) -> FloatArray:
    """Return each pair's probability from a curve that was fitted without the pair's group.

    Parameters
    ----------
    similarity, relevant
        As for :func:`~recollect.learn.labels.labelled_pairs`; each fold's own must be enough for `fit`.
    groups
        The group of each pair: its question or conversation.
    fit
        :func:`fit_isotonic` or :func:`fit_logistic`.
    count, seed
        As for :func:`~recollect.learn.folds.grouped_folds`.

    Examples
    --------
    >>> similar = [0.1, 0.9] * 20
    >>> chance = out_of_fold(similar, [False, True] * 20, [f"q{row // 2}" for row in range(40)])
    >>> expected_calibration_error(chance, [False, True] * 20)
    0.0
    """
    similar, labels = labelled_pairs(similarity, relevant, least=2)
    checks.same_length(similarity=similar, groups=checks.texts("groups", groups))
    chance = np.empty(similar.size)
    for fold in grouped_folds(groups, count=count, seed=seed):
        curve = fit(similar[fold.learnt], labels[fold.learnt])
        chance[fold.held_out] = curve(similar[fold.held_out])
    return chance


def _loss(fitted: FloatArray, rows: FloatArray, wanted: FloatArray) -> float:
    """Return the negative log-likelihood, log(1 + e^z) - y·z, without overflow."""
    at = fitted @ rows
    return float((np.logaddexp(0.0, at) - wanted * at).sum())


def _logistic(values: FloatArray) -> FloatArray:
    # e^-|z| never overflows; the other half of the curve is one minus this one.
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)
