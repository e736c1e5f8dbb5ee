from functools import partial
from pathlib import Path

import pytest

from memorata.index import segments
from memorata.index.segments import all_blocks, read_lists, segments_of, some_blocks
from memorata.store.dialects import SqliteStore
from memorata.store.memory import memories as writing
from memorata.store.sqlite.connection import connect
from memorata.testing.samples import HERE, THERE, entry


def test_lists_are_joined_over_all_segments_of_one_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (writing, segments):
        monkeypatch.setattr(module, "TAIL", 4)
    store = SqliteStore(tmp_path / "m.db", durable=False)
    for start in (0, 10, 20):
        # Every fourth has "milk", one has "rare"; other people's tea is not ours.
        contents = ["tea milk", "tea tea", "tea", "tea rare" if start == 10 else "tea", "tea milk"]
        store.add([entry(f"m{start + at}", content) for at, content in enumerate(contents)])
        store.add([entry(f"o{start + at}", "tea", namespace=THERE) for at in range(5)])
    store.close()
    connection = connect(tmp_path / "m.db")
    (number,) = connection.execute("SELECT number FROM namespaces WHERE path = ?", (HERE,)).fetchone()
    parts = segments_of(connection, number)
    assert [first for _, first, _ in parts] == [0, 5, 10]
    keys = [
        ("content", "tea"),
        ("content", "milk"),
        ("content", "rare"),
        ("content", "zebra"),
        ("tags", "tea"),
    ]
    read = read_lists(partial(some_blocks, connection, 1), parts, keys)
    everything = all_blocks(connection, 1, parts)
    kept = read_lists(lambda numbers: everything, parts, keys)
    connection.close()
    assert [(found.slots.tolist(), found.frequencies.tolist()) for found in kept.values()] == [
        (found.slots.tolist(), found.frequencies.tolist()) for found in read.values()
    ]
    assert list(read) == keys
    slots = {term: found.slots.tolist() for (field, term), found in read.items() if field == "content"}
    assert slots == {"tea": list(range(15)), "milk": [0, 4, 5, 9, 10, 14], "rare": [8], "zebra": []}
    assert read["content", "tea"].frequencies.tolist() == [1, 2, 1, 1, 1] * 3
    assert read["tags", "tea"].slots.size == 0


def test_nothing_is_read_from_a_namespace_without_segments() -> None:
    connection = connect(":memory:")
    assert segments_of(connection, 1) == []
    read = read_lists(partial(some_blocks, connection, 1), [], [("content", "tea")])
    assert read["content", "tea"].slots.size == 0
    assert all_blocks(connection, 1, []) == {}
    connection.close()
