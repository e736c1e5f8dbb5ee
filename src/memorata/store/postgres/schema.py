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

from memorata.store.postgres.access_tables import ACCESS
from memorata.store.postgres.entity_tables import ENTITIES
from memorata.store.postgres.learning_tables import LEARNING
from memorata.store.postgres.memory_tables import MEMORIES
from memorata.store.postgres.repeat_tables import REPEATS

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
    MEMORIES + ENTITIES + ACCESS + LEARNING + REPEATS,
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
    """
    -- When each last counted a write, by the server's clock: who was killed takes no row away (writers.py).
    ALTER TABLE writers ADD COLUMN heard TIMESTAMPTZ NOT NULL DEFAULT now();
    """,
    """
    -- Whether valid_to was given by what superseded it, so that nobody knew of it before; false for an end of
    -- its own. Of what was superseded so far, an end that is where the other began was most likely given.
    ALTER TABLE memories ADD COLUMN end_given BOOLEAN NOT NULL DEFAULT false;
    UPDATE memories m SET end_given = true FROM memories w
        WHERE w.namespace = m.namespace AND w.id = m.superseded_by
        AND m.valid_to = greatest(coalesce(w.valid_from, w.created_at), m.valid_from);
    CREATE INDEX memories_ended ON memories (namespace, superseded_at) WHERE superseded_at IS NOT NULL;
    """,
    """
    -- What the winner took over from the loser, before and after, as JSON (taking_over.py). Until when the
    -- loser held is told by its own row now: ended is for older servers, and goes in a later release.
    ALTER TABLE repeats ADD COLUMN gained TEXT COLLATE "C";
    """,
    """
    -- Vectors are found by what was embedded within one namespace: another's rows cost no time, and so tell
    -- nothing.
    DROP INDEX vectors_by_digest;
    CREATE INDEX vectors_by_digest ON vectors (namespace, digest, embedder);
    """,
)
"""What each of them does, in SQL; the number of a migration is its place here, from 1."""
