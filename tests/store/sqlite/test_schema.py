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


def test_codes_of_vectors_move_out_of_the_segments_as_they_are() -> None:
    connection = sqlite3.connect(":memory:")
    for script in MIGRATIONS[:10]:
        connection.executescript(script)
    connection.execute("INSERT INTO namespaces (number, path) VALUES (4, 'tea')")
    written = [(4, 256, 8, 2, b"two"), (4, 0, 256, None, None)]
    connection.executemany(
        "INSERT INTO segments (namespace, first, slots, buckets, embedder, codes) VALUES (?, ?, ?, 1, ?, ?)",
        written,
    )
    connection.executescript(MIGRATIONS[10])
    rows = connection.execute("SELECT namespace, first, slots, embedder, codes FROM vector_codes")
    assert rows.fetchall() == written[::-1]
    kept = connection.execute("SELECT * FROM segments ORDER BY number")
    assert [column[0] for column in kept.description] == ["number", "namespace", "first", "slots", "buckets"]
    assert kept.fetchall() == [(1, 4, 256, 8, 1), (2, 4, 0, 256, 1)]
    connection.close()
