"""What a server must have, said when it has not, and migrations from many processes at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest

from memorata._legacy_names import SCHEMA_TABLE
from memorata.model.errors import (
    InvalidArgument,
    ServerUnsuitable,
    StoreCorrupt,
    StoreTooNew,
    StoreUnavailable,
)
from memorata.store.conformance import HERE, NOW, entry
from memorata.store.postgres import migrating
from memorata.store.postgres.migrating import made_ready
from memorata.store.postgres.schema import MIGRATIONS, OWNED
from memorata.store.postgres.store import PostgresStore

SECRET = "hunter2"


def as_user(base: str, user: str, database: str | None = None) -> str:
    url = base.replace("postgres:@", f"{user}:{SECRET}@")
    return url if database is None else url.replace("/postgres?", f"/{database}?")


@pytest.fixture
def bare(base: str) -> Iterator[str]:
    """The name of a database without pgvector."""
    name = f"bare_{uuid4().hex}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield name
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_an_empty_schema_gets_every_table_once(url: str) -> None:
    assert made_ready(url) == (0, len(MIGRATIONS))
    assert made_ready(url) == (len(MIGRATIONS), len(MIGRATIONS))
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT c.table_name FROM information_schema.columns c "
            "WHERE c.table_schema = current_schema() AND c.column_name = 'namespace' "
            "AND c.data_type = 'bigint'"
        ).fetchall()
    # What carries the number of a namespace belongs to it, and goes with it.
    assert {table for (table,) in rows} == set(OWNED)


def test_the_namespace_comes_first_in_every_key(url: str) -> None:
    made_ready(url)
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c JOIN pg_attribute a "
            "ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
            "WHERE c.contype = 'p' AND c.connamespace = current_schema()::regnamespace"
        ).fetchall()
    first: dict[str, str] = dict(rows)
    assert {table: first[table] for table in OWNED} == dict.fromkeys(OWNED, "namespace")


def test_many_processes_may_start_at_once(url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: made_ready(url), range(6)))
    assert sorted(done) == [(0, len(MIGRATIONS)), *[(len(MIGRATIONS), len(MIGRATIONS))] * 5]


IN_ROWS = """
    CREATE TABLE rows AS SELECT namespace, field, term, unnest(slots) AS slot,
        unnest(frequencies) AS frequency, unnest(lengths) AS length FROM postings;
    TRUNCATE postings;
    ALTER TABLE postings DROP COLUMN hidden, DROP COLUMN first, DROP COLUMN slots, DROP COLUMN frequencies,
        DROP COLUMN lengths, DROP COLUMN most, DROP COLUMN least, ADD COLUMN slot INTEGER NOT NULL,
        ADD COLUMN frequency INTEGER NOT NULL, ADD COLUMN length INTEGER NOT NULL,
        ADD PRIMARY KEY (namespace, field, term, slot) INCLUDE (frequency, length);
    INSERT INTO postings (namespace, field, term, slot, frequency, length)
        SELECT namespace, field, term, slot, frequency, length FROM rows;
    DROP TABLE rows;
