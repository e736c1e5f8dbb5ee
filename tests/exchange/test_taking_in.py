"""The one import: what comes in comes in whole, with what is hidden of it, or not at all."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import recollect
from recollect.exchange.taking_in import Declared, Intake, Said
from recollect.model import Entity, Relation
from recollect.model.errors import AlreadySuperseded
from recollect.store.naming import EntityRecord

AT = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.fixture
def engine() -> Iterator[recollect.Engine]:
    with recollect.open(":memory:", embedder="lexical") as opened:
        yield opened


def said(id_: str, content: str, **fields: Any) -> Said:
    hidden = {name: fields.pop(name) for name in ("forgotten_at", "superseded_at") if name in fields}
    return Said({"id": id_, "content": content, **fields}, **hidden)


TEA = said("tea", "Anna likes tea", created_at=AT, forgotten_at=AT)
MILK = said("milk", "Anna likes milk", created_at=AT)


def test_what_was_forgotten_is_never_seen_not_even_for_a_moment(
    engine: recollect.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def cut_off(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(engine.store, "hide", cut_off)
        with pytest.raises(KeyboardInterrupt):
            Intake(engine).take([MILK, TEA])
    assert engine.list(hidden=True).memories == ()
    intake = Intake(engine)
    assert intake.take([MILK, TEA]) == {}
    assert intake.taken.imported == 2
    assert [memory.id for memory in engine.list().memories] == ["milk"]
    assert engine.check() == []


def test_what_somebody_has_restored_since_stays_so(engine: recollect.Engine) -> None:
    Intake(engine).take([TEA])
    engine.restore("tea")
    again = Intake(engine)
    again.take([TEA])
    assert (again.taken.imported, again.taken.known) == (0, 1)
    assert [memory.id for memory in engine.list().memories] == ["tea"]


def test_a_dry_run_counts_and_writes_nothing(engine: recollect.Engine) -> None:
    intake = Intake(engine, dry_run=True)
    knows = Relation("Anna", "knows", "Ben", asserted_by="milk")
    assert intake.take([Declared(knows), TEA, MILK, Declared(EntityRecord(Entity("Cleo")))]) == {}
    assert (intake.taken.imported, intake.taken.entities, intake.taken.relations) == (2, 1, 1)
    assert engine.list(hidden=True).memories == ()
    assert engine.store.changes(0, 10) == []


def test_what_was_not_exported_is_read_for_names_and_days(engine: recollect.Engine) -> None:
    text = "Anna Smith met him on 7 May 2026"
    Intake(engine).take([said("read", text), said("given", text, entities=[], valid_from=None)])
    assert engine.get("read").entities == ("Anna Smith",)
    assert engine.get("read").valid_from == AT
    assert (engine.get("given").entities, engine.get("given").valid_from) == ((), None)


def test_a_chain_comes_in_with_its_times(engine: recollect.Engine) -> None:
    replaced, forgotten = datetime(2026, 6, 2, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    intake = Intake(engine, "acme")
    problems = intake.take(
        [
            said("a", "old", created_at=AT, version=2, superseded_by="b", superseded_at=replaced),
            said("b", "new", created_at=AT, supersedes=["a"], forgotten_at=forgotten),
        ]
    )
    assert (intake.taken.imported, problems) == (2, {})
    old, new = engine.store.get("acme", ["a", "b"])
    assert (old.superseded_by, old.version, new.supersedes) == ("b", 2, ("a",))
    hidden = {each.memory_id: each for each in engine.store.hidden("acme")}
    assert (hidden["a"].superseded_at, hidden["b"].forgotten_at) == (replaced, forgotten)


def test_what_is_there_is_left_as_it_is(engine: recollect.Engine) -> None:
    engine.remember("mine", id="a", namespace="acme")
    engine.describe_entity("Anna", type="person", namespace="acme")
    engine.relate("Anna", "knows", "Bob", namespace="acme")
    intake = Intake(engine, "acme")
    problems = intake.take(
        [
            said("a", "theirs"),
            Declared(EntityRecord(Entity("anna", "dog"))),
            Declared(engine.store.relations("acme")[0]),
            Declared(Relation("Anna", "knows", "Bob")),
        ]
    )
    assert (problems, intake.taken.known, intake.taken.imported) == ({}, 4, 0)
    assert engine.get("a", namespace="acme").content == "mine"
    assert engine.entity("Anna", namespace="acme").entity.type == "person"


def test_what_takes_a_place_that_is_taken_fails_alone(engine: recollect.Engine) -> None:
    old = engine.remember("Anna lives in Rome")
    new = engine.correct(old.id, "Anna lives in Paris")
    intake = Intake(engine)
    problems = intake.take(
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


def test_problems_stand_in_order_whatever_they_are_about(engine: recollect.Engine) -> None:
    problems = Intake(engine).take(
        [
            Declared(Relation("Anna", "knows", "Bob", asserted_by="nobody")),
            said("a", "fine"),
            said("a", "twice"),
            Said({"id": "b"}),
            Declared(EntityRecord(Entity("Anna")), namespace="no such/ name"),
            said("c", "x", supersedes=["nobody"]),
        ]
    )
    assert list(problems) == [0, 2, 3, 4, 5]
    assert "another one than that of an earlier record" in str(problems[2])
    assert "such that content is among them" in str(problems[3])
    assert [each.id for each in engine.list().memories] == ["a"]
