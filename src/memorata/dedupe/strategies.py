"""What becomes of claims found to be duplicates: who stays, and what it then says.

Four strategies of one interface, by name in :data:`STRATEGIES`. None of them destroys anything: a loser is
superseded by the winner, with a link, and stays readable in its history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, Generic, Protocol

from memorata._frozen import frozen
from memorata.dedupe.claims import (
    C,
    by_sureness,
    by_time,
    check_claim,
    is_correction,
    learnt_at,
    newest,
    surest,
)
from memorata.dedupe.contents import joined_once
from memorata.model import checks
from memorata.model.errors import InvalidArgument


@frozen
class Superseded(Generic[C]):
    """A link from a claim that is no longer current to the one that took its place."""

    claim: C
    by: C


@frozen
class Survivor:
    """What the winner says from now on; equal to its own values unless claims were merged."""

    content: str
    confidence: float
    created_at: datetime
    mentions: int


@frozen
class Resolution(Generic[C]):
    """What becomes of some duplicates.

    Parameters
    ----------
    winner
        The claim that stays current; None when all of them do.
    superseded
        The others, in the order they were given, each with its link to the winner; empty when all stay.
    survivor
        What the winner says from now on; None when all stay as they are.
    """

    winner: C | None
    superseded: tuple[Superseded[C], ...]
    survivor: Survivor | None


class Strategy(Protocol):
    """A way to resolve two or more duplicates."""

    def __call__(self, claims: Sequence[C], /) -> Resolution[C]:
        """Return what becomes of `claims`."""


def keep_highest_confidence(claims: Sequence[C], /) -> Resolution[C]:
    """Keep the claim we are surest of, as it is; ties go to the newest, the most mentioned, the first given.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea = Record(content="Likes tea", category="preference", confidence=0.9, created_at=day, mentions=1)
    >>> too = Record(content="Loves tea", category="preference", confidence=0.8, created_at=day, mentions=4)
    >>> keep_highest_confidence([too, tea]).survivor.content
    'Likes tea'
    """
    _check(claims)
    return _kept(surest(claims), claims)


def keep_most_recent(claims: Sequence[C], /) -> Resolution[C]:
    """Keep the claim learnt last, as it is; ties go to the surest, the most mentioned, the first given.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> old, new = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    >>> tea = Record(content="Likes tea", category="preference", confidence=0.9, created_at=old, mentions=1)
    >>> too = Record(content="Loves tea", category="preference", confidence=0.8, created_at=new, mentions=1)
    >>> keep_most_recent([tea, too]).survivor.content
    'Loves tea'
    """
    _check(claims)
    return _kept(newest(claims), claims)


def merge(claims: Sequence[C], /) -> Resolution[C]:
    r"""Let the surest claim speak for all: contents once each, maximum confidence, latest time, all mentions.

    Contents are joined oldest first, ties in the order given, and one that stands in another is not repeated
    (:func:`~memorata.dedupe.contents.joined_once`). The winner is that of
    :func:`keep_highest_confidence`; its own wording stays in its history.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> old, new = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    >>> tea = Record(content="Likes tea", category="preference", confidence=0.9, created_at=old, mentions=1)
    >>> too = Record(content="Loves tea", category="preference", confidence=0.8, created_at=new, mentions=2)
    >>> merged = merge([too, tea])
    >>> merged.survivor.content, merged.survivor.confidence, merged.survivor.mentions
    ('Likes tea\nLoves tea', 0.9, 3)
    """
    _check(claims)
    survivor = Survivor(
        content=joined_once([claim.content for claim in sorted(claims, key=learnt_at)]),
        confidence=max(claim.confidence for claim in claims),
        created_at=max(learnt_at(claim) for claim in claims),
        mentions=sum(claim.mentions for claim in claims),
    )
    winner = surest(claims)
    return Resolution(winner, _superseded(winner, claims), survivor)


def keep_both(claims: Sequence[C], /) -> Resolution[C]:
    """Keep every claim as it is: no winner, nothing superseded.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea = Record(content="Likes tea", category="preference", confidence=0.9, created_at=day, mentions=1)
    >>> keep_both([tea, tea])
    Resolution(winner=None, superseded=(), survivor=None)
    """
    _check(claims)
    return Resolution(None, (), None)


STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        "keep_highest_confidence": keep_highest_confidence,
        "keep_most_recent": keep_most_recent,
        "merge": merge,
        "keep_both": keep_both,
    }
)
"""Every strategy by name, for settings, the command line and the web page."""


def resolve(claims: Sequence[C], strategy: str = "keep_highest_confidence") -> Resolution[C]:
    """Return what becomes of `claims` under the named strategy, unless a correction is among them.

    A correction always wins, as in :func:`~memorata.dedupe.decisions.decide`: the newest one is kept as
    it is and supersedes all others, because merging it with what it corrects, or keeping both, would bring
    the error back.

    Parameters
    ----------
    claims
        Two or more claims that are duplicates of each other.
    strategy
        A name in :data:`STRATEGIES`.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> old = Record(content="Bo is in Rome", category="fact", confidence=0.9, created_at=day, mentions=5)
    >>> new = Record(content="Bo is in Ur", category="correction", confidence=0.6, created_at=day, mentions=1)
    >>> resolve([old, new], "merge").survivor.content
    'Bo is in Ur'
    """
    chosen = STRATEGIES[checks.one_of("strategy", strategy, list(STRATEGIES))]
    _check(claims)
    corrections = [claim for claim in claims if is_correction(claim)]
    return _kept(newest(corrections), claims) if corrections else chosen(claims)


def precedence(claims: Sequence[C], strategy: str = "keep_highest_confidence") -> list[int]:
    """Return the places of those who would win, one after the other, if each winner were taken away.

    That is the order in which :func:`resolve` names them while at least one is left, found by one sort.

    Parameters
    ----------
    claims
        Any number of claims.
    strategy
        A name in :data:`STRATEGIES`; with ``"keep_both"`` nobody wins but corrections.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from types import SimpleNamespace as Record
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> said = [("fact", 0.7), ("fact", 0.9), ("correction", 0.6)]
    >>> said = [Record(content="", category=c, confidence=s, created_at=day, mentions=1) for c, s in said]
    >>> precedence(said), precedence(said, "keep_both")
    ([2, 1, 0], [2])
    """
    checks.one_of("strategy", strategy, list(STRATEGIES))
    if not isinstance(claims, Sequence) or isinstance(claims, str):
        raise InvalidArgument("claims", claims, "a list of claims")
    for position, claim in enumerate(claims):
        check_claim(f"claims[{position}]", claim)
    corrections = [place for place, claim in enumerate(claims) if is_correction(claim)]
    others = [place for place, claim in enumerate(claims) if not is_correction(claim)]
    # A sort in reverse leaves those who are even in the order given, as the first of them wins.
    corrections.sort(key=lambda place: by_time(claims[place]), reverse=True)
    if strategy == "keep_most_recent":
        others.sort(key=lambda place: by_time(claims[place]), reverse=True)
    else:
        others.sort(key=lambda place: by_sureness(claims[place]), reverse=True)
    return corrections if strategy == "keep_both" else corrections + others


def _check(claims: object) -> None:
    """Raise unless `claims` is a sequence of two or more claims."""
    if not isinstance(claims, Sequence) or isinstance(claims, str) or len(claims) < 2:
        raise InvalidArgument("claims", claims, "a list of two or more claims")
    for position, claim in enumerate(claims):
        check_claim(f"claims[{position}]", claim)


def _kept(winner: C, claims: Sequence[C]) -> Resolution[C]:
    """Return the resolution in which `winner` stays as it is."""
    survivor = Survivor(winner.content, winner.confidence, winner.created_at, winner.mentions)
    return Resolution(winner, _superseded(winner, claims), survivor)


def _superseded(winner: C, claims: Sequence[C]) -> tuple[Superseded[C], ...]:
    """Return the link of every claim that is not the winner itself; equal records are still two claims."""
    place = next(position for position, claim in enumerate(claims) if claim is winner)
    return tuple(Superseded(claim, by=winner) for position, claim in enumerate(claims) if position != place)
