"""Reading without a transaction: noticed when something moved, and read again."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memorata.index import cache
from memorata.model.errors import InvalidArgument
from memorata.store.rows import find_namespace
from memorata.testing.samples import HERE, NOW, THERE, entry
from memorata_postgres import session
from memorata_postgres.errors import ConnectionLost, ViewMoved
from memorata_postgres.session import KnownRows, OptimisticSession, Snapshot
from memorata_postgres.store import PostgresStore

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
    session = OptimisticSession(lambda: pytest.fail("nothing is sent"), Snapshot())
    with pytest.raises(ViewMoved):
        session.execute("SELECT 1")
    with pytest.raises(ViewMoved):
        session.executemany("INSERT INTO settings VALUES (?, ?)", [("a", "b")])
    with pytest.raises(ViewMoved):
        session.insert("changes", "namespace, slot, kind", (1, 2, "add"))


def test_what_was_read_ahead_is_not_asked_for_again(store: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    statement, snapshot = (IDS, (numbered(store, HERE),)), Snapshot()
    with store._database._here.where(snapshot=snapshot):
        store._database.read(lambda session: session.namespace(HERE, [statement]))
        assert snapshot.expected == [(statement, [("a",)])]
        assert store._database.read(lambda session: session.execute(*statement).fetchall()) == [("a",)]
        assert snapshot.expected == []
        store.add([entry("b", "tea")])
        assert snapshot.rows == {}


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
    with store._database._here.where(snapshot=Snapshot()), ThreadPoolExecutor(1) as pool:
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


@pytest.fixture
def other(store: PostgresStore, used: str) -> Iterator[PostgresStore]:
    """The same store in another process, as it were."""
    opened = PostgresStore(used)
    yield opened
    opened.close()


def seen(store: PostgresStore, looks: list[int] | None = None) -> int:
    """Return how many memories a look finds; `looks` gets what every try of it found."""

    def look() -> int:
        with store.view(HERE, NOW) as view:
            count = view.status.count
        if looks is not None:
            looks.append(count)
        return count

    return store.attempt(look)[0]


def test_what_another_process_wrote_is_seen_at_once_though_the_row_was_known(
    store: PostgresStore, other: PostgresStore
) -> None:
    store.add([entry("a", "tea")])
    looks: list[int] = []
    assert [seen(store, looks) for _ in range(3)] == [1, 1, 1]
    other.add([entry("b", "tea")])
    assert seen(store, looks) == 2
    # The first try went by the row that was known, and was done again once its end showed that it has moved.
    assert looks == [1, 1, 1, 1, 2]
    other.add([entry("c", "tea")])
    # A row that has just moved is read first.
    assert seen(store, looks) == 3
    assert looks[5:] == [3]


def test_an_error_of_a_state_that_is_over_is_none(store: PostgresStore, other: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    assert seen(store) == seen(store) == 1

    def look() -> int:
        with store.view(HERE, NOW) as view:
            if view.status.count < 2:
                raise InvalidArgument("count", view.status.count, "2")
            return view.status.count

    other.add([entry("b", "tea")])
    assert store.attempt(look)[0] == 2
    other.forget(HERE, ["b"], NOW)
    with pytest.raises(InvalidArgument):
        store.attempt(look)


def test_what_is_written_rests_on_rows_that_were_read(store: PostgresStore, other: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    assert seen(store) == seen(store) == 1
    tries: list[int] = []

    def write() -> None:
        with store.view(HERE, NOW) as view:
            tries.append(view.status.count)
        store.add([entry(f"after{tries[-1]}", "tea")])
        # What is looked at after a write is never a reason to do it again.
        other.add([entry("c", "tea")])
        with store.view(HERE, NOW) as view:
            tries.append(view.status.count)

    other.add([entry("b", "tea")])
    store.attempt(write)
    assert tries == [1, 2, 4]
    assert {memory.id for memory in store.export(HERE)} == {"a", "b", "after2", "c"}


def test_only_settings_that_have_changed_make_all_of_it_begin_anew(
    store: PostgresStore, other: PostgresStore
) -> None:
    """As a recall: its recipe is found and its query embedded before it looks."""
    store.add([entry("a", "tea")])
    before: list[tuple[int, int]] = []

    def recall() -> int:
        before.append(store.settings_change(HERE))
        return seen(store)

    assert [store.attempt(recall)[0] for _ in range(3)] == [1, 1, 1]
    other.add([entry("b", "tea")])
    assert store.attempt(recall)[0] == 2
    assert before == [(0, 0)] * 4
    assert store.attempt(recall)[0] == store.attempt(recall)[0] == 2
    other.saved_settings.save(HERE, "recipe", "mine", {}, {}, NOW)
    before.clear()
    assert store.attempt(recall)[0] == 2
    assert [count for _, count in before] == [0, 1]


def test_rows_are_known_until_they_move_or_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def assumed(path: str) -> object:
        fresh = Snapshot(known)
        fresh.assume(path)
        return fresh.rows.get(path)

    known: KnownRows = {}
    snapshot = Snapshot(known)
    for row, expected in (((1,), (1,)), ((2,), None), ((2,), (2,)), (None, None), ((3,), (3,))):
        snapshot.note("a", row)
        assert assumed("a") == expected
    monkeypatch.setattr(session, "_MAX_KNOWN", 2)
    for path in "bcd":
        snapshot.note(path, (1,))
    assert [assumed(path) for path in "abcd"] == [None, None, (1,), (1,)]
    snapshot.drop()
    snapshot.assume("d")
    assert snapshot.rows == {}
