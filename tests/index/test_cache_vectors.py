"""Catching up with vectors that come later: what is in memory is what a fresh process would load."""

import random
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memorata.index import cache
from memorata.index.codes import Floats
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.memory.embedding import Embedded

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def rows(number: int) -> Floats:
    """Return the vectors of a memory: one, or two for every fifth."""
    found = np.random.default_rng(number).normal(size=(1 + (number % 5 == 0), 8))
    unit: Floats = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def entry(number: int, *, embedded: bool) -> Entry:
    memory = Memory(id=f"m{number}", content=f"w{number}", created_at=NOW)
    return Entry(memory, {"content": {f"w{number}": 1}}, rows(number) if embedded else None, b"%d" % number)


def seen(store: SqliteStore) -> tuple[list[int], list[float], list[int], int]:
    """Return all that a search by meaning finds, and what the records say."""
    with store.view("default", NOW) as view:
        found = view.search(rows(3)[0], 1_000)
        every = np.arange(len(view._partition))
        return (
            found.slots.tolist(),
            found.scores.round(5).tolist(),
            view.records(every)["vectors"].tolist(),
            view.status.pending,
        )


@pytest.mark.parametrize("exact", [20_000, 30])
@pytest.mark.parametrize("seed", range(6))
def test_in_whatever_order_vectors_come_a_process_sees_what_a_new_one_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, exact: int
) -> None:
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", exact)
    dice = random.Random(seed)
    writer, reader = SqliteStore(tmp_path / "m.db", durable=False), SqliteStore(tmp_path / "m.db")
    for store in (writer, reader):
        store.use_embedder("new", 8)
    count, waiting = 0, list[int]()
    for _ in range(25):
        match dice.choice(["add", "wait", "put", "put", "drop"]):
            case "add":
                writer.add([entry(number, embedded=True) for number in range(count, count + 3)])
                count += 3
            case "wait":
                writer.add([entry(number, embedded=False) for number in range(count, count + 4)])
                waiting += range(count, count + 4)
                count += 4
            case "put":
                chosen = waiting[:3] if seed % 2 else dice.sample(waiting, min(3, len(waiting)))
                waiting = [number for number in waiting if number not in chosen]
                writer.put_vectors([Embedded("default", f"m{n}", rows(n), b"%d" % n) for n in chosen])
            case "drop":
                writer.use_embedder("other", 8)
                some = sorted(set(range(count)) - set(waiting))[:1] if seed == 5 else []
                writer.put_vectors([Embedded("default", f"m{n}", rows(n + 1), b"x") for n in some])
                if seed == 5 and some:
                    # Who made the others drops what the reader has in memory.
                    writer.drop_vectors(2)
                    waiting = sorted(set(range(count)) - _having(writer))
                writer.use_embedder("new", 8)
        fresh = SqliteStore(tmp_path / "m.db")
        fresh.use_embedder("new", 8)
        assert seen(reader) == seen(fresh)
        fresh.close()
    writer.close()
    reader.close()


def _having(store: SqliteStore) -> set[int]:
    found = store._connection.execute(
        "SELECT slot FROM vectors v JOIN embedders e ON e.number = v.embedder WHERE e.name = 'new'"
    )
    return {slot for (slot,) in found}


def test_a_batch_at_the_end_is_added_without_loading_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "m.db")
    store.use_embedder("new", 8)
    store.add([entry(number, embedded=number < 5) for number in range(10)])
    assert seen(store)[3] == 5
    monkeypatch.setattr(cache, "_loaded", None)
    store.put_vectors([Embedded("default", f"m{number}", rows(number), b"") for number in (5, 6)])
    assert seen(store)[3] == 3
    monkeypatch.undo()
    store.put_vectors([Embedded("default", "m9", rows(9), b"")])
    assert seen(store)[3] == 2
    # This one belongs before one that is in memory: everything is loaded anew.
    store.put_vectors([Embedded("default", "m8", rows(8), b"")])
    assert seen(store)[3] == 1
    store.close()
