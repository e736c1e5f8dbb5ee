"""Notes of a store about memories that repeat or contradict others.

A repeat is superseded by the memory it repeats and stays readable; its note holds the reason, and what
undoing it takes. A contradiction is a remark on two memories, without effect until it is decided.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memorata._frozen import frozen
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

KINDS: Final = ("exact", "near", "merge", "correction")
"""How a memory repeats another: in the same words, in nearly the same, as a part of it, or wrongly."""


@frozen
class Repeat:
    """The note that a memory repeats another one, and was superseded for that."""

    memory_id: str
    """The one that was superseded."""
    of: str
    """The one that stays."""
    kind: str
    """The kind of repeat, one of :data:`KINDS`."""
    reason: str
    """One sentence for a person; nothing of what the memories say."""
    at: datetime
    mentions: int = 0
    """How many mentions the one that stays gained by it."""
    confidence: float | None = None
    """The confidence of the one that stays, afterwards; None to leave it as it is."""
    supported_at: datetime | None = None
    """When the one that stays was last supported by that; None to leave it as it is."""
    run: int | None = None
    """The number of the run that noticed it; None when it was noticed on being remembered."""


@frozen
class Linked:
    """The links of a memory: what superseded it and when (None for a current one), and what it supersedes."""

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
    """One pass over a namespace that superseded duplicates."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    """None for one that was interrupted."""
    undone_at: datetime | None
    strategy: str
    """What became of duplicates."""
    repeats: int
    """How many memories it superseded that still are."""


@frozen
class Contradiction:
    """A remark that a newer memory may contradict an older one; both by id."""

    newer: str
    older: str
    cue: str
    """The words or fields that suggest it."""
    reason: str
    """One sentence for a person."""
    at: datetime
    verdict: str | None = None
    """``"contradicts"`` or ``"compatible"`` once it was decided; None until then."""
    decided_by: str = ""
    """A model's name, or a person's."""
    decided_because: str = ""
    decided_at: datetime | None = None


@frozen
class Undone:
    """The result of undoing a run."""

    reinstated: tuple[Memory, ...]
    """The memories that are current again."""
    left: tuple[Memory, ...]
    """The memories that stay superseded, because the memory they repeat has been superseded since."""
