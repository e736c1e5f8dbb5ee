"""The address of a server: distinguished from the path of a file, checked, and shown without its password."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from memorata.model.errors import InvalidArgument, MissingExtra

SCHEMES: Final = ("postgresql://", "postgres://")
_EXAMPLE: Final = "postgresql://user@host:5432/database"
_NO_PORT: Final = re.compile(r":(?!\d*(?:[/,]|$))[^\]/,]*(?=[/,]|$)")
"""A part in the place of a port that is none: it may be a password, if the host is missing."""
_HIDDEN: Final = "***"
_SECRET: Final = ("password", "sslpassword", "passfile")


def is_address(path: object) -> bool:
    """Return whether something names a server rather than a file."""
    return isinstance(path, str) and path.lower().startswith(SCHEMES)


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


def parsed(url: str) -> dict[str, str]:
    """Return the parts of an address; raise if it is not one.

    >>> parsed("postgresql://anna@localhost/memories")
    {'user': 'anna', 'dbname': 'memories', 'host': 'localhost'}
    >>> parsed("postgresql://anna:secret@localhost:port/memories")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: the address of the database must be such as
    'postgresql://user@host:5432/database' (its port is a number, and special characters of a password are
    written as %40 for @), got '(not shown, for it may hold a password)'
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise MissingExtra("A store on PostgreSQL", "'memorata[postgres]'") from error
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
        port = parts.get("port", "")
        # libpq looks at ports, of which there may be several, only when it connects.
        sound = all(number.isascii() and number.isdigit() for number in port.split(",")) if port else True
    except psycopg.ProgrammingError:
        # Not raised from psycopg's error: its message repeats the address.
        sound = False
    if not sound:
        raise InvalidArgument(
            "the address of the database",
            "(not shown, for it may hold a password)",
            f"such as {_EXAMPLE!r} (its port is a number, and special characters of a password are written "
            "as %40 for @)",
        )
    return parts


def without_secrets(text: str, url: str) -> str:
    """Return a message without the secrets of the address."""
    parts = parsed(url)
    for name in _SECRET:
        if parts.get(name):
            text = text.replace(parts[name], _HIDDEN)
    return text
