"""The fixed-width record a search needs of every memory: 96 bytes beside the text.

A namespace's records, one after the other, are one numpy array whose position is the memory's slot; so gates,
re-ranking and statistics read columns and never touch a row of the database. Times are POSIX seconds.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.model.memory import Memory
from recollect.rank.quality import TIER_SALIENCE

FIELDS: Final = ("content", "tags", "entities", "speaker", "dates")
"""The lexical fields of a memory, in the order of their lengths in a record."""

TIERS: Final = tuple(TIER_SALIENCE)
"""Tier names by the number a record keeps; the order in which :func:`recollect.rank.quality` counts them."""

FORGOTTEN: Final = 1
GONE: Final = 2
"""Bits of `state`: hidden but restorable; purged, with nothing left but its slot."""

RECORD: Final = np.dtype(
    [
        ("state", "u1"),
        ("tier", "u1"),
        ("vectors", "<u2"),
        ("session", "<i4"),
        ("position", "<i4"),
        ("accesses", "<u4"),
        ("fingerprint", "<u8"),
        ("confidence", "<f8"),
        ("importance", "<f8"),
        ("created", "<f8"),
        ("event", "<f8"),
        ("superseded", "<f8"),
        ("expires", "<f8"),
        ("lengths", "<u4", (len(FIELDS),)),
    ]
)

_PACK: Final = struct.Struct(f"<BBHiiIQ6d{len(FIELDS)}I")
_NEVER: Final = math.inf

Records = npt.NDArray[np.void]


def packed(
    memory: Memory,
    *,
    state: int,
    session: int,
    vectors: int,
    superseded_at: float | None,
    lengths: Mapping[str, int],
) -> bytes:
    """Return the record of a memory as bytes.

    Parameters
    ----------
    memory
        The memory; its fingerprint must be set.
    state
        `FORGOTTEN`, or 0.
    session
        The number its session has in the namespace; -1 for none.
    vectors
        How many vectors (passages) it has.
    superseded_at
        When something newer took its place, in POSIX seconds; None if nothing did.
    lengths
        The number of terms in each lexical field.
    """
    return _PACK.pack(
        state,
        TIERS.index(memory.tier.value),
        vectors,
        session,
        -1 if memory.source.position is None else memory.source.position,
        memory.access_count,
        int(memory.fingerprint[:16] or "0", 16),
        memory.confidence,
        memory.importance,
        memory.created_at.timestamp(),
        memory.event_time.timestamp(),
        _NEVER if superseded_at is None else superseded_at,
        _NEVER if memory.expires_at is None else memory.expires_at.timestamp(),
        *(lengths.get(field, 0) for field in FIELDS),
    )


def gone() -> bytes:
    """Return the record of a purged slot: nothing but the fact."""
    return _PACK.pack(GONE, 0, 0, -1, -1, 0, 0, *([0.0] * 6), *([0] * len(FIELDS)))


def unpacked(blob: bytes) -> Records:
    """Return records that lie one after the other in `blob` as an array.

    Examples
    --------
    >>> unpacked(gone())["state"]
    array([2], dtype=uint8)
    """
    return np.frombuffer(blob, RECORD)


def visible(records: Records, now: float, *, as_of: float | None = None) -> npt.NDArray[np.bool_]:
    """Return which memories a recall at `now` may show.

    Not forgotten, not purged, not expired; known and not yet superseded at `as_of` (which is `now` unless
    said otherwise).
    """
    believed = now if as_of is None else as_of
    mask: npt.NDArray[np.bool_] = (records["state"] == 0) & (records["superseded"] > believed)
    mask &= records["expires"] > now
    if as_of is not None:
        mask &= records["created"] <= as_of
    return mask
