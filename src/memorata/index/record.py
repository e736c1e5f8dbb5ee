"""The fixed-width record a search needs of every memory: 100 bytes beside the text.

A namespace's records, one after the other, are one numpy array whose position is the memory's slot; so gates,
re-ranking and statistics read columns and never touch a row of the database. Times are POSIX seconds. Every
record ends with a checksum, which is compared whenever it is read. The terms of a memory that wait for a
segment stand beside its record, as JSON ``{field: {term: frequency}}`` behind a version and a checksum: what
does not check is rebuilt, never trusted.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata.model.errors import IndexCorrupt
from memorata.model.memory import MACHINES, Memory, Tier
from memorata.rank.records import TIER_SALIENCE

FIELDS: Final = ("content", "tags", "entities", "speaker", "dates", "names", "roots")
"""The lexical fields of a memory, in the order of their lengths in a record."""
SPEAKER: Final = FIELDS.index("speaker")

TIERS: Final = tuple(TIER_SALIENCE)
"""Tier names by the number a record keeps; the order in which :func:`memorata.rank.quality` counts them."""

FORGOTTEN: Final = 1
GONE: Final = 2
"""Bits of `state`: hidden but restorable; purged, with nothing left but its slot."""

MACHINE: Final = 1
FOREIGN: Final = 2
"""Bits of `role`: by an assistant; untrusted."""
ROLES: Final = MACHINES | {"user", "human"}
"""Speakers that are no names."""

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
        ("until", "<f8"),
        ("lat", "<f8"),
        ("lon", "<f8"),
        ("lengths", "<u4", (len(FIELDS),)),
        ("role", "u1"),
        ("pinned", "u1"),
        ("supported", "<u2"),
        ("checksum", "<u4"),
    ]
)

_TIER_NUMBERS: Final = {Tier(name): number for number, name in enumerate(TIERS)}
WORKING: Final = _TIER_NUMBERS[Tier.WORKING]
"""The number of the tier of passing remarks in records."""
_PACK: Final = struct.Struct(f"<BBHiiIQ9d{len(FIELDS)}IBBH")
_CHECKSUM: Final = struct.Struct("<I")
_SOUND: Final = zlib.crc32(_CHECKSUM.pack(zlib.crc32(b"")))
"""The CRC-32 of anything followed by its own CRC-32 is always this number, so one pass checks a record."""
_ZEROS: Final = (0,) * len(FIELDS)
_MAX_DAYS: Final = 2**16 - 1
_NEVER: Final = math.inf
NOWHERE: Final = math.inf
"""The latitude and longitude of a memory without a place; not NaN, which is not even itself."""

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
    """Return the record of a memory with its fingerprint, as bytes; `lengths` are the terms of each field."""
    source, created = memory.source, memory.created_at.timestamp()
    body = _PACK.pack(
        state,
        _TIER_NUMBERS[memory.tier],
        vectors,
        session,
        -1 if source.position is None else source.position,
        memory.access_count,
        int(memory.fingerprint[:16] or "0", 16),
        memory.confidence,
        memory.importance,
        created,
        created if memory.valid_from is None else memory.valid_from.timestamp(),
        _NEVER if superseded_at is None else superseded_at,
        _NEVER if memory.expires_at is None else memory.expires_at.timestamp(),
        _NEVER if memory.valid_to is None else memory.valid_to.timestamp(),
        *((NOWHERE, NOWHERE) if memory.place is None else (memory.place.lat, memory.place.lon)),
        *map(lengths.get, FIELDS, _ZEROS),
        (MACHINE if source.is_machine else 0) | (FOREIGN if memory.untrusted else 0),
        memory.pinned,
        supported_days(memory),
    )
    return _sealed(body)


def body_of(record: bytes) -> bytes:
    """Return a record without its checksum and without signs of zero, which a database does not keep."""
    row = np.frombuffer(record, RECORD).copy()
    for name in ("confidence", "importance", "lat", "lon"):
        row[name] += 0.0
    return row.tobytes()[: _PACK.size]


def supported_days(memory: Memory) -> int:
    """Return how many whole days after it was learnt a memory was last supported, once a day at most."""
    if memory.supported_at is None:
        return 0
    return min(max(0, (memory.supported_at - memory.created_at).days), _MAX_DAYS)


def gone() -> bytes:
    """Return the record of a purged slot: nothing but the fact."""
    return _sealed(
        _PACK.pack(GONE, 0, 0, -1, -1, 0, 0, *([0.0] * 7), NOWHERE, NOWHERE, *([0] * len(FIELDS)), 0, 0, 0)
    )


def unpacked(records: Sequence[bytes]) -> Records:
    """Return records as an array, or raise :class:`IndexCorrupt` if one is not what was written.

    >>> unpacked([bytes(RECORD.itemsize)])
    Traceback (most recent call last):
    ...
    memorata.model.errors.IndexCorrupt: a record does not match its checksum
    """
    blob = b"".join(records)
    if len(blob) != len(records) * RECORD.itemsize or not set(map(zlib.crc32, records)) <= {_SOUND}:
        raise IndexCorrupt("a record does not match its checksum")
    return np.frombuffer(blob, RECORD)


def unpacked_run(run: bytes, count: int) -> Records:
    """Return `count` records that lie one after the other as an array, or raise :class:`IndexCorrupt`.

    All are checked at once: a CRC-32 goes on from where the record before has left it, which after a sound
    record is always the same place, so that a run of sound records has a CRC-32 that only their number says.
    """
    if len(run) != count * RECORD.itemsize or zlib.crc32(run) != _sound_run(count):
        raise IndexCorrupt("a record does not match its checksum")
    return np.frombuffer(run, RECORD)


@lru_cache(maxsize=16)
def _sound_run(count: int) -> int:
    return zlib.crc32(gone() * count)


def changed(record: Records, **columns: float) -> bytes:
    """Return one record with some columns changed, as bytes.

    >>> unpacked([changed(unpacked([gone()]), state=0)])["state"]
    array([0], dtype=uint8)
    """
    copy = record.copy()
    for name, value in columns.items():
        copy[name] = value
    return _sealed(copy.tobytes()[: _PACK.size])


def visible(
    records: Records,
    now: float,
    *,
    as_of: float | None = None,
    true_at: float | None = None,
    until: npt.NDArray[np.float64] | None = None,
    former: bool = False,
) -> npt.NDArray[np.bool_]:
    """Return which memories a recall at `now` may find.

    Not forgotten, not purged, not expired at `now`. Without `as_of` also not superseded, whatever the clock
    says: the clocks of two processes differ, and a correction counts from the moment it is written. With
    `as_of`, known and not yet superseded then. With `true_at`, only what held in the world at that instant,
    from its event time until the end of its validity; what was superseded held until what took its place
    began. `until` is when each of them was known to end at `as_of`, where that is not what the records say.
    With `former`, also what a newer memory ended at present, in whose place that is shown.
    """
    mask: npt.NDArray[np.bool_] = (records["state"] == 0) & (records["expires"] > now)
    if as_of is None:
        current = records["superseded"] == _NEVER
        if former:
            current |= records["until"] < _NEVER
    else:
        mask &= records["created"] <= as_of
        current = records["superseded"] > as_of
    if true_at is None:
        mask &= current
        return mask
    if until is None:
        until = records["until"]
    mask &= (current | (until < _NEVER)) & (records["event"] <= true_at) & (true_at < until)
    return mask


def replaced(records: Records) -> npt.NDArray[np.bool_]:
    """Return which memories a newer one superseded and ended."""
    ended: npt.NDArray[np.bool_] = (records["superseded"] < _NEVER) & (records["until"] < _NEVER)
    ended &= records["state"] == 0
    return ended


def _sealed(body: bytes) -> bytes:
    return body + _CHECKSUM.pack(zlib.crc32(body))


_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")
_written: Final = json.JSONEncoder(ensure_ascii=False).encode

Terms = Mapping[str, Mapping[str, int]]


def encoded_terms(terms: Terms) -> bytes:
    """Return the words of a memory as bytes, which :func:`decoded_terms` reads."""
    body = _written(terms).encode()
    return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


def decoded_terms(blob: bytes) -> dict[str, dict[str, int]]:
    """Return the words that :func:`encoded_terms` wrote, or raise :class:`IndexCorrupt`."""
    if len(blob) < _HEAD.size:
        raise IndexCorrupt("the words of a memory are cut short")
    version, checksum = _HEAD.unpack_from(blob)
    body = blob[_HEAD.size :]
    if version != _VERSION:
        raise IndexCorrupt(f"the words of a memory have the unknown version {version}")
    if zlib.crc32(body) != checksum:
        raise IndexCorrupt("the words of a memory do not match their checksum")
    try:
        terms: dict[str, dict[str, int]] = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise IndexCorrupt("the words of a memory cannot be read, though their checksum is right") from error
    return terms


class Growing:
    """Rows of one dtype and shape in a buffer that doubles when it is full.

    >>> rows = Growing(np.int32, ())
    >>> rows.extend(np.array([1, 2])); rows.append(3)
    >>> rows.view
    array([1, 2, 3], dtype=int32)
    """

    def __init__(self, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> None:
        self._buffer: npt.NDArray[Any] = np.empty((0, *shape), dtype)
        self.view: npt.NDArray[Any] = self._buffer
        """The rows so far; valid until the next change. Read often, and so no property."""

    def __len__(self) -> int:
        return len(self.view)

    @property
    def nbytes(self) -> int:
        """How much memory the buffer takes."""
        return int(self._buffer.nbytes)

    def reserve(self, count: int) -> None:
        """Make room for `count` rows in all."""
        if count > len(self._buffer):
            grown, rows = np.empty((count, *self._buffer.shape[1:]), self._buffer.dtype), len(self.view)
            grown[:rows] = self.view
            self._buffer, self.view = grown, grown[:rows]

    def copy(self) -> Growing:
        """Return the same rows in a buffer of their own."""
        duplicate = Growing(self._buffer.dtype, self._buffer.shape[1:])
        duplicate.extend(self.view)
        return duplicate

    def append(self, row: object) -> None:
        """Add one row at the end."""
        count = len(self.view)
        if count == len(self._buffer):
            self.reserve(max(1, 2 * count))
        self._buffer[count] = row
        self.view = self._buffer[: count + 1]

    def extend(self, rows: npt.NDArray[Any]) -> None:
        """Add rows at the end."""
        count = len(self.view)
        needed = count + len(rows)
        if needed > len(self._buffer):
            self.reserve(max(needed, 2 * len(self._buffer)))
        self._buffer[count:needed] = rows
        self.view = self._buffer[:needed]
