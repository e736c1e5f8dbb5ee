r"""Significance by the bootstrap: of a mean over questions, a difference of runs, the best of many settings.

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

import numpy as np

from memorata._frozen import frozen
from memorata.model import InvalidArgument, checks
from memorata.model.checks import FloatArray, Numbers, Rows

SAMPLES = 10_000
"""How often the questions are drawn again, where the caller does not say."""
CHECK_SAMPLES = 2_000
"""The same for :func:`reality_check`."""
_DRAWS_PER_BLOCK = 1 << 16
"""Draws held in memory at a time; more than the processor's cache holds would be slower."""
_CHECKS_PER_BLOCK = 200
"""Draws of :func:`reality_check` whose means are held in memory at a time."""


@frozen
class Interval:
    """A mean, and where it lies with other questions of the same sort."""

    mean: float
    low: float
    high: float


@frozen
class Difference:
    """How much higher our mean is than the baseline's, where that lies, and the two-sided p value."""

    mean: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    ours: Numbers, baseline: Numbers, *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95
) -> Difference:
    r"""Return how much higher `ours` is than `baseline` on the same questions, with interval and p value.

    The differences :math:`d_i` are drawn again :math:`B` times; the interval is the percentile interval of
    their means. The p value turns the interval around, so that the two agree: it is one minus the highest
    level at which the interval leaves 0 out,

    .. math:: p = 2 \, \frac{1 + \min(\#\{\bar d^*_b \le 0\}, \#\{\bar d^*_b \ge 0\})}{B + 1}

    with one draw added, for a p of 0 would claim more than :math:`B` draws can show (Davison & Hinkley,
    *Bootstrap Methods and their Application*, 1997, section 4.2). It is at most 1 and never below
    :math:`2^{1-n}`, since under the null hypothesis each of the :math:`n` differences may as well have the
    other sign.

    - `ours`, `baseline`: one value per question in the same order; at least one.
    - `samples`, `seed`: how many times to draw, and where the drawing starts; the same seed gives the same
      interval.
    - `level`: the share of the drawn means that lies in the interval.

    >>> difference = paired_bootstrap([1, 1, 0, 1] * 25, [1, 0, 0, 1] * 25)
    >>> difference.mean, round(difference.low, 2), round(difference.high, 2), round(difference.p, 4)
    (0.25, 0.17, 0.34, 0.0002)
    """
    mine, theirs = checks.numbers("ours", ours), checks.numbers("baseline", baseline)
    checks.same_length(ours=mine, baseline=theirs)
    with checks.finite_arithmetic("ours", ours):
        column = (mine - theirs)[:, np.newaxis]
    return draw_means(column, samples=samples, seed=seed).differences(level)[0]


@frozen
class DrawnMeans:
    """The means of many columns of values, and what they were in every draw of the rows."""

    mean: FloatArray
    drawn: FloatArray
    largest: FloatArray
    count: int

    def intervals(self, level: float = 0.95) -> list[Interval]:
        """Return the interval of each column, the percentile interval of its drawn means."""
        share = checks.probability("level", level)
        low, high = np.quantile(self.drawn, [(1 - share) / 2, (1 + share) / 2], axis=0)
        return [Interval(*ends) for ends in zip(self.mean.tolist(), low.tolist(), high.tolist(), strict=True)]

    def differences(self, level: float = 0.95) -> list[Difference]:
        """Return interval and p value of each column of differences, as of :func:`paired_bootstrap`."""
        # Means that are 0 but for the order of the sum must count on both sides.
        zero = 1e-12 * self.largest
        rarer = np.minimum((self.drawn <= zero).sum(axis=0), (self.drawn >= -zero).sum(axis=0))
        p = np.clip(2 * (1 + rarer) / (len(self.drawn) + 1), 2.0 ** (1 - self.count), 1.0)
        return [
            Difference(interval.mean, interval.low, interval.high, value)
            for interval, value in zip(self.intervals(level), p.tolist(), strict=True)
        ]


