"""The MCP reference memory server's file: observations as memories, entities and relations as such."""

import json

from memorata.extend.transfer import Record
from memorata_agents.importers.memory_stores import mcp_memory as records

ANNA = {
    "type": "entity",
    "name": "Anna_Smith",
    "entityType": "person",
    "observations": ["Speaks Spanish", "anna smith likes tea", "Speaks Spanish", " "],
}
WORKS = {"type": "relation", "from": "Anna_Smith", "to": "Acme", "relationType": "works_at"}


def found(*lines: object) -> list[Record]:
    return list(records("\n".join(json.dumps(line) for line in lines).encode()).records)


def test_every_observation_is_a_memory_that_names_its_entity() -> None:
    first, second, third, blank, declared = found(ANNA)
    assert first.fields["content"] == "Anna Smith: Speaks Spanish"
    assert first.fields["metadata"] == {"observation": "Speaks Spanish"}
    assert first.fields["entities"] == ["Anna_Smith"]
    assert second.fields["content"] == "anna smith likes tea"
    assert "metadata" not in second.fields
    assert third.fields["id"] != first.fields["id"]
    assert (blank.skipped, blank.place) == ("an empty observation", "line 1, observation 4")
    assert declared.fields == {"kind": "entity", "name": "Anna_Smith", "type": "person"}


def test_ids_depend_on_what_is_said_and_not_on_where() -> None:
    ids = [record.fields.get("id") for record in found(ANNA)]
    assert [record.fields.get("id") for record in found({"type": "entity", "name": "Bob"}, ANNA)][1:] == ids


def test_relations_are_relations() -> None:
    [related] = found(WORKS)
    assert related.fields == {
        "kind": "relation", "source": "Anna_Smith", "type": "works_at", "target": "Acme",
    }  # fmt: skip


def test_lines_that_cannot_be_read_are_reported_and_the_rest_goes_on() -> None:
    lines = b"""{"type": "entity", "observations": []}
{"type": "entity", "name": "Bob", "observations": "x"}
{"type": "entity", "name": "Eve", "observations": [1]}
{"type": "relation", "from": "Bob"}
{"type": "graph"}
{"type": "ent"""
    said = [(record.line, record.problem) for record in records(lines).records if record.problem]
    assert said == [
        (1, "an entity without a name"),
        (2, "the observations of 'Bob' are no list"),
        (3, "an observation that is no text"),
        (4, "a relation without from, relationType and to"),
        (5, "neither an entity nor a relation, going by its type"),
        (6, "not JSON: Unterminated string starting at at character 10"),
    ]
    names = [record.fields["name"] for record in records(lines).records if "name" in record.fields]
    assert names == ["Bob", "Eve"]


def test_an_example_of_records() -> None:
    file = b'{"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea"]}'
    assert (
        [record.fields.get("content", record.fields.get("kind")) for record in records(file).records]
    ) == ["Anna: likes tea", "entity"]
