"""Rows of namespaces: made once, locked by who writes, and counted without a gap."""

from collections.abc import Iterator

import pytest

from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.store import PostgresStore
from memorata.store.samples import HERE, NOW, THERE, entry


@pytest.fixture
def database(store: PostgresStore, used: str) -> Iterator[Database]:
    opened = Database(used, patience=5)
    opened.open()
    yield opened
    opened.close()


def test_one_that_was_never_written_to_is_none_until_it_is_made(database: Database) -> None:
    def write(connection: Server) -> None:
        assert namespaces.find(connection, HERE) is None
        assert namespaces.locked(connection, HERE) is None
        made = namespaces.made(connection, HERE)
        assert (made.path, made.slots, made.memories, set(made.sums)) == (HERE, 0, 0, {0})
        assert namespaces.made(connection, HERE) == made

    database.write(write)


def test_one_that_others_make_and_remove_at_the_same_moment_is_made_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, gone = namespaces.locked, iter([True, True])
    monkeypatch.setattr(
        namespaces, "locked", lambda server, path: None if next(gone, False) else locked(server, path)
    )
    assert database.write(lambda connection: namespaces.made(connection, HERE)).path == HERE


def test_a_new_one_knows_what_came_before_it(store: PostgresStore, database: Database) -> None:
    last = store.add([entry("a", "tea")])
    made = database.write(lambda connection: namespaces.made(connection, THERE))
    assert (made.begun, made.change) == (last, 0)


def test_what_is_counted_is_what_is_shown(store: PostgresStore, database: Database) -> None:
    store.add([entry("a", "tea milk"), entry("b", "tea", tags=("x",)), entry("c", "tea")])
    store.forget(HERE, ["c"], NOW)
    store.purge(HERE, ["b"])
    found = database.read(lambda connection: namespaces.find(connection, HERE))
    assert found is not None
    assert (found.slots, found.memories, found.shown) == (3, 2, 1)
    assert (found.sums[0], found.holders[0]) == (2, 1)
    assert sum(found.sums) == 2


def test_the_last_number_is_known_before_any_was_given_out(database: Database) -> None:
    assert database.read(namespaces.last_change) == 0
    assert database.read(namespaces.settle) == 0
