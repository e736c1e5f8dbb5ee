import re
import sqlite3

from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.migrations import MIGRATIONS
from memorata.store.sqlite.schema import APPLICATION_ID, VERSION


def test_the_file_says_whose_it_is() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"RCLT"


def tables(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return the SQL of every table, index and trigger, whatever its spaces, comments and quotation marks."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master")
    return {(kind, name): "".join(re.sub('--.*|"', "", sql or "").split()) for kind, name, sql in rows}


def test_a_new_file_has_the_tables_that_all_migrations_make() -> None:
    migrated, new = sqlite3.connect(":memory:"), connect(":memory:")
    for script in MIGRATIONS:
        migrated.executescript(script)
    assert len(MIGRATIONS) == VERSION
    assert tables(new) == tables(migrated)
    names = [name for kind, name in tables(new) if kind == "table"]
    for pragma in ("table_xinfo", "foreign_key_list"):
        for name in names:
            asked = f"PRAGMA {pragma}({name})"
            assert new.execute(asked).fetchall() == migrated.execute(asked).fetchall()
    assert {"memories", "records", "vectors", "segments", "postings", "changes"} <= {*names}
    new.close()
    migrated.close()


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


def test_an_end_where_the_successor_began_is_taken_for_given() -> None:
    connection = sqlite3.connect(":memory:")
    for script in MIGRATIONS[:11]:
        connection.executescript(script)
    connection.execute("INSERT INTO namespaces (number, path) VALUES (1, 'tea')")
    rows = [
        ("given", 10, None, 30, "corrected"),
        ("late", 10, 40, 40, "corrected"),
        ("own", 10, None, 20, "corrected"),
        ("none", 10, None, None, "corrected"),
        ("corrected", 30, None, 30, None),
    ]
    connection.executemany(
        "INSERT INTO memories (number, namespace, slot, id, content, category, tier, confidence, importance, "
        "tags, metadata, speaker, session, link, entities, supersedes, mentions, access_count, version, "
        "fingerprint, embedder, created_at, valid_from, valid_to, superseded_by, superseded_at) "
        "VALUES ((1 << 31) + ?1, 1, ?1, ?2, '', '', 'semantic', 1, 1, '[]', '{}', '', '', '', '[]', '[]', "
        "1, 0, 1, '', '', ?3, ?4, ?5, ?6, 35)",
        [(slot, *row) for slot, row in enumerate(rows)],
    )
    connection.executescript(MIGRATIONS[11])
    found = connection.execute("SELECT id FROM memories WHERE end_given ORDER BY slot").fetchall()
    assert found == [("given",), ("late",)]
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT slot FROM memories WHERE namespace = 1 AND superseded_at IS NOT NULL"
    )
    assert "memories_ended" in str(plan.fetchall())
    connection.close()


def test_feedback_settings_and_exposures_keep_their_rows_under_their_new_names() -> None:
    connection = sqlite3.connect(":memory:")
    for script in MIGRATIONS[:16]:
        connection.executescript(script)
    connection.execute("INSERT INTO namespaces (number, path) VALUES (1, 'tea')")
    rows = {
        "reactions": (7, 1, "r1", 0, "used", None, 5, "{}", "lexical"),
        "lessons": (8, 1, "recipe", "tuned", "{}", "{}", 5, None),
        "sightings": (9, 1, "e", "a", "anna", "r1", 5, 1, "{}"),
    }
    for table, row in rows.items():
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    connection.executescript(MIGRATIONS[16])
    for (_, row), table in zip(rows.items(), ("feedback", "saved_settings", "exposures"), strict=True):
        assert connection.execute(f"SELECT * FROM {table}").fetchall() == [row]
    assert connection.execute("SELECT settings FROM namespaces").fetchall() == [(0,)]
    # The next version of a setting gets a number that none ever had.
    columns = "namespace, kind, name, data, evidence, at"
    connection.execute(f"INSERT INTO saved_settings ({columns}) VALUES (1, 'k', 'n', '', '', 0)")
    assert connection.execute("SELECT max(number) FROM saved_settings").fetchone() == (9,)
    connection.close()
