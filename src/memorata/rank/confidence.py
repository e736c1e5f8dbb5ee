"""The life of a confidence: support raises it, time without support lowers it.

Both are computed on reading from what was last written, so no background job ever has to touch a memory. The
rule of diminishing corroboration follows certainty factors (Shortliffe and Buchanan, 1975).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared

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
