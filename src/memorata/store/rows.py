"""A memory as a row of the table, and back, exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Sized
from datetime import timedelta
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any, Final

from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.model.memory import Memory, Source, Tier, trusted_memory
from memorata.model.place import Place
from memorata.store.instants import EPOCH, MICROSECOND, instant, microseconds

COLUMNS: Final = (
    "id", "content", "category", "tier", "confidence", "importance", "tags", "metadata", "speaker", "session",
    "position", "link", "entities", "lat", "lon", "place", "created_at", "valid_from", "valid_to",
    "expires_at", "supersedes", "superseded_by", "mentions", "access_count", "last_accessed_at", "version",
    "fingerprint", "embedder", "pinned", "supported_at",
)  # fmt: skip

OWN: Final = ", ".join(f"m.{column}" for column in COLUMNS)
"""The columns that a memory `m` has itself; its namespace's path completes them."""

SELECTED: Final = f"{OWN}, n.path"
"""The columns of a memory `m` in namespace `n`, as :func:`memory` expects them."""

SOURCE: Final = "memories m JOIN namespaces n ON n.number = m.namespace"
"""What they are selected from."""

_ABSENT: Final = "[]"
_NO_SOURCE: Final = Source()
_TIERS: Final = {tier.value: tier for tier in Tier}
tier_name: Final = {tier: tier.value for tier in Tier}.__getitem__
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_written: Final = json.JSONEncoder(ensure_ascii=False).encode
_quoted: Final = encode_basestring
_read: Final = json.JSONDecoder().raw_decode
"""What we wrote has no white space around it to look for."""


def marks(values: Sized) -> str:
    """Return as many question marks as there are values, for an ``IN (…)``.

    Examples
    --------
    >>> marks([3, 1, 4])
    '?, ?, ?'
    """
    return ", ".join("?" * len(values))


def row(memory: Memory) -> tuple[Any, ...]:
    """Return the values of `COLUMNS` for a memory."""
    place, source = memory.place, memory.source
    return (
        memory.id,
        memory.content,
        memory.category,
        tier_name(memory.tier),
        memory.confidence,
        memory.importance,
        listed(memory.tags),
        mapped(memory.metadata),
        source.speaker,
        source.session,
        source.position,
        source.link,
        listed(memory.entities),
        None if place is None else place.lat,
        None if place is None else place.lon,
        None if place is None else place.name,
        (memory.created_at - EPOCH) // MICROSECOND,
        None if memory.valid_from is None else microseconds(memory.valid_from),
        None if memory.valid_to is None else microseconds(memory.valid_to),
        None if memory.expires_at is None else microseconds(memory.expires_at),
        listed(memory.supersedes),
        memory.superseded_by,
        memory.mentions,
        memory.access_count,
        None if memory.last_accessed_at is None else microseconds(memory.last_accessed_at),
        memory.version,
        memory.fingerprint,
        memory.embedder,
        int(memory.pinned),
        None if memory.supported_at is None else microseconds(memory.supported_at),
    )


def listed(values: tuple[str, ...]) -> str:
    """Return texts as the JSON of their column."""
    return _written(values) if values else _ABSENT


def mapped(values: Mapping[str, Any]) -> str:
    """Return a mapping as JSON; one of texts and whole numbers is put together by hand, which is quicker."""
    if not values:
        return "{}"
    parts = []
    for key, value in values.items():
        kind = type(value)
        if kind is int:
            parts.append(f"{_quoted(key)}: {value}")
        elif kind is str:
            parts.append(f"{_quoted(key)}: {_quoted(value)}")
        else:
            return _written(dict(values))
    return "{" + ", ".join(parts) + "}"


def memory(values: Sequence[Any], path: str | None = None) -> Memory:
    """Return the memory of a row selected as `SELECTED`; its fields are not checked again.

    Where the path of its namespace is given, what stands in its place in the row is not looked at.

    Raises
    ------
    StoreCorrupt
        If the row is none that was written.
    """
    (
        id_, content, category, tier, confidence, importance, tags, metadata, speaker, session, position,
        link, entities, lat, lon, place, created_at, valid_from, valid_to, expires_at, supersedes,
        superseded_by, mentions, access_count, last_accessed_at, version, fingerprint, embedder, pinned,
        supported_at, namespace,
    ) = values  # fmt: skip
    try:
        plain = position is None and not speaker and not session and not link
        return trusted_memory(
            (
                id_,
                content,
                EPOCH + timedelta(microseconds=created_at),
                namespace if path is None else path,
                category,
                _TIERS[tier],
                confidence,
                importance,
                bool(pinned),
                _tuple(tags),
                _NOTHING if metadata == "{}" else MappingProxyType(_read(metadata)[0]),
                _NO_SOURCE if plain else Source(speaker, session, position, link),
                _tuple(entities),
                None if lat is None else Place(lat, lon, place),
                None if valid_from is None else instant(valid_from),
                None if valid_to is None else instant(valid_to),
                None if expires_at is None else instant(expires_at),
                _tuple(supersedes),
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


def sound(values: Sequence[Any], path: str | None = None) -> Memory:
    """Return the memory of a row as :func:`memory` does, with every field checked again.

    Raises
    ------
    StoreCorrupt
        If the row is none that was written, or says something that no memory can.
    """
    read = memory(values, path)
    try:
        read.__post_init__()
    except NOT_AS_WRITTEN as error:
        raise unreadable(read.id, error) from error
    return read


def _tuple(text: str) -> tuple[str, ...]:
    return () if text == _ABSENT else tuple(_read(text)[0])


NOT_AS_WRITTEN: Final = (KeyError, TypeError, ValueError, OverflowError, InvalidArgument)
"""What comes of reading a row that holds something else than was written."""


def unreadable(id_: object, error: Exception) -> StoreCorrupt:
    """Return the error of a memory whose row cannot be read, given its id and why.

    Examples
    --------
    >>> str(unreadable("m1", KeyError("tier")))
    "the row of memory m1 cannot be read ('tier'); restore it from a backup"
    """
    return StoreCorrupt(f"the row of memory {id_} cannot be read ({error}); restore it from a backup")
