r"""Texts as PostgreSQL can hold them: all of Unicode but NUL, which a memory may well contain.

NUL is written as two characters, ``\x01\x01``, and ``\x01`` itself as ``\x01\x02``. Written so, texts keep
their order, since nothing but NUL comes before ``\x01``; so comparisons in SQL are those of Python. The
translation is part of a connection: whoever writes SQL does not meet it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import StrDumperUnknown

from memorata.model.errors import InvalidArgument

_WRITTEN: Final = {"\x00": "\x01\x01", "\x01": "\x01\x02"}
_READ: Final = {written: read for read, written in _WRITTEN.items()}
_RARE: Final = re.compile("[\x00\x01]")
_PAIR: Final = re.compile("\x01[\x01\x02]")
_WIDEST: Final = 4
"""No character takes more bytes."""
_TYPES: Final = ("text", "varchar")
LONGEST_NAME: Final = 2_000
"""How many bytes a name has at most by which something is found: an index has no room for more of them."""


def storable(text: str) -> str:
    r"""Return a text without NUL that stands for the given one.

    Examples
    --------
    >>> storable("a\x00b"), storable("plain")
    ('a\x01\x01b', 'plain')
    >>> sorted(["\x00z", "\x01", "\x02"], key=storable)
    ['\x00z', '\x01', '\x02']
    """
    if "\x00" not in text and "\x01" not in text:
        return text
    return _RARE.sub(lambda found: _WRITTEN[found.group()], text)


def restored(text: str) -> str:
    r"""Return the text that :func:`storable` was given.

    Examples
    --------
    >>> restored(storable("a\x00\x01b\x02"))
    'a\x00\x01b\x02'
    """
    return text if "\x01" not in text else _PAIR.sub(lambda found: _READ[found.group()], text)


def checked_name(argument: str, name: str) -> str:
    r"""Return a name that a server can find something by.

    Examples
    --------
    >>> checked_name("session", "s1")
    's1'
    >>> checked_name("session", "\u65e5" * 1_000)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: session must be at most 2000 bytes long as UTF-8 in a store on
    PostgreSQL, ...
    """
    if len(name) * _WIDEST > LONGEST_NAME and len(storable(name).encode()) > LONGEST_NAME:
        expected = f"at most {LONGEST_NAME} bytes long as UTF-8 in a store on PostgreSQL"
        raise InvalidArgument(argument, name, expected)
    return name


def register(connection: Connection[Any]) -> None:
    """Let a connection write and read every text."""
    connection.adapters.register_dumper(str, _Dumper)
    for name in _TYPES:
        connection.adapters.register_loader(name, _Loader)
        connection.adapters.register_loader(name, _BinaryLoader)


class _Dumper(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return storable(obj).encode()


class _Loader(Loader):
    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8")
        return text if "\x01" not in text else restored(text)


class _BinaryLoader(_Loader):
    format = Format.BINARY
