"""The words of one memory as bytes, as they wait for a segment.

JSON ``{field: {term: frequency}}`` behind a version and a checksum, as everything derived has them: what does
not check is rebuilt, never trusted.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Final

from memorata.model.errors import IndexCorrupt

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")
_written: Final = json.JSONEncoder(ensure_ascii=False).encode

Terms = Mapping[str, Mapping[str, int]]


def encoded(terms: Terms) -> bytes:
    """Return the words of a memory as bytes.

    Examples
    --------
    >>> decoded(encoded({"content": {"tea": 2}}))
    {'content': {'tea': 2}}
    """
    body = _written(terms).encode()
    return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


def decoded(blob: bytes) -> dict[str, dict[str, int]]:
    """Return the words that :func:`encoded` wrote, or raise :class:`IndexCorrupt`."""
    if len(blob) < _HEAD.size:
        raise IndexCorrupt("the words of a memory are cut short")
    version, checksum = _HEAD.unpack_from(blob)
    body = blob[_HEAD.size :]
    if version != _VERSION:
        raise IndexCorrupt(f"the words of a memory have the unknown version {version}")
    if zlib.crc32(body) != checksum:
        raise IndexCorrupt("the words of a memory do not match their checksum")
    found: dict[str, dict[str, int]] = json.loads(body)
    return found
