"""The result of mem0's `get_all`, written to a file as JSON, as records: one for each memory.

Either a list of memories or ``{"results": [...], "relations": [...]}``. A memory has at least `memory`, its
text, and usually `id`, `metadata`, `user_id`, `created_at`; whatever else it has is kept in the metadata
under ``mem0``. Relations, which the graph variant returns, become relations.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from memorata.service.formats.record import Reading, Record, parse_json, stable_id

_READ_KEYS: Final = ("id", "memory", "metadata", "created_at", "categories", "expiration_date", "score")


def records(data: bytes) -> Reading:
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
    return Reading(len(value) + len(relations), _records(value, relations))


def _records(memories: list[Any], relations: list[Any]) -> Iterator[Record]:
    for number, memory in enumerate(memories, 1):
        where = f"memory {number}"
        text = memory.get("memory") if isinstance(memory, dict) else None
        if not isinstance(text, str):
            yield Record(number, problem="no memory: an object whose memory is a text", where=where)
        elif not text.strip():
            yield Record(number, skipped="an empty memory", where=where)
        else:
            yield _memory(number, memory, text, where)
    for number, relation in enumerate(relations, 1):
        yield _relation(len(memories) + number, relation, f"relation {number}")


def _memory(number: int, raw: dict[str, Any], text: str, where: str) -> Record:
    metadata = raw.get("metadata") or {}
    if not isinstance(metadata, dict):
        return Record(number, problem="its metadata is no object", where=where)
    extra = {key: value for key, value in raw.items() if key not in _READ_KEYS and value is not None}
    if "id" in raw:
        extra["id"] = raw["id"]
    fields: dict[str, Any] = {
        "id": stable_id(
            "mem0",
            raw.get("id") or [text, raw.get("user_id"), raw.get("created_at")],
        ),
        "content": text,
        "metadata": {**metadata, **({"mem0": extra} if extra else {})},
    }
    categories = raw.get("categories")
    listed = categories if isinstance(categories, list) else [categories]
    tags = [tag for tag in listed if isinstance(tag, str)]
    if tags:
        fields["tags"] = tags
    source = {"speaker": raw.get("actor_id"), "session": raw.get("run_id")}
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


def _relation(number: int, raw: object, where: str) -> Record:
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
