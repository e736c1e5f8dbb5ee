"""The tables of a server, and its requirements.

Tables are as in a file, with the namespace first in every key, so that they can be distributed by it.
Whole numbers, fractions, texts and bytes read as they do from a file. Texts compare by code point, as
Python's do. What belongs to no namespace (settings, embedders, keys, replies, tenants) is small. The number
of a namespace follows from its path; other numbers are drawn from the namespace's row, which its writers lock
(`drawn`), and are no less than the time, in microseconds.

Any number of processes may start at once: tables are made in one transaction that locks the one with the
number of the schema, which tenants may only read, so the first does the work and the others find it done.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

import psycopg
from psycopg import Connection, errors
from psycopg.rows import TupleRow

from memorata.extend.errors import ServerUnsuitable, StoreTooNew, StoreUnavailable
from memorata.extend.stores import shown
from memorata_postgres.address import parsed
from memorata_postgres.dialect import OWNED, USER_KEY
from memorata_postgres.errors import detail_of, ours, unreachable

_TYPES: Final = {"n": "BIGINT", "f": "DOUBLE PRECISION", "t": 'TEXT COLLATE "C"', "b": "BYTEA"}

_TABLES: Final = """
settings: name t, value t | name
embedders: number identity, name t, dimension n | number
access_keys: number identity, id t, name t, digest b, namespaces t, scopes t, created_at n, expires_at n?,
    revoked_at n? | number
replies: role t=session_user, caller t, key t, namespace t, request b, status n, body b?, created_at n
    | role, caller, key
leases: number identity, namespace t, kind t, holder t, until n | namespace, kind
tenants: role t, realm t | role, realm
namespaces: number n, path t, slots n=0, flushed n=0, change n=0, generation n=0, naming n=0, begun n=0,
    drawn n=0, settings n=0 | number
memories: namespace n, number n, slot n, id t, content t, category t, tier t, confidence f, importance f,
    tags t, metadata t, speaker t, session t, position n?, link t, entities t, lat f?, lon f?, place t?,
    created_at n, valid_from n?, valid_to n?, expires_at n?, supersedes t, superseded_by t?, superseded_at
    n?, mentions n, access_count n, last_accessed_at n?, version n, fingerprint t, embedder t, pinned n=0,
    supported_at n?, forgotten_at n?, end_given n=0, via t='', role t='',
    untrusted n=0, checksum n?, statement t? | namespace, number
writes: namespace n, at n, number n | namespace, at, number
sessions: namespace n, name t, number n | namespace, name
records: namespace n, slot n, record b, terms b? | namespace, slot
vectors: namespace n, number n, embedder n, slot n, digest b, vectors b | namespace, number
segments: namespace n, number n, first n, slots n, lists b | namespace, number
rewordings: namespace n, slot n, terms b | namespace, slot
vector_codes: namespace n, number n, first n, slots n, embedder n?, codes b? | namespace, number
changes: namespace n, change n, slot n, kind t | namespace, change
entities: namespace n, number n, type t, description t, lat f?, lon f?, place t?, merged_into n?
    | namespace, number
names: namespace n, folded t, entity n, position n, name t | namespace, folded
relations: namespace n, number n, subject n, type t, object n, weight f, memory n?, valid_from n?, valid_to
    n?, created_at n, change n | namespace, number
recall_recipes: namespace n, number n, digest b, data t | namespace, number
recalls: namespace n, number n, id t, at n, query t?, recipe n, embedder t, said t, candidates b, shown b,
    start n, bytes n | namespace, number
feedback: namespace n, number n, recall t, slot n, signal t, rating n?, given_at n, features t, embedder t
    | namespace, number
saved_settings: namespace n, number n, kind t, name t, data t, evidence t, at n, withdrawn_at n? | namespace,
    number
exposures: namespace n, number n, experiment t, variant t, user t, recall t, at n, results n, teams t |
    namespace, number
duplicate_runs: namespace n, number n, started_at n, finished_at n?, undone_at n?, strategy t | namespace,
    number
repeats: namespace n, number n, memory n, winner n, run n?, kind t, reason t, at n, mentions n, before f,
    after f, supported_before n?, supported_after n?, gained t? | namespace, number
contradictions: namespace n, number n, newer n, older n, cue t, reason t, at n, verdict t?, decided_by t='',
    decided_because t='', decided_at n? | namespace, number
