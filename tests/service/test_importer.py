"""The records of files and lines: where what does not come in stands. The rest: test_record_writer.py."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.service.formats.record import Notes, Record, jsonl_record
from memorata.service.record_writer import ImportCounts
from memorata.service.transfer import Importer, files_of
from memorata_graph import Graph

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
    importer = Importer(engine, notes=notes)
    records = (Record(number, row) for number, row in enumerate(rows, 1))
    assert list(importer.add_file("x.jsonl", records)) == [4]
    assert (importer.counts, notes) == (ImportCounts(imported=2, entities=1, relations=1), Notes())
    assert engine.list().memories == ()
    assert [each.memory_id for each in engine.store.hidden("default")] == ["tea"]
    assert engine.get("milk", namespace="ada").content == "Anna likes milk"
    assert len(engine.store.relations.list("ada")) == 1


def test_a_dry_run_counts_and_writes_nothing(engine: memorata.Engine) -> None:
    importer = Importer(engine, dry_run=True)
    list(importer.add_file("x.jsonl", iter([Record(1, TEA), Record(2, MILK)])))
    assert importer.counts.imported == 2
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
    assert list(Importer(engine, "bob", notes=notes).add_file("x", iter(records))) == [5]
    assert notes.skipped == [{"file": "x", "line": 1, "where": "part 1", "reason": "empty"}]
    assert [(each["line"], each["problem"][:14]) for each in notes.problems] == [
        (2, "no memory 'nob"),
        (3, "broken"),
        (5, "field must be "),
    ]
    assert notes.problems[1] == {"file": "x", "line": 3, "where": "line 3", "problem": "broken"}
    assert engine.get("milk", namespace="bob").content == "Anna likes milk"


def take_lines(importer: Importer, lines: list[tuple[int, bytes]]) -> None:
    importer.add([jsonl_record(number, line) for number, line in lines])


def test_every_kind_of_line_comes_in_with_its_times(engine: memorata.Engine) -> None:
    importer = Importer(engine, "acme")
    take_lines(
        importer,
        [
            (1, b'{"id": "a", "content": "old", "created_at": "2026-01-01T00:00:00Z", "version": 2,'
                b' "superseded_by": "b", "superseded_at": "2026-02-02T00:00:00Z", "namespace": "elsewhere"}'),
            (2, b'{"id": "b", "content": "new", "created_at": "2026-02-01T00:00:00Z", "supersedes": ["a"],'
                b' "forgotten_at": "2026-03-01T00:00:00Z"}'),
            (3, b'{"kind": "entity", "name": "Anna", "aliases": ["Annie"], "merged_into": "Anna Keller"}'),
            (4, b'{"kind": "relation", "source": "Anna", "type": "knows", "target": "Bob",'
                b' "asserted_by": "b", "created_at": "2026-02-01T00:00:00Z", "namespace": "elsewhere"}'),
        ]
    )  # fmt: skip
    assert importer.counts == ImportCounts(imported=2, entities=1, relations=1)
    assert (importer.notes.failed, importer.notes.problems) == (0, [])
    old, new = engine.store.get("acme", ["a", "b"])
    assert (old.superseded_by, old.version, new.supersedes) == ("b", 2, ("a",))
    hidden = {each.memory_id: each for each in engine.store.hidden("acme")}
    assert [str(hidden["a"].superseded_at), str(hidden["b"].forgotten_at)] == [
        "2026-02-02 00:00:00+00:00",
        "2026-03-01 00:00:00+00:00",
    ]
    assert Graph(engine).entities.get("annie", namespace="acme").entity.name == "Anna Keller"
    assert str(engine.store.relations.list("acme")[0].created_at) == "2026-02-01 00:00:00+00:00"


def test_a_line_that_was_read_before_is_not_read_again(engine: memorata.Engine) -> None:
    importer = Importer(engine, "acme")
    take_lines(
        importer,
        [(1, b'{"id": "a", "content": "Anna met Bob yesterday", "entities": [], "valid_from": null}')],
    )
    (taken,) = engine.store.get("acme", ["a"])
    assert (taken.entities, taken.valid_from) == ((), None)


def test_problems_are_listed_by_their_lines_whoever_finds_them(engine: memorata.Engine) -> None:
    importer = Importer(engine, "acme")
    take_lines(
        importer,
        [
            (3, b'{"kind": "relation", "source": "a", "type": "b", "target": "c", "asserted_by": "nobody"}'),
            (4, b'{"content": "x", "supersedes": ["nobody"]}'),
            (7, b'{"content": "x", "confidence": "high"}'),
            (8, b"{"),
            (9, b'{"content": "x"}'),
        ],
    )
    assert (importer.counts.imported, importer.notes.failed) == (1, 4)
    assert [(each["line"], each["problem"][:12]) for each in importer.notes.problems] == [
        (3, "no memory 'n"),
        (4, "supersedes m"),
        (7, "confidence m"),
        (8, "not JSON: Ex"),
    ]


def test_no_more_problems_are_listed_than_can_be_read(engine: memorata.Engine) -> None:
    importer = Importer(engine, max_problems=100)
    take_lines(importer, [(number, b"{") for number in range(70)])
    take_lines(importer, [(number, b"{") for number in range(70, 150)])
    assert (importer.notes.failed, len(importer.notes.problems)) == (150, 100)


def test_a_content_that_is_too_long_is_a_problem(engine: memorata.Engine) -> None:
    importer = Importer(engine, max_content=5)
    importer.add([Record(1, {"content": "short"}), Record(2, {"content": "longer"})])
    assert (importer.counts.imported, importer.notes.failed) == (1, 1)
    assert importer.notes.problems[0]["problem"].startswith("content must be at most 5 characters")


def test_files_come_in_order_with_the_names_they_have_in_the_folder(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/c/d.txt", ".git/config", "a/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    assert [(name, path) for name, path in files_of(tmp_path)] == [
        ("a/c/d.txt", tmp_path / "a/c/d.txt"),
        ("a/z.md", tmp_path / "a/z.md"),
        ("b.md", tmp_path / "b.md"),
    ]


def test_an_example_of_files_of(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for file in ("b/c.md", "a.md", ".hidden.md"):
        (tmp_path / file).write_text("Tea.")
    assert [name for name, _ in files_of(tmp_path)] == ["a.md", "b/c.md"]
