"""The schemas that models read: every argument described and bounded, nothing else taken."""

from typing import Any

import pytest
from pydantic import ValidationError

from memorata_server.mcp.arguments import Arguments, Recall, Remember
from memorata_server.mcp.tools import OWN_TOOLS

TOOLS = {tool.name: tool for tool in OWN_TOOLS}


def parts(schema: Any) -> list[dict[str, Any]]:
    """Return every part of a schema that says what a value may be."""
    found = []
    if isinstance(schema, dict):
        found = [schema] if "type" in schema and isinstance(schema["type"], str) else []
        schema = list(schema.values())
    if isinstance(schema, list):
        found += [part for each in schema for part in parts(each)]
    return found


@pytest.mark.parametrize("name", TOOLS)
def test_every_value_is_bounded_and_nothing_unknown_is_taken(name: str) -> None:
    for part in parts(TOOLS[name].arguments.schema_for_clients()):
        kind = part["type"]
        if kind == "object":
            assert part.get("additionalProperties") is False or part["maxProperties"] <= 20
        elif kind == "string":
            assert {"maxLength", "enum", "format"} & set(part)
        elif kind == "array":
            assert part["maxItems"] <= 1_000
        elif kind in ("integer", "number"):
            assert {"minimum", "maximum"} <= set(part)
        else:
            assert kind in ("null", "boolean")


@pytest.mark.parametrize("name", [tool.name for tool in OWN_TOOLS])
def test_every_argument_says_what_it_means(name: str) -> None:
    schema = TOOLS[name].arguments.schema_for_clients()
    assert all("description" in each for each in schema["properties"].values())
    assert "title" not in str(schema)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (Recall, '{"query": ""}'),
        (Recall, '{"query": "x", "limit": 0}'),
        (Recall, '{"query": "x", "limit": "5"}'),
        (Recall, '{"query": "x", "limit": true}'),
        (Recall, '{"query": "x", "budget": 100000}'),
        (Recall, '{"query": "x", "as_of": "2026-05-07T12:00:00"}'),
        (Recall, '{"query": "x", "namespace": "other"}'),
        (Remember, '{"content": "x", "importance": 1.5}'),
        (Remember, '{"content": "x", "importance": NaN}'),
        (Remember, '{"content": "' + "x" * 100_001 + '"}'),
    ],
)
def test_bad_values_are_refused(arguments: type[Arguments], given: str) -> None:
    with pytest.raises(ValidationError):
        arguments.model_validate_json(given)
