"""Small codes of vectors: one sign bit per dimension to scan, one byte per dimension to re-score.

The sign of each component of a unit vector says which side of a hyperplane it lies on, so the number of equal
signs estimates the angle (Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002).
Scanning bits reads 1/32 of the memory that floats take; the best few thousand are then re-scored from bytes,
and the caller re-scores the few it wants from the stored float32. Nothing has to be trained, and adding or
removing a vector costs nothing.

Codes are stored in runs of slots that lie end to end as far as the segments go. Those of many vectors are no
smaller than those of each and are only ever read all together, so nothing is won by merging them with their
segments: writing them again at every size would be most of what a batch writes. Only runs that are short, as
those of memories that came one by one, are joined when their segments are, so that they do not become too
many. A run whose embedder is none has no codes; loading makes them from the vectors.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from functools import reduce
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.errors import IndexCorrupt
from memorata.store.database import Rows, Session
from memorata.store.rows import SLOTS

Floats = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.int8]
Owners = npt.NDArray[np.int32]

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxIII")
_SAMPLE_FROM: Final = 16
"""From this many vectors per requested one, a sample is read first,"""
_SAMPLE_FACTOR: Final = 8
"""with this many vectors per requested one,"""
_MAX_SAMPLE: Final = 8_192
"""at most this many in all,"""
_MARGIN_FACTOR: Final = 2
"""and with this factor on the requested share, so that its bound is hardly ever too low."""


def sign_bits(vectors: Floats) -> Bits:
    """Return one bit per component (1 for positive), packed in 64-bit words: one row per vector.

    >>> sign_bits(np.array([[1, -1, 1, -1]], np.float32))
    array([[160]], dtype=uint64)
    """
    packed = np.packbits(vectors > 0, axis=1)
    words = -(-packed.shape[1] // 8)
    padded = np.zeros((len(vectors), words * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


@frozen
class Quantised:
    """Vectors as bytes: component = byte · scale."""

    values: Bytes
    scales: Floats


def quantised(vectors: Floats) -> Quantised:
    """Return each vector as bytes and the scale that makes its largest component 127.

    >>> quantised(np.array([[0.5, -1.0]], np.float32)).values
    array([[  64, -127]], dtype=int8)
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    steps = (largest / 127.0).astype(np.float32)
    # The smallest floats become 0 when divided.
    scales = np.where(steps > 0, steps, np.float32(1))
    return Quantised(np.rint(vectors / scales[:, None]).astype(np.int8), scales)


def rounded(vector: Floats) -> tuple[Bytes, float]:
    """Return one vector as bytes, and its scale; as :func:`quantised`, in a third of the time.

    >>> rounded(np.array([0.5, -63.5], np.float32))
    (array([   1, -127], dtype=int8), 0.5)
    """
    sizes = np.abs(vector)
    # One call into C; max passes through Python.
    scale = float(np.float32(sizes[sizes.argmax()]) / np.float32(127)) or 1.0
    return np.rint(vector / scale).astype(np.int8), scale


