r"""Two groups compared once: shares by the two-proportion test, means by Welch's.

Both are right if one looks once, at a time that was fixed before. Whoever looks every day and stops when it
says 5 % is wrong far more often than that; for them there is :mod:`memorata.learn.sequential`.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from memorata.evaluate.significance import Difference
from memorata.learn.student import critical_t, two_sided_p
from memorata.model import checks
from memorata.model.checks import Numbers
from memorata.model.errors import InvalidArgument


def two_proportions(
    successes: int, trials: int, other_successes: int, other_trials: int, *, level: float = 0.95
) -> Difference:
    r"""Return how much higher one share is than another, with interval and two-sided p value.

    .. math:: z = \frac{\hat p_1 - \hat p_2}{\sqrt{\hat p (1 - \hat p) (1/n_1 + 1/n_2)}}

    with the pooled share :math:`\hat p`. The interval is Newcombe's, from the Wilson intervals of the two
    (*Statistics in Medicine* 17, 1998, method 10): unlike the textbook's it has a width where nobody, or
    everybody, succeeded. Being two methods, they may disagree close to the line.

    Parameters
    ----------
    successes, trials, other_successes, other_trials
        Whole numbers; at least one trial each.
    level
        Of the interval, below 1.

    Examples
    --------
    >>> found = two_proportions(56, 70, 48, 80)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), round(found.p, 4)
    (0.2, 0.052, 0.334, 0.008)
    """
    share, size = _share("successes", successes, "trials", trials)
    other, other_size = _share("other_successes", other_successes, "other_trials", other_trials)
    z = _z(level)
    pooled = (successes + other_successes) / (size + other_size)
    error = math.sqrt(pooled * (1 - pooled) * (1 / size + 1 / other_size))
    p = 1.0 if error == 0 else 2 * NormalDist().cdf(-abs(share - other) / error)
    low, high = _wilson(share, size, z)
    other_low, other_high = _wilson(other, other_size, z)
    gap = share - other
    return Difference(
        mean=gap,
        low=gap - math.hypot(share - low, other_high - other),
        high=gap + math.hypot(high - share, other - other_low),
        p=min(1.0, p),
    )


def welch(values: Numbers, others: Numbers, *, level: float = 0.95) -> Difference:
    r"""Return how much higher one mean is than another, with interval and two-sided p value.

    .. math:: t = \frac{\bar x_1 - \bar x_2}{\sqrt{s_1^2/n_1 + s_2^2/n_2}}, \quad
        \nu = \frac{(s_1^2/n_1 + s_2^2/n_2)^2}{(s_1^2/n_1)^2/(n_1-1) + (s_2^2/n_2)^2/(n_2-1)}

    (B. L. Welch, *Biometrika* 34, 1947). Without any spread nothing is known about chance: the interval has
    no width, and p is 1 for equal means, else 0.

    Parameters
    ----------
    values, others
        At least two numbers each.
    level
        Of the interval, below 1.

    Examples
    --------
    >>> found = welch([3, 4, 5, 4], [1, 2, 3, 2])
    >>> found.mean, round(found.low, 2), round(found.high, 2), round(found.p, 4)
    (2.0, 0.59, 3.41, 0.0134)
    """
    first, second = checks.numbers("values", values), checks.numbers("others", others)
    share = _level(level)
    for argument, each in (("values", first), ("others", second)):
        if each.size < 2:
            raise InvalidArgument(argument, each.tolist(), "at least two numbers")
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


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + _level(level)) / 2)


def _wilson(share: float, size: int, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    square = z * z
    centre = share + square / (2 * size)
    reach = z * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    whole = 1 + square / size
    return (centre - reach) / whole, (centre + reach) / whole
