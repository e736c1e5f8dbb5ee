"""Several processes log into one file; a writer that holds it is not waited for without patience."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memorata.model.errors import StoreUnavailable
from memorata.store.conformance import entry
from memorata.store.recall_log import LogBounds, LoggedRecall
from memorata.store.sqlite.store import SqliteStore

NOW = datetime(2026, 5, 7, tzinfo=UTC)
HERE = "acme/alice"


def logged(id_: str) -> LoggedRecall:
    nothing = np.zeros((0, 0), np.float32), np.zeros(0, np.intp)
    return LoggedRecall(id_, HERE, NOW, "?", {"name": "x"}, "", {}, {}, (), *nothing, ())


def test_two_stores_on_one_file_log_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path, durable=False)) as one, closing(SqliteStore(path, durable=False)) as two:
        one.add([entry("a", "said")])
        before = two.written()
        one.log_recalls([logged("r1")], LogBounds())
        assert two.written() != before
        two.log_recalls([logged("r2")], LogBounds())
        assert [each.id for each in one.recalls(HERE)] == ["r2", "r1"]


def test_without_patience_a_busy_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path, durable=False)) as store:
        store.add([entry("a", "said")])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="stayed locked"):
                store.log_recalls([logged("r1")], LogBounds(), patience=0.0)
            other.execute("ROLLBACK")
        store.log_recalls([logged("r1")], LogBounds(), patience=0.0)
        assert len(store.recalls(HERE)) == 1


def test_nothing_to_log_is_no_transaction(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.db", durable=False)) as store:
        before = store._connection.total_changes
        store.log_recalls([], LogBounds())
        assert store._connection.total_changes == before


def test_the_log_may_be_a_part_of_a_larger_transaction() -> None:
    with closing(SqliteStore(":memory:")) as store:
        with store.together():
            store.add([entry("a", "said")])
            store.log_recalls([logged("r1")], LogBounds(), patience=0.0)
        assert [each.id for each in store.recalls(HERE)] == ["r1"]
