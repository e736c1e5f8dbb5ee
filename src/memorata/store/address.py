"""The address of a server: distinguished from the path of a file, and shown without its password."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from memorata import _satellites

SCHEMES: Final = ("postgresql", "postgres")
_NO_PORT: Final = re.compile(r":(?!\d*(?:[/,]|$))[^\]/,]*(?=[/,]|$)")
"""A part in the place of a port that is none: it may be a password, if the host is missing."""


def is_address(path: object) -> bool:
    """Return whether something names a server rather than a file."""
    if not isinstance(path, str) or "://" not in path:
        return False
    scheme = path.partition("://")[0].lower()
    return scheme in SCHEMES or scheme in _satellites.declared("stores")


def shown(url: str) -> str:
    """Return an address for display: user, host and database, without a password.

    >>> shown("postgresql://anna:secret@db.example.org:6432/memories?sslmode=require")
    'postgresql://anna@db.example.org:6432/memories'
    >>> shown("postgresql:///memories?host=/run/postgresql&password=secret")
    'postgresql:///memories (at /run/postgresql)'
    """
    rest, _, options = url.partition("://")[2].partition("?")
    # Before the last @ may be a password, which may hold any character.
    before, at, where = rest.rpartition("@")
    where = _NO_PORT.sub("", where)
    socket = parse_qs(options).get("host", [""])[0]
    return f"postgresql://{before.partition(':')[0]}{at}{where}" + (f" (at {socket})" if socket else "")


class ServerAddress:
    """The address of a server where otherwise the path of a file stands; as text it has no password."""

    __slots__ = ("url",)

    def __init__(self, url: str) -> None:
        self.url = url

    def __str__(self) -> str:
        return shown(self.url)

    def __repr__(self) -> str:
        return f"ServerAddress({shown(self.url)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerAddress) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def exists(self) -> bool:
        """Return True, as for a file that exists; whether the database does, only the server can tell."""
        return True

    is_file = exists

    def resolve(self) -> ServerAddress:
        """Return the same address, which is the only way to write it."""
        return self


def address_of(path: str | Path | ServerAddress) -> str | None:
    """Return the address that a path is, with its password; None for the path of a file."""
    if isinstance(path, ServerAddress):
        return path.url
    return str(path) if is_address(path) else None
