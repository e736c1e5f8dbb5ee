"""The tables, as numbered migrations: each is run once, in order, in one transaction under an advisory lock.

Every table that holds something of a namespace has the namespace's number first in its primary key, and in
every foreign key: so all of them can be partitioned by a hash of it, or distributed by it over several nodes.
What belongs to nobody (settings, embedders, keys) is small. Texts compare by code point (``COLLATE "C"``), as
Python's do; times are microseconds since 1970, exactly.

Never edit a migration that has been released; add the next one. A migration that runs while older servers
write must leave what they know in place: add tables, and columns with a default; drop in a later release.
"""

from __future__ import annotations

from typing import Final

OWNED: Final = (
    "contradictions", "repeats", "duplicate_runs", "sightings", "lessons", "reactions", "recalls",
    "recall_recipes", "relations", "names", "entities", "changes", "vector_counts", "vectors", "postings",
    "sessions", "memories",
)  # fmt: skip
"""The tables whose rows belong to a namespace, in an order in which they can be emptied."""

_FENCED: Final = "".join(
    f"""
    ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON {table} USING (namespace IN (SELECT number FROM namespaces));
    """
    for table in OWNED
)

MIGRATIONS: Final[tuple[str, ...]] = (
    """
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

    -- People and things that something was said about beside memories. merged_into: read that one instead.
    CREATE TABLE entities (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        type TEXT COLLATE "C" NOT NULL,
        description TEXT COLLATE "C" NOT NULL,
        merged_into BIGINT,
        PRIMARY KEY (namespace, number),
        FOREIGN KEY (namespace, merged_into) REFERENCES entities (namespace, number)
            DEFERRABLE INITIALLY DEFERRED
    );
    CREATE INDEX entities_merged ON entities (namespace, merged_into) WHERE merged_into IS NOT NULL;

    -- Their names, each of which means one entity of its namespace: position 0 is its name, others aliases.
    CREATE TABLE names (
        namespace BIGINT NOT NULL,
        folded TEXT COLLATE "C" NOT NULL,
        entity BIGINT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, folded),
        UNIQUE (namespace, entity, position),
        FOREIGN KEY (namespace, entity) REFERENCES entities (namespace, number) ON DELETE CASCADE
    );

    -- What holds between two of them. memory: the slot of the one that says so; a relation goes with it.
    CREATE TABLE relations (
        namespace BIGINT NOT NULL,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        subject BIGINT NOT NULL,
        type TEXT COLLATE "C" NOT NULL,
        object BIGINT NOT NULL,
        weight DOUBLE PRECISION NOT NULL,
        memory INTEGER,
        valid_from BIGINT,
        valid_to BIGINT,
        created_at BIGINT NOT NULL,
        change BIGINT NOT NULL,
        PRIMARY KEY (namespace, number),
        FOREIGN KEY (namespace, subject) REFERENCES entities (namespace, number)
            DEFERRABLE INITIALLY DEFERRED,
        FOREIGN KEY (namespace, object) REFERENCES entities (namespace, number)
            DEFERRABLE INITIALLY DEFERRED,
        FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, slot) ON DELETE CASCADE
    );
    CREATE UNIQUE INDEX relations_said_once ON relations (
        namespace, subject, type, object, coalesce(memory, -1), coalesce(valid_from, -9000000000000000000)
    );
    CREATE INDEX relations_by_object ON relations (namespace, object);
    CREATE INDEX relations_by_change ON relations (namespace, change);
    CREATE INDEX relations_by_memory ON relations (namespace, memory) WHERE memory IS NOT NULL;

    -- Who may come in. digest: of the token, which nobody keeps.
    CREATE TABLE access_keys (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id TEXT COLLATE "C" NOT NULL UNIQUE,
        name TEXT COLLATE "C" NOT NULL,
        digest BYTEA NOT NULL,
        namespaces TEXT[] COLLATE "C" NOT NULL,
        scopes TEXT[] COLLATE "C" NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT,
        revoked_at BIGINT
    );

    -- What requests under a name of the caller's own were answered with; a purge empties the bodies. The
    -- namespace is the one's name: a request may be about one that is not there yet.
    CREATE TABLE replies (
        caller TEXT COLLATE "C" NOT NULL,
        key TEXT COLLATE "C" NOT NULL,
        about TEXT COLLATE "C" NOT NULL,
        request BYTEA NOT NULL,
        status INTEGER NOT NULL,
        body BYTEA,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (caller, key)
    );
    CREATE INDEX replies_by_time ON replies (created_at);
    CREATE INDEX replies_by_namespace ON replies (about);

    -- The recipes that logged recalls were made with, each once.
    CREATE TABLE recall_recipes (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        digest BYTEA NOT NULL,
        data TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, number),
        UNIQUE (namespace, digest)
    );

    -- The log of recalls. start: the bytes of all recalls ever logged before this one.
    CREATE TABLE recall_bytes (single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single), bytes BIGINT NOT NULL);
    INSERT INTO recall_bytes (bytes) VALUES (0);
    CREATE TABLE recalls (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        id TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        query TEXT COLLATE "C",
        recipe BIGINT NOT NULL,
        embedder TEXT COLLATE "C" NOT NULL,
        said TEXT COLLATE "C" NOT NULL,
        candidates BYTEA NOT NULL,
        shown BYTEA NOT NULL,
        start BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        PRIMARY KEY (namespace, number),
        UNIQUE (namespace, id),
        FOREIGN KEY (namespace, recipe) REFERENCES recall_recipes (namespace, number)
    );
    CREATE INDEX recalls_by_time ON recalls (namespace, at);
    CREATE INDEX recalls_by_number ON recalls (number);
    CREATE INDEX recalls_by_size ON recalls (start);
    CREATE INDEX recalls_by_recipe ON recalls (namespace, recipe);

    -- What people said about hits, with the numbers of the hit; it outlives the logged recall.
    CREATE TABLE reactions (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        recall TEXT COLLATE "C" NOT NULL,
        slot INTEGER NOT NULL,
        signal TEXT COLLATE "C" NOT NULL,
        rating INTEGER,
        given_at BIGINT NOT NULL,
        features TEXT COLLATE "C" NOT NULL,
        embedder TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, number)
    );
    CREATE INDEX reactions_by_time ON reactions (namespace, given_at);

    -- What was learnt: versions of something with a name, of which the last that was not withdrawn holds.
    CREATE TABLE lessons (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        kind TEXT COLLATE "C" NOT NULL,
        name TEXT COLLATE "C" NOT NULL,
        data TEXT COLLATE "C" NOT NULL,
        evidence TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        withdrawn_at BIGINT,
        PRIMARY KEY (namespace, number)
    );
    CREATE INDEX lessons_by_name ON lessons (namespace, kind, name);

    -- Who saw which variant of an experiment; teams: of two rankings in one list, by slot, as JSON.
    CREATE TABLE sightings (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        experiment TEXT COLLATE "C" NOT NULL,
        variant TEXT COLLATE "C" NOT NULL,
        person TEXT COLLATE "C" NOT NULL,
        recall TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        results INTEGER NOT NULL,
        teams TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, number)
    );
    CREATE INDEX sightings_by_experiment ON sightings (namespace, experiment);
    CREATE INDEX sightings_by_recall ON sightings (namespace, recall);

    -- Passes over a namespace that superseded duplicates, so that they can be taken back.
    CREATE TABLE duplicate_runs (
        namespace BIGINT NOT NULL REFERENCES namespaces (number),
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        started_at BIGINT NOT NULL,
        finished_at BIGINT,
        undone_at BIGINT,
        strategy TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (namespace, number)
    );

    -- Memories that were superseded because they repeat another, and what undoing that takes.
    CREATE TABLE repeats (
        namespace BIGINT NOT NULL,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        memory INTEGER NOT NULL,
        winner INTEGER NOT NULL,
        run BIGINT,
        kind TEXT COLLATE "C" NOT NULL,
        reason TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        mentions BIGINT NOT NULL,
        before DOUBLE PRECISION NOT NULL,
        after DOUBLE PRECISION NOT NULL,
        supported_before BIGINT,
        supported_after BIGINT,
        ended BIGINT,
        PRIMARY KEY (namespace, number),
        UNIQUE (namespace, memory),
        FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, slot) ON DELETE CASCADE,
        FOREIGN KEY (namespace, winner) REFERENCES memories (namespace, slot) ON DELETE CASCADE,
        FOREIGN KEY (namespace, run) REFERENCES duplicate_runs (namespace, number) ON DELETE CASCADE
    );
    CREATE INDEX repeats_by_winner ON repeats (namespace, winner);
    CREATE INDEX repeats_by_run ON repeats (namespace, run) WHERE run IS NOT NULL;

    -- Remarks that a newer memory may contradict an older one, and what was decided about them.
    CREATE TABLE contradictions (
        namespace BIGINT NOT NULL,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        newer INTEGER NOT NULL,
        older INTEGER NOT NULL,
        cue TEXT COLLATE "C" NOT NULL,
        reason TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        verdict TEXT COLLATE "C",
        decided_by TEXT COLLATE "C" NOT NULL DEFAULT '',
        decided_because TEXT COLLATE "C" NOT NULL DEFAULT '',
        decided_at BIGINT,
        PRIMARY KEY (namespace, number),
        UNIQUE (namespace, newer, older),
        FOREIGN KEY (namespace, newer) REFERENCES memories (namespace, slot) ON DELETE CASCADE,
        FOREIGN KEY (namespace, older) REFERENCES memories (namespace, slot) ON DELETE CASCADE
    );
    CREATE INDEX contradictions_by_older ON contradictions (namespace, older);
    """,
    f"""
    -- Which users of the database are tenants, and of which namespaces: of one, and of all below it.
    CREATE TABLE tenants (
        role TEXT COLLATE "C" NOT NULL,
        realm TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (role, realm)
    );

    -- Whether whoever is connected may see a namespace. It runs as its owner, for a tenant cannot read the
    -- table of tenants; session_user is who connected, whatever role they have taken on since.
    CREATE FUNCTION may_see(path TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT
        BEGIN ATOMIC
            SELECT EXISTS (
                SELECT 1 FROM tenants t WHERE t.role = session_user
                AND (path = t.realm OR starts_with(path, t.realm || '/'))
            );
        END;

    -- What is left of namespaces that were purged: their numbers, so that the feed tells that they are gone.
    -- A tenant can add to it, and read nothing of it.
    CREATE TABLE purges (change BIGINT PRIMARY KEY, number BIGINT NOT NULL);
    ALTER TABLE purges ENABLE ROW LEVEL SECURITY;
    CREATE POLICY by_anybody ON purges FOR INSERT WITH CHECK (true);

    -- The owner of the tables is not held back by these; everybody else sees what is theirs.
    ALTER TABLE namespaces ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON namespaces USING (may_see(path));
    ALTER TABLE replies ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON replies USING (may_see(about));
    {_FENCED}
    """,
    """
    -- Who does which work, and until when, by the server's clock, nobody else may. The number is never given
    -- out again. about: the name of a namespace, * for everybody's, *tenant for all of a tenant's.
    CREATE SEQUENCE lease_numbers;
    CREATE TABLE leases (
        about TEXT COLLATE "C" NOT NULL,
        kind TEXT COLLATE "C" NOT NULL,
        number BIGINT NOT NULL UNIQUE,
        holder TEXT COLLATE "C" NOT NULL,
        until TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (about, kind)
    );
    ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON leases USING (may_see(about) OR about = '*' || session_user);

    -- Tenants that were admitted before there were any.
    DO $$
        DECLARE admitted TEXT;
        BEGIN
            FOR admitted IN SELECT DISTINCT role FROM tenants LOOP
                EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON leases TO %I', admitted);
                EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE lease_numbers TO %I', admitted);
            END LOOP;
        END
    $$;
    """,
    """
    -- A turn of a transcript is said by somebody; a passage of a text, which nobody says, can be a duplicate.
    DROP INDEX memories_by_fingerprint;
    CREATE INDEX memories_by_fingerprint ON memories (namespace, substr(fingerprint, 1, 10))
        WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);
    """,
    """
    -- Posting lists in blocks (words.py): a row has up to some hundred memories that have a term in a field,
    -- how often each has it, and how many terms it has there; those from the slot first on, up to where the
    -- next block begins. hidden: whether they are forgotten or superseded. most, least: no frequency is
    -- above, no length below. No release knew the table as it was, so it is changed where it stands: what was
    -- granted on it stays granted.
    CREATE TABLE postings_in_blocks AS
        SELECT namespace, hidden, field, term, min(slot) AS first, array_agg(slot ORDER BY slot) AS slots,
            array_agg(frequency ORDER BY slot) AS frequencies, array_agg(length ORDER BY slot) AS lengths,
            max(frequency) AS most, min(length) AS least
        FROM (
            SELECT p.*, m.hidden,
                (row_number() OVER (PARTITION BY p.namespace, m.hidden, p.field, p.term ORDER BY p.slot) - 1)
                / 128 AS block
            FROM postings p JOIN (
                SELECT namespace, slot, forgotten_at IS NOT NULL OR superseded_at IS NOT NULL AS hidden
                FROM memories
            ) m USING (namespace, slot)
        ) each GROUP BY namespace, hidden, field, term, block;
    TRUNCATE postings;
    ALTER TABLE postings DROP COLUMN slot, DROP COLUMN frequency, DROP COLUMN length,
        ADD COLUMN hidden BOOLEAN NOT NULL, ADD COLUMN first INTEGER NOT NULL,
        ADD COLUMN slots INTEGER[] NOT NULL, ADD COLUMN frequencies INTEGER[] NOT NULL,
        ADD COLUMN lengths INTEGER[] NOT NULL, ADD COLUMN most INTEGER NOT NULL,
        ADD COLUMN least INTEGER NOT NULL, ADD PRIMARY KEY (namespace, hidden, field, term, first);
    -- Room on every page for a block that grows: then no index has to be told where it went.
    DO $$
        DECLARE part REGCLASS;
        BEGIN
            FOR part IN
                SELECT oid FROM pg_class WHERE oid = 'postings'::regclass AND relkind = 'r'
                UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'postings'::regclass
            LOOP
                EXECUTE format('ALTER TABLE %s SET (fillfactor = 80)', part);
            END LOOP;
        END
    $$;
    INSERT INTO postings (namespace, hidden, field, term, first, slots, frequencies, lengths, most, least)
        SELECT namespace, hidden, field, term, first, slots, frequencies, lengths, most, least
        FROM postings_in_blocks ORDER BY namespace, hidden, field, term, first;
    DROP TABLE postings_in_blocks;
    """,
)
"""What each of them does, in SQL; the number of a migration is its place here, from 1."""
