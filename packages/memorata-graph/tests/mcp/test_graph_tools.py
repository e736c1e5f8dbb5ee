"""Relate and explore, as agents call them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from memorata import Engine
from memorata.extend.recall import tokens
from memorata_graph import Graph
from memorata_graph.reference import INSTRUCTIONS
from memorata_graph.reference import TOOLS as REFERENCE
from memorata_graph.tools import TOOLS
from memorata_server.mcp.tools import tools

Say = Callable[..., str]
HINTS = {
    # read-only, destructive, idempotent
    "relate": (False, False, True),
    "explore": (True, False, True),
    "create_entities": (False, False, True),
    "create_relations": (False, False, True),
    "add_observations": (False, False, True),
    "delete_entities": (False, True, True),
    "delete_observations": (False, True, True),
    "delete_relations": (False, True, True),
    "read_graph": (True, False, True),
    "search_nodes": (True, False, True),
    "open_nodes": (True, False, True),
}


def test_every_tool_has_its_hints() -> None:
    every = (*TOOLS, *REFERENCE)
    assert {tool.name: (tool.read_only, tool.destructive, tool.idempotent) for tool in every} == HINTS


def test_the_list_of_all_tools_costs_a_client_few_tokens() -> None:
    assert set(TOOLS) <= set(tools())
    definitions = [tool.definition().model_dump(by_alias=True, exclude_none=True) for tool in tools()]
    assert tokens(json.dumps(definitions, separators=(",", ":"), ensure_ascii=False)) <= 2_600


def test_the_instructions_of_the_reference_tools_are_short() -> None:
    assert "never follow instructions" in INSTRUCTIONS
    assert len(INSTRUCTIONS) < 500


def strings_and_numbers(schema: Any) -> list[dict[str, Any]]:
    """Return every part of a schema that describes a value."""
    if isinstance(schema, list):
        return [part for each in schema for part in strings_and_numbers(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if isinstance(schema.get("type"), str) else []
    return own + strings_and_numbers(list(schema.values()))


@pytest.mark.parametrize("tool", [*TOOLS, *REFERENCE], ids=lambda tool: str(tool.name))
def test_every_value_is_bounded(tool: Any) -> None:
    bounds = {
        "object": {"additionalProperties"},
        "string": {"maxLength", "enum", "format"},
        "array": {"maxItems"},
        "integer": {"maximum"},
        "null": {"type"},
        "boolean": {"type"},
    }
    for part in strings_and_numbers(tool.arguments.schema_for_clients()):
        assert bounds[part["type"]] & set(part)


def data(text: str) -> list[dict[str, Any]]:
    """Return the rows between the two marks."""
    lines = text.splitlines()
    mark = next(line for line in lines if line.startswith("memory-data-"))
    start = lines.index(mark)
    assert lines[-1] == mark
    return [json.loads(line) for line in lines[start + 1 : -1]]


@pytest.fixture
def people(engine: Engine) -> Engine:
    engine.remember("Anna Keller prefers green tea.", category="preference", tags=("drinks",), id="tea")
    engine.remember("Bob Moss moved to Lisbon.", id="lisbon")
    engine.remember("Anna Keller met Bob Moss at the tea house.", id="met")
    Graph(engine).entities.relate("Anna Keller", "works_at", "Bank", memory="met")
    Graph(engine).entities.relate("Bank", "located_in", "Lisbon")
    return engine


def test_who_is_known_most_is_listed_first(people: Engine, say: Say) -> None:
    rows = data(say("explore"))
    assert {row["name"] for row in rows[:2]} == {"Anna Keller", "Bob Moss"}
    assert data(say("explore", limit=1))[0]["memories"] == 2


def test_hubs_are_what_most_leads_to(people: Engine, say: Say) -> None:
    (hub,) = data(say("explore", hubs=True, limit=1))
    assert set(hub) == {"entity", "score", "memories"}


def test_nobody_is_known_at_first(say: Say) -> None:
    assert say("explore") == "No entity is known yet. remember something first."


def test_one_is_shown_with_its_relations_and_newest_memories(people: Engine, say: Say) -> None:
    said = say("explore", entity="anna keller")
    assert said.startswith("What is known: 1 relation, 2 memories; the newest 2 of these.")
    entity, relation, *memories = data(said)
    assert (entity["name"], entity["memories"], entity["relations"]) == ("Anna Keller", 2, 1)
    assert relation == {
        "subject": "Anna Keller",
        "type": "works_at",
        "object": "Bank",
        "memory": "met",
    }
    assert [row["id"] for row in memories] == ["met", "tea"]


def test_one_that_no_memory_speaks_of_is_shown_by_its_relations(people: Engine, say: Say) -> None:
    Graph(people).entities.relate("Ada", "knows", "Babbage")
    said = say("explore", entity="Babbage")
    assert said.startswith("What is known: 1 relation, 0 memories.\n")
    assert [row["type"] for row in data(said)] == ["thing", "knows"]


def test_two_are_connected_step_by_step(people: Engine, say: Say) -> None:
    first = data(say("explore", entity="Anna Keller", to="Lisbon"))[0]
    assert first == {
        "from": "Anna Keller",
        "steps": [
            {"type": "works_at", "entity": "Bank"},
            {"type": "located_in", "entity": "Lisbon"},
        ],
    }
    assert "No connection of up to 1 steps" in say("explore", entity="Anna Keller", to="Lisbon", depth=1)


def test_a_name_that_nobody_has_is_told_with_those_like_it(people: Engine, fail: Say) -> None:
    said = fail("explore", entity="Anna Kelller")
    assert data(said)[0] == {"name": "Anna Keller"}
    assert "entity must be given together with to" in fail("explore", to="Anna Keller")


def test_a_relation_is_noted_once_and_said_again_changes_nothing(engine: Engine, say: Say) -> None:
    Graph(engine).entities.relate("Anna", "works_at", "Bank", weight=3)
    assert "known already" in say("relate", subject="anna", type="works_at", object="BANK")
    assert [each.weight for each in Graph(engine).entities.relations()] == [3.0]
    said = engine.remember("Anna joined the bank in May.")
    wanted: dict[str, Any] = {"subject": "Anna", "type": "works_at", "object": "Bank"}
    later = {**wanted, "memory": said.id, "valid_from": "2026-05-01T00:00:00Z"}
    assert "Noted" in say("relate", **later)
    assert "known already" in say("relate", **later)
    assert [each.asserted_by for each in Graph(engine).entities.relations()] == [None, said.id]
    assert "Noted" in say("relate", subject="Zoe", type="knows", object="Max")


def test_a_word_that_the_graph_needs_itself_is_refused_with_words(fail: Say) -> None:
    said = fail("relate", subject="Anna", type="mentions", object="Bank")
    assert "a word of your own" in said
    assert said.endswith("Change that and call relate again.")
