r"""Evidence that one may look at every day: e-values and confidence sequences.

A fixed test is right once. Looked at every day until it says 5 %, it says so sooner or later about anything.
Here the evidence against "no difference" is a likelihood ratio averaged over the differences there might be
(the mixture sequential probability ratio test: Robbins, *Ann. Math. Stat.* 41, 1970; Johari, Pekelis & Walsh,
"Always valid inference", 2015). Without a difference it is a martingale that starts at 1, so by Ville's
inequality the chance that it *ever* reaches :math:`1/\alpha` is at most :math:`\alpha`, however often one
looks and whenever one stops.
"""

from __future__ import annotations

import math

from memorata.evaluate.significance import Difference
from memorata.model import checks
from memorata.model.errors import InvalidArgument


def mixture_difference(estimate: float, variance: float, *, scale: float, level: float = 0.95) -> Difference:
    r"""Return an estimated difference with an interval and p value that hold at every look at once.

    With the information :math:`I = 1/V` and differences of about :math:`\tau` in mind,

    .. math::
        \Lambda = \frac{1}{\sqrt{1 + \tau^2 I}} \exp \frac{\tau^2 I^2 \hat\theta^2}{2 (1 + \tau^2 I)}, \quad
        p = \min(1, 1/\Lambda), \quad
        |\theta - \hat\theta| \le \sqrt{\frac{1 + \tau^2 I}{\tau^2 I^2} \ln \frac{1 + \tau^2 I}{(1-\ell)^2}}

    Parameters
    ----------
    estimate, variance
        The difference so far, and its squared standard error, at least 0. Nothing is concluded from a
        variance of 0: without any spread there is no telling what chance does.
    scale
        :math:`\tau`, the size of difference that is to be found soonest, above 0; it changes how soon, not
        whether the promise holds.
    level
        Of the interval, below 1.

    Notes
    -----
    Exact for normal increments; for means of users it holds as their number grows, so ask for some hundred.

    Examples
    --------
    >>> found = mixture_difference(0.04, 0.0001, scale=0.05)
    >>> round(found.low, 4), round(found.high, 4), round(found.p, 4)
    (0.009, 0.071, 0.0023)
    """
    theta, spread = checks.number("estimate", estimate), checks.at_least("variance", variance, 0)
    tau, share = checks.above("scale", scale, 0), checks.probability("level", level)
    if share == 1:
        raise InvalidArgument("level", level, "a number from 0 to below 1")
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

    Parameters
    ----------
    wins, losses
        How often each side won; ties are left out.
    prior
        :math:`a`, above 0: higher looks for smaller differences.

    Examples
    --------
    >>> round(sign_evidence(60, 30), 3), sign_evidence(50, 50)
    (0.036, 1.0)
    """
    won, lost = checks.whole("wins", wins), checks.whole("losses", losses)
    a = checks.above("prior", prior, 0)
    log_ratio = (won + lost) * math.log(2) + _log_beta(a + won, a + lost) - _log_beta(a, a)
    return math.exp(-max(0.0, log_ratio))


def sign_test(wins: int, losses: int) -> float:
    r"""Return the exact two-sided p value of `wins` against `losses`, for one look at a time fixed before.

    .. math:: p = \min\Bigl(1, \; 2 \sum_{j \le \min(w, l)} \binom{w+l}{j} 2^{-(w+l)} \Bigr)

    Examples
    --------
    >>> round(sign_test(8, 1), 6), sign_test(0, 0)  # 2 (1 + 9) / 512
    (0.039062, 1.0)
    """
    won, lost = checks.whole("wins", wins), checks.whole("losses", losses)
    count, fewer = won + lost, min(won, lost)
    # In logarithms, from the largest term down, for 2^-2000 is no float64.
    log_term = _log_choose(count, fewer) - count * math.log(2)
    total, term = 0.0, 1.0
    for place in range(fewer, -1, -1):
        total += term
        term *= place / (count - place + 1)
        if term < 1e-18 * total:
            break
    return min(1.0, 2 * math.exp(log_term) * total)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _log_choose(count: int, some: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(some + 1) - math.lgamma(count - some + 1)
