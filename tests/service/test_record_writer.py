"""Imported memories, entities and relations: they come in once, hidden as they were."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.dedupe.fingerprint import fingerprint
from memorata.model import Entity, Relation
from memorata.model.errors import AlreadySuperseded, InvalidArgument, MemoryNotFound
from memorata.service.record_writer import (
    DeclarationWriter,
    ImportCounts,
    ImportedDeclaration,
    ImportedMemory,
    RecordWriter,
)
from memorata.store.entities import EntityRecord
from memorata_graph import Graph

AT = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.fixture
def engine() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


def said(id_: str, content: str, **fields: Any) -> ImportedMemory:
    hidden = {
        name: fields.pop(name)
        for name in ("forgotten_at", "superseded_at", "end_given", "repeat")
        if name in fields
    }
    return ImportedMemory({"id": id_, "content": content, **fields}, **hidden)


TEA = said("tea", "Anna likes tea", created_at=AT, forgotten_at=AT)
MILK = said("milk", "Anna likes milk", created_at=AT)


def test_what_was_forgotten_is_never_seen_not_even_for_a_moment(
    engine: memorata.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def cut_off(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(engine.store, "hide", cut_off)
        with pytest.raises(KeyboardInterrupt):
            RecordWriter(engine).write([MILK, TEA])
    assert engine.list(hidden=True).memories == ()
    writer = RecordWriter(engine)
    assert writer.write([MILK, TEA]) == {}
    assert writer.counts.imported == 2
    assert [memory.id for memory in engine.list().memories] == ["milk"]
    assert engine.admin.check() == []


def test_what_somebody_has_restored_since_stays_so(engine: memorata.Engine) -> None:
    RecordWriter(engine).write([TEA])
    engine.restore("tea")
    again = RecordWriter(engine)
    again.write([TEA])
    assert (again.counts.imported, again.counts.known) == (0, 1)
    assert [memory.id for memory in engine.list().memories] == ["tea"]


def test_a_dry_run_counts_and_writes_nothing(engine: memorata.Engine) -> None:
    writer = RecordWriter(engine, dry_run=True)
    knows = Relation("Anna", "knows", "Ben", asserted_by="milk")
    assert (
        writer.write(
            [ImportedDeclaration(knows), TEA, MILK, ImportedDeclaration(EntityRecord(Entity("Cleo")))]
        )
        == {}
    )
    assert (writer.counts.imported, writer.counts.entities, writer.counts.relations) == (2, 1, 1)
    assert engine.list(hidden=True).memories == ()
    assert engine.store.changes(0, 10) == []


def test_what_was_not_exported_is_read_for_names_and_days(engine: memorata.Engine) -> None:
    text = "Anna Smith met him on 7 May 2026"
    RecordWriter(engine).write([said("read", text), said("given", text, entities=[], valid_from=None)])
    assert engine.get("read").entities == ("Anna Smith",)
    assert engine.get("read").valid_from == AT
    assert (engine.get("given").entities, engine.get("given").valid_from) == ((), None)


def test_a_chain_comes_in_with_its_times(engine: memorata.Engine) -> None:
    replaced, forgotten = datetime(2026, 6, 2, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    writer = RecordWriter(engine, "acme")
    problems = writer.write(
        [
            said("a", "old", created_at=AT, version=2, superseded_by="b", superseded_at=replaced),
            said("b", "new", created_at=AT, supersedes=["a"], forgotten_at=forgotten),
        ]
    )
    assert (writer.counts.imported, problems) == (2, {})
    old, new = engine.store.get("acme", ["a", "b"])
    assert (old.superseded_by, old.version, new.supersedes) == ("b", 2, ("a",))
    hidden = {each.memory_id: each for each in engine.store.hidden("acme")}
    assert (hidden["a"].superseded_at, hidden["b"].forgotten_at) == (replaced, forgotten)


@pytest.mark.parametrize(
    ("until", "told", "given"),
    [
        (datetime(2026, 6, 2, tzinfo=UTC), True, True),
        (datetime(2026, 6, 2, tzinfo=UTC), False, False),
        # Exports did not always tell: an end where the other began is no end of its own.
        (datetime(2026, 6, 2, tzinfo=UTC), None, True),
        (datetime(2026, 6, 1, tzinfo=UTC), None, False),
        (None, None, True),
    ],
)
def test_an_end_comes_in_with_who_gave_it(
    engine: memorata.Engine, until: datetime | None, told: bool | None, given: bool
) -> None:
    june = datetime(2026, 6, 2, tzinfo=UTC)
    ended = {"valid_to": until, "superseded_by": "b", "superseded_at": june, "end_given": told}
    things = [said("a", "old", created_at=AT, **ended), said("b", "new", created_at=june, supersedes=["a"])]
    for some in (things, things[:1], things[1:]):
        if some != things[1:]:
            writer = RecordWriter(engine, f"n{len(some)}")
        assert writer.write(some) == {}
    for namespace in ("n2", "n1"):
        (hidden,) = engine.store.hidden(namespace)
        assert (hidden.superseded_at, hidden.end_given) == (june, given)


def test_what_was_said_again_does_not_come_back_because_it_was_corrected(engine: memorata.Engine) -> None:
    heard, settled = datetime(2026, 5, 9, tzinfo=UTC), datetime(2026, 5, 11, tzinfo=UTC)
    things = [
        said("rome", "Anna lives in Rome", created_at=AT, superseded_by="paris", superseded_at=settled),
        said("paris", "Anna lives in Paris", created_at=AT, supersedes=["rome"]),
        said("again", "Anna lives in Rome", created_at=AT, superseded_by="rome", superseded_at=heard),
    ]
    for some in (things, things[:2], things[2:]):
        assert RecordWriter(engine, f"n{len(some)}").write(some) == {}
    assert RecordWriter(engine, "n2").write(things[2:]) == {}
    for namespace in ("n3", "n2"):
        assert [each.id for each in engine.list(namespace=namespace).memories] == ["paris"]
        assert engine.get("again", namespace=namespace).superseded_by == "rome"
        ended = {each.memory_id: each.superseded_at for each in engine.store.hidden(namespace)}
        assert ended == {"rome": settled, "again": heard}
    # Without what it repeats it is all there is.
    assert [each.id for each in engine.list(namespace="n1").memories] == ["again"]


def test_what_only_repeats_comes_in_with_the_note_of_it(engine: memorata.Engine) -> None:
    again, older = {"superseded_by": "tea", "repeat": "near"}, {"superseded_by": "new", "repeat": "exact"}
    things = [
        said("tea", "Anna likes green tea", created_at=AT),
        said("again", "Anna really likes green tea", created_at=AT, superseded_at=AT, **again),
        said("old", "Bob sails", created_at=AT, superseded_at=AT, **older),
        said("new", "bob sails", created_at=AT, supersedes=["old"]),
    ]
    assert RecordWriter(engine).write(things) == {}
    assert [(each.memory_id, each.kind) for each in engine.admin.duplicates.repeats("tea")] == [
        ("again", "near")
    ]
    assert [(each.memory_id, each.kind) for each in engine.admin.duplicates.repeats("new")] == [
        ("old", "exact")
    ]
    (problem,) = RecordWriter(engine).write([said("x", "tea", superseded_at=AT, repeat="alike")]).values()
    assert "repeat must be one of" in str(problem)
    engine.purge("tea")
    assert [each.id for each in engine.store.export("default")] == ["old", "new"]


def test_a_circle_is_not_taken_in(engine: memorata.Engine) -> None:
    things = [
        said("a", "tea", created_at=AT, superseded_by="b", superseded_at=AT),
        said("b", "green tea", created_at=AT, supersedes=["a"], superseded_by="c", superseded_at=AT),
        said("c", "black tea", created_at=AT, supersedes=["b"], superseded_by="a", superseded_at=AT),
        said("d", "tea", created_at=AT, superseded_by="a", superseded_at=AT),
        said("e", "milk", created_at=AT, supersedes=["d"]),
    ]
    problems = RecordWriter(engine).write(things)
    assert {place: type(error) for place, error in problems.items()} == {4: AlreadySuperseded}
    assert [each.id for each in engine.list().memories] == ["c"]
    # What is there already may be told otherwise, and stays as it is.
    again = [
        said("c", "black tea", created_at=AT, superseded_by="b", superseded_at=AT),
        said("b", "green tea", created_at=AT, supersedes=["c"]),
        said("f", "tea", created_at=AT, superseded_by="b", superseded_at=AT),
    ]
    assert RecordWriter(engine).write(again) == {}
    assert engine.get("c").superseded_by is None
    assert engine.admin.check() == []
    (problem,) = (
        RecordWriter(engine).write([said("g", "tea", supersedes=[["c"]], superseded_by="c")]).values()
    )
    assert "supersedes[0]" in str(problem)


def test_what_is_there_is_left_as_it_is(engine: memorata.Engine) -> None:
    engine.remember("mine", id="a", namespace="acme")
    Graph(engine).entities.describe("Anna", type="person", namespace="acme")
    Graph(engine).entities.relate("Anna", "knows", "Bob", namespace="acme")
    writer = RecordWriter(engine, "acme")
    problems = writer.write(
        [
            said("a", "theirs"),
            ImportedDeclaration(EntityRecord(Entity("anna", "dog"))),
            ImportedDeclaration(engine.store.relations.list("acme")[0]),
            ImportedDeclaration(Relation("Anna", "knows", "Bob")),
        ]
    )
    assert (problems, writer.counts) == ({}, ImportCounts(known=1, known_entities=1, known_relations=2))
    assert engine.get("a", namespace="acme").content == "mine"
    assert Graph(engine).entities.get("Anna", namespace="acme").entity.type == "person"


def test_what_takes_a_place_that_is_taken_fails_alone(engine: memorata.Engine) -> None:
    old = engine.remember("Anna lives in Rome")
    new = engine.correct(old.id, "Anna lives in Paris")
    writer = RecordWriter(engine)
    problems = writer.write(
        [
            said("a", "Bob sails"),
            said("b", "Anna lives in Oslo", supersedes=[old.id]),
            said("c", "Bob rows", supersedes=["a"]),
            said("d", "Bob swims", supersedes=["a"]),
        ]
    )
    assert {place: str(error) for place, error in problems.items()} == {
        1: str(AlreadySuperseded(old.id, new.id)),
        3: str(AlreadySuperseded("a", "c")),
    }
    assert {each.id for each in engine.list().memories} == {new.id, "c"}


def test_what_an_earlier_record_has_said_is_known(engine: memorata.Engine) -> None:
    for dry_run, namespace in ((True, "acme"), (False, "acme"), (False, "home")):
        writer = RecordWriter(engine, namespace, dry_run=dry_run)
        assert writer.write([TEA, TEA, MILK]) == writer.write([MILK]) == {}
        assert (writer.counts.imported, writer.counts.known) == (2, 2)
    assert len(engine.list(namespace="home", hidden=True).memories) == 2


@pytest.mark.parametrize(
    ("verb", "things"),
    [
        ("admin.transfer.import_records", [TEA, MILK]),
        ("_writer.entries", [TEA, MILK]),
        ("_writer.entries", [said("a", "x"), said("b", "y")]),
    ],
)
def test_the_same_import_twice_at_once_adds_everything_once(
    verb: str, things: list[ImportedMemory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        memorata.open(tmp_path / "m.db", embedder=None) as opened,
        memorata.open(tmp_path / "m.db", embedder=None) as theirs,
    ):
        ours = opened.scope(via="import")
        path, _, method = verb.rpartition(".")
        facet, writer = attrgetter(path)(ours), RecordWriter(ours)
        work = getattr(facet, method)

        def later(*given: Any, **named: Any) -> object:
            RecordWriter(theirs).write(things[1:])
            return work(*given, **named)

        monkeypatch.setattr(facet, method, later)
        assert writer.write(things) == {}
        assert (writer.counts.imported, writer.counts.known) == (1, 1)
        assert len(ours.list(hidden=True).memories) == 2


def test_what_fails_for_another_reason_is_not_tried_for_ever(
    engine: memorata.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InvalidArgument("content", "x", "said on another day")

    monkeypatch.setattr(engine, "remember_many", refuse)
    with pytest.raises(InvalidArgument, match="said on another day"):
        RecordWriter(engine).write([said("a", "x")])


def test_problems_stand_in_order_whatever_they_are_about(engine: memorata.Engine) -> None:
    problems = RecordWriter(engine).write(
        [
            ImportedDeclaration(Relation("Anna", "knows", "Bob", asserted_by="nobody")),
            said("a", "fine"),
            said("a", "twice"),
            ImportedMemory({"id": "b"}),
            ImportedDeclaration(EntityRecord(Entity("Anna")), namespace="no such/ name"),
            said("c", "x", supersedes=["nobody"]),
        ]
    )
    assert list(problems) == [0, 2, 3, 4, 5]
    assert "another one than that of an earlier record" in str(problems[2])
    assert "such that content is among them" in str(problems[3])
    assert [each.id for each in engine.list().memories] == ["a"]


def test_what_was_exported_comes_in_without_what_it_took_the_place_of(engine: memorata.Engine) -> None:
    newer = said("milk", "Anna likes milk", created_at=AT, supersedes=["tea", "rum"])
    (problem,) = RecordWriter(engine).write([newer]).values()
    assert str(problem) == "supersedes must be a memory that is there or comes earlier, got 'tea'"
    engine.remember("Anna likes rum", id="rum")
    exported = ImportedMemory({**newer.fields, "fingerprint": fingerprint("Anna likes milk")})
    assert RecordWriter(engine).write([exported]) == {}
    assert engine.get("milk").supersedes == ("rum",)
    assert engine.admin.check() == []


NOW = datetime(2026, 5, 7, tzinfo=UTC)
ANNA = EntityRecord(Entity("Anna", "person"), merged_into="Anna Keller")
KNOWS = Relation("Anna", "knows", "Ben")


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_second_time_adds_nothing(dry_run: bool) -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        writer = DeclarationWriter(memory, None, lambda id_, namespace: id_ == "m1", dry_run=dry_run)
        dated = replace(KNOWS, created_at=datetime(2020, 1, 1, tzinfo=UTC))
        assert [writer.write(each) for each in (ANNA, ANNA, dated, dated)] == [True, False, True, False]
        assert writer.write(EntityRecord(Entity("Anna Keller", description="x")))
        assert not writer.write(EntityRecord(Entity("ben")))
        if dry_run:
            assert memory.store.changes(0, 10) == []
            return
        assert Graph(memory).entities.get("Anna").entity == Entity("Anna Keller", description="x")
        assert memory.store.relations.list("default")[0].created_at == datetime(2020, 1, 1, tzinfo=UTC)
        with pytest.raises(MemoryNotFound):
            writer.write(replace(KNOWS, asserted_by="nobody"))
        assert not DeclarationWriter(memory, None, lambda *_: True).write(ANNA)


def test_the_namespace_given_wins_over_the_one_that_is_said() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        DeclarationWriter(memory, "b", lambda *_: True).write(KNOWS, "a")
        DeclarationWriter(memory, None, lambda *_: True).write(KNOWS, "c")
        assert memory.store.namespaces().keys() == {"b", "c"}
        assert memory.store.relations.list("b")[0].created_at == NOW


def test_a_relation_that_has_ended_since_stays_ended() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        dated = replace(KNOWS, created_at=datetime(2020, 1, 1, tzinfo=UTC))
        assert DeclarationWriter(memory, None, lambda *_: True).write(dated)
        Graph(memory).entities.relate("Anna", "knows", "Ben", valid_to=NOW)
        (ended,) = memory.store.relations.list("default")
        assert ended.valid_to == NOW
        for again in (dated, KNOWS, replace(dated, weight=0.5)):
            assert not DeclarationWriter(memory, None, lambda *_: True).write(again)
        assert memory.store.relations.list("default") == [ended]


def test_a_relation_is_known_by_any_of_the_names() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        Graph(memory).entities.describe("Anna Keller", aliases=["Annie"])
        Graph(memory).entities.relate("Anna Keller", "knows", "Ben")
        for name in ("anna keller", "Annie"):
            assert not DeclarationWriter(memory, None, lambda *_: True).write(Relation(name, "knows", "BEN"))
        assert DeclarationWriter(memory, None, lambda *_: True).write(KNOWS)


def test_an_example_of_record_writer() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        writer = RecordWriter(memory, "acme")
        problems = writer.write([ImportedMemory({"content": text}) for text in ("Anna likes tea", " ")])
        assert writer.counts.imported == 1
        assert str(problems[1]) == "content must be text that is not blank, got ' '"
