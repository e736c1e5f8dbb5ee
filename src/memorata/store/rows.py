"""Rows of namespaces, memories, records and changes: how they are written, read and changed.

A memory becomes a row of the table, and is made of it again, exactly. Instants are whole microseconds since
1970. Every function with a session runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from datetime import UTC, datetime, timedelta
from json.encoder import encode_basestring
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, overload
from zlib import crc32

from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument, MemoryNotFound, StoreCorrupt, StoreError
from memorata.model.memory import Memory, Source, Tier, trusted_memory, unattributed
from memorata.store.database import Session, Statement

SLOTS: Final = 2**31
NAMESPACES: Final = 2**25
EMBEDDERS: Final = 2**7
"""How many of each there is room for; numbers stay below these."""
NO_MEMORY: Final = SLOTS - 1
"""The slot of a change that is about no memory; no memory ever gets it."""
LARGEST: Final = 2**63 - 1
"""The largest whole number of a database; a limit above it means no limit."""


def checked_limit(what: str, number: int, room: int) -> None:
    """Raise if there is no room for a number."""
    if number >= room:
        raise StoreError(f"the database has no room for more {what}; start another one")


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@overload
def microseconds(instant: datetime) -> int: ...
@overload
def microseconds(instant: None) -> None: ...
@overload
def microseconds(instant: datetime | None) -> int | None: ...
def microseconds(instant: datetime | None) -> int | None:
    """Return an instant as whole microseconds since 1970; None stays None."""
    return None if instant is None else (instant - EPOCH) // MICROSECOND


def moment(value: int) -> datetime:
    """Return the instant so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=value)


def instant(value: int | None) -> datetime | None:
    """Return the instant of :func:`microseconds`."""
    return None if value is None else moment(value)


STATED: Final = (
    "id", "content", "category", "tier", "confidence", "importance", "tags", "metadata", "speaker", "session",
    "position", "link", "via", "role", "entities", "lat", "lon", "place", "created_at", "valid_from",
    "expires_at", "mentions", "fingerprint", "pinned", "untrusted", "supported_at",
)  # fmt: skip
"""The columns that only change together with their row: its checksum is that of these, as text. The others
(links, ends, counters) change one by one; `check` compares them with records and with each other."""

_ABSENT: Final = "[]"
_TIERS: Final = {tier.value: tier for tier in Tier}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_written: Final = json.JSONEncoder(ensure_ascii=False).encode
_quoted: Final = encode_basestring
_read: Final = json.JSONDecoder().raw_decode
"""Without the search for white space around it, which the encoder does not write."""


def marks(values: Sized) -> str:
    """Return as many question marks as there are values, for an ``IN (…)``."""
    return ", ".join("?" * len(values))


_STATED_TEXT: Final = "\x1f".join(["%s"] * len(STATED))


def checksum(*stated: object) -> int:
    """Return the checksum of the values of `STATED`: the CRC-32 of them as text.

    Compared whenever a memory is read, in about a third of the time that making the memory takes.
    """
    return crc32((_STATED_TEXT % stated).encode())


positive_zero: Final = (0.0).__add__
"""Makes 0.0 of -0.0, which SQLite writes as 0: it would come back as another text in the checksum."""


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


def _where(place: Place | None) -> tuple[float | None, float | None, str | None]:
    if place is None:
        return None, None, None
    return positive_zero(place.lat), positive_zero(place.lon), place.name


class Field(NamedTuple):
    """A field of a memory, its columns, and the function that makes their values."""

    name: str
    written: Callable[[Any], Any]
    columns: tuple[str, ...]


def _same(value: object) -> object:
    return value


def _field(name: str, written: Callable[[Any], Any] = _same, columns: tuple[str, ...] = ()) -> Field:
    return Field(name, written, columns or (name,))


