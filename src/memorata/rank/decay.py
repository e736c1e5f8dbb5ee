"""What time does: forgetting curves, and confidence that support raises and time without support lowers.

All are computed on reading from what was last written, so no background job ever has to touch a memory. The
distance of a curve is how far back something lies, in messages or in hours, as the caller chooses. The first
curve is OpenVault's; the half-life with reinforcement follows spaced-repetition practice (Ebbinghaus, 1885,
for the shape); `CURVES` names them all. The rule of diminishing corroboration follows certainty factors
(Shortliffe and Buchanan, 1975).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final

import numpy as np

from memorata.model import checks
from memorata.model.checks import Flags, FloatArray, Numbers
from memorata.model.parameter import Declared

_HIGHEST_IMPORTANCE = 5.0


def importance_decay(
    distance: Numbers,
    importance: Numbers,
    hits: Numbers,
    *,
    transient: Flags | None = None,
    rate: Annotated[float, Declared("How fast memories of importance 1 fade.", 0, 1)] = 0.05,
    transient_factor: Annotated[float, Declared("How much faster passing remarks fade.", 1, 20)] = 5.0,
    floor: Annotated[float, Declared("What the most important memories never fall below.", 0, 5)] = 5.0,
) -> FloatArray:
    """Return ``importance · exp(-λ · distance)``: what matters fades slowly, what was used more slowly still.

    ``λ = rate / importance² · max(0.5, 1 / (1 + 0.1 · hits))``, times `transient_factor` for transient
    memories. A memory of importance 5 never falls below the floor: with 5, it never fades.

    Parameters
    ----------
    distance
        How far back each memory lies, in messages or hours; at least 0.
    importance
        From 1 to 5 each.
    hits
        How often each was retrieved; at least 0.
    transient
        Whether each is a passing remark; None for none.
    rate, transient_factor, floor
        See the formula; the floor is at most 5.

    Examples
    --------
    >>> importance_decay([0, 20, 1000], [3, 1, 5], [0, 0, 0]).round(4)
    array([3.    , 0.3679, 5.    ])
    """
    back, weight, used = _checked(distance, importance, hits)
    passing = np.zeros(back.size, np.bool_) if transient is None else checks.flags("transient", transient)
    checks.same_length(distance=back, transient=passing)
    faster = checks.at_least("transient_factor", transient_factor, 1)
    lowest = checks.within("floor", floor, 0, _HIGHEST_IMPORTANCE)
    fastest = checks.at_least("rate", rate, 0)
    with checks.finite_arithmetic("distance", distance):
        fading = fastest / weight**2 * np.maximum(0.5, 1 / (1 + 0.1 * used))
        remaining = weight * np.exp(-fading * np.where(passing, faster, 1.0) * back)
    return np.where(weight == _HIGHEST_IMPORTANCE, np.maximum(remaining, lowest), remaining)


def half_life_decay(
    distance: Numbers,
    importance: Numbers,
    hits: Numbers,
    *,
    half_life: Annotated[float, Declared("Distance that halves an unused memory.", 1, 720)] = 168.0,
) -> FloatArray:
    """Return ``importance · 0.5^(distance / (H · (1 + ln(1 + hits))))``: each use stretches the half-life H.

    With distances in hours the default half-life is a week. Importance 1 gives the fraction that is left.

    Parameters
    ----------
    distance, importance, hits
        As for :func:`importance_decay`.
    half_life
        H, above 0, in the unit of the distance.

    Examples
    --------
    >>> half_life_decay([0, 168, 336], [1, 1, 4], [0, 0, 0])
    array([1. , 0.5, 1. ])
    """
    back, weight, used = _checked(distance, importance, hits)
    halves = checks.above("half_life", half_life, 0)
    with checks.finite_arithmetic("distance", distance):
        return np.asarray(weight * np.exp2(-back / (halves * (1 + np.log1p(used)))))


def linear_decay(
    distance: Numbers,
    importance: Numbers,
    hits: Numbers,
    *,
    horizon: Annotated[float, Declared("Distance at which nothing is left.", 1, 10_000)] = 720.0,
) -> FloatArray:
    """Return ``importance · max(0, 1 - distance / horizon)``: a straight line to zero, whatever the use.

    With distances in hours the default horizon is 30 days. Importance 1 gives the fraction that is left.

    Parameters
    ----------
    distance, importance, hits
        As for :func:`importance_decay`; hits change nothing.
    horizon
        Above 0, in the unit of the distance.

    Examples
    --------
    >>> linear_decay([0, 360, 9000], [1, 1, 1], [0, 0, 0])
    array([1. , 0.5, 0. ])
    """
    back, weight, _ = _checked(distance, importance, hits)
    end = checks.above("horizon", horizon, 0)
    with checks.finite_arithmetic("distance", distance):
        return np.asarray(weight * np.maximum(0.0, 1 - back / end))


CURVES: Mapping[str, Callable[..., FloatArray]] = {
    "importance": importance_decay,
    "half_life": half_life_decay,
    "linear": linear_decay,
}
"""The curves by name; each takes distance, importance and hits, and declares its own parameters."""


def _checked(
    distance: Numbers, importance: Numbers, hits: Numbers
) -> tuple[FloatArray, FloatArray, FloatArray]:
    back, used = checks.counts("distance", distance), checks.counts("hits", hits)
    weight = checks.all_within("importance", importance, 1, _HIGHEST_IMPORTANCE)
    checks.same_length(distance=back, importance=weight, hits=used)
    return back, weight, used


SUPPORT_INTERVAL: Final = timedelta(days=1)
"""Support counts at most once in this time."""


def corroborated(
    confidence: float,
    last_support: datetime,
    now: datetime,
    *,
    gain: Annotated[float, Declared("Share of the remaining doubt that one support removes.", 0, 1)] = 0.1,
) -> float:
    """Return the confidence after support at `now`: ``c + gain · (1 - c)``, at most once a day.

    Parameters
    ----------
    confidence
        From 0 to 1.
    last_support
        When the memory was last supported, or learnt.
    now
        When it is supported; within a day of `last_support` nothing changes.
    gain
        From 0 to 1.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> monday, tuesday = datetime(2026, 5, 4, tzinfo=UTC), datetime(2026, 5, 5, tzinfo=UTC)
    >>> round(corroborated(0.6, monday, tuesday), 6), corroborated(0.6, monday, monday)
    (0.64, 0.6)
    """
    confident, share = checks.probability("confidence", confidence), checks.probability("gain", gain)
    since = checks.instant("now", now) - checks.instant("last_support", last_support)
    return confident + share * (1 - confident) if since >= SUPPORT_INTERVAL else confident


def decayed(
    confidence: Numbers,
    days: Numbers,
    *,
    weekly_loss: Annotated[float, Declared("Confidence lost per week without support.", 0, 1)] = 0.05,
    floor: Annotated[float, Declared("What decay never goes below.", 0, 1)] = 0.05,
) -> FloatArray:
    """Return what is left of each confidence without support: ``max(floor, c - loss · (weeks - 1))``.

    The first week is a grace week; after it the loss runs evenly, so that a reading on Wednesday is between
    those of Tuesday and Thursday. A confidence that was below the floor to begin with stays as it was.

    Parameters
    ----------
    confidence
        From 0 to 1 each, as last written.
    days
        How long ago each was last supported, or learnt; below 0 (clocks differ) counts as 0.
    weekly_loss, floor
        From 0 to 1.

    Examples
    --------
    >>> decayed([0.9, 0.9, 0.9, 0.01], [7, 14, 21, 365]).round(6)
    array([0.9 , 0.85, 0.8 , 0.01])
    """
    confident, age = checks.probabilities("confidence", confidence), checks.numbers("days", days)
    checks.same_length(confidence=confident, days=age)
    loss, lowest = checks.probability("weekly_loss", weekly_loss), checks.probability("floor", floor)
    weeks = np.maximum(0.0, age / 7.0 - 1.0)
    return np.minimum(confident, np.maximum(lowest, confident - loss * weeks))
