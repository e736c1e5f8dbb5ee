"""What every store does with a memory before it writes its row: check what columns hold, make its record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memorata.index.record import packed
from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.model.memory import Memory
from memorata.store.port import Entry

_LIMITS: Final = {"position": 2**31, "access_count": 2**32, "mentions": 2**63, "version": 2**63}
_SMALLEST_LIMIT: Final = min(_LIMITS.values())
_MAX_PASSAGES: Final = 2**16 - 1


def checked_numbers(memory: Memory) -> Memory:
    """Return a memory whose whole numbers the columns can hold."""
    numbers = (memory.source.position or 0, memory.access_count, memory.mentions, memory.version)
    if max(numbers) >= _SMALLEST_LIMIT:
        for (name, limit), value in zip(_LIMITS.items(), numbers, strict=True):
            if value >= limit:
                raise InvalidArgument(name, value, f"below {limit}")
    return memory


def as_added(memory: Memory) -> Memory:
    """Return a memory as its row says it; what supersedes it is said by the newer one alone."""
    checked = checked_numbers(memory)
    return checked if checked.superseded_by is None else replace(checked, superseded_by=None)


def checked_passages(entry: Entry, embedder: tuple[int, int] | None) -> int:
    """Return how many passages an entry has vectors of, which the columns can hold."""
    if entry.vectors is None:
        return 0
    if embedder is None:
        raise InvalidArgument("vectors", entry.memory.id, "left out as long as the store has no embedder")
    if entry.vectors.ndim != 2 or not 1 <= len(entry.vectors) <= _MAX_PASSAGES:
        shape = entry.vectors.shape
        raise InvalidArgument("vectors", shape, f"1 to {_MAX_PASSAGES} rows, one for each passage")
    if entry.vectors.shape[1] != embedder[1]:
        got = entry.vectors.shape[1]
        raise DimensionMismatch(f"memory {entry.memory.id!r}", expected=embedder[1], got=got)
    # One product tells of every number that is not finite; it may also have overflowed, so look again then.
    if not math.isfinite(np.vdot(entry.vectors, entry.vectors)) and not np.isfinite(entry.vectors).all():
        raise InvalidArgument("vectors", entry.memory.id, "finite numbers")
    return len(entry.vectors)


def records_of(
    memories: Sequence[Memory],
    batch: Sequence[Entry],
    passages: Sequence[int],
    sessions: Mapping[str, int],
) -> list[bytes]:
    """Return the record of each memory that is added.

    Parameters
    ----------
    memories, batch
        The memories as their rows say them, and the entries they came in.
    passages
        How many vectors each has.
    sessions
        The number of each session by its name.
    """
    return [
        packed(
            memory,
            state=0,
            session=sessions.get(memory.source.session, -1),
            vectors=count,
            superseded_at=None,
            lengths={field: sum(terms.values()) for field, terms in entry.terms.items()},
        )
        for memory, entry, count in zip(memories, batch, passages, strict=True)
    ]