_SOURCE: Final = ("speaker", "session", "position", "link", "via", "role")
FIELDS: Final = (
    _field("id"),
    _field("content"),
    _field("category"),
    _field("tier", {tier: tier.value for tier in Tier}.__getitem__),
    _field("confidence", positive_zero),
    _field("importance", positive_zero),
    _field("tags", listed),
    _field("metadata", mapped),
    _field("source", attrgetter(*_SOURCE), _SOURCE),
    _field("entities", listed),
    _field("place", _where, ("lat", "lon", "place")),
    _field("created_at", microseconds),
    _field("valid_from", microseconds),
    _field("valid_to", microseconds),
    _field("expires_at", microseconds),
    _field("supersedes", listed),
    _field("superseded_by"),
    _field("mentions"),
    _field("access_count"),
    _field("last_accessed_at", microseconds),
    _field("version"),
    _field("fingerprint"),
    _field("embedder"),
    _field("pinned", int),
    _field("untrusted", int),
    _field("supported_at", microseconds),
)
COLUMNS: Final = (*(column for field in FIELDS for column in field.columns), "checksum")
OWN: Final = ", ".join(f"m.{column}" for column in COLUMNS)
"""The columns that a memory `m` has itself; its namespace's path completes them."""
SELECTED: Final = f"{OWN}, n.path"
"""The columns of a memory `m` in namespace `n`, as :func:`memory` expects them."""
SOURCE: Final = "memories m JOIN namespaces n ON n.number = m.namespace"
"""What they are selected from."""
_all_fields: Final = attrgetter(*(field.name for field in FIELDS))
_stated: Final = itemgetter(*map(COLUMNS.index, STATED))
_CHECKSUM: Final = COLUMNS.index("checksum")


_CONVERTED: Final = tuple(
    (position, field.written, len(field.columns) > 1)
    for position, field in reversed(tuple(enumerate(FIELDS)))
    if field.written is not _same
)
"""What is written otherwise than it is, from the last: what becomes several values moves those behind it."""


def row(memory: Memory) -> tuple[Any, ...]:
    """Return the values of `COLUMNS` for a memory."""
    values = list(_all_fields(memory))
    for position, write, several in _CONVERTED:
        value = values[position]
        if several:
            values[position : position + 1] = write(value)
        elif value is not None:
            values[position] = write(value)
    return *values, checksum(*_stated(values))


def memory(values: Sequence[Any], path: str | None = None) -> Memory:
    """Return the memory of a row selected as `SELECTED`; its fields are not checked again.

    `path`: of its namespace; None to take it from the row.
    """
    read = _made(values, path)
    _check_sum(values)
    return read


def _made(values: Sequence[Any], path: str | None) -> Memory:
    (
        id_, content, category, tier, confidence, importance, tags, metadata, speaker, session, position,
        link, via, role, entities, lat, lon, place, created_at, valid_from, valid_to, expires_at, supersedes,
        superseded_by, mentions, access_count, last_accessed_at, version, fingerprint, embedder, pinned,
        untrusted, supported_at, _, namespace,
    ) = values  # fmt: skip
    try:
        plain = position is None and not (speaker or session or link or role)
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
                bool(untrusted),
                unlisted(tags),
                _NOTHING if metadata == "{}" else MappingProxyType(_read(metadata)[0]),
                unattributed(via) if plain else Source(speaker, session, position, link, via, role),
                unlisted(entities),
                None if lat is None else Place(lat, lon, place),
                None if valid_from is None else instant(valid_from),
                None if valid_to is None else instant(valid_to),
                None if expires_at is None else instant(expires_at),
                unlisted(supersedes),
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
    """Return the memory of a row as :func:`memory` does, with every field checked again."""
    read = _made(values, path)
    try:
        read.__post_init__()
    except NOT_AS_WRITTEN as error:
        raise unreadable(read.id, error) from error
    _check_sum(values)
    return read


def _check_sum(values: Sequence[Any]) -> None:
    """Raise if a row does not match its checksum."""
    # As `checksum` computes it, without handing on every value.
    if values[_CHECKSUM] not in (None, crc32((_STATED_TEXT % _stated(values)).encode())):
        raise unreadable(values[0], ValueError("its checksum is another"))


