"""Entities and relations as JSON and back."""

from datetime import UTC, datetime

import pytest

from memorata.model import Entity, InvalidArgument, Relation
from memorata.service.transfer import entity_row, read_entity, read_relation, relation_row
from memorata.store.entities import EntityRecord

NOW = datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=UTC)


def test_they_come_back_exactly() -> None:
    record = EntityRecord(Entity("Zoë", "person", ("Z",), "about"), merged_into="Anna")
    assert read_entity(entity_row(record, "a/b")) == record
    relation = Relation("Anna", "knows", "Ben", 1 / 3, "m1", NOW, NOW, NOW)
    assert read_relation(relation_row(relation, "a/b")) == relation
    assert relation_row(relation, "a/b")["valid_from"] == "2026-05-07T01:02:03.000004+00:00"


def test_a_key_that_is_wrong_or_missing_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"did you mean aliases\?"):
        read_entity({"kind": "entity", "name": "Anna", "alias": []})
    with pytest.raises(InvalidArgument, match="such that target is among them"):
        read_relation({"kind": "relation", "source": "Anna", "type": "knows"})
    with pytest.raises(InvalidArgument, match="created_at must be a time in ISO 8601"):
        read_relation({"kind": "relation", "source": "a", "type": "b", "target": "c", "created_at": 5})


def test_an_example_of_entity_row() -> None:
    assert (
        (entity_row(EntityRecord(Entity("Bob"), merged_into="Robert"), "default")["merged_into"]) == "Robert"
    )


def test_an_example_of_relation_row() -> None:
    assert relation_row(Relation("Anna", "knows", "Ben"), "default")["target"] == "Ben"


def test_an_example_of_read_entity() -> None:
    assert read_entity({"kind": "entity", "name": "Anna", "aliases": ["Annie"]}).entity.aliases == ("Annie",)


def test_an_example_of_read_relation() -> None:
    assert (
        read_relation({"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben"}).weight
    ) == 1.0
