"""Making a server ready: its requirements, and the migrations it lacks.

Any number of processes may start at once: migrations run in one transaction that locks the table of
migrations, which tenants may only read, so the first does the work and the others wait and find it done. A
migration that fails leaves everything as it was.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import psycopg
from psycopg import Connection, errors
from psycopg.rows import TupleRow

from memorata._legacy_names import SCHEMA_TABLE as FORMER_TABLE
from memorata.model.errors import ServerUnsuitable, StoreTooNew, StoreUnavailable
from memorata.store.postgres.address import parsed, shown
from memorata.store.postgres.errors import detail_of, ours, unreachable
from memorata.store.postgres.schema import MIGRATIONS

MIN_SERVER_VERSION: Final = 14
_TABLE: Final = "memorata_layout"
_BEFORE: Final = (FORMER_TABLE, "memorata_schema")
"""The tables of migrations of former layouts, in which the server searched."""
_CONNECT_SECONDS: Final = 10
_LOCK_SECONDS: Final = 60
"""How long locks are waited for: a waiting migration blocks all later transactions."""


def made_ready(
    url: str, *, must_exist: bool = False, scripts: tuple[str, ...] = MIGRATIONS
) -> tuple[int, int]:
    """Check a server, run the migrations it lacks, and return the schema's number before and after.

    `must_exist`: whether a database without our tables is an error. `scripts`: all migrations.
    """
    parsed(url)
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        try:
            _check(connection, url)
            if must_exist and not schema_number(connection):
                raise StoreUnavailable(
                    f"there are no memories at {shown(url)} yet; check the database and the schema"
                )
            if schema_number(connection) == len(scripts):
                return len(scripts), len(scripts)
            _make_table(connection, url)
            with connection.transaction():
                # However long it takes, and whatever limit the user has.
                connection.execute(
                    f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'; SET LOCAL statement_timeout = 0",
                    prepare=False,
                )
                connection.execute(f"LOCK TABLE {_TABLE} IN SHARE ROW EXCLUSIVE MODE")
                return _migrate(connection, url, scripts)
        except errors.LockNotAvailable as error:
            raise StoreUnavailable(
                f"{shown(url)}: another process makes the tables, brings them up to date or keeps them "
                f"locked, and has not ended for {_LOCK_SECONDS} s; nothing was changed; try again when it has"
            ) from error
        except psycopg.Error as error:
            raise ours(error, url, broken=connection.broken) from error


def schema_number(connection: Connection[TupleRow]) -> int:
    """Return the number of the last migration that ran; 0 for a database without our tables."""
    if not _exists(connection, _TABLE):
        return 0
    row = connection.execute(f"SELECT coalesce(max(number), 0) FROM {_TABLE}").fetchone()
    return int((row or (0,))[0])


def _exists(connection: Connection[TupleRow], table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    return row is not None and bool(row[0])


def _check(connection: Connection[TupleRow], url: str) -> None:
    name, version = shown(url), connection.info.server_version
    if version < MIN_SERVER_VERSION * 10_000:
        raise ServerUnsuitable(
            f"{name} runs PostgreSQL {version // 10_000}, and {MIN_SERVER_VERSION} or newer is needed; "
            "upgrade the server"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ServerUnsuitable(
            f"{name} holds texts as {encoding}, which cannot hold every text; make a database with "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )
    if any(_exists(connection, table) for table in _BEFORE) and not schema_number(connection):
        raise ServerUnsuitable(
            f"{name} has tables of an older Memorata, in which the server searched. To move it, run "
            "`memorata export` with the version that wrote it, make a new database (or a schema, named by "
            "?options=-csearch_path%3D…), and run `memorata import` there"
        )


def _migrate(connection: Connection[TupleRow], url: str, scripts: tuple[str, ...]) -> tuple[int, int]:
    before = schema_number(connection)
    if before > len(scripts):
        raise StoreTooNew(
            f"{shown(url)} was migrated by a newer Memorata (schema {before}, this one knows "
            f"{len(scripts)}); upgrade with `pip install --upgrade memorata`"
        )
    if before == len(scripts):
        return before, before
    try:
        for number, script in enumerate(scripts[before:], before + 1):
            connection.execute(script, prepare=False)
            connection.execute(f"INSERT INTO {_TABLE} (number) VALUES (%s)", (number,))
    except errors.InsufficientPrivilege as error:
        raise _may_not(error, url) from error
    return before, len(scripts)


def _make_table(connection: Connection[TupleRow], url: str) -> None:
    """Make the table of migrations; another process may be doing so at the same moment."""
    try:
        with suppress(errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {_TABLE} "
                "(number INTEGER PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
            )
    except errors.InvalidSchemaName as error:
        raise ServerUnsuitable(
            f"{shown(url)}: of the schemas in the search path there is none that this user may use "
            f"({detail_of(error, url)}); let the owner run CREATE SCHEMA … or GRANT CREATE, USAGE ON SCHEMA "
            "… TO …, or name another with ?options=-csearch_path%3D…"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise _may_not(error, url) from error


def _may_not(error: psycopg.Error, url: str) -> ServerUnsuitable:
    return ServerUnsuitable(
        f"{shown(url)}: this user may not make tables ({detail_of(error, url)}); let the owner run "
        "GRANT CREATE, USAGE ON SCHEMA … TO …, or open it once as a user with these rights"
    )
