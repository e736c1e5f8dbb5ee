"""A memory as a JSON object and back, exactly: one line of an export, one item of ``--json``.

Every field of :class:`~memorata.model.memory.Memory` has the key of its own name. Times are ISO 8601 in UTC.
An export also says since when a memory has been hidden, which the store knows and the memory does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

from memorata.cli.arguments import instant
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source
from memorata.model.nearest import nearest
from memorata.model.place import Place
from memorata.store.port import Hidden

FIELDS: Final = tuple(each.name for each in fields(Memory))
_SINCE: Final = ("forgotten_at", "superseded_at")
HIDDEN: Final = (*_SINCE, "end_given", "repeat")
_TIMES: Final = (
    "created_at", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at",
)  # fmt: skip


def as_json(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain data.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> tea = Memory(id="m1", content="Anna likes tea", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    >>> as_json(tea)["created_at"], Memory(**from_json(as_json(tea))) == tea
    ('2026-05-07T00:00:00+00:00', True)
    """
    data = {name: getattr(memory, name) for name in FIELDS}
    for name, value in data.items():
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
        elif isinstance(value, Source | Place):
            data[name] = asdict(value)
    return data | {"tier": memory.tier.value, "metadata": dict(memory.metadata)}


def from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :class:`Memory` that an object gives; those it leaves out are left out.

    Raises
    ------
    InvalidArgument
        A key that no memory has, or a time, source or place that cannot be read. Everything else is checked
        when the memory is made.
    """
    for name in data:
        if name not in FIELDS:
            raise InvalidArgument("field", name, f"one that a memory has{nearest(name, FIELDS)}")
    found = dict(data)
    for name in _TIMES:
        if found.get(name) is not None:
            found[name] = _instant(name, found[name])
    if isinstance(found.get("source"), Mapping):
        found["source"] = _made(Source, "source", found["source"])
    if isinstance(found.get("place"), Mapping):
        found["place"] = _made(Place, "place", found["place"])
    return found


def hidden_as_json(hidden: Hidden | None) -> dict[str, Any]:
    """Return since when a memory has been forgotten and superseded, whether that gave it its end, and why.

    None for one that is neither.
    """
    since = {name: None if hidden is None else _written(getattr(hidden, name)) for name in _SINCE}
    return since | {name: getattr(hidden, name, None) for name in ("end_given", "repeat")}


def hidden_from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return since when a memory has been forgotten and superseded, and how it ended, by the names of these.

    Examples
    --------
    >>> hidden_from_json({"forgotten_at": "2026-05-07T00:00:00Z"})["forgotten_at"]
    datetime.datetime(2026, 5, 7, 0, 0, tzinfo=datetime.timezone.utc)
    """
    given = data.get("end_given")
    if given is not None and not isinstance(given, bool):
        raise InvalidArgument("end_given", given, "true, false or null")
    since = {name: None if data.get(name) is None else _instant(name, data[name]) for name in _SINCE}
    return {**since, "end_given": given, "repeat": data.get("repeat")}


def _written(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _instant(name: str, value: object) -> datetime | None:
    if not isinstance(value, str):
        raise InvalidArgument(name, value, "a time in ISO 8601, such as '2026-05-07T18:30:00Z'")
    return instant(name, value)


def _made(kind: type[Source] | type[Place], name: str, values: Mapping[str, Any]) -> Source | Place:
    known = [each.name for each in fields(kind)]
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidArgument(name, dict(values), f"an object with the keys {', '.join(known)}") from error
