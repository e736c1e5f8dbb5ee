"""Identifiers of memories, and the namespaces they live in.

Identifiers sort by time: UUID version 7 (RFC 9562, section 5.7). The clock and the randomness come in as
arguments, so that a test or a replay makes the same identifiers.

A namespace is a path such as ``acme/alice`` that keeps one person's memories apart from another's. Every
search, statistic and duplicate check stays inside one, unless the caller asks for a prefix; so its spelling
is checked strictly and in one place.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument

RANDOM_BITS: Final = 74
"""How many random bits an identifier has."""
_UUID7_FORMAT = "%08x-%04x-7%03x-%04x-%012x"
"""Version and variant stand between the parts: a 7, and the highest bit of the fourth."""
_MAX_ID_LENGTH = 128
_ID = re.compile(rf"[^\s\0]{{1,{_MAX_ID_LENGTH}}}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

DEFAULT_NAMESPACE = "default"

_SEGMENT = re.compile(r"[\w@+~-][\w.@+~-]*")
_MAX_NAMESPACE_LENGTH = 512
_MAX_CACHED = 4_096
_well_formed: set[str] = set()
"""Paths that were found well-formed: every memory of an import asks about the same one."""


def uuid7(now: datetime, random_bits: int) -> str:
    """Return a UUIDv7 as text: 48 bits of milliseconds since 1970, then 74 random bits.

    >>> from datetime import UTC, datetime
    >>> uuid7(datetime(2026, 5, 7, tzinfo=UTC), 0)
    '019dffbb-f000-7000-8000-000000000000'
    """
    milliseconds = (checks.instant("now", now) - _EPOCH) // _MILLISECOND
    if milliseconds < 0:
        raise InvalidArgument("now", now, "an instant from 1970 on")
    bits = random_bits
    # The usual case first: what is asked of any whole number takes as long as all the rest.
    if type(bits) is not int or bits < 0:
        bits = checks.whole("random_bits", bits)
    if bits >= 1 << RANDOM_BITS:
        raise InvalidArgument("random_bits", random_bits, f"a whole number below 2**{RANDOM_BITS}")
    high, low = bits >> 62, bits & ((1 << 62) - 1)
    return _UUID7_FORMAT % (
        milliseconds >> 16,
        milliseconds & 0xFFFF,
        high,
        0x8000 | low >> 48,
        low & 0xFFFF_FFFF_FFFF,
    )


def memory_id(argument: str, value: object) -> str:
    """Return `value` if it can identify a memory: text of 1 to 128 characters, none of them white space."""
    # The usual case first: plain text needs no look at its surrogates, nor at each of its characters.
    if type(value) is str and value.isascii():
        if value.isprintable() and " " not in value and 0 < len(value) <= _MAX_ID_LENGTH:
            return value
        text = value
    else:
        text = checks.writable(argument, value)
    if _ID.fullmatch(text) is None:
        raise InvalidArgument(argument, value, "1 to 128 characters without white space")
    return text


def namespace(argument: str, value: object) -> str:
    """Return `value` if it is a well-formed namespace, else raise.

    Segments are separated by ``/``; each holds letters and digits of any script, ``_ - . @ + ~``, and does
    not begin with a dot, so that ``..`` can never climb out of a namespace.

    >>> namespace("namespace", "acme/alice@example.org")
    'acme/alice@example.org'
    >>> namespace("namespace", "acme/../bob")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: namespace must be a path such as 'acme/alice' (letters, digits and
    _-.@+~ between slashes, no segment starting with a dot), got 'acme/../bob'
    """
    path = checks.text(argument, value)
    if path in _well_formed:
        return path
    if len(path) > _MAX_NAMESPACE_LENGTH:
        raise InvalidArgument(argument, value, f"at most {_MAX_NAMESPACE_LENGTH} characters long")
    if not all(_SEGMENT.fullmatch(segment) for segment in path.split("/")):
        expected = (
            "a path such as 'acme/alice' (letters, digits and _-.@+~ between slashes, "
            "no segment starting with a dot)"
        )
        raise InvalidArgument(argument, value, expected)
    if len(_well_formed) >= _MAX_CACHED:
        _well_formed.clear()
    _well_formed.add(path)
    return path


def contains(prefix: str, path: str) -> bool:
    """Return whether `path` is `prefix` itself or lies below it, by whole segments."""
    return path == prefix or path.startswith(prefix + "/")
