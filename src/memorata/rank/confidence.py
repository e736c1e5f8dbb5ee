"""The life of a confidence: support raises it, silence wears it down.

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

ONCE_A: Final = timedelta(days=1)
"""Support counts at most once in this time."""
_WEEK = timedelta(weeks=1)


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
    sure, share = checks.probability("confidence", confidence), checks.probability("gain", gain)
    since = checks.instant("now", now) - checks.instant("last_support", last_support)
    return sure + share * (1 - sure) if since >= ONCE_A else sure


def worn(
    confidence: float,
    last_support: datetime,
    now: datetime,
    *,
    weekly_loss: Annotated[float, Declared("Confidence lost per week without support.", 0, 1)] = 0.05,
    floor: Annotated[float, Declared("What wear never goes below.", 0, 1)] = 0.05,
) -> float:
    """Return what is left of a confidence after silence: ``max(floor, c - loss · (weeks - 1))``.

    The first week is a grace week; after it the loss runs evenly, so that a reading on Wednesday is between
    those of Tuesday and Thursday. A confidence that was below the floor to begin with stays as it was, and
    an instant before the support (clocks differ) counts as no silence.

    Parameters
    ----------
    confidence
        From 0 to 1, as last written.
    last_support
        When the memory was last supported, or learnt.
    now
        When it is read.
    weekly_loss, floor
        From 0 to 1.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> said = datetime(2026, 5, 4, tzinfo=UTC)
    >>> [round(worn(0.9, said, said + timedelta(weeks=weeks)), 6) for weeks in (1, 2, 3, 52)]
    [0.9, 0.85, 0.8, 0.05]
    """
    sure = checks.probability("confidence", confidence)
    loss, lowest = checks.probability("weekly_loss", weekly_loss), checks.probability("floor", floor)
    since = checks.instant("now", now) - checks.instant("last_support", last_support)
    weeks = max(0.0, since / _WEEK - 1)
    return min(sure, max(lowest, sure - loss * weeks))


def worn_since(
    confidence: Numbers,
    days: Numbers,
    *,
    weekly_loss: Annotated[float, Declared("Confidence lost per week without support.", 0, 1)] = 0.05,
    floor: Annotated[float, Declared("What wear never goes below.", 0, 1)] = 0.05,
) -> FloatArray:
    """Do the work of :func:`worn` for many memories at once.

    Parameters
    ----------
    confidence
        From 0 to 1 each, as last written.
    days
        How long ago each was last supported, or learnt; below 0 counts as no silence.
    weekly_loss, floor
        From 0 to 1.

    Examples
    --------
    >>> worn_since([0.9, 0.9, 0.01], [7, 21, 365]).round(6)
    array([0.9 , 0.8 , 0.01])
    """
    sure, silent = checks.probabilities("confidence", confidence), checks.numbers("days", days)
    checks.same_length(confidence=sure, days=silent)
    loss, lowest = checks.probability("weekly_loss", weekly_loss), checks.probability("floor", floor)
    weeks = np.maximum(0.0, silent / 7.0 - 1.0)
    return np.minimum(sure, np.maximum(lowest, sure - loss * weeks))
