"""Reading without a transaction: noticed when something moved, and read again."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.store.samples import HERE, NOW, THERE, entry

from memorata.index import cache
from memorata.store.dialects import PostgresStore
from memorata.store.postgres.errors import ConnectionLost, ViewMoved
from memorata.store.postgres.session import OptimisticSession
from memorata.store.rows import find_namespace

IDS = "SELECT id FROM memories WHERE namespace = ? ORDER BY number"


def numbered(store: PostgresStore, path: str) -> int:
    found = store._database.read(lambda session: find_namespace(session, path))
    assert found is not None
    return found.number


def test_what_is_read_is_of_the_state_of_the_row_that_was_read_first(store: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    database, number, tries = store._database, numbered(store, HERE), []

    def read(session: Any) -> list[str]:
        tries.append(type(session))
        assert find_namespace(session, HERE) is not None
        if len(tries) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(store.add, [entry("b", "tea")]).result(timeout=30)
        return [id_ for (id_,) in session.execute(IDS, (number,))]

    assert database.read(read) == ["a", "b"]
    assert tries[0] is OptimisticSession
    assert len(tries) == 2


def test_a_write_elsewhere_moves_nothing(store: PostgresStore) -> None:
    store.add([entry("a", "tea"), entry("b", "tea", namespace=THERE)])
    number, tries = numbered(store, HERE), []

    def read(session: Any) -> list[str]:
        tries.append(session)
        find_namespace(session, HERE)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.add, [entry("c", "tea", namespace=THERE)]).result(timeout=30)
        return [id_ for (id_,) in session.execute(IDS, (number,))]

    assert store._database.read(read) == ["a"]
    assert len(tries) == 1


def test_without_a_row_to_go_by_and_to_write_it_is_of_no_use(store: PostgresStore) -> None:
    session = OptimisticSession(lambda: pytest.fail("nothing is sent"), {}, [])
    with pytest.raises(ViewMoved):
        session.execute("SELECT 1")
    with pytest.raises(ViewMoved):
        session.executemany("INSERT INTO settings VALUES (?, ?)", [("a", "b")])
    with pytest.raises(ViewMoved):
        session.insert("changes", "namespace, slot, kind", (1, 2, "add"))


def test_what_was_read_ahead_is_not_asked_for_again(store: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    statement = (IDS, (numbered(store, HERE),))
    with store._database._snapshot():
        store._database.read(lambda session: session.namespace(HERE, [statement]))
        rows, expected = store._database._here.snapshot or ({}, [])
        assert expected == [(statement, [("a",)])]
        assert store._database.read(lambda session: session.execute(*statement).fetchall()) == [("a",)]
        assert expected == []
        store.add([entry("b", "tea")])
        assert rows == {}


def test_a_look_that_is_overtaken_in_its_own_process_loads_nothing_anew(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a recall whose query is embedded while another thread writes: it goes by the newer state."""
    store.add([entry("a", "tea")])

    def look() -> int:
        with store.view(HERE, NOW) as view:
            return view.status.count

    def write() -> int:
        store.add([entry("b", "tea")])
        return look()

    assert look() == 1
    monkeypatch.setattr(cache, "_loaded", lambda *_: pytest.fail("a whole namespace is loaded"))
    with store._database._snapshot(), ThreadPoolExecutor(1) as pool:
        numbered(store, HERE)
        assert pool.submit(write).result(timeout=30) == 2
        assert store.attempt(look)[0] == 2


def test_settings_are_noticed_also_when_a_connection_is_lost(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.saved_settings.save(HERE, "recipe", "mine", {}, {}, NOW)
    before = store.settings_change(HERE)
    assert before[1] > 0

    def lose(*_: object) -> None:
        raise ConnectionLost("gone")

    monkeypatch.setattr(OptimisticSession, "namespace", lose)
    assert store.settings_change(HERE) == before
