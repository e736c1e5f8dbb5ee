"""A memory as a row of the table on a server, and back, exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from memorata.model.memory import Memory, Source, Tier, trusted_memory
from memorata.model.place import Place
from memorata.store.instants import instant, microseconds
from memorata.store.postgres.texts import storable
from memorata.store.rows import NOT_AS_WRITTEN, unreadable

COLUMNS: Final = (
    "id", "content", "category", "tier", "confidence", "importance", "tags", "metadata", "facets", "speaker",
    "session", "position", "link", "entities", "lat", "lon", "place", "created_at", "valid_from", "valid_to",
    "expires_at", "supersedes", "superseded_by", "mentions", "access_count", "last_accessed_at", "version",
    "fingerprint", "embedder", "pinned", "supported_at",
)  # fmt: skip
"""What is written of a memory."""

OWN: Final = ", ".join(f"m.{column}" for column in COLUMNS if column != "facets")
"""What is read of a memory `m`; its namespace's path completes it."""

_NO_SOURCE: Final = Source()
_TIERS: Final = {tier.value: tier for tier in Tier}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_written: Final = json.JSONEncoder(ensure_ascii=False).encode


def row(memory: Memory) -> tuple[Any, ...]:
    """Return the values of `COLUMNS` for a memory."""
    place, source = memory.place, memory.source
    return (
        memory.id,
        memory.content,
        memory.category,
        memory.tier.value,
        memory.confidence,
        memory.importance,
        list(memory.tags),
        _written(dict(memory.metadata)) if memory.metadata else "{}",
        _written(facets(dict(memory.metadata))) if memory.metadata else None,
        source.speaker,
        source.session,
        source.position,
        source.link,
        list(memory.entities),
        None if place is None else place.lat,
        None if place is None else place.lon,
        None if place is None else place.name,
        microseconds(memory.created_at),
        microseconds(memory.valid_from),
        microseconds(memory.valid_to),
        microseconds(memory.expires_at),
        list(memory.supersedes),
        memory.superseded_by,
        memory.mentions,
        memory.access_count,
        microseconds(memory.last_accessed_at),
        memory.version,
        memory.fingerprint,
        memory.embedder,
        memory.pinned,
        microseconds(memory.supported_at),
    )


def memory(values: Sequence[Any], namespace: str) -> Memory:
    """Return the memory of a row selected as `OWN`; its fields are not checked again.

    Raises
    ------
    StoreCorrupt
        If the row is none that was written.
    """
    (
        id_, content, category, tier, confidence, importance, tags, metadata, speaker, session, position,
        link, entities, lat, lon, place, created_at, valid_from, valid_to, expires_at, supersedes,
        superseded_by, mentions, access_count, last_accessed_at, version, fingerprint, embedder, pinned,
        supported_at,
    ) = values  # fmt: skip
    try:
        plain = position is None and not speaker and not session and not link
        return trusted_memory(
            (
                id_,
                content,
                instant(created_at),
                namespace,
                category,
                _TIERS[tier],
                confidence,
                importance,
                pinned,
                tuple(tags),
                _NOTHING if metadata == "{}" else MappingProxyType(json.loads(metadata)),
                _NO_SOURCE if plain else Source(speaker, session, position, link),
                tuple(entities),
                None if lat is None else Place(lat, lon, place),
                None if valid_from is None else instant(valid_from),
                None if valid_to is None else instant(valid_to),
                None if expires_at is None else instant(expires_at),
                tuple(supersedes),
                superseded_by,
                mentions,
                None if supported_at is None else instant(supported_at),
                access_count,
                None if last_accessed_at is None else instant(last_accessed_at),
                version,
                fingerprint,
                embedder,
            )
        )
    except NOT_AS_WRITTEN as error:
        raise unreadable(id_, error) from error


def facets(value: object) -> object:
    r"""Return metadata as the server's JSON can hold it: without NUL, in keys and in values.

    Examples
    --------
    >>> facets({"a\x00": ["b", 1, None]})
    {'a\x01\x01': ['b', 1, None]}
    """
    match value:
        case str():
            return storable(value)
        case Mapping():
            return {storable(key): facets(inner) for key, inner in value.items()}
        case list() | tuple():
            return [facets(inner) for inner in value]
    return value
