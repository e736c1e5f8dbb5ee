CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- The models that vectors came from; vectors of two of them are never compared.
CREATE TABLE embedders (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);

-- slots: how many were ever given out. flushed: slots below this are in segments, the rest in the tail.
-- change: the last change that touched it; naming: the last of declared names; begun: the last of all before
-- it was made. generation: counts every rewriting of its segments; settings: every change of its saved
-- settings.
CREATE TABLE namespaces (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, slots INTEGER NOT NULL DEFAULT 0,
    flushed INTEGER NOT NULL DEFAULT 0, change INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0, naming INTEGER NOT NULL DEFAULT 0,
    begun INTEGER NOT NULL DEFAULT 0, settings INTEGER NOT NULL DEFAULT 0
);

-- The number is made of namespace and slot, so that a memory is found by its slot without an index.
-- statement: the key of what it says, for repeats (dedupe/wording.py). supported_at: when it was last repeated. end_given: whether valid_to was set by what superseded it.
CREATE TABLE memories (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    slot INTEGER NOT NULL, id TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL,
    tier TEXT NOT NULL, confidence REAL NOT NULL, importance REAL NOT NULL, tags TEXT NOT NULL,
    metadata TEXT NOT NULL, speaker TEXT NOT NULL, session TEXT NOT NULL, position INTEGER,
    link TEXT NOT NULL, entities TEXT NOT NULL, lat REAL, lon REAL, place TEXT, created_at INTEGER NOT NULL,
    valid_from INTEGER, valid_to INTEGER, expires_at INTEGER, supersedes TEXT NOT NULL, superseded_by TEXT,
    superseded_at INTEGER, mentions INTEGER NOT NULL, access_count INTEGER NOT NULL,
    last_accessed_at INTEGER, version INTEGER NOT NULL, fingerprint TEXT NOT NULL, embedder TEXT NOT NULL,
    forgotten_at INTEGER, pinned INTEGER NOT NULL DEFAULT 0, supported_at INTEGER,
    end_given INTEGER NOT NULL DEFAULT 0, via TEXT NOT NULL DEFAULT '', checksum INTEGER,
    state_checksum INTEGER NOT NULL DEFAULT 3, role TEXT NOT NULL DEFAULT '',
    untrusted INTEGER NOT NULL DEFAULT 0, statement TEXT,
    UNIQUE (namespace, id), CHECK (number = (namespace << 31) + slot)
);
-- checksum: of the columns that only change together (store/rows.py). state_checksum: of whole numbers that
-- change one by one; SQLite keeps it, so that no statement can forget it.
CREATE TRIGGER state_of_new AFTER INSERT ON memories WHEN NEW.state_checksum <> {new} BEGIN
    UPDATE memories SET state_checksum = {new} WHERE number = NEW.number;
END;
CREATE TRIGGER state_of_changed AFTER UPDATE OF {columns} ON memories BEGIN
    UPDATE memories SET state_checksum = {new} WHERE number = NEW.number;
END;
CREATE INDEX memories_by_statement ON memories (namespace, statement)
    WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);
CREATE INDEX memories_with_a_place ON memories (namespace, slot) WHERE lat IS NOT NULL;
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_ended ON memories (namespace, superseded_at) WHERE superseded_at IS NOT NULL;

CREATE TABLE sessions (
    namespace INTEGER NOT NULL REFERENCES namespaces (number), name TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

-- What a search needs of a memory, in fixed width; its terms until they are in a segment (index/record.py).
CREATE TABLE records (
    namespace INTEGER NOT NULL REFERENCES namespaces (number), slot INTEGER NOT NULL, record BLOB NOT NULL,
    terms BLOB, PRIMARY KEY (namespace, slot)
) WITHOUT ROWID;

-- The vectors of a memory's passages, one after the other; digest: of the embedded text.
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    embedder INTEGER NOT NULL REFERENCES embedders (number), slot INTEGER NOT NULL, digest BLOB NOT NULL,
    vectors BLOB NOT NULL, CHECK (number = (((embedder << 25) + namespace) << 31) + slot)
);
CREATE INDEX vectors_by_embedder ON vectors (embedder);
CREATE INDEX vectors_by_digest ON vectors (namespace, digest, embedder);

