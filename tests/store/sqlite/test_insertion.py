"""Rows that are handed over in one piece are those that were handed over one by one."""

from collections.abc import Iterator

import numpy as np
import pytest

from memorata.index.record import RECORD
from memorata.index.vector_rows import sealed
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.memory import insertion
from memorata.store.memory.insertion import add_records, add_vectors
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, direction, entry

vectors_place = SqliteDialect().vectors_number


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteSession]:
    """A database with the namespaces 1 to 3 and two embedders, which takes four rows at once."""
    monkeypatch.setattr(insertion, "_ROWS_PER_STATEMENT", 4)
    opened = connect(":memory:")
    opened.executemany("INSERT INTO namespaces (path) VALUES (?)", [("a",), ("b",), ("c",)])
    opened.executemany("INSERT INTO embedders (name, dimension) VALUES (?, 3)", [("old",), ("new",)])
    yield opened
    opened.close()


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 13])
def test_records_stand_in_their_slots(connection: SqliteSession, count: int) -> None:
    # None of the bytes is an end, whatever they would be in a text.
    records = [bytes([0, number, 255]) + bytes(RECORD.itemsize - 3) for number in range(count)]
    add_records(connection, 3, 70, records)
    assert connection.execute("SELECT namespace, slot, record, terms FROM records").fetchall() == [
        (3, 70 + number, record, None) for number, record in enumerate(records)
    ]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("long", [1, 16])
def test_vectors_stand_in_their_places(connection: SqliteSession, count: int, long: int) -> None:
    matrix = np.arange(3 * count, dtype=np.float32).reshape(count, 3)
    digests = [bytes([number, *bytes(15)])[:long] for number in range(count)]
    add_vectors(connection, (2, 3, 70), digests, matrix)
    columns = "number, namespace, embedder, slot, digest, vectors"
    assert connection.execute(f"SELECT {columns} FROM vectors ORDER BY number").fetchall() == [
        (vectors_place(2, 3, 70 + row), 3, 2, 70 + row, digests[row], sealed(matrix[row : row + 1]).tobytes())
        for row in range(count)
    ]


@pytest.mark.parametrize("some", [[b"", b"a", b"ab", b"abc"], [b""], [b"\0a", b"\0b"]])
def test_addresses_of_any_lengths_are_told_apart(some: list[bytes]) -> None:
    store = SqliteStore(":memory:")
    store.use_embedder(EMBEDDER, DIMENSION)
    digests = (some * 400)[:400]
    store.add(
        [
            Entry(entry(f"m{n}", "tea").memory, {"content": {"tea": 1}}, direction(1, n), digest)
            for n, digest in enumerate(digests)
        ]
    )
    found = store._connection.execute("SELECT digest FROM vectors ORDER BY slot").fetchall()
    assert found == [(digest,) for digest in digests]
    with store.view(HERE, NOW) as view:
        assert view.search(direction(1, 7)[0], 1).slots.tolist() == [7]
    store.close()
