"""How the tables of a file came to be what `schema.py` says: numbered migrations of older files.

Never edit a migration that has been released; add the next one, and write its result into `schema.py`.
"""

from __future__ import annotations

from typing import Final

from memorata.store.sqlite.schema import STATE, state_checksum

ADDRESSED: Final = 15
"""The migration after which addresses have to be made of what is there."""
SUMMED: Final = 16
"""The migration after which every row gets its checksum."""

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE embedders (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    );
    CREATE TABLE namespaces (
        number INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        slots INTEGER NOT NULL DEFAULT 0,
        flushed INTEGER NOT NULL DEFAULT 0,
        change INTEGER NOT NULL DEFAULT 0,
        generation INTEGER NOT NULL DEFAULT 0
    );
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
        UNIQUE (namespace, id),
        CHECK (number = (namespace << 31) + slot)
    );
    CREATE TABLE sessions (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        name TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (namespace, name)
    ) WITHOUT ROWID;
    CREATE TABLE records (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        record BLOB NOT NULL,
        terms BLOB,
        PRIMARY KEY (namespace, slot)
    ) WITHOUT ROWID;
    CREATE TABLE vectors (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        embedder INTEGER NOT NULL REFERENCES embedders (number),
        slot INTEGER NOT NULL,
        digest BLOB NOT NULL,
        vectors BLOB NOT NULL,
        CHECK (number = (((embedder << 25) + namespace) << 31) + slot)
    );
    CREATE INDEX vectors_by_digest ON vectors (digest, embedder);
    CREATE TABLE segments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        first INTEGER NOT NULL,
        slots INTEGER NOT NULL,
        buckets INTEGER NOT NULL,
        embedder INTEGER,
        codes BLOB
    );
    CREATE INDEX segments_by_namespace ON segments (namespace, first);
    CREATE TABLE postings (number INTEGER PRIMARY KEY, block BLOB NOT NULL);
    CREATE TABLE changes (
        change INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        slot INTEGER NOT NULL,
        kind TEXT NOT NULL
    );
    CREATE INDEX changes_of_memories ON changes (namespace, change) WHERE kind <> 'add';
    """,
    """
    -- The last change of declared names: what a process knows of them is good until this number moves.
    ALTER TABLE namespaces ADD COLUMN naming INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE entities (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        type TEXT NOT NULL,
        description TEXT NOT NULL,
        merged_into INTEGER REFERENCES entities (number)
    );
    CREATE INDEX entities_by_namespace ON entities (namespace);
    CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;
    CREATE TABLE names (
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        folded TEXT NOT NULL,
        entity INTEGER NOT NULL REFERENCES entities (number) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (namespace, folded)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX names_of_entities ON names (entity, position);
    CREATE TABLE relations (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        subject INTEGER NOT NULL REFERENCES entities (number),
        type TEXT NOT NULL,
        object INTEGER NOT NULL REFERENCES entities (number),
        weight REAL NOT NULL,
        memory INTEGER REFERENCES memories (number) ON DELETE CASCADE,
        valid_from INTEGER,
        valid_to INTEGER,
        created_at INTEGER NOT NULL,
        change INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX relations_said_once ON relations (
        namespace, subject, type, object, coalesce(memory, 0), coalesce(valid_from, -9000000000000000000)
    );
    CREATE INDEX relations_by_object ON relations (object);
    CREATE INDEX relations_by_subject ON relations (subject);
    CREATE INDEX relations_by_change ON relations (namespace, change);
    CREATE INDEX relations_by_memory ON relations (memory) WHERE memory IS NOT NULL;
    CREATE INDEX memories_with_a_place ON memories (namespace, slot) WHERE lat IS NOT NULL;
    """,
    """
    -- pinned: does not fade, and no upkeep touches it. supported_at: when it was last said again.
    ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE memories ADD COLUMN supported_at INTEGER;
    """,
    """
    CREATE TABLE access_keys (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        digest BLOB NOT NULL,
        namespaces TEXT NOT NULL,
        scopes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        revoked_at INTEGER
    );
    CREATE TABLE replies (
        caller TEXT NOT NULL,
        key TEXT NOT NULL,
        namespace TEXT NOT NULL,
        request BLOB NOT NULL,
        status INTEGER NOT NULL,
        body BLOB,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (caller, key)
    ) WITHOUT ROWID;
    CREATE INDEX replies_by_time ON replies (created_at);
    CREATE INDEX replies_by_namespace ON replies (namespace);
    """,
    """
    CREATE TABLE recall_recipes (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        digest BLOB NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (namespace, digest)
    );
    CREATE TABLE recalls (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        id TEXT NOT NULL UNIQUE,
        at INTEGER NOT NULL,
        query TEXT,
        recipe INTEGER NOT NULL REFERENCES recall_recipes (number),
        embedder TEXT NOT NULL,
        said TEXT NOT NULL,
        candidates BLOB NOT NULL,
        shown BLOB NOT NULL,
        start INTEGER NOT NULL,
        bytes INTEGER NOT NULL
    );
    CREATE INDEX recalls_by_namespace ON recalls (namespace, at);
    CREATE INDEX recalls_by_size ON recalls (start);
    CREATE INDEX recalls_by_recipe ON recalls (recipe);
    CREATE TABLE reactions (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        recall TEXT NOT NULL,
        slot INTEGER NOT NULL,
        signal TEXT NOT NULL,
        rating INTEGER,
        given_at INTEGER NOT NULL,
        features TEXT NOT NULL,
        embedder TEXT NOT NULL
    );
    CREATE INDEX reactions_by_time ON reactions (namespace, given_at);
    CREATE TABLE lessons (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        data TEXT NOT NULL,
        evidence TEXT NOT NULL,
        at INTEGER NOT NULL,
        withdrawn_at INTEGER
    );
    CREATE INDEX lessons_by_name ON lessons (namespace, kind, name);
    CREATE TABLE sightings (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        experiment TEXT NOT NULL,
        variant TEXT NOT NULL,
        user TEXT NOT NULL,
        recall TEXT NOT NULL,
        at INTEGER NOT NULL,
        results INTEGER NOT NULL,
        teams TEXT NOT NULL
    );
    CREATE INDEX sightings_by_experiment ON sightings (namespace, experiment);
    CREATE INDEX sightings_by_recall ON sightings (namespace, recall);
    """,
    """
    -- The last change of all before a namespace came to be: its name may have been another's until then.
    ALTER TABLE namespaces ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- What was said before in the same words, by the first digits of its fingerprint. Turns of transcripts
    -- are events, never duplicates, so they are not in it.
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (session = '' OR position IS NULL);
    CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
    CREATE TABLE duplicate_runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        started_at INTEGER NOT NULL,
        finished_at INTEGER,
        undone_at INTEGER,
        strategy TEXT NOT NULL
    );
    CREATE TABLE repeats (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        memory INTEGER NOT NULL UNIQUE REFERENCES memories (number) ON DELETE CASCADE,
        winner INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
        run INTEGER REFERENCES duplicate_runs (number) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL,
        mentions INTEGER NOT NULL,
        before REAL NOT NULL,
        after REAL NOT NULL,
        supported_before INTEGER,
        supported_after INTEGER,
        ended INTEGER
    );
    CREATE INDEX repeats_by_winner ON repeats (winner);
    CREATE INDEX repeats_by_run ON repeats (run) WHERE run IS NOT NULL;
    CREATE TABLE contradictions (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        newer INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
        older INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
        cue TEXT NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL,
        verdict TEXT,
        decided_by TEXT NOT NULL DEFAULT '',
        decided_because TEXT NOT NULL DEFAULT '',
        decided_at INTEGER,
        UNIQUE (newer, older)
    );
    CREATE INDEX contradictions_by_older ON contradictions (older);
    CREATE INDEX contradictions_by_namespace ON contradictions (namespace);
    """,
    """
    CREATE TABLE leases (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        holder TEXT NOT NULL,
        until INTEGER NOT NULL,
        UNIQUE (namespace, kind)
    );
    """,
    """
    -- A turn of a transcript is said by somebody; a passage of a text, which nobody says, can be a duplicate.
    DROP INDEX memories_by_fingerprint;
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);
    """,
    """
    CREATE TABLE approximations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        embedder INTEGER NOT NULL REFERENCES embedders (number),
        until INTEGER NOT NULL,
        vectors INTEGER NOT NULL,
        trained INTEGER NOT NULL,
        gaps INTEGER NOT NULL,
        UNIQUE (namespace, embedder)
    );
    CREATE TABLE approximation_parts (
        number INTEGER PRIMARY KEY,
        approximation INTEGER NOT NULL REFERENCES approximations (number) ON DELETE CASCADE,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        part INTEGER NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (approximation, part)
    );
    """,
    """
    CREATE TABLE vector_codes (
        number INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (number),
        first INTEGER NOT NULL,
        slots INTEGER NOT NULL,
        embedder INTEGER,
        codes BLOB
    );
    CREATE INDEX vector_codes_by_namespace ON vector_codes (namespace, first);
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
    CREATE INDEX memories_ended ON memories (namespace, superseded_at) WHERE superseded_at IS NOT NULL;
    """,
    """
    -- What the winner took over from the loser, before and after, as JSON (taking_over.py). Until when the
    -- loser held is told by its own row now, whatever was said about that since.
    ALTER TABLE repeats ADD COLUMN gained TEXT;
    ALTER TABLE repeats DROP COLUMN ended;
    """,
    """
    CREATE TABLE address_runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        entries INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        run BLOB NOT NULL
    );
    CREATE TABLE new_addresses (
        key INTEGER NOT NULL,
        place INTEGER NOT NULL,
        PRIMARY KEY (key, place)
    ) WITHOUT ROWID;
    DROP INDEX memories_by_fingerprint;
    DROP INDEX vectors_by_digest;
    CREATE INDEX vectors_by_embedder ON vectors (embedder);
    """,
    """
    -- The hashes that vectors are found by are those of one namespace (hashes.py): all are made anew.
    """,
    """
    ALTER TABLE memories ADD COLUMN via TEXT NOT NULL DEFAULT '';
    ALTER TABLE memories ADD COLUMN checksum INTEGER;
    ALTER TABLE memories ADD COLUMN state_checksum INTEGER NOT NULL DEFAULT 3;
    UPDATE memories SET state_checksum = {all};
    CREATE TRIGGER state_of_new AFTER INSERT ON memories WHEN NEW.state_checksum <> {new} BEGIN
        UPDATE memories SET state_checksum = {new} WHERE number = NEW.number;
    END;
    CREATE TRIGGER state_of_changed AFTER UPDATE OF {columns} ON memories BEGIN
        UPDATE memories SET state_checksum = {new} WHERE number = NEW.number;
    END;
    """.replace("{all}", state_checksum())
    .replace("{new}", state_checksum("NEW."))
    .replace("{columns}", ", ".join(STATE)),
    """
    ALTER TABLE reactions RENAME TO feedback;
    ALTER TABLE lessons RENAME TO saved_settings;
    ALTER TABLE sightings RENAME TO exposures;
    DROP INDEX reactions_by_time;
    DROP INDEX lessons_by_name;
    DROP INDEX sightings_by_experiment;
    DROP INDEX sightings_by_recall;
    CREATE INDEX feedback_by_time ON feedback (namespace, given_at);
    CREATE INDEX saved_settings_by_name ON saved_settings (namespace, kind, name);
    CREATE INDEX exposures_by_experiment ON exposures (namespace, experiment);
    CREATE INDEX exposures_by_recall ON exposures (namespace, recall);
    ALTER TABLE namespaces ADD COLUMN settings INTEGER NOT NULL DEFAULT 0;
    """,
)
