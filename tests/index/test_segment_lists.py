from pathlib import Path

import pytest

from memorata.index import segments
from memorata.index.postings import SegmentLists
from memorata.index.segments import read_lists, segments_statement
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
    rows = connection.execute(*segments_statement(number, 0)).fetchall()
    parts = [(first, SegmentLists.decoded(value)) for _, first, value in rows]
    assert [first for first, _ in parts] == [0, 5, 10]
    _, middle, last = (segment for segment, _, _ in rows)
    known = connection.execute(*segments_statement(number, middle)).fetchall()
    assert [(segment, value is None) for segment, _, value in known[1:]] == [(middle, True), (last, False)]
    connection.close()
    keys = [
        ("content", "tea"),
        ("content", "milk"),
        ("content", "rare"),
        ("content", "zebra"),
        ("tags", "tea"),
    ]
    read = read_lists(parts, keys)
    assert list(read) == keys
    slots = {term: found.slots.tolist() for (field, term), found in read.items() if field == "content"}
    assert slots == {"tea": list(range(15)), "milk": [0, 4, 5, 9, 10, 14], "rare": [8], "zebra": []}
    assert read["content", "tea"].frequencies.tolist() == [1, 2, 1, 1, 1] * 3
    assert read["tags", "tea"].slots.size == 0


def test_a_namespace_without_segments_has_empty_lists() -> None:
    assert read_lists([], [("content", "tea")])["content", "tea"].slots.size == 0
