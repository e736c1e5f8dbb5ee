"""The records of files: where what does not come in stands. How the rest comes in is in tests/exchange."""

from collections.abc import Iterator
from typing import Any

import pytest

import memorata
from memorata.cli.importer import Importer, Notes
from memorata.exchange.record import Record
from memorata.exchange.taking_in import Taken

AT = "2026-05-07T00:00:00+00:00"
TEA = {"id": "tea", "content": "Anna likes tea", "created_at": AT, "forgotten_at": AT}
MILK = {"id": "milk", "content": "Anna likes milk", "created_at": AT, "namespace": "ada"}
KNOWS = {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben"}


@pytest.fixture
def engine() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


def test_every_kind_of_record_comes_in_where_it_says(engine: memorata.Engine) -> None:
    rows: list[dict[str, Any]] = [TEA, MILK, KNOWS | {"namespace": "ada"}, {"kind": "entity", "name": "Cleo"}]
    notes = Notes()
    importer = Importer(engine, notes, None, dry_run=False)
    records = (Record(number, row) for number, row in enumerate(rows, 1))
    assert list(importer.take("x.jsonl", records)) == [4]
    assert (importer.taken, notes) == (Taken(imported=2, entities=1, relations=1), Notes())
    assert engine.list().memories == ()
    assert [each.memory_id for each in engine.store.hidden("default")] == ["tea"]
    assert engine.get("milk", namespace="ada").content == "Anna likes milk"
    assert len(engine.store.relations("ada")) == 1


def test_a_dry_run_counts_and_writes_nothing(engine: memorata.Engine) -> None:
    importer = Importer(engine, Notes(), None, dry_run=True)
    list(importer.take("x.jsonl", iter([Record(1, TEA), Record(2, MILK)])))
    assert importer.taken.imported == 2
    assert engine.list(hidden=True).memories == ()


def test_skipped_and_broken_records_are_told_apart_with_their_places(engine: memorata.Engine) -> None:
    notes = Notes()
    records = [
        Record(1, skipped="empty", where="part 1"),
        Record(2, KNOWS | {"asserted_by": "nobody"}),
        Record(3, problem="broken"),
        Record(4, MILK),
        Record(5, {"content": "x", "colour": 1}),
    ]
    assert list(Importer(engine, notes, "bob", dry_run=False).take("x", iter(records))) == [5]
    assert notes.skipped == [{"file": "x", "line": 1, "where": "part 1", "reason": "empty"}]
    assert [(each["line"], each["problem"][:14]) for each in notes.problems] == [
        (2, "no memory 'nob"),
        (3, "broken"),
        (5, "field must be "),
    ]
    assert notes.problems[1] == {"file": "x", "line": 3, "where": "line 3", "problem": "broken"}
    assert engine.get("milk", namespace="bob").content == "Anna likes milk"
