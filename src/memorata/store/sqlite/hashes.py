"""The hashes that memories and vectors are looked up by: whole numbers, as SQLite and numpy keep them.

A memory's is taken from the fingerprint of its text, a vector's from the address of what was embedded; both
are hashes already, of which the first eight bytes will do. Both are mixed with the namespace: who looks for a
text in one does the same work whether or not another has it, and so learns nothing about that one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.index.addresses import Keys
from memorata.store.limits import NAMESPACES

_DIGITS: Final = 16
"""Of a fingerprint, which has twice as many."""
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Odd, so that no two namespaces, nor two embedders, turn the same words into the same hash."""


def fingerprint_keys(namespaces: int | npt.NDArray[np.int64], fingerprints: Sequence[str]) -> Keys:
    """Return the hashes of fingerprints in a namespace, or in one each.

    Examples
    --------
    >>> fingerprint_keys(0, ["00000000000000ff" * 2, "0" * 32]).tolist()
    [255, 0]
    """
    digits = _bytes_of("".join([each[:_DIGITS] for each in fingerprints]), 8 * len(fingerprints))
    if digits is None or any(len(each) < _DIGITS for each in fingerprints):
        # Some came from elsewhere and are none of ours.
        digits = b"".join(map(_first_bytes, fingerprints))
    return _all_mixed(namespaces, digits)


def fingerprint_key(namespace: int, fingerprint: str) -> int:
    """Return the hash of one fingerprint, as :func:`fingerprint_keys` does of many.

    Examples
    --------
    >>> [fingerprint_key(3, "ab" * 16)] == fingerprint_keys(3, ["ab" * 16]).tolist()
    True
    """
    return _mixed(namespace, _first_bytes(fingerprint))


def digest_key(embedder: int, namespace: int, digest: bytes) -> int:
    """Return the hash of one address, as :func:`digest_keys` does of many.

    Examples
    --------
    >>> [digest_key(3, 5, b"sixteen bytes in")] == digest_keys(3, 5, [b"sixteen bytes in"]).tolist()
    True
    """
    return _mixed(embedder * NAMESPACES + namespace, digest[:8] if len(digest) >= 8 else _eight_bytes(digest))


def digest_keys(
    embedders: int | npt.NDArray[np.int64],
    namespaces: int | npt.NDArray[np.int64],
    digests: Sequence[bytes],
) -> Keys:
    """Return the hashes of the addresses of texts that an embedder read for a namespace, or one each.

    Examples
    --------
    >>> one, other = digest_keys(3, 5, [bytes(16), bytes([0, 0, 0, 0, 0, 0, 0, 1])]).tolist()
    >>> one ^ other
    1
    """
    cut = b"".join([digest[:8] if len(digest) >= 8 else _eight_bytes(digest) for digest in digests])
    # A text and what was embedded of it often have one hash; an embedder's number, from 1, keeps them apart.
    return _all_mixed(embedders * NAMESPACES + namespaces, cut)


def _first_bytes(fingerprint: str) -> bytes:
    found = _bytes_of(fingerprint[:_DIGITS], 8)
    return _eight_bytes(fingerprint.encode("utf-8", "surrogatepass")) if found is None else found


def _bytes_of(digits: str, count: int) -> bytes | None:
    """Return the bytes that hexadecimal digits stand for; None if those are not `count`."""
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    # Blanks between digits are passed over, and so are too few.
    return found if len(found) == count and len(digits) == 2 * count else None


def _mixed(whose: int, first: bytes) -> int:
    mixed = int.from_bytes(first, "big") ^ whose * int(_SPREAD) % 2**64
    return mixed - 2**64 if mixed >= 2**63 else mixed


def _all_mixed(whose: int | npt.NDArray[np.int64], firsts: bytes) -> Keys:
    spread = np.atleast_1d(whose).astype(np.uint64) * _SPREAD
    return (np.frombuffer(firsts, ">u8").astype(np.uint64) ^ spread).view(np.int64)


def _eight_bytes(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=8).digest()
