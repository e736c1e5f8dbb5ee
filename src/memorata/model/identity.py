"""Identifiers that sort by time: UUID version 7 (RFC 9562, section 5.7).

The clock and the randomness come in as arguments, so that a test or a replay makes the same identifiers.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument

RANDOM_BITS: Final = 74
"""How many random bits an identifier has."""
_TOO_MANY = 1 << RANDOM_BITS
_FORM = "%08x-%04x-7%03x-%04x-%012x"
"""Version and variant stand between the parts: a 7, and the highest bit of the fourth."""
_LONGEST = 128
_ID = re.compile(rf"[^\s\0]{{1,{_LONGEST}}}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def uuid7(now: datetime, random_bits: int) -> str:
    """Return a UUIDv7 as text: 48 bits of milliseconds since 1970, then 74 random bits.

    Parameters
    ----------
    now
        When the identified thing came to be; an aware datetime from 1970 on.
    random_bits
        A random whole number below 2**74, such as ``secrets.randbits(74)``.

    Examples
    --------
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
    if bits >= _TOO_MANY:
        raise InvalidArgument("random_bits", random_bits, f"a whole number below 2**{RANDOM_BITS}")
    high, low = bits >> 62, bits & ((1 << 62) - 1)
    return _FORM % (
        milliseconds >> 16,
        milliseconds & 0xFFFF,
        high,
        0x8000 | low >> 48,
        low & 0xFFFF_FFFF_FFFF,
    )


def memory_id(argument: str, value: object) -> str:
    """Return `value` if it can identify a memory: text of 1 to 128 characters, none of them white space.

    Memorata makes UUIDv7 identifiers; imports may bring their own.

    Examples
    --------
    >>> memory_id("id", "m-1")
    'm-1'
    """
    # The usual case first: plain text needs no look at its surrogates, nor at each of its characters.
    if type(value) is str and value.isascii():
        if value.isprintable() and " " not in value and 0 < len(value) <= _LONGEST:
            return value
        text = value
    else:
        text = checks.writable(argument, value)
    if _ID.fullmatch(text) is None:
        raise InvalidArgument(argument, value, "1 to 128 characters without white space")
    return text
