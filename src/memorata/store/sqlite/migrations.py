"""Migrations of older files to what `schema.py` says: one transaction, and a copy of the file as it was.

Never change what a migration that has been released does; add the next one, and write its result into
`schema.py`. Where that changes a table which a migration takes from there (`_as_now`), write out here how the
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
from memorata.store.sqlite.schema import APPLICATION_ID, SCHEMA, VERSION, state_checksum


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


HASH_INDEX_MIGRATION: Final = 15
"""The migration after which the hash index is built from the memories and vectors."""
CHECKSUM_MIGRATION: Final = 16
"""The migration after which every row gets its checksum."""

_STATEMENT: Final = r"(?s)CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+)(?:[^;]*? BEGIN\n.*?END|[^;]*);"
_CREATED: Final = {created[1]: created[0] for created in re.finditer(_STATEMENT, SCHEMA)}
"""The statements of the schema, by the name of what they make."""


def _as_now(listed: str, former: str = "") -> str:
    """Return the statements that make what is still as it was, under its `former` name if it was renamed.

    >>> _as_now("feedback_by_time", former="reactions")
    'CREATE INDEX reactions_by_time ON reactions (namespace, given_at);'
    """
    names = listed.split()
    script = "\n".join(_CREATED[name] for name in names)
    return script.replace(names[0].partition("_by_")[0], former) if former else script


MIGRATIONS: Final[tuple[str, ...]] = (
    _as_now("settings embedders sessions records vectors postings changes")
    + """
    CREATE TABLE namespaces (
        number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, slots INTEGER NOT NULL DEFAULT 0,
        flushed INTEGER NOT NULL DEFAULT 0, change INTEGER NOT NULL DEFAULT 0,
        generation INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE memories (
        number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL, id TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL,
        tier TEXT NOT NULL, confidence REAL NOT NULL, importance REAL NOT NULL, tags TEXT NOT NULL,
        metadata TEXT NOT NULL, speaker TEXT NOT NULL, session TEXT NOT NULL, position INTEGER,
        link TEXT NOT NULL, entities TEXT NOT NULL, lat REAL, lon REAL, place TEXT,
        created_at INTEGER NOT NULL, valid_from INTEGER, valid_to INTEGER, expires_at INTEGER,
        supersedes TEXT NOT NULL, superseded_by TEXT, superseded_at INTEGER, mentions INTEGER NOT NULL,
        access_count INTEGER NOT NULL, last_accessed_at INTEGER, version INTEGER NOT NULL,
        fingerprint TEXT NOT NULL, embedder TEXT NOT NULL, forgotten_at INTEGER,
        UNIQUE (namespace, id), CHECK (number = (namespace << 31) + slot)
    );
    CREATE INDEX vectors_by_digest ON vectors (digest, embedder);
    CREATE TABLE segments (
        number INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL REFERENCES namespaces (number),
        first INTEGER NOT NULL, slots INTEGER NOT NULL, buckets INTEGER NOT NULL, embedder INTEGER, codes BLOB
    );
    """
    + _as_now("segments_by_namespace changes_of_memories"),
    # naming: what a process knows of declared names is good until this number moves.
    "ALTER TABLE namespaces ADD COLUMN naming INTEGER NOT NULL DEFAULT 0;\n"
    + _as_now(
        "entities entities_by_namespace entities_merged names names_of_entities relations "
        "relations_said_once relations_by_object relations_by_subject relations_by_change "
        "relations_by_memory memories_with_a_place"
    ),
    """
    -- pinned: does not fade, and no upkeep touches it. supported_at: when it was last said again.
    ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE memories ADD COLUMN supported_at INTEGER;
    """,
    _as_now("access_keys replies replies_by_time replies_by_namespace"),
    "\n".join(
        [
            _as_now("recall_recipes recalls recalls_by_namespace recalls_by_size recalls_by_recipe"),
            _as_now("feedback feedback_by_time", former="reactions"),
            _as_now("saved_settings saved_settings_by_name", former="lessons"),
            _as_now("exposures exposures_by_experiment exposures_by_recall", former="sightings"),
        ]
    ),
    """
    -- The last change of all before a namespace came to be: its name may have been another's until then.
    ALTER TABLE namespaces ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- What was said before in the same words, by the first digits of its fingerprint. Turns of transcripts
    -- are events, never duplicates, so they are not in it.
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (session = '' OR position IS NULL);
    CREATE TABLE repeats (
        number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
        memory INTEGER NOT NULL UNIQUE REFERENCES memories (number) ON DELETE CASCADE,
        winner INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
        run INTEGER REFERENCES duplicate_runs (number) ON DELETE CASCADE, kind TEXT NOT NULL,
        reason TEXT NOT NULL, at INTEGER NOT NULL, mentions INTEGER NOT NULL, before REAL NOT NULL,
        after REAL NOT NULL, supported_before INTEGER, supported_after INTEGER, ended INTEGER
    );
    """
    + _as_now(
        "memories_superseded duplicate_runs repeats_by_winner repeats_by_run contradictions "
        "contradictions_by_older contradictions_by_namespace"
    ),
    _as_now("leases"),
    """
    -- A turn of a transcript is said by somebody; a passage of a text, which nobody says, can be a duplicate.
    DROP INDEX memories_by_fingerprint;
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);
    """,
    _as_now("approximations approximation_parts"),
    _as_now("vector_codes vector_codes_by_namespace")
    + """
    INSERT INTO vector_codes (namespace, first, slots, embedder, codes)
        SELECT namespace, first, slots, embedder, codes FROM segments ORDER BY namespace, first;
    ALTER TABLE segments DROP COLUMN codes;
    ALTER TABLE segments DROP COLUMN embedder;
    """,
    """
    -- Whether valid_to was given by what superseded it, so that nobody knew of it before; 0 for an end of its
    -- own. Of what was superseded so far, an end that is where the other began was most likely given.
    ALTER TABLE memories ADD COLUMN end_given INTEGER NOT NULL DEFAULT 0;
    UPDATE memories SET end_given = 1 WHERE superseded_by IS NOT NULL AND valid_to = (
        SELECT max(coalesce(w.valid_from, w.created_at), coalesce(memories.valid_from, -9000000000000000000))
        FROM memories w WHERE w.namespace = memories.namespace AND w.id = memories.superseded_by
    );
    """
    + _as_now("memories_ended"),
    """
    -- What the winner took over from the loser, before and after, as JSON (supersession.py). Until when the
    -- loser held is told by its own row now, whatever was said about that since.
    ALTER TABLE repeats ADD COLUMN gained TEXT;
    ALTER TABLE repeats DROP COLUMN ended;
    """,
    """
    DROP INDEX memories_by_fingerprint;
    DROP INDEX vectors_by_digest;
    """
    + _as_now("address_runs new_addresses vectors_by_embedder"),
    """
    -- The hashes that vectors are found by are those of one namespace (hash_runs.py): all are made anew.
    """,
    """
    ALTER TABLE memories ADD COLUMN via TEXT NOT NULL DEFAULT '';
    ALTER TABLE memories ADD COLUMN checksum INTEGER;
    ALTER TABLE memories ADD COLUMN state_checksum INTEGER NOT NULL DEFAULT 3;
    """
    + f"UPDATE memories SET state_checksum = {state_checksum()};\n"
    + _as_now("state_of_new state_of_changed"),
    """
    ALTER TABLE reactions RENAME TO feedback;
    ALTER TABLE lessons RENAME TO saved_settings;
    ALTER TABLE sightings RENAME TO exposures;
    DROP INDEX reactions_by_time;
    DROP INDEX lessons_by_name;
    DROP INDEX sightings_by_experiment;
    DROP INDEX sightings_by_recall;
    ALTER TABLE namespaces ADD COLUMN settings INTEGER NOT NULL DEFAULT 0;
    """
    + _as_now("feedback_by_time saved_settings_by_name exposures_by_experiment exposures_by_recall"),
)
