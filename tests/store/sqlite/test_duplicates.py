"""Repeats on a file: what is derived stays sound, and two processes agree."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import memorata
from memorata.store.memory.repeats import Repeat

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def test_records_agree_with_rows_after_every_step(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical", config={"duplicates": "off"}) as memory:
        first, second, third = memory.remember_many(["tea", "tea", "tea"])
        store = memory.store
        run = store.duplicates.start_run("default", "merge", NOW)
        store.duplicates.repeat(
            "default", [Repeat(second.id, first.id, "exact", "again", NOW, 1, 0.9, run=run.number)]
        )
        assert memory.admin.check() == []
        store.duplicates.repeat(
            "default", [Repeat(first.id, third.id, "exact", "again", NOW, 2, run=run.number)]
        )
        assert memory.admin.check() == []
        assert [hit.memory.id for hit in memory.recall("tea")] == [third.id]
        store.duplicates.undo_run("default", run.number, NOW + timedelta(days=1))
        assert memory.admin.check() == []
        assert len(memory.recall("tea", recipe={"deduplicate": False})) == 3


def test_another_process_sees_repeats_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", config={"duplicates": "off"}) as one:
        first, second = one.remember_many(["tea", "tea"])
        with memorata.open(path, embedder="lexical") as other:
            assert len(other.recall("tea", recipe={"deduplicate": False})) == 2
            one.store.duplicates.repeat("default", [Repeat(second.id, first.id, "exact", "again", NOW)])
            assert len(other.recall("tea", recipe={"deduplicate": False})) == 1
            assert [memory.id for memory in other.store.duplicates.replaced("default", [first.id])] == [
                second.id
            ]
            assert other.store.duplicates.replaced("nobody", [first.id]) == []
