"""The tables of repeats and contradictions; of the first migration (:mod:`schema`)."""

from __future__ import annotations

from typing import Final

REPEATS: Final = """
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
    """
