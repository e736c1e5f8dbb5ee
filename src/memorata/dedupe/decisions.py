"""What to do with claims that resemble each other: what two of them are to each other, and which stays.

Similar words are not enough for a duplicate: the two must be of one kind, and we must be about equally sure
of both. A correction is no duplicate of what it corrects, however alike they sound; it wins over it.

Among duplicates a strategy chooses, one of four by name in :data:`STRATEGIES`. None of them destroys
anything: a loser is superseded by the winner, with a link, and stays readable in its history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Generic, Protocol, TypeVar, runtime_checkable

from memorata._frozen import frozen
from memorata.dedupe.fingerprint import folded, is_closing_punctuation
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
    chooses (:data:`STRATEGIES`), and otherwise both stay."""
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
    """Return what two claims are to each other, in whatever order, given the cosine of their vectors.

    The first rule that applies decides:

    1. cosine < threshold: distinct.
    2. Either is a correction: the correction wins, whatever the other's category and confidence. Of two
       corrections the newer wins; of two of one instant the surer, then the more mentioned, then `a`.
    3. Different categories: distinct.
    4. abs(Δconfidence) > confidence_gap: keep both.
    5. Otherwise: duplicates.

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
    """Return what becomes of two claims or more under the named strategy, unless a correction is among them.

    The newest correction is kept as it is and supersedes all others, because merging it with what it
    corrects, or keeping both, would bring the error back.

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
    """Return the positions of the winners in the order in which :func:`resolve` would name them."""
    checks.one_of("strategy", strategy, list(STRATEGIES))
    _check(claims, 0, "a list of claims")
    corrections = [place for place, claim in enumerate(claims) if is_correction(claim)]
    others = [place for place, claim in enumerate(claims) if not is_correction(claim)]
    # A sort in reverse leaves equal ones in the order given, as the first of them wins.
    corrections.sort(key=lambda place: by_time(claims[place]), reverse=True)
    worth: Callable[[C], Any] = by_time if strategy == "keep_most_recent" else by_confidence
    others.sort(key=lambda place: worth(claims[place]), reverse=True)
    return corrections if strategy == "keep_both" else corrections + others


def joined_once(contents: Sequence[str]) -> str:
    """Return the contents on lines of their own, except those whose words stand in another, side by side.

    Words are compared without case, compatibility forms and the punctuation around them: "tea" is in "Tea,
    please!" but not in "teapot". Order is kept; of texts with the same words the first stays.
    """
    if not isinstance(contents, Sequence) or isinstance(contents, str) or not contents:
        raise InvalidArgument("contents", contents, "a list of one text or more")
    keys = [_words(checks.text(f"contents[{place}]", content)) for place, content in enumerate(contents)]
    return "\n".join(content for place, content in enumerate(contents) if not _is_repeated(place, keys))


def _check(claims: object, least: int = 2, expected: str = "a list of two or more claims") -> None:
    """Raise unless `claims` is a sequence of claims."""
    if not isinstance(claims, Sequence) or isinstance(claims, str) or len(claims) < least:
        raise InvalidArgument("claims", claims, expected)
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
