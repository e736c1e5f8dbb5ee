"""What a store keeps about memories that say the same as others, or the opposite.

A repeat is superseded by what it repeats and stays readable; the note about it says why, and what it takes to
undo it. A contradiction is a remark on two memories, and nothing else until somebody decides.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

KINDS: Final = ("exact", "near", "merge", "correction")
"""How a memory repeats another: in the same words, in nearly the same, as a part of it, or wrongly."""


@frozen
class Repeat:
    """That a memory says what another one says, and was superseded for that.

    Parameters
    ----------
    memory_id
        The one that was superseded.
    of
        The one that stays.
    kind
        How it was found, one of :data:`KINDS`.
    reason
        One sentence for a person; nothing of what the memories say.
    at
        When it was noticed.
    mentions
        How many mentions the one that stays gained by it.
    confidence
        The confidence of the one that stays, afterwards; None to leave it as it is.
    supported_at
        When the one that stays was last supported by that; None to leave it as it is.
    run
        The number of the run that noticed it; None when it was noticed on being remembered.
    """

    memory_id: str
    of: str
    kind: str
    reason: str
    at: datetime
    mentions: int = 0
    confidence: float | None = None
    supported_at: datetime | None = None
    run: int | None = None


def repeat_from_elsewhere(memory: Memory, of: Memory, kind: str, at: datetime) -> Repeat:
    """Return the note of a repeat that another store has noted; what it added is in the other one by now.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea, again = (Memory(id=id_, content="Anna likes tea", created_at=day) for id_ in ("tea", "again"))
    >>> repeat_from_elsewhere(again, tea, "near", day).mentions
    1
    """
    checks.one_of("repeat", kind, KINDS)
    mentions = memory.mentions if kind in ("exact", "near") else 0
    return Repeat(memory.id, of.id, kind, "It was noted where it came from.", at, mentions, of.confidence)


@frozen
class Linked:
    """What took the place of a memory, and whose place it took.

    Parameters
    ----------
    memory_id
        The memory.
    superseded_by, superseded_at
        What took its place, and when; both None for one that is current.
    supersedes
        Whose place it took.
    """

    memory_id: str
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    supersedes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.superseded_by is None) != (self.superseded_at is None):
            raise InvalidArgument(
                "superseded_at", self.superseded_at, "given with superseded_by, or not at all"
            )


@frozen
class Run:
    """One pass over a namespace that superseded duplicates.

    Parameters
    ----------
    number
        Its number in the store.
    started_at
        When it began.
    finished_at
        When it was done; None for one that was interrupted.
    undone_at
        When it was taken back; None if it was not.
    strategy
        What became of duplicates.
    repeats
        How many memories it superseded that still are.
    """

    number: int
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    strategy: str
    repeats: int


@frozen
class Contradiction:
    """A remark that a newer memory may contradict an older one.

    Parameters
    ----------
    newer, older
        The ids of the two.
    cue
        What gave it away.
    reason
        One sentence for a person.
    at
        When it was noticed.
    verdict
        ``"contradicts"`` or ``"compatible"`` once somebody decided; None as long as nobody did.
    decided_by
        Who did: a model's name, or a person's.
    decided_because
        Their reason.
    decided_at
        When they did.
    """

    newer: str
    older: str
    cue: str
    reason: str
    at: datetime
    verdict: str | None = None
    decided_by: str = ""
    decided_because: str = ""
    decided_at: datetime | None = None


@frozen
class Undone:
    """What came of undoing a run.

    Parameters
    ----------
    reinstated
        The memories that are current again.
    left
        Those that stay superseded, because something newer has taken the place of what they repeat.
    """

    reinstated: tuple[Memory, ...]
    left: tuple[Memory, ...]
