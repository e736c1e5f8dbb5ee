"""Entities and relations as JSON and back."""

from datetime import UTC, datetime

import pytest

from memorata.cli.entity_json import entity_as_json, entity_from_json, relation_as_json, relation_from_json
from memorata.model import Entity, InvalidArgument, Relation
from memorata.store.naming import EntityRecord

NOW = datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=UTC)


def test_they_come_back_exactly() -> None:
    record = EntityRecord(Entity("Zoë", "person", ("Z",), "about"), merged_into="Anna")
    assert entity_from_json(entity_as_json(record, "a/b")) == record
    relation = Relation("Anna", "knows", "Ben", 1 / 3, "m1", NOW, NOW, NOW)
    assert relation_from_json(relation_as_json(relation, "a/b")) == relation
    assert relation_as_json(relation, "a/b")["valid_from"] == "2026-05-07T01:02:03.000004+00:00"


def test_a_key_that_is_wrong_or_missing_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"did you mean aliases\?"):
        entity_from_json({"kind": "entity", "name": "Anna", "alias": []})
    with pytest.raises(InvalidArgument, match="such that target is among them"):
        relation_from_json({"kind": "relation", "source": "Anna", "type": "knows"})
    with pytest.raises(InvalidArgument, match="created_at must be a time in ISO 8601"):
        relation_from_json({"kind": "relation", "source": "a", "type": "b", "target": "c", "created_at": 5})
