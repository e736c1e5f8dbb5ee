"""Bringing an older file up to date: one transaction, and a copy of the file as it was before.

The copy is SQLite's own backup of the last committed state, taken while this process holds the write lock, so
that it is exactly what the migration starts from; others go on reading. It is written beside the database
under another name and renamed when it is whole. A migration that fails leaves the file as it was.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from types import MappingProxyType

from memorata._frozen import frozen
from memorata.model.errors import StoreUnavailable
from memorata.store.sqlite.encryption import connected, database_errors
from memorata.store.sqlite.files import create_private
from memorata.store.sqlite.schema import APPLICATION_ID, SCHEMA, VERSION


@frozen
class Migration:
    """What happened to an older file when it was opened: the numbers of its schema, before and after."""

    found: int
    reached: int
    backup: Path | None
    """The file as it was; None if no copy was wanted."""


def migrate(
    connection: sqlite3.Connection,
    scripts: tuple[str, ...],
    copied: Path | None,
    derived: Mapping[int, Callable[[sqlite3.Connection], None]] = MappingProxyType({}),
) -> Migration | None:
    """Run the migrations that a database has not seen yet; return what was done, None for a new database.

    Inside a write transaction. A new database gets the current tables at once. `scripts`: all migrations,
    from the first. `copied`: the database's file, of which a copy is made first; None to make none.
    `derived`: what is to be computed after some migrations, by their numbers, where SQL cannot.
    """
    before = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if before == len(scripts):
        # Another process was faster, while this one waited for the lock.
        return None
    backup = (
        None if copied is None or before == 0 else _backup(copied, before, getattr(connection, "key", None))
    )
    try:
        reached = before
        if before == 0:
            for statement in _statements(SCHEMA):
                connection.execute(statement)
            reached = VERSION
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number, script in enumerate(scripts[reached:], reached + 1):
            for statement in _statements(script):
                connection.execute(statement)
            if number in derived:
                derived[number](connection)
            connection.execute(f"PRAGMA user_version = {number}")
    except BaseException:
        # The file stays as it was, so nobody needs the copy.
        if backup is not None:
            backup.unlink()
        raise
    return None if before == 0 else Migration(before, len(scripts), backup)


def _backup(file: Path, schema: int, key: str | None) -> Path:
    """Copy a database's last committed state beside it, under a name that is free."""
    whole = next(path for path in _names(file, schema) if not path.exists())
    partial = whole.with_name(f"{whole.name}.{os.getpid()}.partial")
    try:
        create_private(partial)
        # A connection of its own sees what is committed, and not what a migration is about to do.
        with closing(connected(file, key)) as source, closing(connected(partial, key)) as target:
            source.backup(target, pages=4096)
        partial.replace(whole)
    except (OSError, *database_errors()) as error:
        partial.unlink(missing_ok=True)
        raise StoreUnavailable(
            f"{file} has to be migrated, and no copy of it could be written to {whole} ({error}); nothing "
            "was changed. Make room, or open it without a backup (MEMORATA_MIGRATION_BACKUP=false)"
        ) from error
    return whole


def _names(file: Path, schema: int) -> Iterator[Path]:
    for number in count(1):
        yield file.with_name(f"{file.name}.schema-{schema}{'' if number == 1 else f'-{number}'}.backup")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one, for `executescript` would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
