"""Strategies for duplicate claims: which one stays, and its content afterwards.

Four strategies of one interface, by name in :data:`STRATEGIES`. None of them destroys anything: a loser is
superseded by the winner, with a link, and stays readable in its history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, Generic, Protocol

from memorata._frozen import frozen
from memorata.dedupe.decisions import (
    C,
    by_confidence,
    by_time,
    check_claim,
    is_correction,
    learnt_at,
    newest,
    surest,
)
from memorata.dedupe.fingerprint import folded, is_closing_punctuation
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
    """What becomes of some duplicates."""

    winner: C | None
    """The claim that stays current; None when all of them do."""
    superseded: tuple[Superseded[C], ...]
    """The others, in the order they were given; empty when all stay."""
    survivor: Survivor | None
    """What the winner says from now on; None when all stay as they are."""


class Strategy(Protocol):
    """A way to resolve two or more duplicates."""

    def __call__(self, claims: Sequence[C], /) -> Resolution[C]:
        """Return what becomes of `claims`."""


def keep_highest_confidence(claims: Sequence[C], /) -> Resolution[C]:
    """Keep the surest claim as it is; ties go to the newest, the most mentioned, the first given."""
    _check(claims)
    return _kept_unchanged(surest(claims), claims)


def keep_most_recent(claims: Sequence[C], /) -> Resolution[C]:
    """Keep the claim learnt last, as it is; ties go to the surest, the most mentioned, the first given."""
    _check(claims)
    return _kept_unchanged(newest(claims), claims)


def merge(claims: Sequence[C], /) -> Resolution[C]:
    r"""Let the surest claim speak for all: contents once each, maximum confidence, latest time, all mentions.

    Contents are joined oldest first, ties in the order given, and one that stands in another is not repeated
    (:func:`joined_once`). The winner is that of
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
    """Keep every claim as it is: no winner, nothing superseded."""
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
    return _kept_unchanged(newest(corrections), claims) if corrections else chosen(claims)


def precedence(claims: Sequence[C], strategy: str = "keep_highest_confidence") -> list[int]:
    """Return the positions of the winners, one after the other, if each winner were taken away.

    That is the order in which :func:`resolve` names them while at least one is left, found by one sort. With
    ``"keep_both"`` none wins but corrections.
    """
    checks.one_of("strategy", strategy, list(STRATEGIES))
    if not isinstance(claims, Sequence) or isinstance(claims, str):
        raise InvalidArgument("claims", claims, "a list of claims")
    for position, claim in enumerate(claims):
        check_claim(f"claims[{position}]", claim)
    corrections = [place for place, claim in enumerate(claims) if is_correction(claim)]
    others = [place for place, claim in enumerate(claims) if not is_correction(claim)]
    # A sort in reverse leaves equal ones in the order given, as the first of them wins.
    corrections.sort(key=lambda place: by_time(claims[place]), reverse=True)
    if strategy == "keep_most_recent":
        others.sort(key=lambda place: by_time(claims[place]), reverse=True)
    else:
        others.sort(key=lambda place: by_confidence(claims[place]), reverse=True)
    return corrections if strategy == "keep_both" else corrections + others


def joined_once(contents: Sequence[str]) -> str:
    """Return the contents on lines of their own, except those that another one contains.

    A content is contained when its words stand in the other one, in their order and side by side. Words are
    compared without case, compatibility forms and the punctuation around them, as in
    :func:`~memorata.dedupe.fingerprint.normalised`: "tea" is in "Tea, please!" but not in "teapot", and
    "costs 3" is not in "costs 3.50". Whatever stays is word for word what it was, and joining the result with
    any of the contents again adds nothing. Order is kept; of texts with the same words the first stays.
    """
    if not isinstance(contents, Sequence) or isinstance(contents, str) or not contents:
        raise InvalidArgument("contents", contents, "a list of one text or more")
    keys = [_words(checks.text(f"contents[{place}]", content)) for place, content in enumerate(contents)]
    return "\n".join(content for place, content in enumerate(contents) if not _is_repeated(place, keys))


def _check(claims: object) -> None:
    """Raise unless `claims` is a sequence of two or more claims."""
    if not isinstance(claims, Sequence) or isinstance(claims, str) or len(claims) < 2:
        raise InvalidArgument("claims", claims, "a list of two or more claims")
    for position, claim in enumerate(claims):
        check_claim(f"claims[{position}]", claim)


def _kept_unchanged(winner: C, claims: Sequence[C]) -> Resolution[C]:
    """Return the resolution in which `winner` stays as it is."""
    survivor = Survivor(winner.content, winner.confidence, winner.created_at, winner.mentions)
    return Resolution(winner, _superseded(winner, claims), survivor)


def _superseded(winner: C, claims: Sequence[C]) -> tuple[Superseded[C], ...]:
    """Return the link of every claim that is not the winner itself; equal records are still two claims."""
    place = next(position for position, claim in enumerate(claims) if claim is winner)
    return tuple(Superseded(claim, by=winner) for position, claim in enumerate(claims) if position != place)


def _is_repeated(place: int, keys: Sequence[str]) -> bool:
    """Return whether the words at `place` stand in those of another, or are the same as earlier ones."""
    key = keys[place]
    return any(
        key in other_key and (key != other_key or rival < place)
        for rival, other_key in enumerate(keys)
        if rival != place
    )


def _words(content: str) -> str:
    """Return the words of `content`, each between two spaces, so that ``in`` compares whole words."""
    words = [_bare(word) for word in folded(content).split()]
    return " ".join(["", *words, ""])


def _bare(word: str) -> str:
    """Return `word` without the punctuation around it; a word of nothing else stays."""
    start, end = 0, len(word)
    while start < end and is_closing_punctuation(word[start]):
        start += 1
    while end > start and is_closing_punctuation(word[end - 1]):
        end -= 1
    return word[start:end] or word
