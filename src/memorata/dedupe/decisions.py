"""What to do with two claims that resemble each other.

Similar words are not enough for a duplicate: the two must be of one kind, and we must be about equally sure
of both. A correction is no duplicate of what it corrects, however alike they sound; it wins over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Generic, Protocol, TypeVar, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

DUPLICATE_COSINE: Final = 0.92
"""From this cosine on, two claims say the same."""
MERGE_COSINE: Final = 0.90
"""The cosine to ask for when the claims are to be merged, which loses neither of the two contents."""

_FLOAT32_ROUNDING = 1e-6
"""How far a cosine of float32 vectors can lie outside -1 to 1 by rounding alone."""
ROUNDING: Final = 1e-9
"""By how much every bound of this package gives way, far above the rounding of float64 (about 1e-15 here) and
far below any difference that matters. A bound such as 0.20 is a decimal number, and a difference that should
land on it can fall a hair to either side: ``0.9 - 0.7`` is 0.20000000000000007."""
CORRECTION = "correction"
"""The category of claims that set another right, and so win over it."""


@runtime_checkable
class Claim(Protocol):
    """Anything with these five attributes: a memory, or a record made for the purpose."""

    @property
    def content(self) -> str:
        """What is claimed, word for word."""

    @property
    def category(self) -> str:
        """What kind of claim it is; "correction" is the one that decisions treat apart."""

    @property
    def confidence(self) -> float:
        """How sure we are, from 0 to 1."""

    @property
    def created_at(self) -> datetime:
        """When we learnt it, with a time zone."""

    @property
    def mentions(self) -> int:
        """How often it was mentioned."""


C = TypeVar("C", bound=Claim)


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
    """A verdict on two claims, and why."""

    verdict: Verdict
    winner: C | None
    """The claim that supersedes the other one. Only a correction has one here: among duplicates the strategy
    chooses (:mod:`memorata.dedupe.strategies`), and otherwise both stay."""
    reason: str
    """One sentence for a person."""


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


def check_claim(argument: str, claim: Claim) -> None:
    """Raise :class:`~memorata.model.errors.InvalidArgument` unless `claim` is one, with usable values."""
    if not isinstance(claim, Claim):
        expected = "a claim (content, category, confidence, created_at and mentions)"
        raise InvalidArgument(argument, claim, expected)
    checks.text(f"{argument}.content", claim.content)
    checks.text(f"{argument}.category", claim.category)
    checks.probability(f"{argument}.confidence", claim.confidence)
    checks.instant(f"{argument}.created_at", claim.created_at)
    checks.whole(f"{argument}.mentions", claim.mentions)


def is_correction(claim: Claim) -> bool:
    """Return whether `claim` sets another one right."""
    return claim.category == CORRECTION


def learnt_at(claim: Claim) -> datetime:
    """Return when `claim` was learnt, in UTC: times of one local zone compare by the clock on the wall."""
    return checks.instant("created_at", claim.created_at)


def by_confidence(claim: Claim) -> tuple[float, datetime, int]:
    """Return what is larger of the surer claim: confidence, then the time it was learnt, then mentions."""
    return claim.confidence, learnt_at(claim), claim.mentions


def by_time(claim: Claim) -> tuple[datetime, float, int]:
    """Return what is larger of the newer claim: the time it was learnt, then confidence, then mentions."""
    return learnt_at(claim), claim.confidence, claim.mentions


def surest(claims: Sequence[C]) -> C:
    """Return the claim of the highest confidence; ties go to the newest, the most mentioned, the first."""
    return max(claims, key=by_confidence)


def newest(claims: Sequence[C]) -> C:
    """Return the claim learnt last; ties go to the highest confidence, the most mentioned, the first."""
    return max(claims, key=by_time)
