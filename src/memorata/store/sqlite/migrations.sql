-- A line "as now" stands for the statements of schema.sql that make what it names, with the name that the table
-- had then if it was renamed since. Never change a migration that has been released.

-- migration 1
-- as now: settings embedders sessions records vectors postings changes
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
-- as now: segments_by_namespace changes_of_memories

-- migration 2
-- naming: what a process knows of declared names is good until this number moves.
ALTER TABLE namespaces ADD COLUMN naming INTEGER NOT NULL DEFAULT 0;
-- as now: entities entities_by_namespace entities_merged names names_of_entities relations
-- as now: relations_said_once relations_by_object relations_by_subject relations_by_change
-- as now: relations_by_memory memories_with_a_place

-- migration 3
-- pinned: does not fade, and no upkeep touches it. supported_at: when it was last said again.
ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN supported_at INTEGER;

-- migration 4
-- as now: access_keys replies replies_by_time replies_by_namespace

-- migration 5
-- as now: recall_recipes recalls recalls_by_namespace recalls_by_size recalls_by_recipe
-- as now: feedback feedback_by_time (then reactions)
-- as now: saved_settings saved_settings_by_name (then lessons)
-- as now: exposures exposures_by_experiment exposures_by_recall (then sightings)

-- migration 6
-- The last change of all before a namespace came to be: its name may have been another's until then.
ALTER TABLE namespaces ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;

-- migration 7
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
-- as now: memories_superseded duplicate_runs repeats_by_winner repeats_by_run contradictions
-- as now: contradictions_by_older contradictions_by_namespace

-- migration 8
-- as now: leases

-- migration 9
-- A turn of a transcript is said by somebody; a passage of a text, which nobody says, can be a duplicate.
DROP INDEX memories_by_fingerprint;
CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
    WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);

-- migration 10
-- as now: approximations approximation_parts

-- migration 11
-- as now: vector_codes vector_codes_by_namespace
INSERT INTO vector_codes (namespace, first, slots, embedder, codes)
    SELECT namespace, first, slots, embedder, codes FROM segments ORDER BY namespace, first;
ALTER TABLE segments DROP COLUMN codes;
ALTER TABLE segments DROP COLUMN embedder;

-- migration 12
-- Whether valid_to was given by what superseded it, so that nobody knew of it before; 0 for an end of its
-- own. Of what was superseded so far, an end that is where the other began was most likely given.
ALTER TABLE memories ADD COLUMN end_given INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET end_given = 1 WHERE superseded_by IS NOT NULL AND valid_to = (
    SELECT max(coalesce(w.valid_from, w.created_at), coalesce(memories.valid_from, -9000000000000000000))
    FROM memories w WHERE w.namespace = memories.namespace AND w.id = memories.superseded_by
);
-- as now: memories_ended

-- migration 13
-- What the winner took over from the loser, before and after, as JSON (supersession.py). Until when the
-- loser held is told by its own row now, whatever was said about that since.
ALTER TABLE repeats ADD COLUMN gained TEXT;
ALTER TABLE repeats DROP COLUMN ended;

-- migration 14
DROP INDEX memories_by_fingerprint;
DROP INDEX vectors_by_digest;
-- as now: address_runs new_addresses vectors_by_embedder

-- migration 15
-- The hashes that vectors are found by are those of one namespace (hash_runs.py): all are made anew.

-- migration 16
ALTER TABLE memories ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN checksum INTEGER;
ALTER TABLE memories ADD COLUMN state_checksum INTEGER NOT NULL DEFAULT 3;
UPDATE memories SET state_checksum = {checksum};
-- as now: state_of_new state_of_changed

-- migration 17
ALTER TABLE reactions RENAME TO feedback;
ALTER TABLE lessons RENAME TO saved_settings;
ALTER TABLE sightings RENAME TO exposures;
DROP INDEX reactions_by_time;
DROP INDEX lessons_by_name;
DROP INDEX sightings_by_experiment;
DROP INDEX sightings_by_recall;
ALTER TABLE namespaces ADD COLUMN settings INTEGER NOT NULL DEFAULT 0;
-- as now: feedback_by_time saved_settings_by_name exposures_by_experiment exposures_by_recall
