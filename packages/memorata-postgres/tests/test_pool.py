"""Connections that are kept: lent to one thread at a time, set up, and only those that work."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from memorata.model.errors import PoolExhausted, StoreError, StoreUnavailable
from memorata_postgres.database import PostgresDatabase
from memorata_postgres.errors import ConnectionLost
from memorata_postgres.pool import Pool
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import changed

Opener = Callable[..., Pool]


@pytest.fixture
def pool_of(store: PostgresStore, used: str) -> Iterator[Opener]:
    """Open pools on the tables of an empty store, and close them."""
    with ExitStack() as opened:

        def open_(*, durable: bool = True, connections: int = 2, patience: float = 5.0) -> Pool:
            made = Pool(
                used, durable=durable, connections=connections, patience=patience, statement_seconds=7.0
            )
            made.open()
            opened.callback(made.close)
            return made

        yield open_


def shown(connection: Connection[Any], name: str) -> str:
    row = connection.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return str(row[0])


def test_a_connection_comes_set_up(pool_of: Opener) -> None:
    with pool_of(patience=5.0).borrowed() as connection:
        assert shown(connection, "statement_timeout") == "7s"
        assert shown(connection, "lock_timeout") == "5s"
        assert shown(connection, "idle_in_transaction_session_timeout") == "50s"
        assert shown(connection, "enable_seqscan") == "off"
        assert shown(connection, "synchronous_commit") == "on"
        assert connection.execute("SELECT %s", ("a\0b",)).fetchone() == ("a\0b",)


def test_a_connection_that_has_lost_a_prepared_statement_is_given_up(pool_of: Opener) -> None:
    pool = pool_of(connections=1)

    def ask() -> Any:
        with pool.lent() as connection:
            connection.prepare_threshold = 0
            return connection.execute("SELECT 2 + %s", (1,)).fetchone()

    assert ask() == (3,)
    with psycopg_does_not_know(pool), pytest.raises(ConnectionLost, match="does not exist"):
        ask()
    assert ask() == (3,)


@contextmanager
def psycopg_does_not_know(pool: Pool) -> Iterator[None]:
    """Take from a server what psycopg has prepared there, without telling it."""
    with pool.borrowed() as connection:
        connection.pgconn.exec_(b"DEALLOCATE ALL")
    yield


def test_what_need_not_survive_a_crash_is_not_waited_for(pool_of: Opener) -> None:
    with pool_of(durable=False).borrowed() as connection:
        assert shown(connection, "synchronous_commit") == "off"


@pytest.mark.parametrize(
    ("server", "kept"), [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")]
)
def test_what_must_survive_a_crash_is_written_whatever_the_server_is_set_to(
    store: PostgresStore, used: str, server: str, kept: str
) -> None:
    url = changed(used, f"synchronous_commit={server}")
    pool = Pool(url, durable=True, connections=1, patience=5.0, statement_seconds=5.0)
    pool.open()
    with closing(pool), pool.borrowed() as connection:
        assert shown(connection, "synchronous_commit") == kept


def test_a_pool_that_was_closed_says_so(pool_of: Opener) -> None:
    pool = pool_of()
    pool.close()
    with pytest.raises(StoreError, match="was closed; open it again"), pool.borrowed():
        pass


def test_connections_that_were_lost_while_nobody_used_them_are_not_lent(pool_of: Opener, used: str) -> None:
    pool = pool_of(connections=3)
    with pool.borrowed() as one, pool.borrowed() as two, pool.borrowed() as three:
        victims = [each.info.backend_pid for each in (one, two, three)]
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS gone (pid)", (victims,))
    # The end of a connection takes a moment to be heard here.
    sleep(0.5)
    with pool.borrowed() as connection:
        assert connection.execute("SELECT 7").fetchone() == (7,)
        assert connection.info.backend_pid not in victims


def test_what_fails_gives_its_connection_back(pool_of: Opener) -> None:
    pool = pool_of(connections=1, patience=1.0)
    for _ in range(3):
        with pytest.raises(KeyError), pool.borrowed():
            raise KeyError
        with pytest.raises(StoreError, match="syntax error"):
            pool.first_row("SELEC 7")
    assert pool.first_row("SELECT 7") == (7,)


def test_a_server_that_is_away_is_not_called_a_pool_that_is_too_small() -> None:
    nowhere = Pool(
        "postgresql://127.0.0.1:1/x", durable=True, connections=1, patience=0.1, statement_seconds=1.0
    )
    nowhere.open()
    with closing(nowhere), pytest.raises(StoreUnavailable, match="cannot be reached"), nowhere.borrowed():
        pass


def test_a_pool_that_is_empty_says_so(store: PostgresStore, used: str) -> None:
    small = PostgresDatabase(used, connections=1, patience=0.3)
    with closing(small), small.reading(), ThreadPoolExecutor(1) as pool:
        asked = pool.submit(small.read, lambda session: session.execute("SELECT 1").fetchone())
        with pytest.raises(PoolExhausted, match=r"all 1 connections to .* were in use for 0\.3 s"):
            asked.result(timeout=30)
        # A thread that has one uses it again.
        assert small.read(lambda connection: 1) == 1


def test_who_is_in_a_hurry_does_not_wait_for_what_is_away_as_others_do() -> None:
    nowhere = Pool(
        "postgresql://127.0.0.1:1/x", durable=True, connections=1, patience=60, statement_seconds=1.0
    )
    nowhere.open()
    begun = monotonic()
    with (
        closing(nowhere),
        pytest.raises(StoreUnavailable, match=r"no connection to .* was free in 0\.5 s"),
        nowhere.hurried(0.0),
        nowhere.borrowed(),
    ):
        pass
    assert monotonic() - begun < 30


def test_hurry_ends_with_its_block(pool_of: Opener) -> None:
    pool = pool_of(connections=1, patience=20)

    def hurried() -> str:
        with pytest.raises(StoreUnavailable), pool.hurried(0.0), pool.borrowed():
            pass
        with pool.hurried(None), pool.borrowed():
            return "waited"

    with ThreadPoolExecutor(1) as threads:
        with pool.borrowed():
            waiting = threads.submit(hurried)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=1.0)
        assert waiting.result(timeout=20) == "waited"
