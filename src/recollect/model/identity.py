"""Identifiers that sort by time: UUID version 7 (RFC 9562, section 5.7).

The clock and the randomness come in as arguments, so that a test or a replay makes the same identifiers.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from recollect.model import checks
from recollect.model.errors import InvalidArgument

RANDOM_BITS: Final = 74
"""How many random bits an identifier has."""
_ID = re.compile(r"[^\s\0]{1,128}")
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
    instant = checks.instant("now", now)
    milliseconds = (instant - _EPOCH) // _MILLISECOND
    if milliseconds < 0:
        raise InvalidArgument("now", now, "an instant from 1970 on")
    bits = checks.whole("random_bits", random_bits)
    if bits >= 1 << RANDOM_BITS:
        raise InvalidArgument("random_bits", random_bits, f"a whole number below 2**{RANDOM_BITS}")
    high, low = bits >> 62, bits & ((1 << 62) - 1)
    text = f"{milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def memory_id(argument: str, value: object) -> str:
    """Return `value` if it can identify a memory: text of 1 to 128 characters, none of them white space.

    Recollect makes UUIDv7 identifiers; imports may bring their own.

    Examples
    --------
    >>> memory_id("id", "m-1")
    'm-1'
    """
    # The usual case first: plain text needs no look at its surrogates.
    text = value if type(value) is str and value.isascii() else checks.writable(argument, value)
    if _ID.fullmatch(text) is None:
        raise InvalidArgument(argument, value, "1 to 128 characters without white space")
    return text
