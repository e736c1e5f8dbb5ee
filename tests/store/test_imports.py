"""Imports noted and undone as one, on both databases."""

import pytest

from memorata import Engine
from memorata.embed import LexicalEmbedder
from memorata.model import InvalidArgument
from memorata.service.formats.record import Record
from memorata.service.transfer import Importer
from memorata.store.store import Store
from memorata.text import analyser


@pytest.fixture
def memory(store: Store) -> Engine:
    engine = Engine(store, LexicalEmbedder(), analyser("plain"))
    engine.remember("Anna likes tea.", id="tea")
    return engine


RECORDS = [
    Record(1, {"id": "tea", "content": "Anna likes tea."}),
    Record(2, {"id": "roses", "content": "Anna planted roses.", "entities": ["Anna"]}),
    Record(3, {"kind": "relation", "source": "Anna", "type": "knows", "target": "Bob"}),
    Record(4, {"id": "there", "content": "Elsewhere.", "namespace": "acme"}),
]


def visible(memory: Engine) -> list[str]:
    paths = ("default", "acme")
    return [each.id for path in paths for each in memory.list(namespace=path, oldest_first=True).memories]


@pytest.mark.parametrize("purge", [False, True])
def test_an_import_is_undone_as_one_and_what_was_there_stays(memory: Engine, purge: bool) -> None:
    importer = Importer(memory, batch="a.jsonl")
    importer.add(RECORDS)
    memory.remember("Written meanwhile.", id="meanwhile")
    importer.add([Record(5, {"id": "late", "content": "A later line."})])
    assert not importer.notes.problems
    (done,) = memory.admin.transfer.imports.list()
    assert (done.id, done.source, done.memories, done.relations) == (importer.import_id, "a.jsonl", 2, 1)
    shown = memory.admin.transfer.imports.undo(done.id, dry_run=True)
    assert shown.memories == {"acme": ("there",), "default": ("roses", "late")}
    assert visible(memory) == ["tea", "roses", "meanwhile", "late", "there"]

    undone = memory.admin.transfer.imports.undo(done.id, purge=purge)
    assert (undone.memories, undone.relations) == (shown.memories, 1)
    assert visible(memory) == ["tea", "meanwhile"]
    assert memory.store.relations.list("default") == []
    assert memory.admin.transfer.imports.list() == ()
    with pytest.raises(InvalidArgument, match="was not undone"):
        memory.admin.transfer.imports.undo(done.id)
    again = Importer(memory, batch="a.jsonl")
    again.add(RECORDS)
    assert again.counts.imported == (2 if purge else 0)
    if not purge:
        memory.restore("roses", "late")
    assert {"tea", "roses"} <= set(visible(memory))
    assert memory.admin.check() == []


def test_two_imports_are_undone_apart_and_without_a_batch_none_is_noted(memory: Engine) -> None:
    first, second = Importer(memory, batch="one"), Importer(memory, batch="two")
    for number in range(3):
        first.add([Record(1, {"id": f"a{number}", "content": f"First {number}."})])
        second.add([Record(1, {"id": f"b{number}", "content": f"Second {number}."})])
    Importer(memory).add([Record(1, {"id": "c", "content": "Captured."})])
    Importer(memory, batch="dry", dry_run=True).add([Record(1, {"content": "Not at all."})])
    assert [(each.source, each.memories) for each in memory.admin.transfer.imports.list()] == [
        ("two", 3),
        ("one", 3),
    ]
    memory.purge("a1")
    undone = memory.admin.transfer.imports.undo(first.import_id)
    assert undone.memories == {"default": ("a0", "a2")}
    assert visible(memory) == ["tea", "b0", "b1", "b2", "c"]