def draw_means(values: Rows, *, samples: int = SAMPLES, seed: int = 0) -> DrawnMeans:
    """Return the means of the columns of `values`, and those of its rows drawn again and again.

    All columns see the same draws, which takes a third of the time of drawing for each.
    """
    table = checks.matrix("values", values)
    samples, seed = checks.whole("samples", samples, 1), checks.whole("seed", seed)
    count = len(table)
    if not count:
        raise InvalidArgument("values", values, "at least one row")
    random = np.random.default_rng(seed)
    columns = np.ascontiguousarray(table.T)
    drawn = np.empty((samples, len(columns)))
    step = max(1, _DRAWS_PER_BLOCK // count)
    with checks.finite_arithmetic("values", values):
        mean = columns.mean(axis=1)
        for start in range(0, samples, step):
            stop = min(start + step, samples)
            rows = random.integers(0, count, size=(stop - start, count))
            for place, column in enumerate(columns):
                drawn[start:stop, place] = column.take(rows).mean(axis=1)
    return DrawnMeans(mean, drawn, np.abs(columns).max(axis=1), count)


def macro_means(groups: Sequence[DrawnMeans]) -> DrawnMeans:
    r"""Return the means of the groups' means, column by column, each group counting the same.

    .. math:: \bar v = \frac{1}{G} \sum_g \bar v_g, \quad \bar v^*_b = \frac{1}{G} \sum_g \bar v^*_{gb}

    Each group was drawn from itself, so that every draw has as many questions of each kind as the data. The
    groups need seeds of their own, or like groups would move together.
    """
    if not groups:
        raise InvalidArgument("groups", groups, "at least one group")
    return DrawnMeans(
        mean=np.mean([group.mean for group in groups], axis=0),
        drawn=np.mean([group.drawn for group in groups], axis=0),
        largest=np.max([group.largest for group in groups], axis=0),
        count=sum(group.count for group in groups),
    )


def reality_check(differences: Rows, chosen: int, *, samples: int = CHECK_SAMPLES, seed: int = 0) -> float:
    r"""Return the probability that the best of so many settings gains so much where none is better.

    Holding data out makes the gain of a choice honest on average, yet where a setting happens to fit all the
    questions there are, every fold finds it and every held-out part agrees. So the gain of what was chosen is
    compared with the best gain that *any* of the settings tried would show if none of them were better: H.
    White, "A reality check for data snooping", *Econometrica* 68, 2000, in units of standard errors (Hansen,
    *JBES* 23, 2005; Romano & Wolf, *Econometrica* 73, 2005).

    .. math:: t_s = \frac{\bar d_s}{\hat\sigma_s / \sqrt n}, \quad
        p = \frac{1 + \#\{b : \max_s t^*_{sb} \ge t_{\text{chosen}}\}}{B + 1}, \quad
        t^*_{sb} = \frac{\bar d^*_{sb} - \bar d_s}{\hat\sigma_s / \sqrt n}

    - `differences`: a row for each setting that was tried: its value less that of the current setting, one
      column per question (or group of questions).
    - `chosen`: the row that is to be installed.
    - `samples`, `seed`: how often to draw the questions again, and where the drawing starts.

    All settings see the same draws, so that a hundred settings which are nearly the same count as one. One
    that never differs from the current one counts as none; where it is the chosen one, p is 1.

    >>> clear = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    >>> reality_check([clear], 0) < 0.01, reality_check([[0.5, -0.5] * 4], 0) > 0.3
    (True, True)
    """
    table = checks.matrix("differences", differences)
    place, rounds = checks.whole("chosen", chosen), checks.whole("samples", samples, 1)
    if table.size == 0 or place >= len(table) or table.shape[1] < 2:
        raise InvalidArgument("chosen", chosen, "a row of differences over at least two questions")
    count = table.shape[1]
    with checks.finite_arithmetic("differences", differences):
        means = table.mean(axis=1)
        errors = table.std(axis=1, ddof=1) / np.sqrt(count)
    largest = np.abs(table).max(axis=1)
    # What is left of no error by rounding is none.
    moving = errors > 1e-12 * largest
    if not moving[place]:
        return 1.0 if means[place] <= 0 else 1.0 / (rounds + 1)
    height = means[place] / errors[place] - 1e-9
    ratios: FloatArray = table[moving] / errors[moving, np.newaxis]
    centred = ratios - ratios.mean(axis=1, keepdims=True)
    random = np.random.default_rng(checks.whole("seed", seed))
    higher = 0
    for start in range(0, rounds, _CHECKS_PER_BLOCK):
        size = min(_CHECKS_PER_BLOCK, rounds - start)
        # How often each question was drawn, a row for each draw.
        cells = random.integers(0, count, (size, count)) + count * np.arange(size)[:, np.newaxis]
        times = np.bincount(cells.ravel(), minlength=size * count).reshape(size, count)
        higher += int(np.count_nonzero(((times / count) @ centred.T).max(axis=1) >= height))
    return (1 + higher) / (rounds + 1)
