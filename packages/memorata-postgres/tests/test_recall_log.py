"""How logged recalls lie in the tables: recipes once, the oldest let go, no trace after a purge."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import psycopg
import pytest

from memorata.model.errors import StoreUnavailable
from memorata.store.logged_recall import LogBounds, LoggedRecall
from memorata.testing.samples import HERE, NOW, THERE, entry
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import ON_ONE


def logged(
    id_: str, slots: list[int], namespace: str = HERE, recipe: str = "mine", seen: int | None = None
) -> LoggedRecall:
    return LoggedRecall(
        id=id_,
        namespace=namespace,
        at=NOW,
        query=f"question {id_}",
        recipe={"name": recipe},
        embedder="lexical",
        situation={},
        milliseconds={},
        columns=("lexical",),
        values=np.ones((len(slots), 1), np.float32),
        slots=np.array(slots, np.intp),
        shown=tuple(range(len(slots))),
        seen=seen,
    )


@pytest.fixture
def inhabited(store: PostgresStore) -> PostgresStore:
    store.add([entry(name, name) for name in "abc"])
    store.add([entry("x", "x", namespace=THERE)])
    return store


def count(used: str, table: str) -> int:
    with psycopg.connect(used, autocommit=True) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


def test_a_recipe_is_written_once_in_a_namespace_and_goes_with_its_last_recall(
    inhabited: PostgresStore, used: str
) -> None:
    inhabited.recalls.log([logged("r1", [0]), logged("r2", [1]), logged("x1", [0], THERE)], LogBounds())
    inhabited.recalls.log([logged("r3", [2], recipe="yours")], LogBounds())
    assert count(used, "recall_recipes") == 3
    inhabited.purge(HERE, ["a", "b"])
    assert [each.id for each in inhabited.recalls.list(HERE)] == ["r3"]
    assert count(used, "recall_recipes") == 2


def test_a_namespace_has_a_bound_of_its_own(inhabited: PostgresStore) -> None:
    for number in range(8):
        inhabited.recalls.log([logged(f"r{number}", [0], (HERE, THERE)[number % 2])], LogBounds(recalls=3))
    assert [each.id for each in inhabited.recalls.list(HERE)] == ["r6", "r4", "r2"]
    assert [each.id for each in inhabited.recalls.list(THERE)] == ["r7", "r5", "r3"]


def test_of_a_recall_only_what_was_purged_is_removed(inhabited: PostgresStore) -> None:
    inhabited.recalls.log([logged("r1", [2, 0, 1])], LogBounds())
    inhabited.purge(HERE, ["a"])
    (left,) = inhabited.recalls.list(HERE)
    assert (left.ids, left.shown) == (("c", "b"), (0, 1))


def test_what_was_asked_before_a_purge_is_not_logged_after_it(inhabited: PostgresStore) -> None:
    """It may name what is gone."""
    before = inhabited.changes(0, 100)[-1].number
    inhabited.purge(HERE, ["a"])
    after = inhabited.changes(0, 100)[-1].number
    inhabited.recalls.log([logged("old", [1], seen=before), logged("new", [1], seen=after)], LogBounds())
    assert [each.id for each in inhabited.recalls.list(HERE)] == ["new"]
    assert inhabited.purge_namespace(THERE) == 1
    inhabited.add([entry("x", "x", namespace=THERE)])
    inhabited.recalls.log([logged("of the former", [0], THERE, seen=after)], LogBounds())
    assert inhabited.recalls.list(THERE) == []


def waiters(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'tuple' AND relation = 'namespaces'::regclass"
    ).fetchone()
    assert row is not None
    return int(row[0])


@ON_ONE
def test_who_waits_for_a_namespace_holds_nothing_that_others_count_with(
    store: PostgresStore, used: str
) -> None:
    store.add([entry("one", "tea", namespace="a"), entry("two", "tea", namespace="b")])
    with closing(PostgresStore(used)) as other, psycopg.connect(used, autocommit=True) as looking:
        log = threading.Thread(
            target=lambda: other.recalls.log([logged("r1", [0], "a"), logged("r2", [0], "b")], LogBounds())
        )
        with store.together():
            store.use("b", ["two"], NOW)
            log.start()
            until = time.monotonic() + 30
            while not waiters(looking) and time.monotonic() < until:
                time.sleep(0.01)
            assert waiters(looking)
            # If the log of the other held anything that is counted with, these two would wait for each other.
            store.recalls.log([logged("r3", [0], "b")], LogBounds())
        log.join(30)
        assert {recall.id for recall in (*store.recalls.list("a"), *store.recalls.list("b"))} == {
            "r1",
            "r2",
            "r3",
        }


def test_who_refers_to_a_namespace_does_not_wait_for_its_writer(store: PostgresStore, used: str) -> None:
    store.add([entry("one", "tea", namespace="a")])
    with store.together(), psycopg.connect(used) as other:
        store.use("a", ["one"], NOW)
        other.execute("SET lock_timeout = '1s'")
        other.execute(
            "INSERT INTO sessions (namespace, name, number) "
            "SELECT number, 's', 1 FROM namespaces WHERE path = 'a'"
        )
        other.rollback()


def test_an_answer_does_not_wait_for_a_connection_to_be_logged(store: PostgresStore, used: str) -> None:
    """Whoever says how long others are waited for means those who hold the connections, too."""
    with closing(PostgresStore(used, connections=1)) as small, ThreadPoolExecutor(1) as threads:
        small.add([entry("a", "tea", namespace="n")])
        with small.view("n", NOW):
            begun = time.monotonic()
            asked = threads.submit(small.recalls.log, [logged("1", [0], "n")], LogBounds(), patience=0.0)
            with pytest.raises(StoreUnavailable, match="no connection to"):
                asked.result(timeout=20)
        assert time.monotonic() - begun < 20
        small.recalls.log([logged("1", [0], "n")], LogBounds(), patience=0.0)
        assert [each.id for each in small.recalls.list("n")] == ["1"]
