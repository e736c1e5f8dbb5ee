"""Whatever a server says, a person reads what happened and what to do, and no password."""

import pickle
from typing import Any

import psycopg
import pytest
from psycopg import errors

from memorata.model.errors import ServerUnsuitable, StoreCorrupt, StoreError, StoreUnavailable
from memorata_postgres.errors import (
    CommitUnsure,
    ConnectionLost,
    Contended,
    detail_of,
    ours,
    unreachable,
)
from memorata_postgres.session import Evidence

URL = "postgresql://anna:hunter2@db.example.org/memories"
NAME = "postgresql://anna@db.example.org/memories"
UNREACHABLE = "postgresql://anna:hunter2@127.0.0.1:1/memories"


def raised(base: str, statement: str) -> psycopg.Error:
    """Return what psycopg raises when a real server refuses a statement."""
    with psycopg.connect(base, autocommit=True) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(statement)
    return caught.value


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("40001", Contended, "others kept writing to the same memories"),
        ("40P01", Contended, "others kept writing to the same memories"),
        ("57P01", ConnectionLost, "was lost"),
        ("57P02", ConnectionLost, "was lost"),
        ("25P03", ConnectionLost, "was lost"),
        ("08006", StoreUnavailable, "the server of its cluster that has these memories"),
        ("57014", StoreUnavailable, "took too long to answer"),
        ("55P03", StoreUnavailable, "locked for too long"),
        ("53100", StoreUnavailable, "out of space"),
        ("53200", StoreUnavailable, "out of space"),
        ("54000", StoreError, "give it a shorter name"),
        ("42501", ServerUnsuitable, "GRANT SELECT, INSERT, UPDATE, DELETE"),
        ("25006", StoreUnavailable, "can only be read"),
        ("42P01", StoreCorrupt, "lacks tables"),
        ("42703", StoreCorrupt, "lacks tables"),
        ("22012", StoreError, "the server's own words"),
    ],
)
def test_every_code_of_a_server_has_an_error_of_ours(
    base: str, code: str, kind: type[StoreError], said: str
) -> None:
    error = raised(
        base, f"DO $$ BEGIN RAISE EXCEPTION 'the server''s own words' USING ERRCODE = '{code}'; END $$"
    )
    assert error.sqlstate == code
    found = ours(error, URL, broken=False)
    assert type(found) is kind
    assert said in str(found)
    assert NAME in str(found)
    assert "hunter2" not in str(found)


def test_a_connection_that_is_gone_says_that_nothing_was_written(base: str) -> None:
    error = raised(base, "SELECT 1 / 0")
    found = ours(error, URL, broken=True)
    assert isinstance(found, ConnectionLost)
    assert "nothing of this was written" in str(found)
    assert "division by zero" in str(found)


def test_two_who_met_may_try_again_even_if_the_connection_is_gone_as_well() -> None:
    """The server undid it before it hung up: to say that it was contended is to say the more useful half."""
    assert isinstance(ours(errors.SerializationFailure("no"), URL, broken=True), Contended)


def test_what_was_said_is_one_line_without_the_password() -> None:
    error = psycopg.OperationalError("connection to anna with\n\thunter2   failed")
    assert detail_of(error, URL) == "connection to anna with *** failed"


@pytest.mark.parametrize(
    ("said", "kind", "advice"),
    [
        ('FATAL:  database "memories" does not exist', ServerUnsuitable, "make it with createdb"),
        ('FATAL:  password authentication failed for user "anna"', ServerUnsuitable, "check the user and"),
        ("fe_sendauth: no password supplied", ServerUnsuitable, "check the user and the password"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1"', ServerUnsuitable, "does not let this user in"),
        ('FATAL:  role "anna" does not exist', StoreUnavailable, "cannot be reached"),
        ("could not translate host name", StoreUnavailable, "check the host and the port"),
    ],
)
def test_a_door_that_stays_shut_says_why(said: str, kind: type[StoreError], advice: str) -> None:
    found = unreachable(psycopg.OperationalError(said), URL)
    assert type(found) is kind
    assert advice in str(found)
    assert NAME in str(found)


def test_a_real_door_where_nobody_listens() -> None:
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect(UNREACHABLE, connect_timeout=5)
    found = unreachable(caught.value, UNREACHABLE)
    assert type(found) is StoreUnavailable
    assert "check the host and the port" in str(found)
    assert "hunter2" not in str(found)


def test_a_real_server_without_the_database(base: str) -> None:
    known: dict[str, Any] = {**psycopg.conninfo.conninfo_to_dict(base), "dbname": "nowhere"}
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect(**known)
    found = unreachable(caught.value, base)
    assert type(found) is ServerUnsuitable
    assert "there is no such database" in str(found)


def test_all_are_errors_of_a_store_that_a_caller_may_catch_at_once() -> None:
    for kind in (ConnectionLost, CommitUnsure, Contended):
        assert issubclass(kind, StoreUnavailable)
        assert issubclass(kind, StoreError)


def test_what_became_of_a_commit_can_be_asked_in_another_process() -> None:
    unsure = CommitUnsure("the connection ended", Evidence("123", 7, 2, 5))
    again = pickle.loads(pickle.dumps(unsure))
    assert (type(again), str(again)) == (CommitUnsure, "the connection ended")
    assert again.note == unsure.note
