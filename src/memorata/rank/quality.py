"""How good a memory is in itself, whatever the query: salience, confidence and use.

Source: memini's quality prior. Short-lived tiers fade with age, the slower the more they were used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument

TIER_SALIENCE: Mapping[str, float] = MappingProxyType(
    {"working": 0.30, "episodic": 0.55, "semantic": 0.90, "procedural": 0.95}
)
SHORT_LIVED = frozenset({"working", "episodic"})

_FADING_DAYS = 7.0
_SALIENCES = np.array(list(TIER_SALIENCE.values()))
_FADES = np.array([tier in SHORT_LIVED for tier in TIER_SALIENCE])


Tiers: TypeAlias = Sequence[str] | npt.NDArray[np.integer[Any]]
"""One tier per memory: by name, or as an array of positions in :data:`TIER_SALIENCE`, as indexes keep it."""


def salience(tiers: Tiers, importance: Numbers) -> FloatArray:
    """Return ``tier · (0.5 + 0.5 · importance)``.

    Parameters
    ----------
    tiers
        One of working (0.30), episodic (0.55), semantic (0.90) and procedural (0.95) per memory, by name or,
        in an integer array, by position in this order.
    importance
        One number from 0 to 1 per memory.

    Examples
    --------
    >>> salience(["semantic", "working"], [1.0, 0.0])
    array([0.9 , 0.15])
    """
    numbers, weight = _numbers(tiers), checks.probabilities("importance", importance)
    checks.same_length(tiers=numbers, importance=weight)
    return _SALIENCES[numbers] * (0.5 + 0.5 * weight)


def usage(accesses: Numbers) -> FloatArray:
    """Return ``1 + ln(1 + accesses)``.

    Examples
    --------
    >>> usage([0, 1]).round(4)
    array([1.    , 1.6931])
    """
    return 1.0 + np.log1p(checks.counts("accesses", accesses))


def quality(
    tiers: Tiers,
    importance: Numbers,
    confidence: Numbers,
    accesses: Numbers,
    age_days: Numbers,
) -> FloatArray:
    """Return ``salience · confidence · usage``, faded by age for short-lived tiers, the best scaled to 1.

    The fading of working and episodic memories is ``exp(-age / (7 d · (1 + ln(1 + accesses))))``. A set in
    which nothing has any quality stays at 0.

    Parameters
    ----------
    tiers, importance
        As for :func:`salience`.
    confidence
        One number from 0 to 1 per memory.
    accesses
        How often each memory was used.
    age_days
        How old each is, in days; not negative.

    Examples
    --------
    >>> quality(["semantic", "episodic"], [0.5, 0.5], [1.0, 1.0], [0, 0], [0.0, 7.0]).round(4)
    array([1.    , 0.2248])
    """
    numbers, weight = _numbers(tiers), checks.probabilities("importance", importance)
    confident, used = checks.probabilities("confidence", confidence), checks.counts("accesses", accesses)
    age = checks.counts("age_days", age_days)
    checks.same_length(tiers=numbers, importance=weight, confidence=confident, accesses=used, age_days=age)
    return record_quality(numbers, weight, confident, used, age)


def record_quality(
    tiers: IntArray,
    importance: FloatArray,
    confidence: FloatArray,
    accesses: FloatArray,
    age_days: FloatArray,
) -> FloatArray:
    """Return :func:`quality` of values that are known to be good, as records have them."""
    used = 1.0 + np.log1p(accesses)
    raw: FloatArray = _SALIENCES[tiers] * (0.5 + 0.5 * importance) * confidence * used
    fades = _FADES[tiers]
    if fades.any():
        raw *= np.where(fades, np.exp(-age_days / (_FADING_DAYS * used)), 1.0)
    best = raw.max(initial=0.0)
    return raw / best if best > 0 else raw


def _numbers(tiers: Tiers) -> IntArray:
    """Return each tier's position in :data:`TIER_SALIENCE`."""
    if isinstance(tiers, np.ndarray) and tiers.dtype.kind in "iu" and tiers.ndim == 1:
        if tiers.size and not 0 <= tiers.min() <= tiers.max() < len(TIER_SALIENCE):
            raise InvalidArgument("tiers", tiers, f"positions from 0 to {len(TIER_SALIENCE) - 1}")
        return tiers.astype(np.intp)
    names = {name: position for position, name in enumerate(TIER_SALIENCE)}
    labels = checks.texts("tiers", tiers)
    positions = (names[checks.one_of(f"tiers[{row}]", tier, tuple(names))] for row, tier in enumerate(labels))
    return np.fromiter(positions, np.intp, len(labels))
