"""The tables of entities, their names and relations; of the first migration (:mod:`schema`)."""

from __future__ import annotations

from typing import Final

ENTITIES: Final = """
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
    """
