"""The tables of memories and of what is derived from them; of the first migration (:mod:`schema`)."""

from __future__ import annotations

from typing import Final

MEMORIES: Final = """
    CREATE TABLE settings (name TEXT COLLATE "C" PRIMARY KEY, value TEXT NOT NULL);

    -- The models that vectors came from; vectors of two of them are never compared.
    CREATE TABLE embedders (
        number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT COLLATE "C" NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    );

    -- How often each connection has written: what those of others did moves, what one did itself does not.
    -- And who did not hear whether its last write happened can read it here.
    CREATE TABLE writers (number BIGINT PRIMARY KEY, writes BIGINT NOT NULL);

    -- Who writes to a namespace locks its row first: slots and changes have no gap in time.
    -- slots: how many were ever given out. memories: how many there are; shown: of those, neither forgotten
    -- nor superseded; sums, holders: of those, the lengths of each lexical field and how many have any.
    CREATE TABLE namespaces (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        path TEXT COLLATE "C" NOT NULL UNIQUE,
        slots INTEGER NOT NULL DEFAULT 0,
        change BIGINT NOT NULL DEFAULT 0,
        naming BIGINT NOT NULL DEFAULT 0,
        begun BIGINT NOT NULL DEFAULT 0,
        memories INTEGER NOT NULL DEFAULT 0,
        shown INTEGER NOT NULL DEFAULT 0,
        sums BIGINT[] NOT NULL DEFAULT '{0,0,0,0,0,0,0}',
        holders INTEGER[] NOT NULL DEFAULT '{0,0,0,0,0,0,0}'
    );

    -- added: the number of the change that added it. record: what a search needs, in fixed width
    -- (index/record.py); words: the terms it is listed under (index/tail.py). metadata is JSON as it was
    -- given; facets is the same for conditions.
    CREATE TABLE memories (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        number INTEGER GENERATED ALWAYS AS (slot) STORED,
        added BIGINT NOT NULL,
        id TEXT COLLATE "C" NOT NULL,
        content TEXT COLLATE "C" NOT NULL,
        category TEXT COLLATE "C" NOT NULL,
        tier TEXT COLLATE "C" NOT NULL,
        confidence DOUBLE PRECISION NOT NULL,
        importance DOUBLE PRECISION NOT NULL,
        tags TEXT[] COLLATE "C" NOT NULL,
        metadata TEXT COLLATE "C" NOT NULL,
        facets JSONB,
        speaker TEXT COLLATE "C" NOT NULL,
        session TEXT COLLATE "C" NOT NULL,
        position BIGINT,
        link TEXT COLLATE "C" NOT NULL,
        entities TEXT[] COLLATE "C" NOT NULL,
        lat DOUBLE PRECISION,
        lon DOUBLE PRECISION,
        place TEXT COLLATE "C",
        created_at BIGINT NOT NULL,
        valid_from BIGINT,
        valid_to BIGINT,
        expires_at BIGINT,
        supersedes TEXT[] COLLATE "C" NOT NULL,
        superseded_by TEXT COLLATE "C",
        superseded_at BIGINT,
        mentions BIGINT NOT NULL,
        access_count BIGINT NOT NULL,
        last_accessed_at BIGINT,
        version BIGINT NOT NULL,
        fingerprint TEXT COLLATE "C" NOT NULL,
        embedder TEXT COLLATE "C" NOT NULL,
        pinned BOOLEAN NOT NULL,
        supported_at BIGINT,
        forgotten_at BIGINT,
        record BYTEA NOT NULL,
        words BYTEA NOT NULL,
        PRIMARY KEY (namespace, slot),
        UNIQUE (namespace, id)
    );
    CREATE INDEX memories_added ON memories (added);
    CREATE INDEX memories_not_plain ON memories (namespace, slot)
        WHERE forgotten_at IS NOT NULL OR superseded_at IS NOT NULL OR expires_at IS NOT NULL;
    CREATE INDEX memories_in_sessions
        ON memories (namespace, session, (coalesce(position, -1)), created_at, slot) WHERE session <> '';
    CREATE INDEX memories_by_time ON memories (namespace, (coalesce(valid_from, created_at)));
    CREATE INDEX memories_by_place ON memories (namespace, lat, lon) WHERE lat IS NOT NULL;
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (session = '' OR position IS NULL);
    CREATE INDEX memories_superseded ON memories (namespace, superseded_by) WHERE superseded_by IS NOT NULL;

    CREATE TABLE sessions (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        name TEXT COLLATE "C" NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (namespace, name)
    );

    -- Posting lists in plain rows: how often a memory has a term in a field, and how many terms it has there.
    -- The index holds all of it, so that a list is read without the table.
    CREATE TABLE postings (
        namespace BIGINT NOT NULL,
        field SMALLINT NOT NULL,
        term TEXT COLLATE "C" NOT NULL,
        slot INTEGER NOT NULL,
        frequency INTEGER NOT NULL,
        length INTEGER NOT NULL,
        PRIMARY KEY (namespace, field, term, slot) INCLUDE (frequency, length)
    );

    -- The vectors of memories' passages; digest addresses the embedded text.
    CREATE TABLE vectors (
        namespace BIGINT NOT NULL,
        embedder INTEGER NOT NULL REFERENCES embedders (number),
        slot INTEGER NOT NULL,
        passage INTEGER NOT NULL,
        digest BYTEA NOT NULL,
        embedding VECTOR NOT NULL,
        PRIMARY KEY (namespace, embedder, slot, passage)
    );
    CREATE INDEX vectors_by_digest ON vectors (digest, embedder);

    -- How many memories of a namespace have vectors of an embedder, and how many vectors those are;
    -- indexed: whether there is an approximate index over them.
    CREATE TABLE vector_counts (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        embedder INTEGER NOT NULL REFERENCES embedders (number),
        memories INTEGER NOT NULL,
        passages INTEGER NOT NULL,
        indexed BOOLEAN NOT NULL DEFAULT false,
        PRIMARY KEY (namespace, embedder)
    );

    -- The change feed. Numbers are taken while the namespace's row is locked; nothing is deleted.
    CREATE SEQUENCE change_numbers;
    CREATE TABLE changes (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        change BIGINT NOT NULL,
        slot INTEGER NOT NULL,
        kind TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, change)
    );
    CREATE INDEX changes_in_order ON changes (change);
    """
