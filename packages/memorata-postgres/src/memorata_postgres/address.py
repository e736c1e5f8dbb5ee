"""The parts of the address of a server, checked, and messages without its secrets."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memorata.extend.errors import InvalidArgument

_EXAMPLE: Final = "postgresql://user@host:5432/database"
_HIDDEN: Final = "***"
_SECRET: Final = ("password", "sslpassword", "passfile")


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
