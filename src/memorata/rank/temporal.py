"""Temporal targeting: memories from about the time the query names come first.

Source: memini's temporal re-ranking. Reading the period from the query is :mod:`memorata.text`'s work; here
it is given. Times are POSIX seconds, so that a whole pool is one array.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, Numbers
from memorata.model.entity import Period
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.scores import Combination

Boost = Annotated[float, Declared("How much being from the right time is worth.", 0, 1)]

_FADES_OVER = 3.0
"""Proximity reaches zero at this many tolerances."""

# Chosen on the questions of short_facts, LoCoMo, RealTalk, TimeQA and LongMemEval-S dev that name a time,
# with two embedders: benchmarks/RESULTS.md has what each is worth.
_DAY = 86_400.0
_OTHER_TIME_SHARE = 0.7
"""The share of the time of learning that counts, where the memory is about another time."""
_REPORT_NEARNESS = 0.9
"""Nearness of a memory learnt right after the period: most reports follow the event."""
_REPORT_DAYS, _REPORT_SHARE = 7.0, 0.25
"""Reports come within so many days after the period, or this share of its length if that is longer."""
_MAX_REPORT_DAYS = 90.0
"""The upper bound of that window: a period may have no beginning."""
_HELD_NEARNESS = 0.8
"""Nearness of a memory learnt right before the period that may still hold in it: "Priya rents a flat"."""
_MIN_HELD_DAYS = 14.0
"""A period of fewer days asks for what happened, not for what held."""
_HALF_LIFE_SHARE, _MAX_HALF_LIFE_DAYS = 1.5, 60.0
"""Half-life of that nearness, in lengths of the period, and its upper bound in days."""
_NAMED_NEARNESS = 0.8
"""Nearness of a memory whose text names a time of the period, whenever it was learnt."""


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
    tolerance = period.tolerance.total_seconds()
    away = _away(at, period)
    if tolerance == 0:
        return np.asarray(away == 0, np.float64)
    # What lies beyond the reach is brought to its edge, so that no distance is too large to divide.
    reach = _FADES_OVER * tolerance
    fade = (reach - np.minimum(away, reach)) / (reach - tolerance)
    return np.asarray(np.minimum(1.0, fade))


def nearness(created: Numbers, event: Numbers, named: BoolArray, period: Period) -> FloatArray:
    """Return how much each memory has to do with a period, from 0 to 1.

    The largest of: 1 if it happened or was learnt in the period, and around it 0.9 falling linearly to 0 at
    three times the tolerance; 0.8 if its text names a time of the period; for what is learnt after it, 0.9
    falling linearly to 0 within 7 days or a quarter of the period's length, whichever is longer, at most 90
    days; and, where
    the period has 14 days or more, for what was learnt before its end and may still have held, 0.8 halved
    with every 1.5 lengths of the period, at most 60 days, that lie between. When it was learnt counts 0.7 of
    that where it happened at another time.

    Parameters
    ----------
    created, event
        When each was learnt, and when what it says happened, in POSIX seconds.
    named
        Whether the text of each names a time of the period.
    period
        The target.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> day = 86_400
    >>> month = Period(datetime(1970, 2, 1, tzinfo=UTC), datetime(1970, 3, 1, tzinfo=UTC))
    >>> learnt = [40 * day, 31 * day - 42 * day, (59 + 3.5) * day, 100 * day]
    >>> nearness(learnt, learnt, np.array([False, False, False, True]), month)
    array([1.  , 0.4 , 0.45, 0.8 ])
    """
    learnt, happened = checks.numbers("created", created), checks.numbers("event", event)
    checks.same_length(created=learnt, event=happened, named=named)
    start, end = period.start.timestamp(), period.end.timestamp()
    length = end - start
    late = (learnt - end) / min(max(_REPORT_DAYS * _DAY, _REPORT_SHARE * length), _MAX_REPORT_DAYS * _DAY)
    by_report = np.where((late > 0) & (late < 1), _REPORT_NEARNESS * (1.0 - late), 0.0)
    by_report = np.maximum(by_report, _edged(learnt, period))
    by_report *= np.where(learnt == happened, 1.0, _OTHER_TIME_SHARE)
    near = np.maximum(
        np.maximum(_edged(happened, period), by_report), _NAMED_NEARNESS * np.asarray(named, np.float64)
    )
    if length >= _MIN_HELD_DAYS * _DAY:
        half_life = min(_HALF_LIFE_SHARE * length, _MAX_HALF_LIFE_DAYS * _DAY)
        age = np.maximum(0.0, start - learnt) / half_life
        near = np.maximum(near, np.where(learnt <= end, _HELD_NEARNESS * np.exp2(-age), 0.0))
    return np.asarray(near)


def _edged(times: FloatArray, period: Period) -> FloatArray:
    """Return 1 inside a period, and 0.9 falling linearly to 0 at three times its tolerance around it."""
    away = _away(times, period)
    reach = _FADES_OVER * period.tolerance.total_seconds()
    if reach == 0:
        return np.asarray(away == 0, np.float64)
    return np.where(
        away == 0, 1.0, np.maximum(0.0, _REPORT_NEARNESS * (1.0 - np.minimum(away, reach) / reach))
    )


def closeness(times: Numbers, period: Period) -> FloatArray:
    """Return how close each time is to a period however far away: a half at one length of it, at least a day.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> week = Period(datetime(1970, 1, 8, tzinfo=UTC), datetime(1970, 1, 15, tzinfo=UTC))
    >>> closeness([0, 10 * 86_400, 28 * 86_400], week)
    array([0.5       , 1.        , 0.33333333])
    """
    at = checks.numbers("times", times)
    scale = max(period.end.timestamp() - period.start.timestamp(), _DAY)
    return np.asarray(scale / (scale + _away(at, period)))


def restricted(composite: Numbers, near: Numbers, *, boost: Boost = 0.60) -> Combination:
    """Score by ``composite · (1 - boost · (1 - nearness))``: what is from another time is held back.

    Parameters
    ----------
    composite, near, boost
        As for :func:`boosted_additive`.

    Examples
    --------
    >>> restricted([0.5, 0.5], [0.0, 1.0]).scores
    array([0.2, 0.5])
    """
    score, close, loss = _checked(composite, near, boost)
    return Combination.finite("product", ("composite", "time factor"), score, 1.0 - loss * (1.0 - close))


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


def _away(times: FloatArray, period: Period) -> FloatArray:
    """Return the seconds from each time to a period; 0 inside."""
    start, end = period.start.timestamp(), period.end.timestamp()
    return np.asarray(np.maximum(0.0, np.maximum(start - times, times - end)))


def _checked(composite: Numbers, near: Numbers, boost: float) -> tuple[FloatArray, FloatArray, float]:
    score, close = checks.numbers("composite", composite), checks.probabilities("near", near)
    checks.same_length(composite=score, near=close)
    return score, close, max(0.0, checks.number("boost", boost))
