"""Memories of other systems: the MCP reference memory server's, and mem0's.

Each line of the MCP reference memory server is an entity with observations, or a relation. Every observation
becomes a memory that mentions its entity; one that does not name it is given the name in front, for "speaks
Spanish" alone answers no question. What mem0's `get_all` returns beside the text of a memory is kept in the
metadata under ``mem0``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from memorata.extend.transfer import Reading, Record, json_lines, parse_json, stable_id


def mcp_memory(data: bytes) -> Reading:
    """Return the records of a file."""
    return Reading(data.count(b"\n") + 1, _mcp_records(data))


def _mcp_records(data: bytes) -> Iterator[Record]:
    seen: Counter[tuple[str, str]] = Counter()
    for number, value, problem in json_lines(data):
        if problem:
            yield Record(number, problem=problem)
        elif isinstance(value, dict) and value.get("type") == "entity":
            yield from _entity(number, value, seen)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield _mcp_relation(number, value)
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
            yield Record(number, _observation(name, observation, seen[name, observation]), where=where)
    declared = {"kind": "entity", "name": name, "type": kind if isinstance(kind, str) else ""}
    yield Record(number, declared)


def _observation(name: str, observation: str, number: int) -> dict[str, Any]:
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


def _mcp_relation(number: int, value: dict[str, Any]) -> Record:
    ends = [value.get(key) for key in ("from", "relationType", "to")]
    if not all(isinstance(end, str) and end.strip() for end in ends):
        return Record(number, problem="a relation without from, relationType and to")
    source, type_, target = ends
    return Record(number, {"kind": "relation", "source": source, "type": type_, "target": target})


_READ_KEYS: Final = ("id", "memory", "metadata", "created_at", "categories", "expiration_date", "score")


def mem0(data: bytes) -> Reading:
    """Return the records of a file."""
    value, problem = parse_json(data)
    if problem is not None:
        return Reading(1, iter([problem]))
    relations: object = []
    if isinstance(value, dict):
        relations = value.get("relations") or []
        value = value.get("results", value.get("memories"))
    if not isinstance(value, list) or not isinstance(relations, list):
        return Reading(1, iter([Record(1, problem="neither a list of memories nor an object with results")]))
    return Reading(len(value) + len(relations), _mem0_records(value, relations))


def _mem0_records(memories: list[Any], relations: list[Any]) -> Iterator[Record]:
    for number, memory in enumerate(memories, 1):
        where = f"memory {number}"
        text = memory.get("memory") if isinstance(memory, dict) else None
        if not isinstance(text, str):
            yield Record(number, problem="no memory: an object whose memory is a text", where=where)
        elif not text.strip():
            yield Record(number, skipped="an empty memory", where=where)
        else:
            yield _mem0_memory(number, memory, text, where)
    for number, relation in enumerate(relations, 1):
        yield _mem0_relation(len(memories) + number, relation, f"relation {number}")


_MEM0_SOURCE: Final = {"speaker": "actor_id", "role": "role", "session": "run_id"}


def _mem0_memory(number: int, raw: dict[str, Any], text: str, where: str) -> Record:
    metadata = raw.get("metadata") or {}
    if not isinstance(metadata, dict):
        return Record(number, problem="its metadata is no object", where=where)
    extra = {key: value for key, value in raw.items() if key not in _READ_KEYS and value is not None}
    if "id" in raw:
        extra["id"] = raw["id"]
    fields: dict[str, Any] = {
        "id": stable_id("mem0", raw.get("id") or [text, raw.get("user_id"), raw.get("created_at")]),
        "content": text,
        "metadata": {**metadata, **({"mem0": extra} if extra else {})},
    }
    categories = raw.get("categories")
    listed = categories if isinstance(categories, list) else [categories]
    tags = [tag for tag in listed if isinstance(tag, str)]
    if tags:
        fields["tags"] = tags
    source = {name: raw.get(key) for name, key in _MEM0_SOURCE.items()}
    if identifiers := {key: value for key, value in source.items() if isinstance(value, str) and value}:
        fields["source"] = identifiers
    for name, key in (("created_at", "created_at"), ("expires_at", "expiration_date")):
        if raw.get(key) is not None:
            # A day on which something expires is its last one.
            last_day = key == "expiration_date" and len(str(raw[key])) == len("2026-05-07")
            when = _moment(f"{raw[key]}T23:59:59.999999" if last_day else raw[key])
            if when is None:
                return Record(number, problem=f"its {key} is no time: {raw[key]!r}", where=where)
            fields[name] = when
    return Record(number, fields, where=where)


def _mem0_relation(number: int, raw: object, where: str) -> Record:
    ends: list[object] = []
    if isinstance(raw, dict):
        ends = [
            raw.get("source"),
            raw.get("relationship", raw.get("relation")),
            raw.get("target", raw.get("destination")),
        ]
    if not ends or not all(isinstance(end, str) and end.strip() for end in ends):
        return Record(number, problem="a relation without source, relationship and target", where=where)
    source, type_, target = ends
    fields = {"kind": "relation", "source": source, "type": type_, "target": target}
    return Record(number, fields, where=where)


def _moment(value: object) -> str | None:
    """Return a time in ISO 8601; one without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).isoformat()
