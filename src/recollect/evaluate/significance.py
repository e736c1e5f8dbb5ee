r"""How sure a mean over questions is, and a difference between two runs: the bootstrap.

A mean over :math:`n` questions is drawn again :math:`B` times, each time from :math:`n` questions picked with
replacement; the middle :math:`\ell` of those means (the *percentile* interval of Efron & Tibshirani, *An
Introduction to the Bootstrap*, 1993, chapter 13) says how far the mean would have moved with other questions
of the same sort. Two runs are compared question by question, on the same draws, because most of what makes
one question harder than another is common to both.

The interval knows nothing of what the questions share: those asked about one conversation are more alike than
this assumes. With few questions it is too narrow; twenty is a sensible least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.model import InvalidArgument, checks
from recollect.model.checks import FloatArray, Numbers

SAMPLES = 10_000
"""How often the questions are drawn again, where the caller does not say."""
_DRAWN_AT_ONCE = 1 << 20
"""Draws held in memory at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where it lies with other questions of the same sort."""

    mean: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name, ready for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher our mean is than the baseline's, where that lies, and the two-sided p value."""

    mean: float
    low: float
    high: float
    p: float

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name, ready for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "p": self.p}


def bootstrap_mean(
    values: Numbers, *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95
) -> Interval:
    r"""Return the mean of `values` with its percentile bootstrap interval.

    .. math:: \Bigl[ Q_{(1-\ell)/2}, \; Q_{(1+\ell)/2} \Bigr]
        \text{ of } \bar v^*_b = \frac{1}{n} \sum_{j} v_{i_{bj}}, \quad i_{bj} \sim U\{1..n\}

    Parameters
    ----------
    values
        One value per question; at least one. A single value has an interval of no width, for nothing is known
        about its spread.
    samples, seed
        How many times to draw, and where the drawing starts; the same seed gives the same interval.
    level
        The share of the drawn means that lies in the interval.

    Examples
    --------
    >>> interval = bootstrap_mean([1, 0, 1, 1] * 25)
    >>> interval.mean, round(interval.low, 2), round(interval.high, 2)
    (0.75, 0.66, 0.83)
    """
    return bootstrap_macro([values], samples=samples, seed=seed, level=level)


def bootstrap_macro(
    groups: Sequence[Numbers], *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95
) -> Interval:
    r"""Return the mean of the groups' means, each group counting the same, with its bootstrap interval.

    .. math:: \bar v = \frac{1}{G} \sum_g \bar v_g, \quad \bar v^*_b = \frac{1}{G} \sum_g \bar v^*_{gb}

    Each group is drawn anew from itself, so that every draw has as many questions of each kind as the data.

    Examples
    --------
    >>> bootstrap_macro([[1, 1, 1, 1], [0]])
    Interval(mean=0.5, low=0.5, high=0.5)
    """
    mean, low, high, _ = _bootstrap(_groups("groups", groups), samples, seed, level)
    return Interval(mean, low, high)


def paired_bootstrap(
    ours: Numbers, baseline: Numbers, *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95
) -> Difference:
    r"""Return how much higher `ours` is than `baseline` on the same questions, with interval and p value.

    The differences :math:`d_i` are drawn like the values of :func:`bootstrap_mean`. The p value turns the
    interval around, so that the two agree: it is one minus the highest level at which the interval leaves 0
    out,

    .. math:: p = 2 \, \frac{1 + \min(\#\{\bar d^*_b \le 0\}, \#\{\bar d^*_b \ge 0\})}{B + 1}

    with one draw added, for a p of 0 would claim more than :math:`B` draws can show (Davison & Hinkley,
    *Bootstrap Methods and their Application*, 1997, section 4.2). It is at most 1 and never below
    :math:`2^{1-n}`, since under the null hypothesis each of the :math:`n` differences may as well have the
    other sign.

    Parameters
    ----------
    ours, baseline
        One value per question in the same order; at least one.
    samples, seed, level
        As for :func:`bootstrap_mean`.

    Examples
    --------
    >>> difference = paired_bootstrap([1, 1, 0, 1] * 25, [1, 0, 0, 1] * 25)
    >>> difference.mean, round(difference.low, 2), round(difference.high, 2), round(difference.p, 4)
    (0.25, 0.17, 0.34, 0.0002)
    """
    return paired_bootstrap_macro([ours], [baseline], samples=samples, seed=seed, level=level)


def paired_bootstrap_macro(
    ours: Sequence[Numbers],
    baseline: Sequence[Numbers],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """Return the difference of two macro means: :func:`paired_bootstrap` over groups that count the same.

    Examples
    --------
    >>> paired_bootstrap_macro([[1, 1, 1], [0.5]], [[1, 1, 1], [0.5]])
    Difference(mean=0.0, low=0.0, high=0.0, p=1.0)
    """
    left, right = _groups("ours", ours), _groups("baseline", baseline)
    checks.same_length(ours=left, baseline=right)
    for mine, theirs in zip(left, right, strict=True):
        checks.same_length(ours=mine, baseline=theirs)
    with checks.finite_arithmetic("ours", ours):
        differences = [mine - theirs for mine, theirs in zip(left, right, strict=True)]
    mean, low, high, means = _bootstrap(differences, samples, seed, level)
    # Means that are 0 but for the order of the sum must count on both sides.
    zero = 1e-12 * max(float(np.abs(group).max()) for group in differences)
    rarer = min(int((means <= zero).sum()), int((means >= -zero).sum()))
    least = 2.0 ** (1 - sum(map(len, differences)))
    return Difference(mean, low, high, min(1.0, max(least, 2 * (1 + rarer) / (len(means) + 1))))


def _groups(argument: str, groups: Sequence[Numbers]) -> list[FloatArray]:
    checked = [checks.numbers(argument, values) for values in groups]
    if not checked or not all(map(len, checked)):
        raise InvalidArgument(argument, groups, "at least one number for each group")
    return checked


def _bootstrap(
    groups: Sequence[FloatArray], samples: int, seed: int, level: float
) -> tuple[float, float, float, FloatArray]:
    """Return the macro mean, the ends of its interval, and the means of all draws."""
    samples, seed = checks.whole("samples", samples, 1), checks.whole("seed", seed)
    level = checks.probability("level", level)
    random = np.random.default_rng(seed)
    with checks.finite_arithmetic("values", [group.tolist() for group in groups]):
        mean = float(np.mean([group.mean() for group in groups]))
        means = np.mean([_drawn_means(group, samples, random) for group in groups], axis=0)
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return mean, float(low), float(high), means


def _drawn_means(values: FloatArray, samples: int, random: np.random.Generator) -> FloatArray:
    """Return the mean of each of `samples` draws of `values` with replacement."""
    means = np.empty(samples)
    rows = max(1, _DRAWN_AT_ONCE // len(values))
    for start in range(0, samples, rows):
        stop = min(start + rows, samples)
        drawn = random.integers(0, len(values), size=(stop - start, len(values)))
        means[start:stop] = values[drawn].mean(axis=1)
    return means
