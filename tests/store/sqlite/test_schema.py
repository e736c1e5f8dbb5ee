import sqlite3

from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.schema import APPLICATION_ID, MIGRATIONS


def test_the_file_says_whose_it_is() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"RCLT"


def test_every_migration_runs_on_the_one_before() -> None:
    connection = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        connection.executescript(script)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    ours = connect(":memory:")
    assert tables == {name for (name,) in ours.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    ours.close()
    assert {"memories", "records", "vectors", "segments", "postings", "changes"} <= tables