-- Runs of slots whose posting lists are written together and merged together (index/postings.py).
CREATE TABLE segments (
    number INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    first INTEGER NOT NULL, slots INTEGER NOT NULL, lists BLOB NOT NULL
);
CREATE INDEX segments_by_namespace ON segments (namespace, first);

-- The terms of memories that their segment lists under former ones, until it is merged.
CREATE TABLE rewordings (
    namespace INTEGER NOT NULL REFERENCES namespaces (number), slot INTEGER NOT NULL, terms BLOB NOT NULL,
    PRIMARY KEY (namespace, slot)
) WITHOUT ROWID;

-- Codes of vectors, in runs of slots; without an embedder there are none.
CREATE TABLE vector_codes (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    first INTEGER NOT NULL, slots INTEGER NOT NULL, embedder INTEGER, codes BLOB
);
CREATE INDEX vector_codes_by_namespace ON vector_codes (namespace, first);

-- The change feed. Nothing is ever deleted from it, so a change number is never used twice. Memories added
-- since are known by their slots; only other changes are looked for.
CREATE TABLE changes (
    change INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    slot INTEGER NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX changes_of_memories ON changes (namespace, change) WHERE kind <> 'add';

-- Declared entities. merged_into: read that one instead.
CREATE TABLE entities (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number), type TEXT NOT NULL,
    description TEXT NOT NULL, lat REAL, lon REAL, place TEXT,
    merged_into INTEGER REFERENCES entities (number)
);
CREATE INDEX entities_by_namespace ON entities (namespace);
CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;

-- Their names, each of which means one entity of its namespace: position 0 is its name, others are aliases.
CREATE TABLE names (
    namespace INTEGER NOT NULL REFERENCES namespaces (number), folded TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entities (number) ON DELETE CASCADE, position INTEGER NOT NULL,
    name TEXT NOT NULL, PRIMARY KEY (namespace, folded)
) WITHOUT ROWID;
CREATE UNIQUE INDEX names_of_entities ON names (entity, position);

-- memory: the one that states the relation, which goes with it.
CREATE TABLE relations (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    subject INTEGER NOT NULL REFERENCES entities (number), type TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES entities (number), weight REAL NOT NULL,
    memory INTEGER REFERENCES memories (number) ON DELETE CASCADE, valid_from INTEGER, valid_to INTEGER,
    created_at INTEGER NOT NULL, change INTEGER NOT NULL
);
CREATE UNIQUE INDEX relations_said_once ON relations (
    namespace, subject, type, object, coalesce(memory, 0), coalesce(valid_from, -9000000000000000000)
);
CREATE INDEX relations_by_object ON relations (object);
CREATE INDEX relations_by_subject ON relations (subject);
CREATE INDEX relations_by_change ON relations (namespace, change);
CREATE INDEX relations_by_memory ON relations (memory) WHERE memory IS NOT NULL;

-- digest: of the token, which is not stored. namespaces: patterns, for a key may be for ones to come.
CREATE TABLE access_keys (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, digest BLOB NOT NULL,
    namespaces TEXT NOT NULL, scopes TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER,
    revoked_at INTEGER
);

