r"""Significance: the bootstrap over questions, and tests for experiments, at one look or at every look.

A mean over :math:`n` questions is drawn again :math:`B` times, each time from :math:`n` questions picked with
replacement; the middle :math:`\ell` of those means (the *percentile* interval of Efron & Tibshirani, *An
Introduction to the Bootstrap*, 1993, chapter 13) says how far the mean would have moved with other questions
of the same sort. Two runs are compared question by question, on the same draws, because most of what makes
one question harder than another is common to both. The interval knows nothing of what the questions share:
those asked about one conversation are more alike than this assumes. With few questions it is too narrow;
twenty is a sensible least.

In experiments two shares are compared by the two-proportion test, two means by Welch's, wins and losses by
the sign test; they are right for a single look at a time that was fixed before. Looked at every day until it
says 5 %, such a test says so sooner or later about anything. The sequential ones hold however often one
looks: the evidence against "no difference" is a likelihood ratio averaged over the differences there might be
(the mixture sequential probability ratio test: Robbins, *Ann. Math. Stat.* 41, 1970; Johari, Pekelis & Walsh,
"Always valid inference", 2015). Without a difference it is a martingale that starts at 1, so by Ville's
inequality the chance that it *ever* reaches :math:`1/\alpha` is at most :math:`\alpha`. Student's t is
computed here because one function is no reason to depend on a library of thousands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import FloatArray, Numbers, Rows, checks

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

    def __str__(self) -> str:
        """Return the mean with its interval and p value."""
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}] p {self.p:.4f}"


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

    `differences` has a row for each setting: its value less that of the current one, by question or group.
    All settings see the same draws, so that a hundred settings which are nearly the same count as one. One
    that never differs from the current one counts as none; where it is the chosen one, p is 1.
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


def two_proportions(
    successes: int, trials: int, other_successes: int, other_trials: int, *, level: float = 0.95
) -> Difference:
    r"""Return how much higher one share is than another, with interval and two-sided p value.

    .. math:: z = \frac{\hat p_1 - \hat p_2}{\sqrt{\hat p (1 - \hat p) (1/n_1 + 1/n_2)}}

    with the pooled share :math:`\hat p`. The interval is Newcombe's, from the Wilson intervals of the two
    (*Statistics in Medicine* 17, 1998, method 10): unlike the textbook's it has a width where none, or
    all, succeeded. Being two methods, they may disagree close to the line.
    """
    share, size = _share("successes", successes, "trials", trials)
    other_share, other_size = _share("other_successes", other_successes, "other_trials", other_trials)
    z = NormalDist().inv_cdf((1 + _level(level)) / 2)
    pooled = (successes + other_successes) / (size + other_size)
    error = math.sqrt(pooled * (1 - pooled) * (1 / size + 1 / other_size))
    p = 1.0 if error == 0 else 2 * NormalDist().cdf(-abs(share - other_share) / error)
    low, high = _wilson(share, size, z)
    other_low, other_high = _wilson(other_share, other_size, z)
    gap = share - other_share
    return Difference(
        mean=gap,
        low=gap - math.hypot(share - low, other_high - other_share),
        high=gap + math.hypot(high - share, other_share - other_low),
        p=min(1.0, p),
    )


def welch(values: Numbers, others: Numbers, *, level: float = 0.95) -> Difference:
    r"""Return how much higher one mean is than another, with interval and two-sided p value.

    .. math:: t = \frac{\bar x_1 - \bar x_2}{\sqrt{s_1^2/n_1 + s_2^2/n_2}}, \quad
        \nu = \frac{(s_1^2/n_1 + s_2^2/n_2)^2}{(s_1^2/n_1)^2/(n_1-1) + (s_2^2/n_2)^2/(n_2-1)}

    (B. L. Welch, *Biometrika* 34, 1947). Without any spread nothing is known about chance: the interval has
    no width, and p is 1 for equal means, else 0.
    """
    first, second = checks.numbers("values", values), checks.numbers("others", others)
    share = _level(level)
    for argument, sample in (("values", first), ("others", second)):
        if sample.size < 2:
            raise InvalidArgument(argument, sample.tolist(), "at least two numbers")
    with checks.finite_arithmetic("values", values):
        gap = float(first.mean() - second.mean())
        one = float(first.var(ddof=1)) / first.size
        two = float(second.var(ddof=1)) / second.size
        error = math.sqrt(one + two)
    # What is left of 0 by rounding is no spread.
    if error <= 1e-12 * max(float(abs(first).max()), float(abs(second).max())):
        return Difference(gap, gap, gap, 1.0 if gap == 0 else 0.0)
    # As shares of their sum, so that the squares of small variances do not vanish.
    a, b = one / (one + two), two / (one + two)
    freedom = 1.0 / (a * a / (first.size - 1) + b * b / (second.size - 1))
    reach = critical_t(share, freedom) * error
    return Difference(gap, gap - reach, gap + reach, two_sided_p(gap / error, freedom))


def _share(name: str, successes: object, of: str, trials: object) -> tuple[float, int]:
    size = checks.whole(of, trials, 1)
    count = checks.whole(name, successes)
    if count > size:
        raise InvalidArgument(name, count, f"at most {of} ({size})")
    return count / size, size


def _level(level: float) -> float:
    share = checks.probability("level", level)
    if share == 1:
        raise InvalidArgument("level", level, "a number from 0 to below 1")
    return share


def _wilson(share: float, size: int, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    square = z * z
    centre = share + square / (2 * size)
    reach = z * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    denominator = 1 + square / size
    return (centre - reach) / denominator, (centre + reach) / denominator


def mixture_difference(estimate: float, variance: float, *, scale: float, level: float = 0.95) -> Difference:
    r"""Return an estimated difference with an interval and p value that hold at every look at once.

    With the information :math:`I = 1/V` and differences of about :math:`\tau`, the `scale`, in mind,

    .. math::
        \Lambda = \frac{1}{\sqrt{1 + \tau^2 I}} \exp \frac{\tau^2 I^2 \hat\theta^2}{2 (1 + \tau^2 I)}, \quad
        p = \min(1, 1/\Lambda), \quad
        |\theta - \hat\theta| \le \sqrt{\frac{1 + \tau^2 I}{\tau^2 I^2} \ln \frac{1 + \tau^2 I}{(1-\ell)^2}}

    Nothing is concluded from a variance of 0. The scale changes how soon, not whether the promise holds.
    Exact for normal increments; for means of users it holds as their number grows, so ask for some hundred.
    """
    theta, spread = checks.number("estimate", estimate), checks.at_least("variance", variance, 0)
    tau, share = checks.above("scale", scale, 0), _level(level)
    if spread == 0:
        return Difference(theta, -math.inf, math.inf, 1.0)
    growth = 1 + tau * tau / spread
    with checks.finite_arithmetic("scale", scale):
        log_ratio = theta * theta / (2 * spread) * (1 - 1 / growth) - math.log(growth) / 2
        reach = (
            math.sqrt(spread * growth / (growth - 1) * (math.log(growth) - 2 * math.log(1 - share)))
            if growth > 1
            else math.inf
        )
    return Difference(theta, theta - reach, theta + reach, math.exp(-max(0.0, log_ratio)))


def sign_evidence(wins: int, losses: int, *, prior: float = 10.0) -> float:
    r"""Return the p value, valid at every look, of `wins` against `losses` if both were equally likely.

    .. math:: \Lambda = 2^{w+l} \, \frac{B(a + w, a + l)}{B(a, a)}, \quad p = \min(1, 1/\Lambda)

    the likelihood ratio against a fair coin, averaged over a Beta(a, a) of unfair ones. Exact at any size.
    """
    won, lost = checks.whole("wins", wins), checks.whole("losses", losses)
    a = checks.above("prior", prior, 0)
    log_ratio = (won + lost) * math.log(2) + _log_beta(a + won, a + lost) - _log_beta(a, a)
    return math.exp(-max(0.0, log_ratio))


def sign_test(wins: int, losses: int) -> float:
    r"""Return the exact two-sided p value of `wins` against `losses`, for one look at a time fixed before.

    .. math:: p = \min\Bigl(1, \; 2 \sum_{j \le \min(w, l)} \binom{w+l}{j} 2^{-(w+l)} \Bigr)
    """
    won, lost = checks.whole("wins", wins), checks.whole("losses", losses)
    count, fewer = won + lost, min(won, lost)
    # In logarithms, from the largest term down, for 2^-2000 is no float64.
    log_choices = math.lgamma(count + 1) - math.lgamma(fewer + 1) - math.lgamma(count - fewer + 1)
    log_term = log_choices - count * math.log(2)
    total, term = 0.0, 1.0
    for place in range(fewer, -1, -1):
        total += term
        term *= place / (count - place + 1)
        if term < 1e-18 * total:
            break
    return min(1.0, 2 * math.exp(log_term) * total)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


_MAX_TERMS: Final = 300
"""Terms of the fraction; on the side where it is used it settles within far fewer."""


def two_sided_p(t: float, freedom: float) -> float:
    """Return the probability of a value further from 0 than `t`."""
    value, degrees = checks.number("t", t), checks.above("freedom", freedom, 0)
    with_square = degrees + value * value
    if math.isinf(with_square):
        return 0.0
    return _beta_share(degrees / with_square, value * value / with_square, degrees / 2, 0.5)


def critical_t(level: float, freedom: float) -> float:
    """Return the value that a share `level` of the distribution stays within, on both sides of 0."""
    share, degrees = _level(level), checks.above("freedom", freedom, 0)
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees) > 1 - share:
        if high > 1e150:
            raise InvalidArgument("level", level, "a level that float64 can reach with so little freedom")
        low, high = high, 2 * high
    # The tail is convex and falls, so Newton's steps from below rise to the value and never pass it; where
    # rounding lets none rise, it is found.
    constant = math.exp(-_log_beta(degrees / 2, 0.5)) / math.sqrt(degrees)
    while low < high:
        density = constant * math.exp(-(degrees + 1) / 2 * math.log1p(low * low / degrees))
        step = (two_sided_p(low, degrees) - (1 - share)) / (2 * density)
        if not low < low + step:
            break
        low = min(low + step, high)
    return low


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function at `x`, with ``rest = 1 - x`` kept precise."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    )
    # The fraction settles quickly below the mean and slowly above it, where the other tail takes its place.
    if x < (a + 1) / (a + b + 2):
        return front / a * _fraction(x, a, b)
    return 1.0 - front / b * _fraction(rest, b, a)


def _fraction(x: float, a: float, b: float) -> float:
    value = 1.0
    for term in range(_MAX_TERMS, 0, -1):
        half = term // 2
        if term % 2:
            top = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            top = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        value = 1.0 + top / value
    return 1.0 / value
