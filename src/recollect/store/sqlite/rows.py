"""A memory as a row of the table, and back, exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence, Sized
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from recollect.model.memory import Memory, Source, Tier
from recollect.model.place import Place

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

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ABSENT: Final = "[]"
_NO_SOURCE: Final = Source()
_TIERS: Final = {tier.value: tier for tier in Tier}
_TIER_NAMES: Final = {tier: tier.value for tier in Tier}
_written: Final = json.JSONEncoder(ensure_ascii=False).encode


def microseconds(instant: datetime | None) -> int | None:
    """Return an instant as whole microseconds since 1970; None stays None."""
    return None if instant is None else (instant - _EPOCH) // _MICROSECOND


def instant(value: int | None) -> datetime | None:
    """Return the instant of :func:`microseconds`.

    Examples
    --------
    >>> instant(microseconds(datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=UTC)))
    datetime.datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)
    """
    return None if value is None else _EPOCH + timedelta(microseconds=value)


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
        _TIER_NAMES[memory.tier],
        memory.confidence,
        memory.importance,
        _json(memory.tags),
        _written(dict(memory.metadata)) if memory.metadata else "{}",
        source.speaker,
        source.session,
        source.position,
        source.link,
        _json(memory.entities),
        None if place is None else place.lat,
        None if place is None else place.lon,
        None if place is None else place.name,
        microseconds(memory.created_at),
        microseconds(memory.valid_from),
        microseconds(memory.valid_to),
        microseconds(memory.expires_at),
        _json(memory.supersedes),
        memory.superseded_by,
        memory.mentions,
        memory.access_count,
        microseconds(memory.last_accessed_at),
        memory.version,
        memory.fingerprint,
        memory.embedder,
        int(memory.pinned),
        microseconds(memory.supported_at),
    )


def memory(values: Sequence[Any]) -> Memory:
    """Return the memory of a row selected as `SELECTED`.

    What is in the table was checked on its way in, so the checks are not run again: building ten results
    must not cost more than finding them.
    """
    (
        id_, content, category, tier, confidence, importance, tags, metadata, speaker, session, position,
        link, entities, lat, lon, place, created_at, valid_from, valid_to, expires_at, supersedes,
        superseded_by, mentions, access_count, last_accessed_at, version, fingerprint, embedder, pinned,
        supported_at, namespace,
    ) = values  # fmt: skip
    known = object.__new__(Memory)
    put = object.__setattr__
    put(known, "id", id_)
    put(known, "content", content)
    put(known, "created_at", instant(created_at))
    put(known, "namespace", namespace)
    put(known, "category", category)
    put(known, "tier", _TIERS[tier])
    put(known, "confidence", confidence)
    put(known, "importance", importance)
    put(known, "pinned", bool(pinned))
    put(known, "tags", _tuple(tags))
    put(known, "metadata", MappingProxyType(json.loads(metadata) if metadata != "{}" else {}))
    plain = position is None and not speaker and not session and not link
    put(known, "source", _NO_SOURCE if plain else Source(speaker, session, position, link))
    put(known, "entities", _tuple(entities))
    put(known, "place", None if lat is None else Place(lat, lon, place))
    put(known, "valid_from", instant(valid_from))
    put(known, "valid_to", instant(valid_to))
    put(known, "expires_at", instant(expires_at))
    put(known, "supersedes", _tuple(supersedes))
    put(known, "superseded_by", superseded_by)
    put(known, "mentions", mentions)
    put(known, "supported_at", instant(supported_at))
    put(known, "access_count", access_count)
    put(known, "last_accessed_at", instant(last_accessed_at))
    put(known, "version", version)
    put(known, "fingerprint", fingerprint)
    put(known, "embedder", embedder)
    return known


def _json(values: tuple[str, ...]) -> str:
    return _written(values) if values else _ABSENT


def _tuple(text: str) -> tuple[str, ...]:
    return () if text == _ABSENT else tuple(json.loads(text))
