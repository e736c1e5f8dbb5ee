"""The rows of new memories: what is checked before they are written, and how many are written at once.

Handing SQLite a value takes longer than writing it down, and most memories leave most of their fields as they
are. A column in which every memory of a batch has the usual value stands as a constant in the statement, or,
if that is nothing, not at all. Batches of a kind share a statement, so that it is prepared once. Rows of
one width (records, vectors) are handed over in one value and cut apart by the database: of a thousand records
handing over each took two thirds of the time, of a thousand vectors a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Any, Final

import numpy as np

from memorata.dedupe.wording import statement_key
from memorata.index.codes import Floats
from memorata.index.record import RECORD, encoded_terms, packed
from memorata.index.segments import Embedder
from memorata.index.vector_rows import sealed
from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.model.memory import Memory
from memorata.store import rows
from memorata.store.database import Dialect, Session
from memorata.store.entries import Entry
from memorata.store.rows import COLUMNS, STATED, checksum


def insertion(
    dialect: Dialect, number: int, first: int, memories: Sequence[Memory]
) -> tuple[str, Iterator[tuple[Any, ...]]]:
    """Return the statement that adds memories to a namespace from a slot on, and the values of each."""
    if len(memories) == 1:
        # One memory: looking for columns that all have in common saves nothing.
        one = memories[0]
        return _statement((*COLUMNS, "statement")), iter(
            [(dialect.number(number, first), number, first, *rows.row(one), statement_of(one))]
        )
    bound: list[str] = []
    values: list[Sequence[Any]] = []
    for (name, write, columns), usual in _USUAL_FIELDS:
        unwritten = list(map(attrgetter(name), memories))
        if usual is not _NEVER and unwritten.count(usual) == len(unwritten):
            continue
        written = list(map(write, unwritten))
        bound += columns
        values += [written] if len(columns) == 1 else zip(*written, strict=True)
    by_column = dict(zip(bound, values, strict=True))
    stated = [by_column.get(column) or repeat(_USUAL[column]) for column in STATED]
    bound += ("checksum", "statement")
    values += (list(map(checksum, *stated)), list(map(statement_of, memories)))
    slots = range(first, first + len(memories))
    start = dialect.number(number, first)
    numbers = range(start, start + len(memories))
    return _statement(tuple(bound)), zip(numbers, repeat(number, len(memories)), slots, *values, strict=True)


def statement_of(memory: Memory) -> str | None:
    """Return the key of the statement of a memory; None for a turn, which repeats nothing."""
    return None if memory.source.is_turn else statement_key(memory.content)


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


_NEVER: Final = object()
"""In place of a usual value, for fields that differ between memories."""
_OWN: Final = frozenset({"id", "content", "created_at", "fingerprint", "embedder"})
_PLAIN: Final = Memory(id="m", content="m", created_at=datetime(1970, 1, 1, tzinfo=UTC))
_USUAL: Final[Mapping[str, Any]] = dict(zip(COLUMNS, rows.row(_PLAIN), strict=True))
_USUAL_FIELDS: Final = [
    (field, _NEVER if field.name in _OWN else getattr(_PLAIN, field.name)) for field in rows.FIELDS
]


_ROWS_PER_STATEMENT: Final = 1_000
"""How many rows one parameter holds at most; SQLite limits it to a thousand million bytes."""
_PLACES: Final = (
    "WITH RECURSIVE places (at) AS (VALUES (0) UNION ALL SELECT at + 1 FROM places "
    "WHERE at + 1 < CAST(?1 AS BIGINT)) "
)
_ADD_RECORDS: Final = (
    f"{_PLACES} INSERT INTO records (namespace, slot, record) "
    "SELECT CAST(?2 AS BIGINT), CAST(?3 AS BIGINT) + at, "
    f"substr(?4, at * {RECORD.itemsize} + 1, {RECORD.itemsize}) FROM places"
)
_ADD_VECTORS: Final = (
    f"{_PLACES} INSERT INTO vectors (number, namespace, embedder, slot, digest, vectors) "
    "SELECT CAST(?2 AS BIGINT) + at, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), CAST(?5 AS BIGINT) + at, "
    "substr(?6, at * CAST(?7 AS INTEGER) + 1, CAST(?7 AS INTEGER)), "
    "substr(?8, at * CAST(?9 AS INTEGER) + 1, CAST(?9 AS INTEGER)) FROM places"
)


def add_records(session: Session, number: int, first: int, records: Sequence[bytes]) -> None:
    """Write the records of neighbouring slots of a namespace, none of which has waiting terms."""
    for start in range(0, len(records), _ROWS_PER_STATEMENT):
        batch = records[start : start + _ROWS_PER_STATEMENT]
        session.execute(_ADD_RECORDS, (len(batch), number, first + start, b"".join(batch)))


def can_be_cut(values: Sequence[bytes]) -> bool:
    """Return whether values can be cut out of one piece again: all are of one length, and not empty."""
    return len(set(map(len, values))) == 1 and bool(values[0])


def add_vectors(
    session: Session,
    place: tuple[int, int, int],
    digests: Sequence[bytes],
    matrix: Floats,
) -> None:
    """Write one vector, and its digest, which :func:`can_be_cut`, for each of neighbouring slots.

    `place`: the number of the embedder, that of the namespace, and the first slot.
    """
    embedder, number, first = place
    rows, digest_bytes = sealed(matrix), len(digests[0])
    for start in range(0, len(matrix), _ROWS_PER_STATEMENT):
        batch = digests[start : start + _ROWS_PER_STATEMENT]
        slot, count = first + start, len(batch)
        vectors = rows[start : start + count].data.cast("B")
        session.execute(
            _ADD_VECTORS,
            (
                *(count, session.dialect.vectors_number(embedder, number, slot), number, embedder, slot),
                *(b"".join(batch), digest_bytes, vectors, vectors.nbytes // count),
            ),
        )


_LIMITS: Final = {"position": 2**31, "access_count": 2**32, "mentions": 2**63, "version": 2**63}
_SMALLEST_LIMIT: Final = min(_LIMITS.values())
_MAX_PASSAGES: Final = 2**16 - 1


def checked_numbers(memory: Memory) -> Memory:
    """Return a memory whose whole numbers the columns can hold."""
    numbers = (memory.source.position or 0, memory.access_count, memory.mentions, memory.version)
    if max(numbers) >= _SMALLEST_LIMIT:
        for (name, limit), value in zip(_LIMITS.items(), numbers, strict=True):
            if value >= limit:
                raise InvalidArgument(name, value, f"below {limit}")
    return memory


def as_added(memory: Memory) -> Memory:
    """Return a memory as its row holds it: without `superseded_by`, which the newer memory sets."""
    checked = checked_numbers(memory)
    return checked if checked.superseded_by is None else replace(checked, superseded_by=None)


def checked_passages(entry: Entry, embedder: Embedder | None) -> int:
    """Return how many passages an entry has vectors of; raise if the columns cannot hold them."""
    if entry.vectors is None:
        return 0
    if embedder is None:
        raise InvalidArgument("vectors", entry.memory.id, "left out as long as the store has no embedder")
    if entry.vectors.ndim != 2 or not 1 <= len(entry.vectors) <= _MAX_PASSAGES:
        shape = entry.vectors.shape
        raise InvalidArgument("vectors", shape, f"1 to {_MAX_PASSAGES} rows, one for each passage")
    if entry.vectors.shape[1] != embedder[1]:
        got = entry.vectors.shape[1]
        raise DimensionMismatch(f"memory {entry.memory.id!r}", expected=embedder[1], got=got)
    # One product shows whether a number is not finite; it may also have overflowed, so all are checked then.
    if not math.isfinite(np.vdot(entry.vectors, entry.vectors)) and not np.isfinite(entry.vectors).all():
        raise InvalidArgument("vectors", entry.memory.id, "finite numbers")
    return len(entry.vectors)


def records_of(
    memories: Sequence[Memory],
    batch: Sequence[Entry],
    passages: Sequence[int],
    sessions: Mapping[str, int],
    *,
    waiting: bool,
) -> list[tuple[bytes, bytes]]:
    """Return the record of each memory that is added, and its terms, if wanted as they wait beside it."""
    return [
        (
            packed(
                memory,
                state=0,
                session=sessions.get(memory.source.session, -1),
                vectors=count,
                superseded_at=None,
                lengths={field: sum(terms.values()) for field, terms in entry.terms.items()},
            ),
            encoded_terms(entry.terms) if waiting else b"",
        )
        for memory, entry, count in zip(memories, batch, passages, strict=True)
    ]
