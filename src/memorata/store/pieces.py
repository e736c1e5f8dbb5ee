"""Rows of one width, handed to SQLite in one piece and cut apart by it.

Handing over each value of each row takes longer than writing it: of a thousand records two thirds of the
time, of a thousand vectors a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata.index.codes import Floats
from memorata.index.record import RECORD
from memorata.store.database import Session

_AT_ONCE: Final = 1_000
"""How many rows one piece has at most; SQLite takes none of more than a thousand million bytes."""
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
    """Write the records of neighbouring slots of a namespace, none of which has words that wait.

    Parameters
    ----------
    session
        Inside a write transaction.
    number
        The namespace's.
    first
        The slot of the first record.
    records
        What is written.
    """
    for start in range(0, len(records), _AT_ONCE):
        some = records[start : start + _AT_ONCE]
        session.execute(_ADD_RECORDS, (len(some), number, first + start, b"".join(some)))


def can_be_cut(values: Sequence[bytes]) -> bool:
    """Return whether values can be cut out of one piece again: all are of one length, and not empty.

    Examples
    --------
    >>> can_be_cut([b"tea", b"rum"]), can_be_cut([b"tea", b"milk"]), can_be_cut([b"", b""])
    (True, False, False)
    """
    return len(set(map(len, values))) == 1 and bool(values[0])


def add_vectors(
    session: Session,
    place: tuple[int, int, int],
    digests: Sequence[bytes],
    matrix: Floats,
) -> None:
    """Write one vector for each of neighbouring slots.

    Parameters
    ----------
    session
        Inside a write transaction.
    place
        The number of the embedder, that of the namespace, and the first slot.
    digests
        The address of each text, which :func:`can_be_cut`.
    matrix
        A row for each, one after the other in memory.
    """
    embedder, number, first = place
    rows, long, wide = matrix.data.cast("B"), len(digests[0]), matrix.nbytes // len(matrix)
    for start in range(0, len(matrix), _AT_ONCE):
        some = digests[start : start + _AT_ONCE]
        slot = first + start
        addresses, piece = b"".join(some), rows[start * wide : (start + len(some)) * wide]
        session.execute(
            _ADD_VECTORS,
            (
                *(len(some), session.dialect.vectors_number(embedder, number, slot), number, embedder, slot),
                *(addresses, long, piece, wide),
            ),
        )
