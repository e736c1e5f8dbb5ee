"""The tables of recalls and of what was learnt from them; of the first migration (:mod:`schema`)."""

from __future__ import annotations

from typing import Final

LEARNING: Final = """
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
    """
