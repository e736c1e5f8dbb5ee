"""What a server must have, said when it has not, and tables made from many processes at once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest

from memorata.model.errors import (
    InvalidArgument,
    ServerUnsuitable,
    StoreCorrupt,
    StoreTooNew,
    StoreUnavailable,
)
from memorata_postgres import schema
from memorata_postgres.dialect import OWNED
from memorata_postgres.schema import SCHEMA, VERSION, make_ready
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import PASSWORD, as_user, changed, outside

SECRET = PASSWORD


def test_an_empty_schema_gets_every_table_once(url: str) -> None:
    make_ready(url)
    make_ready(url)
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT c.table_name FROM information_schema.columns c "
            "WHERE c.table_schema = current_schema() AND c.column_name = 'namespace' "
            "AND c.data_type = 'bigint'"
        ).fetchall()
    # What carries the number of a namespace belongs to it, and goes with it.
    assert {table for (table,) in rows} == set(OWNED)


def test_the_namespace_comes_first_in_every_key(url: str) -> None:
    make_ready(url)
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
        list(pool.map(lambda _: make_ready(url), range(6)))
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT number FROM memorata_layout").fetchall() == [(VERSION,)]


def test_tables_that_cannot_be_made_leave_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema, "SCHEMA", f"{SCHEMA}; SELECT nonsense")
        with pytest.raises(Exception, match="nonsense"):
            make_ready(url)
    with psycopg.connect(url) as connection:
        assert schema.schema_number(connection) == 0
    make_ready(url)


def test_a_server_of_a_newer_schema_is_refused(url: str) -> None:
    make_ready(url)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO memorata_layout (number) VALUES (%s)", (VERSION + 1,))
    with pytest.raises(StoreTooNew, match="upgrade with `pip install"):
        make_ready(url)


def test_who_makes_tables_without_an_end_is_not_waited_for_without_an_end(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_LOCK_SECONDS", 1)
    make_ready(url)
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE memorata_layout IN SHARE ROW EXCLUSIVE MODE")
        # Who finds the tables waits for nobody.
        make_ready(url)
        monkeypatch.setattr(schema, "VERSION", VERSION + 1)
        with pytest.raises(StoreUnavailable, match=r"has not ended for 1 s; nothing was changed; try again"):
            make_ready(url)


def test_a_limit_of_the_users_does_not_end_the_making_of_tables(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "SCHEMA", f"{SCHEMA}; SELECT pg_sleep(0.5)")
    make_ready(changed(url, "statement_timeout=300"))


def test_nothing_is_made_where_something_must_be(url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"no memories at .* yet; check the database and the schema"):
        PostgresStore(url, must_exist=True)
    with psycopg.connect(url) as connection:
        assert schema.schema_number(connection) == 0


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
        make_ready(changed(base, dbname="nothing_here"))


def test_an_old_server_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIN_SERVER_VERSION", 99)
    with pytest.raises(ServerUnsuitable, match="and 99 or newer is needed; upgrade the server"):
        make_ready(url)


def test_who_may_not_make_tables_is_told_what_to_ask_for(url: str, role: str) -> None:
    with pytest.raises(
        ServerUnsuitable, match=r"may not make tables .* GRANT CREATE, USAGE ON SCHEMA"
    ) as caught:
        make_ready(outside(url, role))
    assert SECRET not in str(caught.value)


def test_who_may_not_write_is_told_what_to_ask_for(url: str, base: str, role: str) -> None:
    make_ready(url)
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
    with pytest.raises(StoreCorrupt, match="lacks tables that its schema has"):
        store.setting("x")
    store.close()


@pytest.mark.parametrize("path", ["", "nowhere"])
def test_a_search_path_without_a_schema_is_said(base: str, path: str) -> None:
    address = changed(base, f"search_path={path}")
    with pytest.raises(ServerUnsuitable, match=r"there is none that this user may use .* CREATE SCHEMA"):
        make_ready(address)


def test_a_user_who_may_only_read_reads_and_is_told_why_not_more(url: str) -> None:
    PostgresStore(url).close()
    store = PostgresStore(changed(url, "default_transaction_read_only=on"))
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
                make_ready(changed(base, dbname=name))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_no_extension_is_needed(used: str) -> None:
    with psycopg.connect(used) as connection:
        rows = connection.execute("SELECT extname FROM pg_extension").fetchall()
    assert "vector" not in {name for (name,) in rows}
