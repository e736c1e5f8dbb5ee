"""Cases that every :class:`~memorata.store.database.Database` passes, for the tests of another dialect.

Subclass it in a test module and give it a fixture called ``database``, with tables and without rows::

    class TestMine(DatabaseConformance):
        @pytest.fixture
        def database(self) -> Iterator[Database]:
            ...

pytest then runs every method that begins with ``test_``. Everything else that a store does is written once
over this port; the tests of this project run it on both databases that it supports.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import pytest

from memorata.model.errors import LeaseLost
from memorata.store.database import Database, Session, Statement
from memorata.store.rows import made_namespace

_NOW: Final = datetime(2026, 5, 7, 12, tzinfo=UTC)
_REPLY: Final = (
    "INSERT INTO replies (caller, key, namespace, request, status, body, created_at) "
    "VALUES (?, ?, 'acme', ?, ?, ?, ?)"
)


def _put(name: str, value: str, session: Session) -> None:
    session.execute(
        "INSERT INTO settings (name, value) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _settings(database: Database) -> dict[str, str]:
    return database.read(
        lambda session: dict(session.execute("SELECT name, value FROM settings ORDER BY name").fetchall())
    )


class DatabaseConformance:
    """The suite."""

    def test_a_write_is_whole_or_nothing(self, database: Database) -> None:
        """Check what it returns, and that an error undoes all of it."""

        def fail(session: Session) -> None:
            _put("a", "2", session)
            _put("b", "2", session)
            raise KeyError

        def write(session: Session) -> str:
            _put("a", "1", session)
            return "done"

        assert database.write(write) == "done"
        with pytest.raises(KeyError):
            database.write(fail)
        assert _settings(database) == {"a": "1"}

    def test_writes_in_a_block_are_one_write(self, database: Database) -> None:
        """Check that others see all of them or none, and that a part that fails is undone alone."""
        with suppress(KeyError), database.together():
            database.write(lambda session: _put("a", "1", session))
            raise KeyError
        assert _settings(database) == {}

        def fail(session: Session) -> None:
            _put("b", "1", session)
            raise IndexError

        with database.together():
            database.write(lambda session: _put("a", "1", session))
            with pytest.raises(IndexError):
                database.write(fail)
            assert _settings(database) == {"a": "1"}
            database.write(lambda session: _put("c", "1", session))
        assert _settings(database) == {"a": "1", "c": "1"}

    def test_values_come_back_as_they_were(self, database: Database) -> None:
        """Check whole numbers, texts with every character, bytes, nothing at all, and floats to the bit."""
        rows = [
            ("plain", "k", b"", 0, None, 2**62),
            ("Zoë \x00\x01\x02 日本 😀", "'; --", b"\x00\xff", -1, b"", -(2**62)),
            ("%s ? :name", "%", bytes(range(256)), 2**31 - 1, b"x" * 100_000, 1),
        ]
        database.write(
            lambda session: session.executemany(_REPLY, [(*row[:4], row[4], row[5]) for row in rows])
        )
        read = database.read(
            lambda session: session.execute(
                "SELECT caller, key, request, status, body, created_at FROM replies ORDER BY status"
            ).fetchall()
        )
        assert [tuple(row) for row in read] == sorted(rows, key=lambda row: row[3])
        numbers, sql = (0.1, -1e300, 5e-324), "SELECT CAST(? AS DOUBLE PRECISION)"
        returned = database.read(
            lambda session: [session.execute(sql, (number,)).fetchone()[0] for number in numbers]
        )
        assert tuple(returned) == numbers

    def test_values_are_given_by_place_by_number_and_by_name(self, database: Database) -> None:
        """Check the three ways, many values as one, and values that may be nothing."""

        def read(session: Session) -> list[str]:
            array = session.dialect.array
            selected = [
                session.execute("SELECT name FROM settings WHERE name = ?", ("a",)).fetchall(),
                session.execute(
                    "SELECT name FROM settings WHERE name = ?2 OR value = ?1 OR name = ?2", ("3", "a")
                ).fetchall(),
                session.execute(
                    "SELECT name FROM settings WHERE name = :name AND value = :value",
                    {"name": "b", "value": "2"},
                ).fetchall(),
                session.execute(
                    "SELECT name FROM settings WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name",
                    (array(["c", "nobody", "a", "日本"]),),
                ).fetchall(),
                session.execute(
                    "SELECT name FROM settings WHERE name IN (SELECT value FROM json_each(?))",
                    (array([]),),
                ).fetchall(),
                session.execute("SELECT name FROM settings WHERE name IS ?", (None,)).fetchall(),
                session.execute("SELECT name FROM settings WHERE name IS NOT ?", ("b",)).fetchall(),
            ]
            return ["".join(sorted(name for (name,) in rows)) for rows in selected]

        database.write(
            lambda session: session.executemany(
                "INSERT INTO settings (name, value) VALUES (?, ?)", [("a", "1"), ("b", "2"), ("c", "3")]
            )
        )
        assert database.read(read) == ["a", "ac", "b", "ac", "", "", "ac"]

    def test_rows_are_read_ahead(self, database: Database) -> None:
        """Check that the rows of statements come with that of a namespace, there or not."""
        database.write(lambda session: _put("a", "1", session))
        statements: list[Statement] = [
            ("SELECT name FROM settings WHERE name = ?", ("a",)),
            ("SELECT name FROM settings WHERE name = ?", ("b",)),
            ("SELECT count(*) FROM settings", ()),
        ]

        def read(session: Session) -> list[list[tuple[object, ...]]]:
            assert session.namespace("nobody", statements) is None
            return [
                [tuple(row) for row in session.execute(*statement).fetchall()] for statement in statements
            ]

        assert database.read(read) == [[("a",)], [], [(1,)]]

    def test_numbers_ascend_in_a_namespace(self, database: Database) -> None:
        """Check that rows have the numbers that `insert` returned, in both of two writes."""

        def write(session: Session) -> list[int]:
            number = made_namespace(session, "acme").number
            columns = "namespace, kind, name, data, evidence, at"
            return [
                session.insert("saved_settings", columns, (number, "k", str(n), "{}", "{}", 0))
                for n in range(3)
            ]

        numbers = [*database.write(write, "acme"), *database.write(write, "acme")]
        assert numbers == sorted(set(numbers))
        rows = database.read(
            lambda session: session.execute(
                "SELECT number, name FROM saved_settings ORDER BY number"
            ).fetchall()
        )
        assert [tuple(row) for row in rows] == list(zip(numbers, "012012", strict=True))

    def test_a_guard_runs_first_and_may_refuse(self, database: Database) -> None:
        """Check that nothing of a refused write is written, and that other threads are not held back."""

        def refuse(session: Session) -> None:
            raise LeaseLost("tune", "acme", "somebody")

        with database.guarded(lambda session: _put("guarded", "yes", session)):
            database.write(lambda session: _put("a", "1", session))
        with database.guarded(refuse):
            with pytest.raises(LeaseLost):
                database.write(lambda session: _put("a", "2", session))
            other = threading.Thread(target=lambda: database.write(lambda session: _put("b", "1", session)))
            other.start()
            other.join()
        assert _settings(database) == {"a": "1", "b": "1", "guarded": "yes"}

    def test_a_write_that_need_not_be_on_the_disk_is_written(self, database: Database) -> None:
        """Check that it is read back, alone and as a part of a block."""
        database.write(lambda session: _put("a", "1", session), durable=False, patience=5.0)
        with database.together():
            database.write(lambda session: _put("b", "1", session), durable=False, patience=5.0)
        assert _settings(database) == {"a": "1", "b": "1"}

    def test_what_nothing_disturbs_is_done_once(self, database: Database) -> None:
        """Check what work returns that may be tried again, and what may be read elsewhere."""
        done: list[int] = []
        assert database.attempt(lambda: done.append(1)) == (None, "")
        assert database.attempt(lambda: len(done), replica=True) == (1, "")
        assert database.attempt(lambda: len(done), replica=True, fresh=True) == (1, "")

    def test_a_dialect_tells_time_tenant_and_what_can_be_a_key(self, database: Database) -> None:
        """Check that no more is promised than that."""

        def look(session: Session) -> tuple[int, str, str]:
            dialect = session.dialect
            dialect.lock_reply(session, "a", "b")
            return dialect.clock(session, _NOW), dialect.tenant(session), dialect.checked_name("name", "a")

        clock, tenant, name = database.write(look)
        assert clock > 0
        assert (tenant, name) == ("", "a")
