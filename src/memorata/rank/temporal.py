"""Temporal targeting: memories from about the time the query names come first.

Source: memini's temporal re-ranking. Reading the period from the query is :mod:`memorata.text`'s work; here
it is given. Times are POSIX seconds, so that a whole pool is one array.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.model.period import Period
from memorata.rank.combination import Combination

Boost = Annotated[float, Declared("How much being from the right time is worth.", 0, 1)]

_FADES_OVER = 3.0
"""Proximity reaches zero at this many tolerances."""


def proximity(times: Numbers, period: Period) -> FloatArray:
    """Return how close each time is to the period, from 0 to 1.

    1 inside the interval and within the tolerance around it, then falling linearly to 0 at three times the
    tolerance. With no tolerance it is 1 inside and 0 outside.

    Parameters
    ----------
    times
        POSIX seconds: when it happened where that is known, otherwise when it was learnt.
    period
        The target.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> day = 86_400
    >>> target = Period.around(datetime(1970, 1, 11, tzinfo=UTC), timedelta(days=2))
    >>> proximity([10 * day, 12 * day, 14 * day, 16 * day], target)
    array([1. , 1. , 0.5, 0. ])
    """
    at = checks.numbers("times", times)
    if not isinstance(period, Period):
        raise InvalidArgument("period", period, "a Period")
    start, end = period.start.timestamp(), period.end.timestamp()
    tolerance = period.tolerance.total_seconds()
    away = np.maximum(0.0, np.maximum(start - at, at - end))
    if tolerance == 0:
        return np.asarray(away == 0, np.float64)
    # What lies beyond the reach is brought to its edge, so that no distance is too large to divide.
    reach = _FADES_OVER * tolerance
    fade = (reach - np.minimum(away, reach)) / (reach - tolerance)
    return np.asarray(np.minimum(1.0, fade))


def boosted_additive(composite: Numbers, near: Numbers, *, boost: Boost = 0.40) -> Combination:
    """Score by ``composite + boost · proximity``, for composites from 0 to 1.

    A boost of 0 or less gives the composite, exactly.

    Parameters
    ----------
    composite
        One score per memory.
    near
        The proximity of each, from 0 to 1.
    boost
        Its worth.

    Examples
    --------
    >>> boosted_additive([0.5, 0.5], [0.0, 1.0]).scores
    array([0.5, 0.9])
    """
    score, close, gain = _checked(composite, near, boost)
    return Combination.finite("sum", ("composite", "time"), score, gain * close)


def boosted_multiplicative(composite: Numbers, near: Numbers, *, boost: Boost = 0.40) -> Combination:
    """Score by ``composite · (1 + boost · proximity)``.

    A boost of 0 or less gives the composite, exactly.

    Parameters
    ----------
    composite, near, boost
        As for :func:`boosted_additive`.

    Examples
    --------
    >>> boosted_multiplicative([0.5, 0.5], [0.0, 1.0]).scores
    array([0.5, 0.7])
    """
    score, close, gain = _checked(composite, near, boost)
    return Combination.finite("product", ("composite", "time factor"), score, 1.0 + gain * close)


def _checked(composite: Numbers, near: Numbers, boost: float) -> tuple[FloatArray, FloatArray, float]:
    score, close = checks.numbers("composite", composite), checks.probabilities("near", near)
    checks.same_length(composite=score, near=close)
    return score, close, max(0.0, checks.number("boost", boost))
