"""What to do with two claims that resemble each other.

Similar words are not enough for a duplicate: the two must be of one kind, and we must be about equally sure
of both. A correction is no duplicate of what it corrects, however alike they sound; it wins over it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Generic

from memorata._frozen import frozen
from memorata.dedupe.claims import C, check_claim, is_correction, newest
from memorata.dedupe.rounding import ROUNDING
from memorata.model import checks
from memorata.model.parameter import Declared

DUPLICATE_COSINE: Final = 0.92
"""From this cosine on, two claims say the same."""
MERGE_COSINE: Final = 0.90
"""The cosine to ask for when the claims are to be merged, which loses neither of the two contents."""

_FLOAT32_ROUNDING = 1e-6
"""How far a cosine of float32 vectors can lie outside -1 to 1 by rounding alone."""


class Verdict(StrEnum):
    """What two claims are to each other."""

    DISTINCT = "distinct"
    """Two different statements; both stay."""
    DUPLICATE = "duplicate"
    """One statement made twice; a strategy says what becomes of the two."""
    KEEP_BOTH = "keep_both"
    """One statement held with very different confidence; both stay until more is known."""
    CORRECTION = "correction"
    """At least one sets the other right; the winner supersedes it."""


@frozen
class Decision(Generic[C]):
    """A verdict on two claims, and why.

    Parameters
    ----------
    verdict
        What the two are to each other.
    winner
        The claim that supersedes the other one. Only a correction has one here: among duplicates the strategy
        chooses (:mod:`memorata.dedupe.strategies`), and otherwise both stay.
    reason
        One sentence for a person.
    """

    verdict: Verdict
    winner: C | None
    reason: str


def decide(
    cosine: float,
    a: C,
    b: C,
    *,
    threshold: Annotated[float, Declared("The least cosine of duplicates.", 0, 1)] = DUPLICATE_COSINE,
    confidence_gap: Annotated[float, Declared("The largest difference in confidence.", 0, 1)] = 0.20,
) -> Decision[C]:
    """Return what claims `a` and `b` are to each other, given the `cosine` of their vectors.

    The first rule that applies decides:

    1. cosine < threshold: distinct.
    2. Either is a correction: the correction wins, whatever the other's category and confidence. Of two
       corrections the newer wins; of two of one instant the surer, then the more mentioned, then `a`.
    3. Different categories: distinct.
    4. abs(Δconfidence) > confidence_gap: keep both.
    5. Otherwise: duplicates.

    Parameters
    ----------
    cosine
        The similarity of the two, from -1 to 1 (and what float32 rounding adds to that).
    a, b
        The two claims; the verdict does not depend on their order.
    threshold
        The least cosine of duplicates, from -1 to 1; :data:`MERGE_COSINE` when the two are to be merged.
    confidence_gap
        The largest difference in confidence of duplicates, from 0 to 1.

    Notes
    -----
    Both bounds are inclusive, and a value that misses one by rounding alone counts as on it: 0.9 and 0.7 are
    0.2 apart, although ``0.9 - 0.7 > 0.2`` in floats.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea = Record(content="Likes tea", category="preference", confidence=0.9, created_at=day, mentions=1)
    >>> too = Record(content="Loves tea", category="preference", confidence=0.7, created_at=day, mentions=1)
    >>> decide(0.95, tea, too).reason
    'The cosine of 0.950 reaches 0.92, the category is the same, and the confidences are 0.20 apart.'
    >>> fix = Record(content="Likes tee", category="correction", confidence=0.3, created_at=day, mentions=1)
    >>> decision = decide(0.95, tea, fix)
    >>> decision.verdict, decision.winner is fix
    (<Verdict.CORRECTION: 'correction'>, True)
    """
    checks.within("cosine", cosine, -1.0 - _FLOAT32_ROUNDING, 1.0 + _FLOAT32_ROUNDING)
    check_claim("a", a)
    check_claim("b", b)
    checks.within("threshold", threshold, -1.0, 1.0)
    checks.probability("confidence_gap", confidence_gap)
    if cosine < threshold - ROUNDING:
        reason = f"The cosine of {cosine:.3f} is below {threshold:g}."
        return Decision(Verdict.DISTINCT, None, reason)
    if is_correction(a) or is_correction(b):
        return _correction(a, b)
    if a.category != b.category:
        reason = f"The categories differ: {a.category!r} and {b.category!r}."
        return Decision(Verdict.DISTINCT, None, reason)
    gap = abs(a.confidence - b.confidence)
    if gap > confidence_gap + ROUNDING:
        reason = f"They say the same, but the confidences are {gap:.2f} apart, more than {confidence_gap:g}."
        return Decision(Verdict.KEEP_BOTH, None, reason)
    reason = (
        f"The cosine of {cosine:.3f} reaches {threshold:g}, the category is the same, "
        f"and the confidences are {gap:.2f} apart."
    )
    return Decision(Verdict.DUPLICATE, None, reason)


def _correction(a: C, b: C) -> Decision[C]:
    """Return the decision on two similar claims of which at least one is a correction."""
    if is_correction(a) and is_correction(b):
        return Decision(Verdict.CORRECTION, newest([a, b]), "Both are corrections, and the newer one wins.")
    winner = a if is_correction(a) else b
    return Decision(Verdict.CORRECTION, winner, "A correction wins over what it corrects.")
