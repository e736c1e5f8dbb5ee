r"""Hypothesis tests for experiments: one look at a fixed time, or evidence that one may look at every day.

Two shares are compared by the two-proportion test, two means by Welch's, wins and losses by the sign test;
they are right for a single look at a time that was fixed before. Looked at every day until it says 5 %, such
a test says so sooner or later about anything. The sequential ones hold however often one looks: the evidence
against "no difference" is a likelihood ratio averaged over the differences there might be (the mixture
sequential probability ratio test: Robbins, *Ann. Math. Stat.* 41, 1970; Johari, Pekelis & Walsh, "Always
valid inference", 2015). Without a difference it is a martingale that starts at 1, so by Ville's inequality
the chance that it *ever* reaches :math:`1/\alpha` is at most :math:`\alpha`.

Student's t is computed here because one function is no reason to depend on a library of thousands.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

from memorata.evaluate.significance import Difference
from memorata.model import checks
from memorata.model.checks import Numbers
from memorata.model.errors import InvalidArgument


def two_proportions(
    successes: int, trials: int, other_successes: int, other_trials: int, *, level: float = 0.95
) -> Difference:
    r"""Return how much higher one share is than another, with interval and two-sided p value.

    .. math:: z = \frac{\hat p_1 - \hat p_2}{\sqrt{\hat p (1 - \hat p) (1/n_1 + 1/n_2)}}

    with the pooled share :math:`\hat p`. The interval is Newcombe's, from the Wilson intervals of the two
    (*Statistics in Medicine* 17, 1998, method 10): unlike the textbook's it has a width where none, or
    all, succeeded. Being two methods, they may disagree close to the line.

    - `successes`, `trials`, `other_successes`, `other_trials`: whole numbers; at least one trial each.
    - `level`: of the interval, below 1.

    >>> found = two_proportions(56, 70, 48, 80)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), round(found.p, 4)
    (0.2, 0.052, 0.334, 0.008)
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

    - `values`, `others`: at least two numbers each.
    - `level`: of the interval, below 1.

    >>> found = welch([3, 4, 5, 4], [1, 2, 3, 2])
    >>> found.mean, round(found.low, 2), round(found.high, 2), round(found.p, 4)
    (2.0, 0.59, 3.41, 0.0134)
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

    With the information :math:`I = 1/V` and differences of about :math:`\tau` in mind,

    .. math::
        \Lambda = \frac{1}{\sqrt{1 + \tau^2 I}} \exp \frac{\tau^2 I^2 \hat\theta^2}{2 (1 + \tau^2 I)}, \quad
        p = \min(1, 1/\Lambda), \quad
        |\theta - \hat\theta| \le \sqrt{\frac{1 + \tau^2 I}{\tau^2 I^2} \ln \frac{1 + \tau^2 I}{(1-\ell)^2}}

    - `estimate`, `variance`: the difference so far, and its squared standard error, at least 0. Nothing is
      concluded from a variance of 0: without any spread there is no telling what chance does.
    - `scale`: :math:`\tau`, the size of difference that is to be found soonest, above 0; it changes how soon,
      not whether the promise holds.
    - `level`: of the interval, below 1.

    Exact for normal increments; for means of users it holds as their number grows, so ask for some hundred.

    >>> found = mixture_difference(0.04, 0.0001, scale=0.05)
    >>> round(found.low, 4), round(found.high, 4), round(found.p, 4)
    (0.009, 0.071, 0.0023)
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
