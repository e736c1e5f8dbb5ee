r"""Student's t distribution for any number of degrees of freedom, whole or not.

The tail is a regularised incomplete beta function, :math:`P(|T| > t) = I_x(\nu/2, 1/2)` with
:math:`x = \nu / (\nu + t^2)` (Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.5.27), which is
computed by its continued fraction (26.5.8) from the innermost term outwards. Written here because one
function is no reason to depend on a library of thousands.
"""

from __future__ import annotations

import math
from typing import Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument

_TERMS: Final = 300
"""Terms of the fraction; on the side where it is used it settles within far fewer."""


def two_sided_p(t: float, freedom: float) -> float:
    """Return the probability of a value further from 0 than `t`.

    Parameters
    ----------
    t
        The statistic.
    freedom
        The degrees of freedom, above 0.

    Examples
    --------
    >>> round(two_sided_p(1.0, 1), 6)  # a Cauchy variable is beyond 1 half of the time
    0.5
    >>> round(two_sided_p(2.086, 20), 4)
    0.05
    """
    value, degrees = checks.number("t", t), checks.above("freedom", freedom, 0)
    with_square = degrees + value * value
    if math.isinf(with_square):
        return 0.0
    return _beta_share(degrees / with_square, value * value / with_square, degrees / 2, 0.5)


def critical_t(level: float, freedom: float) -> float:
    """Return the value that a share `level` of the distribution stays within, on both sides of 0.

    Examples
    --------
    >>> round(critical_t(0.95, 20), 3)
    2.086
    """
    share, degrees = checks.probability("level", level), checks.above("freedom", freedom, 0)
    if share == 1:
        raise InvalidArgument("level", level, "a number from 0 to below 1")
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees) > 1 - share:
        if high > 1e150:
            raise InvalidArgument("level", level, "a level that float64 can reach with so little freedom")
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_p(middle, degrees) > 1 - share else (low, middle)
    return high


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
    for term in range(_TERMS, 0, -1):
        half = term // 2
        if term % 2:
            top = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            top = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        value = 1.0 + top / value
    return 1.0 / value