def unlisted(text: str) -> tuple[str, ...]:
    """Return the texts that were :func:`listed`."""
    return () if text == _ABSENT else tuple(_read(text)[0])


NOT_AS_WRITTEN: Final = (KeyError, TypeError, ValueError, OverflowError, InvalidArgument)
"""The errors that reading a damaged row raises."""


def unreadable(id_: object, error: Exception) -> StoreCorrupt:
    """Return the error of a memory whose row cannot be read.

    >>> str(unreadable("m1", KeyError("tier")))
    "the row of memory m1 cannot be read ('tier'); restore it from a backup"
    """
    return StoreCorrupt(f"the row of memory {id_} cannot be read ({error}); restore it from a backup")


NAMED: Final = "path NOT LIKE '(%'"
"""The condition that a row of the namespaces table is no stub of a purge; no name has a parenthesis."""
NAMESPACE_COLUMNS: Final = "number, path, slots, flushed, change, generation, begun, naming, settings"
"""The columns of :class:`Namespace`, by which every session reads its row."""


class Namespace(NamedTuple):
    """A row of the namespaces table."""

    number: int
    path: str
    slots: int
    flushed: int
    change: int
    generation: int
    begun: int = 0
    """A change before it was made: what was cached under its name until then is of another namespace."""
    naming: int = 0
    """The last change of the names of its entities."""
    settings: int = 0
    """How often its saved settings have changed."""


EMPTY: Final = Namespace(0, "", 0, 0, 0, 0)
"""One that nothing was ever written to."""


def find_namespace(session: Session, path: str) -> Namespace | None:
    """Return a namespace, or None if nothing was ever written to it."""
    row = session.namespace(path)
    return None if row is None else Namespace._make(row)


def named_in(number: int, start: int, end: int) -> Statement:
    """Return the statement that reads the names in the memories of some slots, on a server, as listed."""
    return (
        "SELECT slot, entities FROM memories WHERE namespace = ? AND number >= ? AND number < ? "
        "AND entities <> '[]'",
        (number, start, end),
    )


def speakers_in(session: Session, number: int, start: int) -> Statement:
    """Return the statement that reads the sessions of memories from a slot on, and their speakers."""
    place = session.dialect.number
    return (
        "SELECT DISTINCT m.session, m.speaker FROM memories m WHERE +m.namespace = ? AND m.number >= ? "
        "AND m.number < ? AND m.speaker <> ''",
        (number, place(number, start), place(number, SLOTS)),
    )


def memories_at(session: Session, number: int, slots: Sequence[int]) -> Statement:
    """Return the statement that reads the memories of slots: `OWN` and the slot of each."""
    start = session.dialect.number(number, 0)
    among, numbers = session.dialect.among([start + slot for slot in slots])
    return (
        f"SELECT {OWN}, m.slot FROM memories m WHERE +m.namespace = ? AND m.number {among}",
        [number, *numbers],
    )


def new_namespace(session: Session, path: str) -> Namespace:
    """Make a namespace, inside a write that names it, and return it."""
    session.dialect.make_namespace(session, path)
    namespace = find_namespace(session, path)
    assert namespace is not None  # it was just made
    return namespace


def made_namespace(session: Session, path: str) -> Namespace:
    """Return a namespace, making it if it does not exist yet, inside a write that names it."""
    namespace = find_namespace(session, path)
    return new_namespace(session, path) if namespace is None else namespace


def is_inhabited(session: Session, number: int) -> bool:
    """Return whether a namespace has any memory."""
    row = session.execute("SELECT 1 FROM memories WHERE namespace = ? LIMIT 1", (number,)).fetchone()
    return row is not None


FIND: Final = f"SELECT m.number, m.slot, {OWN}, NULL FROM memories m WHERE m.namespace = ? AND m.id = ?"
_MAX_AHEAD: Final = 100
"""How many memories are read ahead at most."""


