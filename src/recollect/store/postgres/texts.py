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

_WRITTEN: Final = {"\x00": "\x01\x01", "\x01": "\x01\x02"}
_READ: Final = {written: read for read, written in _WRITTEN.items()}
_RARE: Final = re.compile("[\x00\x01]")
_PAIR: Final = re.compile("\x01[\x01\x02]")
_TYPES: Final = ("text", "varchar")


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
