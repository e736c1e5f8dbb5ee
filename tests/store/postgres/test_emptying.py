"""A namespace that is removed leaves nothing but the news of it; questions forget purged names."""

import psycopg
import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source
from memorata.store.postgres.bridge import BridgeSession
from memorata.store.postgres.schema import OWNED
from memorata.store.postgres.store import PostgresStore
from memorata.store.recall_log import forget_queries
from memorata.store.samples import HERE, NOW, THERE, direction, entry


def test_no_table_has_a_row_of_it_and_others_keep_theirs(store: PostgresStore, used: str) -> None:
    store.use_embedder("mine", 8)
    for namespace in (HERE, THERE):
        store.add([entry("a", "tea", direction(1), namespace=namespace, source=Source("Anna", "s", 1))])
        store.entities.describe(namespace, "Anna")
        store.saved_settings.save(namespace, "recipe", "mine", {}, {}, NOW)
        store.leases.acquire("tune", namespace, "worker", 60, NOW)
    assert store.purge_namespace(HERE) == 1
    with psycopg.connect(used, autocommit=True) as connection:
        for table in OWNED:
            rows = connection.execute(f"SELECT DISTINCT namespace FROM {table}").fetchall()
            assert len(rows) <= 1, table
        assert connection.execute("SELECT namespace FROM leases").fetchall() == [(THERE,)]
        assert connection.execute("SELECT path FROM namespaces").fetchall() == [(THERE,)]
    assert store.changes(0, 100)[-1].kind == "purge"
    with pytest.raises(InvalidArgument, match="one that there is"):
        store.purge_namespace(HERE)


def test_questions_that_may_speak_of_a_name_lose_their_text(store: PostgresStore, used: str) -> None:
    store.add([entry("a", "tea")])
    with store._database.writing() as connection:
        row = connection.execute(
            "INSERT INTO recall_recipes (namespace, digest, data) SELECT number, '', '{}' FROM namespaces "
            "RETURNING namespace, number"
        ).fetchone()
        assert row is not None
        for id_, query in (("r1", "what does Anna drink?"), ("r2", "what is tea?"), ("r3", "ANNA'S tea")):
            connection.execute(
                "INSERT INTO recalls (namespace, id, at, query, recipe, embedder, said, candidates, shown, "
                "start, bytes) VALUES (%s, %s, 0, %s, %s, '', '{}', '', '', 0, 0)",
                (row[0], id_, query, row[1]),
            )
        forget_queries(BridgeSession(connection), row[0], ["anna"])
        left = connection.execute("SELECT id, query FROM recalls ORDER BY id").fetchall()
    assert left == [("r1", None), ("r2", "what is tea?"), ("r3", None)]
