"""The tables of keys and of answered requests; of the first migration (:mod:`schema`)."""

from __future__ import annotations

from typing import Final

ACCESS: Final = """

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
    """
