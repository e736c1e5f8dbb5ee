import sqlite3

import pytest

from memorata.store.sqlite.integrity import remove_wrong_kinds, undecoded, wrong_kinds
from memorata.store.sqlite.schema import SCHEMA
from memorata.store.sqlite.session import SqliteSession


@pytest.fixture
def connection() -> SqliteSession:
    opened = sqlite3.connect(":memory:", factory=SqliteSession)
    opened.execute("CREATE TABLE cups (number INTEGER PRIMARY KEY, name TEXT NOT NULL, size REAL, seal BLOB)")
    opened.execute(
        "INSERT INTO cups VALUES (1, 'blue', 0.25, x'ff'), (2, 'red', 3, NULL), (3, '', NULL, x'')"
    )
    return opened


def test_values_of_the_kinds_of_their_columns_are_right(connection: SqliteSession) -> None:
    assert list(wrong_kinds(connection)) == []


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        ("size", "'large'", "a number"),
        ("size", "x'00'", "a number"),
        ("seal", "'wax'", "bytes"),
        ("name", "x'626c7565'", "a text"),
        ("name", "CAST(x'c3c3' AS TEXT)", "a text"),
    ],
)
def test_values_of_another_kind_are_told(
    connection: SqliteSession, column: str, value: str, kind: str
) -> None:
    connection.execute(f"UPDATE cups SET {column} = {value} WHERE number < 3")
    assert list(wrong_kinds(connection)) == [f"the {column} of 2 rows of cups is not {kind}"]


def test_a_row_of_another_kind_can_be_removed(connection: SqliteSession) -> None:
    connection.execute("UPDATE cups SET size = 'large' WHERE number = 2")
    remove_wrong_kinds(connection, ["cups"])
    assert connection.execute("SELECT number FROM cups").fetchall() == [(1,), (3,)]


def test_a_text_that_is_none_is_read_as_its_bytes(connection: SqliteSession) -> None:
    connection.execute("UPDATE cups SET name = CAST(x'c3c3' AS TEXT) WHERE number = 2")
    names = "SELECT name FROM cups ORDER BY number"
    with undecoded(connection):
        assert connection.execute(names).fetchall() == [("blue",), (b"\xc3\xc3",), ("",)]
    with pytest.raises(sqlite3.OperationalError, match="UTF-8"):
        connection.execute(names).fetchall()


def test_every_column_of_every_table_has_a_kind() -> None:
    connection = sqlite3.connect(":memory:", factory=SqliteSession)
    connection.executescript(SCHEMA)
    assert list(wrong_kinds(connection)) == []
