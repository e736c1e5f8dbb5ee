"""Sorted runs of hashes and places, and the hashes that memories and vectors are looked up by.

Hashes come in no order, so that a thousand new ones touch a thousand leaves of a large tree, and every leaf
is written whole. Sorted runs are written one after the other and merged when there are enough of a size (the
log-structured merge of O'Neil et al., 1996): each hash is written a handful of times in all, among others.

A memory's hash is taken from the fingerprint of its text, a vector's from the digest of the embedded text;
both are hashes already, of which the first eight bytes will do. Both are mixed with the namespace: looking up
a text in one takes the same work whether or not another has it, and so reveals nothing about that one.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.errors import IndexCorrupt
from memorata.store.rows import NAMESPACES

Keys = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")


@frozen(eq=False)
class HashRun:
    """Hashes in ascending order, and beside each the place of something that has it."""

    keys: Keys
    places: Places

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, keys: Keys, places: Places) -> HashRun:
        """Return hashes and their places in order."""
        order = np.lexsort((places, keys))
        return cls(keys[order], places[order])

    @classmethod
    def joined(cls, runs: Sequence[HashRun]) -> HashRun:
        """Return several as one, without repeated entries."""
        keys = np.concatenate([run.keys for run in runs])
        places = np.concatenate([run.places for run in runs])
        # Each of them is in order: a merge sort finds that out, and only merges.
        order = np.argsort(keys, kind="stable")
        keys, places = keys[order], places[order]
        if (keys[1:] == keys[:-1]).any():
            # Few hashes are equal; where they are, places decide.
            order = np.lexsort((places, keys))
            keys, places = keys[order], places[order]
            fresh = np.ones(len(keys), np.bool_)
            fresh[1:] = (keys[1:] != keys[:-1]) | (places[1:] != places[:-1])
            keys, places = keys[fresh], places[fresh]
        return cls(keys, places)

    def without(self, gone: npt.NDArray[np.bool_]) -> HashRun:
        """Return the entries that are not marked."""
        return HashRun(self.keys[~gone], self.places[~gone])

    def of_one(self, key: int) -> list[int]:
        """Return the places of one hash; for one, this takes a fifth of the time of :meth:`of_many`."""
        ordered = self.keys.data
        first = bisect_left(ordered, key)
        if first == len(ordered) or ordered[first] != key:
            return []
        places: list[int] = self.places[first : bisect_right(ordered, key, first)].tolist()
        return places

    def of_many(self, wanted: Keys, limit: int | None = None) -> HashRun:
        """Return the entries with one of the wanted hashes, which ascend; at most `limit` of each."""
        first = np.searchsorted(self.keys, wanted)
        matched = first < len(self.keys)
        matched[matched] = self.keys[first[matched]] == wanted[matched]
        first = first[matched]
        if not first.size:
            return HashRun(first, first)
        counts = np.searchsorted(self.keys, wanted[matched], "right") - first
        if limit is not None:
            counts = np.minimum(counts, limit)
        # From where each begins, as many as there are of it.
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(first, counts) + within
        return HashRun(self.keys[at], self.places[at])

    def encoded(self) -> bytes:
        """Return the run as bytes, with a version and a checksum."""
        body = b"".join([np.ascontiguousarray(part, "<i8").data for part in (self.keys, self.places)])
        return _HEAD.pack(_VERSION, zlib.crc32(body)) + body

    @classmethod
    def decoded(cls, blob: bytes) -> HashRun:
        """Return what :meth:`encoded` wrote, or raise :class:`IndexCorrupt`."""
        if len(blob) < _HEAD.size or (len(blob) - _HEAD.size) % 16:
            raise IndexCorrupt("a run of the hash index is cut short")
        version, checksum = _HEAD.unpack_from(blob)
        if version != _VERSION:
            raise IndexCorrupt(f"a run of the hash index has the unknown version {version}")
        if zlib.crc32(memoryview(blob)[_HEAD.size :]) != checksum:
            raise IndexCorrupt("a run of the hash index does not match its checksum")
        keys, places = np.frombuffer(blob, "<i8", offset=_HEAD.size).reshape(2, -1)
        return cls(keys, places)


_DIGITS: Final = 16
"""How many hexadecimal digits of a fingerprint are used, which has twice as many."""
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Odd, so that no two namespaces, nor two embedders, turn the same words into the same hash."""


def fingerprint_keys(namespaces: int | npt.NDArray[np.int64], fingerprints: Sequence[str]) -> Keys:
    """Return the hashes of fingerprints in a namespace, or in one each."""
    digits = _bytes_of(
        "".join([fingerprint[:_DIGITS] for fingerprint in fingerprints]), 8 * len(fingerprints)
    )
    if digits is None or any(len(fingerprint) < _DIGITS for fingerprint in fingerprints):
        # Imported fingerprints may have another form.
        digits = b"".join(map(_first_bytes, fingerprints))
    return _all_mixed(namespaces, digits)


def fingerprint_key(namespace: int, fingerprint: str) -> int:
    """Return the hash of one fingerprint, as :func:`fingerprint_keys` does of many."""
    return _mixed(namespace, _first_bytes(fingerprint))


def digest_key(embedder: int, namespace: int, digest: bytes) -> int:
    """Return the hash of one digest, as :func:`digest_keys` does of many."""
    return _mixed(embedder * NAMESPACES + namespace, digest[:8] if len(digest) >= 8 else _eight_bytes(digest))


def digest_keys(
    embedders: int | npt.NDArray[np.int64],
    namespaces: int | npt.NDArray[np.int64],
    digests: Sequence[bytes],
) -> Keys:
    """Return the hashes of the digests of texts that an embedder read for a namespace, or one each."""
    cut = b"".join([digest[:8] if len(digest) >= 8 else _eight_bytes(digest) for digest in digests])
    # A text and what was embedded of it often have one hash; an embedder's number, from 1, keeps them apart.
    return _all_mixed(embedders * NAMESPACES + namespaces, cut)


def _first_bytes(fingerprint: str) -> bytes:
    first = _bytes_of(fingerprint[:_DIGITS], 8)
    return _eight_bytes(fingerprint.encode("utf-8", "surrogatepass")) if first is None else first


def _bytes_of(digits: str, count: int) -> bytes | None:
    """Return the bytes that hexadecimal digits stand for; None if they are not `count`."""
    try:
        decoded = bytes.fromhex(digits)
    except ValueError:
        return None
    # Blanks between digits are passed over, and so are too few.
    return decoded if len(decoded) == count and len(digits) == 2 * count else None


def _mixed(owner: int, first: bytes) -> int:
    mixed = int.from_bytes(first, "big") ^ owner * int(_SPREAD) % 2**64
    return mixed - 2**64 if mixed >= 2**63 else mixed


def _all_mixed(owners: int | npt.NDArray[np.int64], firsts: bytes) -> Keys:
    spread = np.atleast_1d(owners).astype(np.uint64) * _SPREAD
    return (np.frombuffer(firsts, ">u8").astype(np.uint64) ^ spread).view(np.int64)


def _eight_bytes(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=8).digest()
