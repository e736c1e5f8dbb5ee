"""Migrations (`migrations.sql`) of older files to `schema.sql`: one transaction, with a copy of the file.

Never change what a migration that has been released does; add the next one, and write its result into
`schema.sql`. Where that changes a table which a migration takes from there ("as now"), write out how the
table was before: the test that compares a new file with one that all migrations made fails until then.

The copy is SQLite's own backup of the last committed state, taken while this process holds the write lock, so
that it is exactly what the migration starts from; others go on reading. It is written beside the database
under another name and renamed when it is whole. A migration that fails leaves the file as it was.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Final

from memorata._frozen import frozen
from memorata.model.errors import StoreUnavailable
from memorata.store.sqlite.encryption import connected, database_errors
from memorata.store.sqlite.files import create_private
from memorata.store.sqlite.schema import APPLICATION_ID, COPY_ID, SCHEMA, VERSION, state_checksum


@frozen
class Migration:
    """What happened to an older file when it was opened: the numbers of its schema, before and after."""

    before: int
    after: int
    backup: Path | None
    """The file as it was; None if no copy was wanted."""


def migrate(
    connection: sqlite3.Connection,
    scripts: tuple[str, ...],
    copied: Path | None,
    derived: Mapping[int, Callable[[sqlite3.Connection], None]] = MappingProxyType({}),
) -> Migration | None:
    """Run the migrations that a database lacks; return what was done, None for a new database.

    A new one gets the current tables at once. `copied`: the file, of which a copy is made first. `derived`:
    what is to be computed after some migrations, by their numbers, where SQL cannot.
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
        # The file stays as it was, so the copy is not needed.
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
            mark_as_copy(target)
        partial.replace(whole)
    except (OSError, *database_errors()) as error:
        partial.unlink(missing_ok=True)
        raise StoreUnavailable(
            f"{file} has to be migrated, and no copy of it could be written to {whole} ({error}); nothing "
            "was changed. Make room, or open it without a backup (MEMORATA_MIGRATION_BACKUP=false)"
        ) from error
    return whole


def mark_as_copy(copy: sqlite3.Connection) -> None:
    """Mark a file as a copy that never had a log, so that one beside it is known to be of another file."""
    copy.execute("PRAGMA journal_mode = DELETE")
    copy.execute(f"PRAGMA application_id = {COPY_ID}")


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


HASH_INDEX_MIGRATION: Final = 15
"""The migration after which the hash index is built from the memories and vectors."""
CHECKSUM_MIGRATION: Final = 16
"""The migration after which every row gets its checksum."""

_STATEMENT: Final = r"(?s)CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+)(?:[^;]*? BEGIN\n.*?END|[^;]*);"
_CREATED: Final = {created[1]: created[0] for created in re.finditer(_STATEMENT, SCHEMA)}
"""The statements of the schema, by the name of what they make."""


def _as_now(line: re.Match[str]) -> str:
    """Return the statements that a line "as now" stands for."""
    names = line["names"].split()
    script = "\n".join(_CREATED[name] for name in names)
    return script.replace(names[0].partition("_by_")[0], line["then"]) if line["then"] else script


_SCRIPTS: Final = re.sub(
    r"(?m)^-- as now: (?P<names>[\w ]+?)(?: \(then (?P<then>\w+)\))?$",
    _as_now,
    Path(__file__).with_name("migrations.sql").read_text(encoding="utf-8"),
).replace("{checksum}", state_checksum())
MIGRATIONS: Final = tuple(re.split(r"(?m)^-- migration \d+$", _SCRIPTS)[1:])
