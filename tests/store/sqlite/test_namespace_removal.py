"""A namespace is emptied table by table, whatever tables there are."""

from contextlib import closing

from memorata.store.access import Reply
from memorata.store.dialects import SqliteStore
from memorata.store.sqlite.integrity import owned_tables
from memorata.testing.samples import HERE, NOW, THERE, entry, words


def test_every_table_that_carries_a_namespace_is_emptied() -> None:
    with closing(SqliteStore(":memory:")) as store:
        connection = store._connection
        connection.execute("CREATE TABLE later (namespace TEXT, said TEXT)")
        connection.execute("INSERT INTO later VALUES (?, 'x'), (?, 'y')", (HERE, THERE))
        tables = owned_tables(connection)
        assert {
            "memories",
            "records",
            "vectors",
            "segments",
            "rewordings",
            "names",
            "relations",
            "changes",
            "later",
        } <= set(tables)
        store.add([entry(f"m{number}", "tea", namespace=HERE) for number in range(300)])
        store.add([entry("b", "tea", namespace=THERE)])
        store.purge_namespace(HERE)
        left = {
            table: connection.execute(
                f"SELECT count(*) FROM {table} WHERE namespace IN (1, ?)", (HERE,)
            ).fetchone()[0]
            for table in tables
        }
        # The one entry of the feed that says so.
        assert {table: count for table, count in left.items() if count} == {"changes": 1}
        assert connection.execute("SELECT said FROM later").fetchall() == [("y",)]
        assert connection.execute("SELECT path FROM namespaces").fetchall() == [("(purged 1)",), (THERE,)]
        assert store.check(lambda memory: {"content": words(memory.content)}) == []


def test_a_second_purge_of_a_name_leaves_two_rows_without_one() -> None:
    with closing(SqliteStore(":memory:")) as store:
        for _ in range(2):
            store.add([entry("a", "tea", namespace=HERE)])
            store.purge_namespace(HERE)
        assert store.namespaces() == {}
        assert store.statistics()["namespaces"] == 0
        feed = store.changes(0, 100)
        assert [(change.kind, change.memory_id) for change in feed] == [("purge", ""), ("purge", "")]


def test_a_name_that_is_a_number_is_not_the_number_of_another_namespace() -> None:
    with closing(SqliteStore(":memory:")) as store:
        for path in (HERE, THERE, "1", "2"):
            store.add([entry("a", "tea", namespace=path)])
        store.replies.save(Reply("somebody", "asked", "2", b"", 200, b"tea", NOW))
        store.purge_namespace("1")
        assert store.namespaces() == {HERE: 1, THERE: 1, "2": 1}
        store.purge_namespace(THERE)
        assert store.namespaces() == {HERE: 1, "2": 1}
        assert store.replies.find("somebody", "asked") is not None
        assert store.check(lambda memory: {"content": words(memory.content)}) == []
