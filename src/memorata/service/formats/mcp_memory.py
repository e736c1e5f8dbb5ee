"""The file of the MCP reference memory server as records: entities with observations, and relations.

Each line is an object: ``{"type": "entity", "name", "entityType", "observations": [...]}`` or ``{"type":
"relation", "from", "to", "relationType"}``. Every observation becomes a memory that mentions its entity; one
that does not name it is given the name in front, for "speaks Spanish" alone answers no question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from memorata.service.formats.jsonl import lines
from memorata.service.formats.record import Reading, Record, stable_id


def records(data: bytes) -> Reading:
    """Return the records of a file."""
    return Reading(data.count(b"\n") + 1, _records(data))


def _records(data: bytes) -> Iterator[Record]:
    seen: Counter[tuple[str, str]] = Counter()
    for number, value, problem in lines(data):
        if problem:
            yield Record(number, problem=problem)
        elif isinstance(value, dict) and value.get("type") == "entity":
            yield from _entity(number, value, seen)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield _relation(number, value)
        else:
            yield Record(number, problem="neither an entity nor a relation, going by its type")


def _entity(number: int, value: dict[str, Any], seen: Counter[tuple[str, str]]) -> Iterator[Record]:
    name, kind, observations = value.get("name"), value.get("entityType"), value.get("observations", [])
    if not isinstance(name, str) or not name.strip():
        yield Record(number, problem="an entity without a name")
        return
    if not isinstance(observations, list):
        yield Record(number, problem=f"the observations of {name!r} are no list")
        observations = []
    for position, observation in enumerate(observations, 1):
        where = f"line {number}, observation {position}"
        if not isinstance(observation, str):
            yield Record(number, problem="an observation that is no text", where=where)
        elif not observation.strip():
            yield Record(number, skipped="an empty observation", where=where)
        else:
            seen[name, observation] += 1
            yield Record(number, _memory(name, observation, seen[name, observation]), where=where)
    declared = {"kind": "entity", "name": name, "type": kind if isinstance(kind, str) else ""}
    yield Record(number, declared)


def _memory(name: str, observation: str, number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": stable_id("mcp-memory", name, observation, number),
        "content": observation,
        "entities": [name],
    }
    phrase = name.replace("_", " ")
    if phrase.casefold() not in observation.replace("_", " ").casefold():
        fields["content"] = f"{phrase}: {observation}"
        fields["metadata"] = {"observation": observation}
    return fields


def _relation(number: int, value: dict[str, Any]) -> Record:
    ends = [value.get(key) for key in ("from", "relationType", "to")]
    if not all(isinstance(end, str) and end.strip() for end in ends):
        return Record(number, problem="a relation without from, relationType and to")
    source, type_, target = ends
    return Record(number, {"kind": "relation", "source": source, "type": type_, "target": target})