def find(session: Session, path: str, id_: str) -> tuple[Namespace, int, int, Memory]:
    """Return the namespace, number and slot of a memory, and the memory, or raise."""
    namespace = find_namespace(session, path)
    if namespace is not None:
        row = session.execute(FIND, (namespace.number, id_)).fetchone()
        if row is not None:
            return namespace, row[0], row[1], memory(row[2:], path)
    raise MemoryNotFound(id_, path)


def expect_found(session: Session, path: str, ids: Sequence[str], sql: str = FIND) -> None:
    """Read ahead, on a server, the rows of :func:`find`, or of another statement by namespace and id."""
    if (number := session.dialect.namespace_number(path)) is not None:
        session.namespace(path, [(sql, (number, id_)) for id_ in ids[:_MAX_AHEAD]])


def read_memories(session: Session, namespace: Namespace, slots: Sequence[int]) -> dict[int, Memory]:
    """Return the memories of a namespace by slot; slots without one are left out."""
    # All rows are fetched before the first is decoded: taking turns is slower (instruction cache).
    rows = session.execute(*memories_at(session, namespace.number, slots)).fetchall()
    path = namespace.path
    return {row[-1]: memory(row, path) for row in rows}


def ids_at(session: Session, number: int, slots: Iterable[int]) -> dict[int, str]:
    """Return the ids of the memories of a namespace by slot; slots without one are left out."""
    numbers = [session.dialect.number(number, slot) for slot in sorted(set(slots))]
    if not numbers:
        return {}
    rows = session.execute(
        "SELECT slot, id FROM memories WHERE +namespace = ? AND number IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(numbers)),
    )
    return dict(rows.fetchall())


def slots_of(session: Session, number: int, ids: Collection[str]) -> dict[str, int]:
    """Return the slots of the memories of a namespace by id; missing ids are left out."""
    if not ids:
        return {}
    rows = session.execute(
        "SELECT id, slot FROM memories WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(list(ids))),
    )
    return dict(rows.fetchall())


def log_change(
    session: Session,
    number: int,
    kind: str,
    slot: int = NO_MEMORY,
    *,
    naming: bool = False,
    slots: int | None = None,
) -> int:
    """Note in the feed and in the namespace that something happened, and return the number of the change.

    `naming` for a change of declared names, which is about no memory (`NO_MEMORY`); `slots` for how
    many the namespace has from now on.
    """
    change = session.insert("changes", "namespace, slot, kind", (number, slot, kind), key="change")
    if naming:
        session.execute("UPDATE namespaces SET change = ?1, naming = ?1 WHERE number = ?2", (change, number))
    elif slots is not None:
        session.execute(
            "UPDATE namespaces SET slots = ?, change = ? WHERE number = ?", (slots, change, number)
        )
    else:
        session.execute("UPDATE namespaces SET change = ? WHERE number = ?", (change, number))
    return change


def last_change(session: Session, number: int) -> int:
    """Return the number of the last change of a namespace."""
    row = session.execute("SELECT change FROM namespaces WHERE number = ?", (number,)).fetchone()
    return 0 if row is None else int(row[0])


def put_record(session: Session, namespace: Namespace, slot: int, record: bytes, kind: str) -> int:
    """Change the record of a memory, and return the number of the change."""
    session.execute(
        "UPDATE records SET record = ? WHERE namespace = ? AND slot = ?", (record, namespace.number, slot)
    )
    return log_change(session, namespace.number, kind, slot)


def set_columns(session: Session, number: int, memory: int, *, version: int = 1, **columns: object) -> None:
    """Change columns of a memory by its number, and count its version up."""
    for name, value in columns.items():
        if isinstance(value, datetime | tuple):
            columns[name] = microseconds(value) if isinstance(value, datetime) else listed(value)
    assigned = ", ".join(f"{name} = ?" for name in columns)
    session.execute(
        f"UPDATE memories SET {assigned}, version = version + ? WHERE +namespace = ? AND number = ?",
        (*columns.values(), version, number, memory),
    )