-- Answers to requests with a key of idempotency; a purge empties the bodies.
CREATE TABLE replies (
    caller TEXT NOT NULL, key TEXT NOT NULL, namespace TEXT NOT NULL, request BLOB NOT NULL,
    status INTEGER NOT NULL, body BLOB, created_at INTEGER NOT NULL, PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX replies_by_time ON replies (created_at);
CREATE INDEX replies_by_namespace ON replies (namespace);

-- Work that only its holder may do until then; a number is never given out again. The namespace is a path, or
-- * for work on all.
CREATE TABLE leases (
    number INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, kind TEXT NOT NULL,
    holder TEXT NOT NULL, until INTEGER NOT NULL, UNIQUE (namespace, kind)
);

-- The log of recalls, and the recipes they were made with. start: the bytes of all recalls logged before.
CREATE TABLE recall_recipes (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    digest BLOB NOT NULL, data TEXT NOT NULL, UNIQUE (namespace, digest)
);
CREATE TABLE recalls (
    number INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, query TEXT,
    recipe INTEGER NOT NULL REFERENCES recall_recipes (number), embedder TEXT NOT NULL, said TEXT NOT NULL,
    candidates BLOB NOT NULL, shown BLOB NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX recalls_by_namespace ON recalls (namespace, at);
CREATE INDEX recalls_by_size ON recalls (start);
CREATE INDEX recalls_by_recipe ON recalls (recipe);

-- Feedback about hits, with the numbers of the hit; it outlives the logged recall.
CREATE TABLE feedback (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    recall TEXT NOT NULL, slot INTEGER NOT NULL, signal TEXT NOT NULL, rating INTEGER,
    given_at INTEGER NOT NULL, features TEXT NOT NULL, embedder TEXT NOT NULL
);
CREATE INDEX feedback_by_time ON feedback (namespace, given_at);

-- Saved settings of a namespace: versions of each, of which the last that was not withdrawn holds.
CREATE TABLE saved_settings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    kind TEXT NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL, evidence TEXT NOT NULL, at INTEGER NOT NULL,
    withdrawn_at INTEGER
);
CREATE INDEX saved_settings_by_name ON saved_settings (namespace, kind, name);

-- Exposures: who was shown which variant of an experiment; teams: of two rankings in one list, by slot.
CREATE TABLE exposures (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    experiment TEXT NOT NULL, variant TEXT NOT NULL, user TEXT NOT NULL, recall TEXT NOT NULL,
    at INTEGER NOT NULL, results INTEGER NOT NULL, teams TEXT NOT NULL
);
CREATE INDEX exposures_by_experiment ON exposures (namespace, experiment);
CREATE INDEX exposures_by_recall ON exposures (namespace, recall);

-- Passes over a namespace that superseded duplicates, so that they can be undone.
CREATE TABLE duplicate_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    started_at INTEGER NOT NULL, finished_at INTEGER, undone_at INTEGER, strategy TEXT NOT NULL
);

-- Memories superseded because they repeat another, and what undoing that takes: confidence and last support
-- of the winner before and after, and what it gained from the loser (JSON).
CREATE TABLE repeats (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    memory INTEGER NOT NULL UNIQUE REFERENCES memories (number) ON DELETE CASCADE,
    winner INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    run INTEGER REFERENCES duplicate_runs (number) ON DELETE CASCADE, kind TEXT NOT NULL,
    reason TEXT NOT NULL, at INTEGER NOT NULL, mentions INTEGER NOT NULL, before REAL NOT NULL,
    after REAL NOT NULL, supported_before INTEGER, supported_after INTEGER, gained TEXT
);
CREATE INDEX repeats_by_winner ON repeats (winner);
CREATE INDEX repeats_by_run ON repeats (run) WHERE run IS NOT NULL;

-- Remarks that a newer memory may contradict an older one, and what was decided about them.
CREATE TABLE contradictions (
    number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespaces (number),
    newer INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    older INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE, cue TEXT NOT NULL,
    reason TEXT NOT NULL, at INTEGER NOT NULL, verdict TEXT, decided_by TEXT NOT NULL DEFAULT '',
    decided_because TEXT NOT NULL DEFAULT '', decided_at INTEGER, UNIQUE (newer, older)
);
CREATE INDEX contradictions_by_older ON contradictions (older);
CREATE INDEX contradictions_by_namespace ON contradictions (namespace);
