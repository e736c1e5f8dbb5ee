"""The log of recalls on a server: servers that write it at the same time do not keep each other waiting."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import psycopg
import pytest

from memorata.model.errors import StoreUnavailable
from memorata.store.conformance import NOW, entry
from memorata.store.postgres.store import PostgresStore
from memorata.store.recall_log import LogBounds, LoggedRecall


def logged(id_: str, namespace: str) -> LoggedRecall:
    return LoggedRecall(
        id=id_,
        namespace=namespace,
        at=NOW,
        query="tea?",
        recipe={"name": "mine"},
        embedder="lexical",
        situation={},
        milliseconds={},
        columns=("words",),
        values=np.ones((1, 1), np.float32),
        slots=np.zeros(1, np.intp),
        shown=(0,),
    )


def waiters(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'tuple' AND relation = 'namespaces'::regclass"
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_who_waits_for_a_namespace_holds_nothing_that_others_count_with(
    store: PostgresStore, used: str
) -> None:
    store.add([entry("one", "tea", namespace="a"), entry("two", "tea", namespace="b")])
    with closing(PostgresStore(used)) as other, psycopg.connect(used, autocommit=True) as looking:
        log = threading.Thread(
            target=lambda: other.log_recalls([logged("r1", "a"), logged("r2", "b")], LogBounds())
        )
        with store.together():
            store.use("b", ["two"], NOW)
            log.start()
            while not waiters(looking):
                time.sleep(0.01)
            looking.execute("SELECT * FROM recall_bytes FOR UPDATE NOWAIT")
            # If the log of the other held the counter, these two would wait for each other.
            store.log_recalls([logged("r3", "b")], LogBounds())
        log.join(30)
        assert {recall.id for recall in (*store.recalls("a"), *store.recalls("b"))} == {"r1", "r2", "r3"}


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
            asked = threads.submit(small.log_recalls, [logged("1", "n")], LogBounds(), patience=0.0)
            with pytest.raises(StoreUnavailable, match="no connection to"):
                asked.result(timeout=20)
        assert time.monotonic() - begun < 20
        small.log_recalls([logged("1", "n")], LogBounds(), patience=0.0)
        assert [each.id for each in small.recalls("n")] == ["1"]
