"""SQLite's errors in our words."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from json import JSONDecodeError
from typing import Final

from memorata.model.errors import StoreCorrupt, StoreError, StoreUnavailable

BUSY_SECONDS: Final = 30.0
"""How long a connection waits for the lock of another."""


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
        if isinstance(error, sqlite3.DatabaseError | JSONDecodeError):
            raise in_our_words(error, self._name) from error


def in_our_words(error: sqlite3.DatabaseError | JSONDecodeError, name: str) -> StoreError:
    """Return the error to raise for one of SQLite's, or for a list in a row that cannot be read."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, JSONDecodeError):
        return StoreCorrupt(f"{name} is damaged: a list in it cannot be read; run `memorata check`")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        # A file that is no database cannot be checked either; it is most often another one than was meant.
        advice = "run `memorata check`" if code == sqlite3.SQLITE_CORRUPT else "name another file"
        return StoreCorrupt(f"{name} is damaged or not a database ({error}); {advice}, or restore a backup")
    if "Could not decode to UTF-8" in str(error):
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
    if isinstance(error, sqlite3.ProgrammingError) and "closed database" in str(error):
        return StoreError(f"{name} was closed; open it again to go on")
    return StoreError(f"{name}: {error}")
