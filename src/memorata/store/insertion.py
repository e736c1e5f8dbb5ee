"""The rows of many memories, column by column, without the columns in which all of them say the usual thing.

Handing SQLite a value takes longer than writing it down, and most memories leave most of their fields as they
are. A column in which every memory of a batch has the usual value stands as a constant in the statement, or,
if that is nothing, not at all. Batches of a kind share a statement, so that it is prepared once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, NamedTuple

from memorata.model.memory import Memory
from memorata.model.place import Place
from memorata.store import rows
from memorata.store.database import Dialect
from memorata.store.instants import microseconds
from memorata.store.rows import COLUMNS


class _Field(NamedTuple):
    """A field of a memory, its usual value, its columns, and what makes their values of the field's."""

    values: Callable[[Memory], Any]
    usual: object
    columns: tuple[str, ...]
    written: Callable[[Any], Any] | None


def insertion(
    dialect: Dialect, number: int, first: int, memories: Sequence[Memory]
) -> tuple[str, Iterator[tuple[Any, ...]]]:
    """Return the statement that adds memories to a namespace, and the values of each for it.

    Parameters
    ----------
    dialect
        Of the database.
    number
        The number of the namespace.
    first
        The slot of the first memory; those of the others follow.
    memories
        What is added.
    """
    if len(memories) == 1:
        # There is nothing to be saved by looking for what all of one have in common.
        return _statement(COLUMNS), iter(
            [(dialect.number(number, first), number, first, *rows.row(memories[0]))]
        )
    bound: list[str] = []
    values: list[Sequence[Any]] = []
    for field in _FIELDS:
        found = list(map(field.values, memories))
        if field.usual is not _NEVER and found.count(field.usual) == len(found):
            continue
        written = found if field.written is None else list(map(field.written, found))
        bound += field.columns
        values += [written] if len(field.columns) == 1 else zip(*written, strict=True)
    slots = range(first, first + len(memories))
    start = dialect.number(number, first)
    numbers = range(start, start + len(memories))
    return _statement(tuple(bound)), zip(numbers, repeat(number, len(memories)), slots, *values, strict=True)


@lru_cache(maxsize=256)
def _statement(bound: tuple[str, ...]) -> str:
    constant = {
        column: value for column, value in _USUAL.items() if column not in bound and value is not None
    }
    columns = ", ".join(("number", "namespace", "slot", *bound, *constant))
    marks = ", ".join([*("?" * (3 + len(bound))), *map(_constant, constant.values())])
    return f"INSERT INTO memories ({columns}) VALUES ({marks})"


def _constant(value: str | float) -> str:
    """Return a usual value as SQL has it; none of the texts has a quotation mark."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def _where(place: Place | None) -> tuple[float | None, float | None, str | None]:
    return (None, None, None) if place is None else (place.lat, place.lon, place.name)


def _field(
    name: str,
    written: Callable[[Any], Any] | None = None,
    columns: tuple[str, ...] = (),
    *,
    own: bool = False,
) -> _Field:
    usual = _NEVER if own else getattr(_PLAIN, name)
    return _Field(attrgetter(name), usual, columns or (name,), written)


_NEVER: Final = object()
"""In place of a usual value, for what every memory has for itself."""
_PLAIN: Final = Memory(id="m", content="m", created_at=datetime(1970, 1, 1, tzinfo=UTC))
_USUAL: Final[Mapping[str, Any]] = dict(zip(COLUMNS, rows.row(_PLAIN), strict=True))
_FIELDS: Final = (
    _field("id", own=True),
    _field("content", own=True),
    _field("category"),
    _field("tier", rows.tier_name),
    _field("confidence"),
    _field("importance"),
    _field("tags", rows.listed),
    _field("metadata", rows.mapped),
    _field(
        "source",
        attrgetter("speaker", "session", "position", "link"),
        ("speaker", "session", "position", "link"),
    ),
    _field("entities", rows.listed),
    _field("place", _where, ("lat", "lon", "place")),
    _field("created_at", microseconds, own=True),
    _field("valid_from", microseconds),
    _field("valid_to", microseconds),
    _field("expires_at", microseconds),
    _field("supersedes", rows.listed),
    _field("superseded_by"),
    _field("mentions"),
    _field("access_count"),
    _field("last_accessed_at", microseconds),
    _field("version"),
    _field("fingerprint", own=True),
    _field("embedder", own=True),
    _field("pinned", int),
    _field("supported_at", microseconds),
)
