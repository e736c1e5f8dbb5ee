"""What was purged is found in no file of the tables any more, once they were written anew."""

import psycopg
import pytest

from memorata.model.errors import StoreUnavailable
from memorata.testing.samples import HERE, entry
from memorata_postgres.errors import connected
from memorata_postgres.store import PostgresStore


def test_a_purge_and_a_vacuum_leave_no_bytes_in_the_tables(url: str) -> None:
    store = PostgresStore(url)
    store.add([entry("secret", "xyzzysecretxyzzy tea"), entry("b", "tea")])
    store.purge(HERE, ["secret"])
    with psycopg.connect(url, autocommit=True) as connection:

        def left() -> bool:
            store.vacuum()
            connection.execute("CHECKPOINT")
            files = "SELECT pg_read_binary_file(pg_relation_filepath(%s::regclass))"
            read = [connection.execute(files, (table,)).fetchone() for table in ("memories", "segments")]
            return any(b"xyzzysecret" in bytes(row[0]) for row in read if row is not None)

        # A transaction of the server's own, such as an automatic vacuum, may keep what is dead for a moment.
        assert not all(left() for _ in range(20))
    assert [memory.id for memory in store.export(None)] == ["b"]
    store.close()


def test_a_server_that_is_away_is_said_to_be() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"), connected("postgresql://127.0.0.1:1/x"):
        pytest.fail("nobody is there")
