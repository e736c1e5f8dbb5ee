"""A namespace that is removed leaves nothing but the news of it; questions forget purged names."""

import psycopg
import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source
from memorata.testing.samples import HERE, NOW, THERE, direction, entry
from memorata_postgres.dialect import OWNED, USER_KEY
from memorata_postgres.store import PostgresStore


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
            rows = connection.execute(
                f"SELECT DISTINCT namespace FROM {table} WHERE namespace NOT IN "
                f"(SELECT number FROM namespaces WHERE path LIKE '(%') AND namespace <> {USER_KEY}"
            ).fetchall()
            assert len(rows) <= 1, table
        assert connection.execute("SELECT namespace FROM leases").fetchall() == [(THERE,)]
        named = connection.execute("SELECT path FROM namespaces WHERE path NOT LIKE '(%'").fetchall()
        assert named == [(THERE,)]
    assert store.changes(0, 100)[-1].kind == "purge"
    with pytest.raises(InvalidArgument, match="one that there is"):
        store.purge_namespace(HERE)