"""
"""Makes posting lists as they were before the fifth migration."""


def test_posting_lists_in_rows_are_put_into_blocks(url: str, base: str, role: str) -> None:
    store = PostgresStore(url)
    words = ["tea tea", "milk tea", "green tea cup", "milk"] * 80
    store.add([entry(f"m{number}", text, tags=("drink",)) for number, text in enumerate(words)])
    store.forget(HERE, ["m1", "m5"], NOW)
    store.purge(HERE, ["m8"])
    found = store.check(lambda memory: entry(memory.id, memory.content, tags=memory.tags).terms)
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"GRANT SELECT ON postings TO {role}")
        connection.execute(IN_ROWS)
        connection.execute(MIGRATIONS[4])
    with psycopg.connect(url) as connection:
        assert connection.execute(
            "SELECT has_table_privilege(%s, 'postings', 'SELECT'), relrowsecurity FROM pg_class "
            "WHERE oid = 'postings'::regclass",
            (role,),
        ).fetchone() == (True, True)
        # 239 memories have tea: two of them are hidden, and 237 do not fit into one block.
        assert connection.execute(
            "SELECT hidden, sum(cardinality(slots))::int, count(*)::int FROM postings WHERE term = 'tea' "
            "GROUP BY hidden ORDER BY hidden"
        ).fetchall() == [(False, 237, 2), (True, 2, 1)]
    again = PostgresStore(url)
    assert again.check(lambda memory: entry(memory.id, memory.content, tags=memory.tags).terms) == found == []
    again.add([entry("last", "tea")])
    with again.view(HERE, NOW) as view:
        assert view.document_frequencies(["tea", "milk", "cup"]) == (
            318,
            {"tea": 238, "milk": 158, "cup": 80},
        )
    again.close()


def test_an_end_where_the_successor_began_is_taken_for_given(url: str) -> None:
    store = PostgresStore(url)
    day = timedelta(days=1)
    store.add(
        [
            entry("given", "tea"),
            entry("late", "tea", valid_from=NOW + 9 * day),
            entry("own", "tea", valid_to=NOW + day),
        ]
    )
    store.add([entry("new", "tea", created_at=NOW + 2 * day, supersedes=("given", "late", "own"))])
    found = store.hidden(HERE)
    assert [each.end_given for each in found] == [True, True, False]
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX memories_ended")
        connection.execute("ALTER TABLE memories DROP COLUMN end_given")
        connection.execute(MIGRATIONS[6])
    again = PostgresStore(url)
    assert again.hidden(HERE) == found
    again.close()


def test_a_migration_that_fails_leaves_nothing(url: str) -> None:
    made_ready(url)
    with pytest.raises(Exception, match="nonsense"):
        made_ready(url, scripts=(*MIGRATIONS, "CREATE TABLE half (x INT); SELECT nonsense"))
    assert made_ready(url) == (len(MIGRATIONS), len(MIGRATIONS))
    assert made_ready(url, scripts=(*MIGRATIONS, "CREATE TABLE half (x INT)"))[1] == len(MIGRATIONS) + 1
    with pytest.raises(StoreTooNew, match="upgrade with `pip install"):
        made_ready(url)


def test_a_database_of_the_former_name_is_known_and_renamed_by_the_next_migration(url: str) -> None:
    made_ready(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER TABLE memorata_schema RENAME TO {SCHEMA_TABLE}")
    # Who may change nothing can still use it.
    assert made_ready(url, must_exist=True) == (len(MIGRATIONS), len(MIGRATIONS))
    longer = (*MIGRATIONS, "CREATE TABLE another (x INT)")
    assert made_ready(url, scripts=longer) == (len(MIGRATIONS), len(longer))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT max(number) FROM memorata_schema").fetchone() == (len(longer),)
        assert connection.execute(f"SELECT to_regclass('{SCHEMA_TABLE}')").fetchone() == (None,)


def test_nothing_is_made_where_something_must_be(url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"no memories at .* yet; check the database and the schema"):
        PostgresStore(url, must_exist=True)
    with psycopg.connect(url) as connection:
        assert migrating.schema_number(connection) == 0


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:hunter2@host:none/db",
        "postgresql://u:hunter2@[::1/db",
        "postgresql://u:hunter2@h/d?nope=1",
    ],
)
def test_an_address_that_is_none_is_said_without_its_password(address: str) -> None:
    with pytest.raises(InvalidArgument, match="such as 'postgresql://user@host:5432/database'") as caught:
        PostgresStore(address)
    assert SECRET not in str(caught.value)


def test_a_server_that_is_not_there_is_said_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"cannot be reached .* check the host and the port") as caught:
        PostgresStore(f"postgresql://u:{SECRET}@127.0.0.1:1/db")
    assert SECRET not in str(caught.value)


def test_a_database_that_is_not_there_is_said(base: str) -> None:
    with pytest.raises(ServerUnsuitable, match=r"no such database .* createdb"):
        made_ready(as_user(base, "postgres", "nothing_here"))


def test_an_old_server_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "OLDEST", 99)
    with pytest.raises(ServerUnsuitable, match="and 99 or newer is needed; upgrade the server"):
        made_ready(url)


def test_an_old_pgvector_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "OLDEST_PGVECTOR", (99, 0))
    with pytest.raises(ServerUnsuitable, match="ALTER EXTENSION vector UPDATE"):
        made_ready(url)


def test_a_server_without_pgvector_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "_EXTENSION", "nothing_like_it")
    with pytest.raises(ServerUnsuitable, match="lacks the extension pgvector; install it on the server"):
        made_ready(url)


def test_the_extension_is_made_where_the_user_may(base: str, bare: str) -> None:
    assert made_ready(as_user(base, "postgres", bare)) == (0, len(MIGRATIONS))


def test_who_may_not_make_the_extension_is_told_who_can(base: str, bare: str, role: str) -> None:
    with pytest.raises(ServerUnsuitable, match="let a superuser run CREATE EXTENSION vector"):
        made_ready(as_user(base, role, bare))


def test_who_may_not_make_tables_is_told_what_to_ask_for(base: str, role: str) -> None:
    with pytest.raises(
        ServerUnsuitable, match=r"may not make tables .* GRANT CREATE, USAGE ON SCHEMA"
    ) as caught:
        made_ready(as_user(base, role))
    assert SECRET not in str(caught.value)


def test_who_may_not_write_is_told_what_to_ask_for(url: str, base: str, role: str) -> None:
    made_ready(url)
    schema = url.partition("search_path%3D")[2].partition("%2C")[0]
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    store = PostgresStore(as_user(url, role))
    assert store.setting("x") is None
    with pytest.raises(ServerUnsuitable, match=r"lacks a right .* GRANT SELECT, INSERT, UPDATE, DELETE"):
        store.remember_setting("x", "1")
    store.close()


def test_tables_that_are_gone_are_said(url: str) -> None:
    store = PostgresStore(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE settings")
    with pytest.raises(StoreCorrupt, match="lacks tables that its migrations say it has"):
        store.setting("x")
    store.close()


@pytest.mark.parametrize("path", ["", "nowhere"])
def test_a_search_path_without_a_schema_is_said(base: str, path: str) -> None:
    address = f"{base}{'&' if '?' in base else '?'}options={quote(f'-csearch_path={path}')}"
    with pytest.raises(ServerUnsuitable, match=r"there is none that this user may use .* CREATE SCHEMA"):
        made_ready(address)


def test_who_migrates_without_an_end_is_not_waited_for_without_an_end(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "_PATIENCE", 1)
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (migrating._LOCK,))
        with pytest.raises(StoreUnavailable, match=r"has not ended for 1 s; nothing was changed; try again"):
            made_ready(url)
    assert made_ready(url) == (0, len(MIGRATIONS))


def test_a_limit_of_the_users_does_not_end_a_migration(url: str) -> None:
    hasty = url.replace("options=", f"options={quote('-cstatement_timeout=300 ')}")
    slow = (*MIGRATIONS, "SELECT pg_sleep(0.5)")
    assert made_ready(hasty, scripts=slow) == (0, len(slow))


def test_a_user_who_may_only_read_reads_and_is_told_why_not_more(url: str) -> None:
    PostgresStore(url).close()
    store = PostgresStore(url.replace("options=", f"options={quote('-cdefault_transaction_read_only=on ')}"))
    assert store.setting("x") is None
    with pytest.raises(StoreUnavailable, match=r"can only be read .* default_transaction_read_only is on"):
        store.remember_setting("x", "1")
    store.close()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_said(base: str, encoding: str) -> None:
    name = f"other_{uuid4().hex}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            with pytest.raises(ServerUnsuitable, match=f"holds texts as {encoding}, .* ENCODING 'UTF8'"):
                made_ready(as_user(base, "postgres", name))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
