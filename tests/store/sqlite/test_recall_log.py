"""How logged recalls lie in the file: constants once, shared recipes once, no trace after a purge."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memorata.model.errors import StoreUnavailable
from memorata.model.hit import Feedback, Signal
from memorata.store.dialects import SqliteStore
from memorata.store.logged_recall import LogBounds, LoggedRecall
from memorata.store.recall_log import _unpurged_slots
from memorata.store.rows import slots_of
from memorata.testing.samples import entry

NOW = datetime(2026, 5, 7, tzinfo=UTC)
HERE = "acme/alice"


def logged(id_: str, slots: list[int], **columns: list[float]) -> LoggedRecall:
    values = np.array(list(columns.values()), np.float32).T.reshape(len(slots), len(columns))
    return LoggedRecall(
        id_, HERE, NOW, f"question {id_}", {"name": "x"}, "e", {"ceiling": 1.0}, {"search": 1.0},
        tuple(columns), values, np.array(slots, np.intp), tuple(range(len(slots))),
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    opened = SqliteStore(tmp_path / "m.db", durable=False)
    opened.add([entry(name, f"said {name}") for name in ("a", "b", "c")])
    return opened


def test_what_is_the_same_for_all_is_written_once(store: SqliteStore) -> None:
    store.recalls.log([logged("r", [2, 0, 1], words=[3, 2, 1], sure=[1, 1, 1])], LogBounds())
    (blob,) = store._connection.execute("SELECT candidates FROM recalls").fetchone()
    assert len(blob) == 3 * 4 + 3 * 4  # the slots and one column
    store.close()


def test_a_recipe_is_written_once(store: SqliteStore) -> None:
    store.recalls.log([logged("r1", [0]), logged("r2", [1])], LogBounds())
    store.recalls.log([logged("r3", [2])], LogBounds())
    assert store._connection.execute("SELECT count(*) FROM recall_recipes").fetchone() == (1,)
    store.close()


def test_numbers_come_back_to_the_bit(store: SqliteStore) -> None:
    given = [0.1, float("nan"), -1e30]
    store.recalls.log([logged("r", [2, 0, 1], odd=given)], LogBounds())
    (read,) = store.recalls.list(HERE)
    np.testing.assert_array_equal(read.column("odd"), np.array(given, np.float32))
    store.close()


def test_no_bytes_of_a_purged_trace_are_left(store: SqliteStore, tmp_path: Path) -> None:
    marked = [12345.678, 12345.678 * 3, 0.5]
    store.recalls.log([logged("r", [0, 1, 2], odd=marked), logged("s", [0])], LogBounds())
    store.feedback.add(HERE, Feedback("r", "a", Signal.CLICK, NOW))
    needle = np.array(marked[:1], np.float32).tobytes()

    def found(what: bytes) -> bool:
        return any(what in path.read_bytes() for path in tmp_path.iterdir())

    assert found(needle)
    assert found(b"question s")
    store.purge(HERE, ["a"])
    assert not found(needle)
    assert not found(b"question s")
    assert found(b"question r")
    store.close()


def test_writing_the_log_leaves_durability_and_patience_as_they_were(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "d.db")
    store.add([entry("a", "said")])

    def pragmas() -> list[int]:
        return [
            store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "busy_timeout")
        ]

    before = pragmas()
    store.recalls.log([logged("r", [0])], LogBounds(), patience=0.0)
    assert pragmas() == before == [2, 30_000]
    store.close()


def test_slots_by_id(store: SqliteStore) -> None:
    (number,) = store._connection.execute("SELECT number FROM namespaces").fetchone()
    assert slots_of(store._database.session, number, ["c", "nobody", "a"]) == {"a": 0, "c": 2}
    store.close()


def test_two_stores_on_one_file_log_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path, durable=False)) as one, closing(SqliteStore(path, durable=False)) as two:
        one.add([entry("a", "said")])
        before = two.settings_change(HERE)
        one.recalls.log([logged("r1", [])], LogBounds())
        assert two.settings_change(HERE) == before
        one.saved_settings.save(HERE, "recipe", "mine", {}, {}, NOW)
        assert two.settings_change(HERE) != before
        two.recalls.log([logged("r2", [])], LogBounds())
        assert [each.id for each in one.recalls.list(HERE)] == ["r2", "r1"]


def test_without_patience_a_busy_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path, durable=False)) as store:
        store.add([entry("a", "said")])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="stayed locked"):
                store.recalls.log([logged("r1", [])], LogBounds(), patience=0.0)
            other.execute("ROLLBACK")
        store.recalls.log([logged("r1", [])], LogBounds(), patience=0.0)
        assert len(store.recalls.list(HERE)) == 1


def test_nothing_to_log_is_no_transaction(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.db", durable=False)) as store:
        before = store._connection.total_changes
        store.recalls.log([], LogBounds())
        assert store._connection.total_changes == before


def test_the_log_may_be_a_part_of_a_larger_transaction() -> None:
    with closing(SqliteStore(":memory:")) as store:
        with store.together():
            store.add([entry("a", "said")])
            store.recalls.log([logged("r1", [])], LogBounds(), patience=0.0)
        assert [each.id for each in store.recalls.list(HERE)] == ["r1"]


def test_only_recalls_that_do_not_say_what_they_saw_are_looked_up(store: SqliteStore) -> None:
    session = store._database.session
    (number,) = session.execute("SELECT number FROM namespaces").fetchone()
    told, untold = replace(logged("r", [0, 7]), seen=7), logged("r", [0, 7])
    statements: list[str] = []
    session.set_trace_callback(statements.append)
    assert _unpurged_slots(session, number, [told, told]) is None
    assert statements == []
    there = _unpurged_slots(session, number, [told, untold])
    assert there is not None
    assert there.tolist() == [0]
    assert _unpurged_slots(session, number, [logged("r", [0, 1])]) is None
    store.close()
