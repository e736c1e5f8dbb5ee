"""SQLite's errors in our words."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from json import JSONDecodeError
from typing import Final

from memorata.model.errors import StoreCorrupt, StoreError, StoreUnavailable
from memorata.store.sqlite.encryption import HOW, database_errors

BUSY_SECONDS: Final = 30.0
"""How long a connection waits for the lock of another."""


def is_translated(error: BaseException | None) -> bool:
    """Return whether an error is one of SQLite's, or what reading a damaged row raises.

    That is JSON that cannot be read, or is missing; and a text, or a message of SQLite's, that is no UTF-8.
    """
    if isinstance(error, TypeError):
        return str(error).startswith("the JSON object must be")
    return isinstance(error, (*database_errors(), JSONDecodeError, UnicodeDecodeError))


def translated(name: str) -> AbstractContextManager[None]:
    """Turn SQLite's errors into ours."""
    return Translated(name)


class Translated:
    """What `translated` returns; a class, since every look goes through it and a generator takes longer."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and is_translated(error):
            raise in_our_words(error, self._name) from error


def in_our_words(error: Exception, name: str) -> StoreError:
    """Return the error to raise in the place of one that :func:`is_translated`."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, JSONDecodeError | TypeError):
        return StoreCorrupt(f"{name} is damaged: a list in it cannot be read; run `memorata check`")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        # A file that is no database cannot be checked either; it is most often another one than was meant.
        advice = "run `memorata check`" if code == sqlite3.SQLITE_CORRUPT else f"name another file, or {HOW}"
        return StoreCorrupt(f"{name} is damaged or not a database ({error}); {advice}, or restore a backup")
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        return StoreCorrupt(f"{name} is damaged: a text in it is no UTF-8; run `memorata check`")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(f"{name} stayed locked by another process for {BUSY_SECONDS:g} s; try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreUnavailable(
            f"{name} cannot be written ({error}); check the permissions of the file and of its folder"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable(f"the disk of {name} is full; nothing was written; free some space")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreUnavailable(
            f"{name} cannot be opened or made ({error}); check the path and the permissions of its folder"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnavailable(f"{name} cannot be read or written ({error}); check the path and the disk")
    if type(error).__name__ == "ProgrammingError" and "closed database" in str(error):
        return StoreError(f"{name} was closed; open it again to go on")
    return StoreError(f"{name}: {error}")
