"""Entities and relations come in once, and what is there is left as it is."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

import memorata
from memorata.model import Entity, Relation
from memorata.model.errors import MemoryNotFound
from memorata.service.declarations import DeclarationWriter
from memorata.store.entities import EntityRecord

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
        assert memory.entities.get("Anna").entity == Entity("Anna Keller", description="x")
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
        memory.entities.relate("Anna", "knows", "Ben", valid_to=NOW)
        (ended,) = memory.store.relations.list("default")
        assert ended.valid_to == NOW
        for again in (dated, KNOWS, replace(dated, weight=0.5)):
            assert not DeclarationWriter(memory, None, lambda *_: True).write(again)
        assert memory.store.relations.list("default") == [ended]


def test_a_relation_is_known_by_any_of_the_names() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        memory.entities.describe("Anna Keller", aliases=["Annie"])
        memory.entities.relate("Anna Keller", "knows", "Ben")
        for name in ("anna keller", "Annie"):
            assert not DeclarationWriter(memory, None, lambda *_: True).write(Relation(name, "knows", "BEN"))
        assert DeclarationWriter(memory, None, lambda *_: True).write(KNOWS)
