"""A statement that a server refuses inside a part of a transaction undoes the whole, and says so.

Statements whose rows nobody reads are sent on without waiting for each other, so the server may refuse one
when its part has long ended. What must not happen: that a part is missing and the rest is written.
"""

from collections.abc import Callable
from contextlib import suppress

import psycopg
import pytest

from memorata.model.errors import StoreError
from memorata.store.database import Session
from memorata.testing.samples import HERE, NOW, entry
from memorata_postgres.database import PostgresDatabase
from memorata_postgres.store import PostgresStore


def put(session: Session, name: str) -> None:
    session.execute("INSERT INTO settings (name, value) VALUES (?, '')", (name,))


def unread(session: Session) -> None:
    put(session, "a")


def read(session: Session) -> None:
    put(session, "a")
    session.execute("SELECT 1").fetchone()


def failed(session: Session) -> None:
    put(session, "a")
    raise KeyError


def nothing(database: PostgresDatabase) -> None:
    """Write nothing more."""


def another_part(database: PostgresDatabase) -> None:
    database.write(lambda session: put(session, "b"))


def another_block(database: PostgresDatabase) -> None:
    with suppress(psycopg.Error), database.together():
        database.write(lambda session: put(session, "b"))
        with suppress(psycopg.Error):
            database.write(read)


@pytest.mark.parametrize("refused", [unread, read, failed])
@pytest.mark.parametrize("after", [nothing, another_part, another_block])
def test_what_is_refused_in_a_part_undoes_the_whole_also_if_nobody_minds(
    store: PostgresStore,
    refused: Callable[[Session], None],
    after: Callable[[PostgresDatabase], None],
) -> None:
    database = store._database
    assert isinstance(database, PostgresDatabase)

    def write() -> None:
        with store.together():
            store.add([entry("m1", "tea")])
            database.write(lambda session: put(session, "a"))
            with suppress(psycopg.Error, KeyError):
                database.write(refused)
            after(database)

    with pytest.raises(StoreError):
        write()
    assert [store.setting(name) for name in "ab"] == [None, None]
    assert list(store.export(HERE)) == []
    with store.view(HERE, NOW) as view:
        assert view.status.count == 0
    # The connection is good, and the same can be written by those who leave out what was refused.
    store.add([entry("m1", "tea")])
    with store.view(HERE, NOW) as view:
        assert view.status.count == 1


def test_the_error_says_what_was_refused(store: PostgresStore) -> None:
    def write() -> None:
        with store.together():
            store._database.write(unread)
            store._database.write(unread)
            store.add([entry("m1", "tea")])

    with pytest.raises(StoreError, match="duplicate key value"):
        write()


def test_a_connection_of_no_use_inside_a_part_is_given_up_and_all_done_again(store: PostgresStore) -> None:
    """After a statement was undone in a pipeline, psycopg may take one for prepared that is not."""
    tries: list[int] = []

    def execute(session: Session) -> None:
        tries.append(len(tries))
        session.execute("SELECT 1" if len(tries) > 1 else "EXECUTE missing").fetchone()

    def write() -> None:
        with store.together():
            store.add([entry("m1", "tea")])
            store._database.write(execute)

    store.attempt(write)
    assert tries == [0, 1]
    assert [memory.id for memory in store.export(HERE)] == ["m1"]
