"""The hashes that memories and vectors are looked up by: whole numbers, as SQLite and numpy keep them.

A memory's is taken from the fingerprint of its text, a vector's from the address of what was embedded; both
are hashes already, of which the first eight bytes will do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.index.addresses import Keys

_DIGITS: Final = 16
"""Of a fingerprint, which has twice as many."""
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Odd, so that no two namespaces turn the same words into the same hash."""


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
    spread = np.atleast_1d(namespaces).astype(np.uint64) * _SPREAD
    return (np.frombuffer(digits, ">u8").astype(np.uint64) ^ spread).view(np.int64)


def fingerprint_key(namespace: int, fingerprint: str) -> int:
    """Return the hash of one fingerprint, as :func:`fingerprint_keys` does of many.

    Examples
    --------
    >>> [fingerprint_key(3, "ab" * 16)] == fingerprint_keys(3, ["ab" * 16]).tolist()
    True
    """
    first = int.from_bytes(_first_bytes(fingerprint), "big")
    return _signed(first ^ namespace * int(_SPREAD) % 2**64)


def digest_key(digest: bytes) -> int:
    """Return the hash of one address, as :func:`digest_keys` does of many.

    Examples
    --------
    >>> [digest_key(b"sixteen bytes in")] == digest_keys([b"sixteen bytes in"]).tolist()
    True
    """
    return int.from_bytes(digest[:8] if len(digest) >= 8 else _eight_bytes(digest), "big", signed=True)


def digest_keys(digests: Sequence[bytes]) -> Keys:
    """Return the hashes of the addresses of embedded texts.

    Examples
    --------
    >>> digest_keys([bytes(16), bytes([0, 0, 0, 0, 0, 0, 0, 1])]).tolist()
    [0, 1]
    """
    cut = b"".join([digest[:8] if len(digest) >= 8 else _eight_bytes(digest) for digest in digests])
    return np.frombuffer(cut, ">u8").astype(np.uint64).view(np.int64)


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


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _eight_bytes(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=8).digest()
