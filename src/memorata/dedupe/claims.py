"""A claim: the little that deciding about duplicates needs to know of a memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeVar, runtime_checkable

from memorata.model import checks
from memorata.model.errors import InvalidArgument

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
        """How often it has been said."""


C = TypeVar("C", bound=Claim)


def check_claim(argument: str, claim: Claim) -> None:
    """Raise :class:`~memorata.model.errors.InvalidArgument` unless `claim` is one, with usable values.

    Examples
    --------
    >>> check_claim("a", "Alice likes tea")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: a must be a claim (content, category, confidence, created_at and
    mentions), got 'Alice likes tea'
    """
    if not isinstance(claim, Claim):
        expected = "a claim (content, category, confidence, created_at and mentions)"
        raise InvalidArgument(argument, claim, expected)
    checks.text(f"{argument}.content", claim.content)
    checks.text(f"{argument}.category", claim.category)
    checks.probability(f"{argument}.confidence", claim.confidence)
    checks.instant(f"{argument}.created_at", claim.created_at)
    checks.whole(f"{argument}.mentions", claim.mentions)


def is_correction(claim: Claim) -> bool:
    """Tell whether `claim` sets another one right."""
    return claim.category == CORRECTION


def learnt_at(claim: Claim) -> datetime:
    """Return when `claim` was learnt, in UTC: times of one local zone compare by the clock on the wall."""
    return checks.instant("created_at", claim.created_at)


def by_sureness(claim: Claim) -> tuple[float, datetime, int]:
    """Return what is larger of the surer claim: confidence, then the time it was learnt, then mentions."""
    return claim.confidence, learnt_at(claim), claim.mentions


def by_time(claim: Claim) -> tuple[datetime, float, int]:
    """Return what is larger of the newer claim: the time it was learnt, then confidence, then mentions."""
    return learnt_at(claim), claim.confidence, claim.mentions


def surest(claims: Sequence[C]) -> C:
    """Return the claim of the highest confidence; ties go to the newest, the most mentioned, the first."""
    return max(claims, key=by_sureness)


def newest(claims: Sequence[C]) -> C:
    """Return the claim learnt last; ties go to the highest confidence, the most mentioned, the first."""
    return max(claims, key=by_time)