def closest(distance: npt.NDArray[np.uint16], count: int, largest: int) -> npt.NDArray[np.intp]:
    """Return the positions of at least `count` smallest distances (all ties of the last included).

    Counting how many vectors lie at each distance is linear, and several times faster than selecting. Among
    many vectors a sample estimates the last distance; then only vectors within it are counted.
    """
    if count >= len(distance):
        return np.arange(len(distance))
    if len(distance) >= _SAMPLE_FROM * count:
        sample = distance[:: len(distance) // min(_SAMPLE_FACTOR * count, _MAX_SAMPLE) or 1]
        share = -(-_MARGIN_FACTOR * count * len(sample) // len(distance))
        guess = np.partition(sample, share)[share]
        within = (distance <= guess).nonzero()[0]
        if len(within) >= count:
            chosen: npt.NDArray[np.intp] = within[_up_to(distance[within], count, largest)]
            return chosen
    return _up_to(distance, count, largest)


def _up_to(distance: npt.NDArray[np.uint16], count: int, largest: int) -> npt.NDArray[np.intp]:
    within = np.cumsum(np.bincount(distance, minlength=largest + 1))
    return (distance <= np.searchsorted(within, count)).nonzero()[0]


def coded_in(length: int, dimension: int) -> int:
    """Return the number of vectors of a dimension in codes of `length` bytes."""
    return (length - _HEAD.size) // _vector_bytes(dimension)


def _vector_bytes(dimension: int) -> int:
    """Return the bytes of the codes of one vector: its owner, its bits, its bytes, their scale."""
    return 4 + 8 * -(-dimension // 64) + dimension + 4


@frozen
class Codes:
    """The codes of several vectors and the slots that own them."""

    owners: Owners
    bits: Bits
    quantised: Quantised

    @classmethod
    def of(cls, owners: Owners, vectors: Floats) -> Codes:
        """Return the codes of vectors."""
        return cls(owners, sign_bits(vectors), quantised(vectors))

    def encoded(self) -> bytes:
        """Return the codes as bytes, with a version and a checksum."""
        parts = [
            np.ascontiguousarray(part).data
            for part in (self.owners, self.bits, self.quantised.values, self.quantised.scales)
        ]
        # A merge writes megabytes: they are copied once, into the result.
        checksum = reduce(lambda checksum, part: zlib.crc32(part, checksum), parts, 0)
        count, dimension = self.quantised.values.shape
        return b"".join([_HEAD.pack(_VERSION, checksum, count, dimension), *parts])

    @classmethod
    def decoded(cls, blob: bytes) -> Codes:
        """Return the codes that :meth:`encoded` wrote, or raise :class:`IndexCorrupt`."""
        if len(blob) < _HEAD.size:
            raise IndexCorrupt("vector codes are cut short")
        version, checksum, count, dimension = _HEAD.unpack_from(blob)
        if version != _VERSION:
            raise IndexCorrupt(f"vector codes have the unknown version {version}")
        body = memoryview(blob)[_HEAD.size :]
        words = -(-dimension // 64)
        if len(body) != count * _vector_bytes(dimension) or zlib.crc32(body) != checksum:
            raise IndexCorrupt("vector codes do not match their checksum")
        ends = np.cumsum([4 * count, 8 * words * count, dimension * count])
        return cls(
            np.frombuffer(body[: ends[0]], np.int32),
            np.frombuffer(body[ends[0] : ends[1]], np.uint64).reshape(count, words),
            Quantised(
                np.frombuffer(body[ends[1] : ends[2]], np.int8).reshape(count, dimension),
                np.frombuffer(body[ends[2] :], np.float32),
            ),
        )

    @classmethod
    def joined(cls, parts: list[Codes], kept: npt.NDArray[np.bool_], first: int) -> Codes:
        """Return the codes of several parts as one, only of owners that are `kept` (counted from `first`)."""
        owners = np.concatenate([part.owners for part in parts])
        bits = np.concatenate([part.bits for part in parts])
        values = np.concatenate([part.quantised.values for part in parts])
        scales = np.concatenate([part.quantised.scales for part in parts])
        keep = kept[owners - first]
        if keep.all():
            return cls(owners, bits, Quantised(values, scales))
        return cls(owners[keep], bits[keep], Quantised(values[keep], scales[keep]))


SHORT_RUN_SLOTS: Final = 1_000
"""A run of fewer slots is joined with its neighbours when their segments become one."""

_WITHIN: Final = (
    "SELECT number, first, slots FROM vector_codes WHERE namespace = ? AND first >= ? AND first < ? "
    "ORDER BY first"
)


def write_run(session: Session, span: tuple[int, int, int], coded: tuple[int, Codes] | None) -> None:
    """Write a run: of a namespace, from a slot on, so many slots; an embedder and its codes, if any."""
    embedder, codes = (None, None) if coded is None else (coded[0], coded[1].encoded())
    session.insert("vector_codes", "namespace, first, slots, embedder, codes", (*span, embedder, codes))


def runs_within(session: Session, number: int, first: int, slots: int) -> Rows:
    """Send the query for the runs inside a span of slots: the number, first slot and slots of each."""
    return session.execute(_WITHIN, (number, first, first + slots))


def join_short_runs(session: Session, number: int, runs: Iterable[tuple[int, int, int]]) -> None:
    """Join the short runs of a namespace, of neighbours in order, with those beside them."""
    for short, members in groupby(runs, key=lambda run: run[2] < SHORT_RUN_SLOTS):
        parts = list(members)
        if short and len(parts) > 1:
            _join(session, number, parts)


def rewrite_runs(session: Session, number: int, gone: npt.NDArray[np.int64]) -> None:
    """Write the runs that hold some slots, which ascend, anew without those."""
    for run, first, slots in runs_within(session, number, 0, SLOTS).fetchall():
        begin, end = np.searchsorted(gone, [first, first + slots])
        _, blob = _read(session, number, run).fetchone() if begin < end else (None, None)
        if blob is not None:
            kept = np.ones(slots, np.bool_)
            kept[gone[begin:end] - first] = False
            codes = Codes.joined([Codes.decoded(blob)], kept, first)
            session.execute(
                "UPDATE vector_codes SET codes = ? WHERE +namespace = ? AND number = ?",
                (codes.encoded(), number, run),
            )


def _join(session: Session, number: int, parts: list[tuple[int, int, int]]) -> None:
    first, slots = parts[0][1], sum(part[2] for part in parts)
    # All are sent before the first is read, so that a server answers them at once.
    sent = [_read(session, number, run) for run, _, _ in parts]
    runs = [rows.fetchone() for rows in sent]
    embedders = {embedder for embedder, _ in runs}
    blobs = [blob for _, blob in runs if blob is not None]
    coded = None
    # Codes of two embedders, or a part without, cannot be joined.
    if len(embedders) == 1 and len(blobs) == len(parts):
        codes = Codes.joined([Codes.decoded(blob) for blob in blobs], np.ones(slots, np.bool_), first)
        coded = embedders.pop(), codes
    session.executemany(
        "DELETE FROM vector_codes WHERE +namespace = ? AND number = ?", [(number, run) for run, _, _ in parts]
    )
    write_run(session, (number, first, slots), coded)


def _read(session: Session, number: int, run: int) -> Rows:
    """Send the query for a run: its embedder and codes."""
    return session.execute(
        "SELECT embedder, codes FROM vector_codes WHERE +namespace = ? AND number = ?", (number, run)
    )