"""
"""Name, columns with a type, `?` for one that may be NULL and `=` for a default, and the primary key."""

REFERENCES: Final = (
    ("relations", "memory", "memories"),
    ("repeats", "memory", "memories"),
    ("repeats", "winner", "memories"),
    ("repeats", "run", "duplicate_runs"),
    ("contradictions", "newer", "memories"),
    ("contradictions", "older", "memories"),
    ("names", "entity", "entities"),
)
"""Foreign keys within a namespace: rows are deleted with the row they refer to."""

_INDEXES: Final = """
    CREATE UNIQUE INDEX embedders_by_name ON embedders (name);
    CREATE UNIQUE INDEX access_keys_by_id ON access_keys (id);
    CREATE INDEX replies_by_time ON replies (created_at);
    CREATE INDEX replies_by_namespace ON replies (namespace);
    CREATE UNIQUE INDEX memories_by_id ON memories (namespace, id);
    CREATE INDEX memories_by_statement ON memories (namespace, statement)
        WHERE superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL);
    CREATE INDEX memories_superseded ON memories (namespace, superseded_by) WHERE superseded_by IS NOT NULL;
    CREATE INDEX memories_ended ON memories (namespace, superseded_at) WHERE superseded_at IS NOT NULL;
    CREATE INDEX memories_with_a_place ON memories (namespace, slot) WHERE lat IS NOT NULL;
    CREATE UNIQUE INDEX sessions_by_number ON sessions (namespace, number);
    CREATE INDEX vectors_by_digest ON vectors (namespace, digest);
    CREATE INDEX vectors_by_embedder ON vectors (embedder);
    CREATE INDEX segments_in_order ON segments (namespace, first);
    CREATE INDEX vector_codes_in_order ON vector_codes (namespace, first);
    CREATE INDEX changes_in_order ON changes (change);
    CREATE INDEX changes_of_memories ON changes (namespace, change) WHERE kind <> 'add';
    CREATE INDEX entities_merged ON entities (namespace, merged_into) WHERE merged_into IS NOT NULL;
    CREATE INDEX names_of_entities ON names (namespace, entity, position);
    CREATE INDEX relations_by_subject ON relations (namespace, subject);
    CREATE INDEX relations_by_object ON relations (namespace, object);
    CREATE INDEX relations_by_change ON relations (namespace, change);
    CREATE INDEX relations_by_memory ON relations (namespace, memory) WHERE memory IS NOT NULL;
    CREATE UNIQUE INDEX recalls_by_id ON recalls (namespace, id);
    CREATE INDEX recalls_by_time ON recalls (namespace, at);
    CREATE INDEX recalls_by_size ON recalls (namespace, start);
    CREATE INDEX recalls_by_recipe ON recalls (namespace, recipe);
    CREATE INDEX feedback_by_time ON feedback (namespace, given_at);
    CREATE INDEX saved_settings_by_name ON saved_settings (namespace, kind, name);
    CREATE INDEX exposures_by_experiment ON exposures (namespace, experiment);
    CREATE INDEX exposures_by_recall ON exposures (namespace, recall);
    CREATE UNIQUE INDEX repeats_by_memory ON repeats (namespace, memory);
    CREATE INDEX repeats_by_winner ON repeats (namespace, winner);
    CREATE INDEX repeats_by_run ON repeats (namespace, run) WHERE run IS NOT NULL;
    CREATE UNIQUE INDEX contradictions_once ON contradictions (namespace, newer, older);
    CREATE INDEX contradictions_by_older ON contradictions (namespace, older);
    """

_OR_OWN: Final = {"writes": f" OR namespace = {USER_KEY}"}
"""What a tenant may see beside the rows of its namespaces."""

_TENANTS: Final = """
    -- Whether whoever is connected may see a namespace: by its path, or by its number. They run as their
    -- owner, for a tenant cannot read the table of tenants; session_user is who connected, whatever role they
    -- have taken on since.
    CREATE FUNCTION may_see(path TEXT) RETURNS BOOLEAN LANGUAGE plpgsql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$
        BEGIN
            RETURN EXISTS (
                SELECT 1 FROM tenants t WHERE t.role = session_user
                AND (path = t.realm OR starts_with(path, t.realm || '/'))
            );
        END $$;
    CREATE FUNCTION may_see_number(namespace BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$
        BEGIN
            RETURN EXISTS (
                SELECT 1 FROM namespaces n
                WHERE n.number = namespace AND (may_see(n.path) OR n.path LIKE '(%')
            );
        END $$;

    -- The owner of the tables is not held back by these; everybody else sees what is theirs. A tenant may
    -- leave the note that a namespace was purged, which has no name.
    ALTER TABLE namespaces ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON namespaces USING (may_see(path))
        WITH CHECK (may_see(path) OR path LIKE '(%');
    ALTER TABLE replies ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON replies USING (role = session_user OR may_see(namespace))
        WITH CHECK (namespace = '' OR may_see(namespace));
    ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON leases USING (may_see(namespace) OR namespace = '*' || session_user);
    """ + "".join(
    f"""
    ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY of_the_tenant ON {table} USING (may_see_number(namespace){_OR_OWN.get(table, "")});
    """
    for table in OWNED
)


def _made() -> str:
    """Return the statements that make the tables."""
    script = []
    for line in re.split(r"\n(?=\w)", _TABLES.strip()):
        name, rest = line.split(":", 1)
        columns, key = rest.rsplit("|", 1)
        parts = [_column(*column.split(maxsplit=1)) for column in re.split(r",\s*", columns.strip())]
        script.append(f"CREATE TABLE {name} ({', '.join(parts)}, PRIMARY KEY ({key.strip()}));\n")
        # The planner's samples of texts and of the words in blocks would outlast a purge.
        sampled = re.findall(r"(\w+) [tb]\b", columns)
        script += [f'ALTER TABLE {name} ALTER COLUMN "{column}" SET STATISTICS 0;\n' for column in sampled]
    for table, column, other in REFERENCES:
        script.append(
            f"ALTER TABLE {table} ADD FOREIGN KEY (namespace, {column}) "
            f"REFERENCES {other} (namespace, number) ON DELETE CASCADE;\n"
        )
    return "".join(script)


def _column(name: str, kind: str) -> str:
    quoted = f'"{name}"'
    if kind == "identity":
        return f"{quoted} BIGINT GENERATED BY DEFAULT AS IDENTITY"
    default = f" DEFAULT {kind.partition('=')[2]}" if "=" in kind else ""
    return f"{quoted} {_TYPES[kind[0]]}{'' if '?' in kind else ' NOT NULL'}{default}"


SCHEMA: Final = _made() + _INDEXES + _TENANTS
VERSION: Final = 1
"""To be raised with every change of the tables."""

MIN_SERVER_VERSION: Final = 14
_TABLE: Final = "memorata_layout"
_CONNECT_SECONDS: Final = 10
_LOCK_SECONDS: Final = 60
"""How long locks are waited for: who waits for one blocks all later transactions."""


def make_ready(url: str, *, must_exist: bool = False) -> None:
    """Check a server, and make the tables if it has none."""
    parsed(url)
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        try:
            _check(connection, url)
            if must_exist and not schema_number(connection):
                raise StoreUnavailable(
                    f"there are no memories at {shown(url)} yet; check the database and the schema"
                )
            if _is_current(connection, url):
                return
            _make_layout(connection, url)
            with connection.transaction():
                # However long it takes, and whatever limit the user has.
                connection.execute(
                    f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'; SET LOCAL statement_timeout = 0",
                    prepare=False,
                )
                connection.execute(f"LOCK TABLE {_TABLE} IN SHARE ROW EXCLUSIVE MODE")
                # Another process may have made them while this one waited.
                if not _is_current(connection, url):
                    _make_tables(connection, url)
        except errors.LockNotAvailable as error:
            raise StoreUnavailable(
                f"{shown(url)}: another process makes the tables, or keeps them "
                f"locked, and has not ended for {_LOCK_SECONDS} s; nothing was changed; try again when it has"
            ) from error
        except psycopg.Error as error:
            raise ours(error, url, broken=connection.broken) from error


def schema_number(connection: Connection[TupleRow]) -> int:
    """Return the number of the schema; 0 for a database without our tables."""
    if not _exists(connection, _TABLE):
        return 0
    row = connection.execute(f"SELECT coalesce(max(number), 0) FROM {_TABLE}").fetchone()
    return int((row or (0,))[0])


def _exists(connection: Connection[TupleRow], table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    return row is not None and bool(row[0])


def _check(connection: Connection[TupleRow], url: str) -> None:
    name, version = shown(url), connection.info.server_version
    if version < MIN_SERVER_VERSION * 10_000:
        raise ServerUnsuitable(
            f"{name} runs PostgreSQL {version // 10_000}, and {MIN_SERVER_VERSION} or newer is needed; "
            "upgrade the server"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ServerUnsuitable(
            f"{name} holds texts as {encoding}, which cannot hold every text; make a database with "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )


def _is_current(connection: Connection[TupleRow], url: str) -> bool:
    found = schema_number(connection)
    if found > VERSION:
        raise StoreTooNew(
            f"{shown(url)} was written by a newer Memorata (schema {found}, this one knows "
            f"{VERSION}); upgrade with `pip install --upgrade memorata-postgres`"
        )
    return found == VERSION


def _make_tables(connection: Connection[TupleRow], url: str) -> None:
    try:
        connection.execute(SCHEMA, prepare=False)
        connection.execute(f"INSERT INTO {_TABLE} (number) VALUES (%s)", (VERSION,))
    except errors.InsufficientPrivilege as error:
        raise _may_not(error, url) from error


def _make_layout(connection: Connection[TupleRow], url: str) -> None:
    """Make the table of the schema's number; another process may be doing so at the same moment."""
    try:
        with suppress(errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {_TABLE} "
                "(number INTEGER PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
            )
    except errors.InvalidSchemaName as error:
        raise ServerUnsuitable(
            f"{shown(url)}: of the schemas in the search path there is none that this user may use "
            f"({detail_of(error, url)}); let the owner run CREATE SCHEMA … or GRANT CREATE, USAGE ON SCHEMA "
            "… TO …, or name another with ?options=-csearch_path%3D…"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise _may_not(error, url) from error


def _may_not(error: psycopg.Error, url: str) -> ServerUnsuitable:
    return ServerUnsuitable(
        f"{shown(url)}: this user may not make tables ({detail_of(error, url)}); let the owner run "
        "GRANT CREATE, USAGE ON SCHEMA … TO …, or open it once as a user with these rights"
    )
