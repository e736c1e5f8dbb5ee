"""The tables, as numbered migrations: each is run once, in order, inside one transaction.

Never edit a migration that has been released; add the next one. The number of the last one that ran is the
database's ``user_version``; ``application_id`` tells our files from other people's.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x52434C54  # "RCLT"

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    -- The models that vectors came from; vectors of two of them are never compared.
    CREATE TABLE embedders (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    );

    -- slots: how many were ever given out. flushed: slots below this are in segments, the rest in tail.
    -- change: the last change that touched it. generation: counts every rewriting of its segments.
    CREATE TABLE namespaces (
        number INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        slots INTEGER NOT NULL DEFAULT 0,
        flushed INTEGER NOT NULL DEFAULT 0,
        change INTEGER NOT NULL DEFAULT 0,
        generation INTEGER NOT NULL DEFAULT 0
    );

    -- Times are microseconds since 1970, exactly; lists and metadata are JSON.
    CREATE TABLE memories (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        id TEXT NOT NULL,
        content TEXT NOT NULL,
        category TEXT NOT NULL,
        tier TEXT NOT NULL,
        confidence REAL NOT NULL,
        importance REAL NOT NULL,
        tags TEXT NOT NULL,
        metadata TEXT NOT NULL,
        speaker TEXT NOT NULL,
        session TEXT NOT NULL,
        position INTEGER,
        link TEXT NOT NULL,
        entities TEXT NOT NULL,
        lat REAL,
        lon REAL,
        place TEXT,
        created_at INTEGER NOT NULL,
        valid_from INTEGER,
        valid_to INTEGER,
        expires_at INTEGER,
        supersedes TEXT NOT NULL,
        superseded_by TEXT,
        superseded_at INTEGER,
        mentions INTEGER NOT NULL,
        access_count INTEGER NOT NULL,
        last_accessed_at INTEGER,
        version INTEGER NOT NULL,
        fingerprint TEXT NOT NULL,
        embedder TEXT NOT NULL,
        forgotten_at INTEGER,
        UNIQUE (namespace, slot),
        UNIQUE (namespace, id)
    );

    CREATE TABLE sessions (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        name TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (namespace, name)
    ) WITHOUT ROWID;

    -- What a search needs of a memory, in fixed width (index/record.py); written with the memory.
    CREATE TABLE records (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        record BLOB NOT NULL,
        PRIMARY KEY (namespace, slot)
    ) WITHOUT ROWID;

    -- The vectors of a memory's passages, one after the other; digest addresses the embedded text.
    CREATE TABLE vectors (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        embedder INTEGER NOT NULL REFERENCES embedders (number),
        slot INTEGER NOT NULL,
        digest BLOB NOT NULL,
        vectors BLOB NOT NULL,
        UNIQUE (namespace, embedder, slot)
    );
    CREATE INDEX vectors_by_digest ON vectors (digest, embedder);

    -- Words of memories that are in no segment yet (index/tail.py).
    CREATE TABLE tail (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        terms BLOB NOT NULL,
        PRIMARY KEY (namespace, slot)
    ) WITHOUT ROWID;

    -- Runs of slots whose postings and vector codes are written together and merged together.
    CREATE TABLE segments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        first INTEGER NOT NULL,
        slots INTEGER NOT NULL,
        embedder INTEGER,
        codes BLOB
    );
    CREATE INDEX segments_by_namespace ON segments (namespace, first);

    -- Segment first: a new segment is appended, a merge reads and deletes whole ranges.
    CREATE TABLE postings (
        segment INTEGER NOT NULL,
        field TEXT NOT NULL,
        term TEXT NOT NULL,
        list BLOB NOT NULL,
        PRIMARY KEY (segment, field, term)
    ) WITHOUT ROWID;

    -- The change feed; a change number is never used twice.
    CREATE TABLE changes (
        change INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL
    );
    CREATE INDEX changes_by_namespace ON changes (namespace, change);
    """,
)
