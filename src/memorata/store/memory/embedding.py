"""Vectors that are added after their memories were written, and the memories that wait for them.

A batch is one transaction. It removes the codes of the runs it touches, for they would be incomplete; until
`renew_codes` writes them anew, a process that loads such a run makes the codes from the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from memorata._frozen import frozen
from memorata.index.codes import Codes, Floats
from memorata.index.record import changed
from memorata.index.segments import Embedder, stored_vectors
from memorata.index.vector_rows import sealed
from memorata.model.errors import InvalidArgument
from memorata.store.database import Database, Session
from memorata.store.entries import Entry, Page
from memorata.store.memory.insertion import checked_passages
from memorata.store.memory.lookup import record_of
from memorata.store.rows import (
    EMBEDDERS,
    OWN,
    SELECTED,
    SOURCE,
    Namespace,
    checked_limit,
    find_namespace,
    log_change,
    memory,
    set_columns,
)

_DIGITS: Final = 20
"""How many characters a number of a cursor has at most."""
_WAITS: Final = (
    "NOT EXISTS (SELECT 1 FROM vectors v WHERE +v.namespace = m.namespace AND v.number = m.number + ?)"
)
_ADD: Final = (
    "INSERT INTO vectors (number, namespace, embedder, slot, digest, vectors) VALUES (?, ?, ?, ?, ?, ?)"
)
_OTHERS: Final = (
    "SELECT number, namespace, slot FROM vectors WHERE embedder < ?1 "
    "UNION ALL SELECT number, namespace, slot FROM vectors WHERE embedder > ?1 LIMIT ?2"
)
"""Each half looks at one end of the index, however many vectors of the current embedder lie between."""


@frozen(eq=False)
class Embedded:
    """The vectors of a memory that was written before they could be computed, or by another embedder."""

    namespace: str
    memory_id: str
    vectors: Floats
    """One row per passage, of the store's embedder."""
    digest: bytes
    """The hash of the embedded text."""


def find(session: Session, name: str) -> Embedder | None:
    """Return the number and the dimension of an embedder, as recorded; None for one that was never used."""
    row = session.execute("SELECT number, dimension FROM embedders WHERE name = ?", (name,)).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def recorded(database: Database, name: str, dimension: int) -> Embedder:
    """Return the number and the dimension of an embedder, which is recorded when it is first used."""

    def write(session: Session) -> Embedder:
        session.execute(
            "INSERT INTO embedders (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, dimension)
        )
        made = find(session, name)
        assert made is not None  # it was just written
        checked_limit("embedders", made[0], EMBEDDERS)
        return made

    embedder = database.read(lambda session: find(session, name)) or database.write(write)
    if embedder[1] != dimension:
        raise InvalidArgument("dimension", dimension, f"{embedder[1]}, as recorded for {name!r}")
    return embedder


def waiting(session: Session, embedder: Embedder, limit: int, cursor: str | None = None) -> Page:
    """Return memories without a vector of an embedder, of every namespace, a page at a time."""
    key = session.dialect.memory_key
    condition, values = f"{_WAITS}", [_first(session, embedder)]
    if cursor is not None:
        parts = _parsed(cursor, key.count(",") + 1)
        condition += f" AND ({key}) > ({', '.join('?' * len(parts))})"
        values += parts
    rows = session.execute(
        f"SELECT {key}, {SELECTED} FROM {SOURCE} WHERE {condition} ORDER BY {key} LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    shown, width = rows[:limit], key.count(",") + 1
    after = ".".join(map(str, shown[-1][:width])) if len(rows) > limit and shown else None
    return Page(tuple(memory(row[width:]) for row in shown), after)


def count_waiting(session: Session, embedder: Embedder) -> int:
    """Return how many memories have no vector of an embedder."""
    row = session.execute(
        f"SELECT count(*) FROM memories m WHERE {_WAITS}", (_first(session, embedder),)
    ).fetchone()
    return int(row[0])


def other_vectors(session: Session, embedder: Embedder) -> Mapping[str, int]:
    """Return how many memories have vectors of each other embedder; embedders without any are left out."""
    if session.execute(_OTHERS, (embedder[0], 1)).fetchone() is None:
        return {}
    rows = session.execute(
        "SELECT e.name, count(*) FROM vectors v JOIN embedders e ON e.number = v.embedder "
        "WHERE v.embedder <> ? GROUP BY v.embedder, e.name ORDER BY v.embedder",
        (embedder[0],),
    ).fetchall()
    return dict(rows)


def put_vectors(session: Session, embedder: Embedder, embedded: Sequence[Embedded]) -> int:
    """Give memories their vectors, in a write that names their namespaces; return how many waited."""
    written = 0
    (name,) = session.execute("SELECT name FROM embedders WHERE number = ?", (embedder[0],)).fetchone()
    for path, members in groupby(embedded, key=lambda entry: entry.namespace):
        namespace = find_namespace(session, path)
        placed: list[tuple[bytes, int]] = []
        for entry in members if namespace is not None else ():
            assert namespace is not None  # for the type checker
            row = session.execute(
                f"SELECT m.number, m.slot, {OWN}, NULL FROM memories m "
                f"WHERE m.namespace = ? AND m.id = ? AND {_WAITS}",
                (namespace.number, entry.memory_id, _first(session, embedder)),
            ).fetchone()
            # It may have been purged, or embedded by another process, in the meantime.
            if row is not None:
                added = Entry(memory(row[2:], path), {}, entry.vectors, entry.digest)
                passages = checked_passages(added, embedder)
                set_columns(session, namespace.number, row[0], embedder=name)
                _put(session, namespace, row[1], entry, passages, embedder[0])
                placed.append((entry.digest, row[1]))
        if namespace is not None and placed:
            for _, slot in placed:
                log_change(session, namespace.number, "vectors", slot)
            written += len(placed)
    return written


def renew_codes(database: Database, embedder: Embedder) -> bool:
    """Write the codes of one run of vectors that has none of this embedder; return whether any was due."""
    stale = "SELECT number, namespace, first, slots FROM vector_codes WHERE embedder IS NOT ?"

    def read(session: Session) -> tuple[Any, list[str]]:
        row = session.execute(f"{stale} LIMIT 1", (embedder[0],)).fetchone()
        return row, [] if row is None else _paths(session, [row[1]])

    row, paths = database.read(read)
    if row is None:
        return False

    def write(session: Session) -> None:
        row = session.execute(f"{stale} AND namespace = ? LIMIT 1", (embedder[0], namespace)).fetchone()
        if row is not None:
            run, _, start, slots = row
            codes = Codes.of(*stored_vectors(session, namespace, embedder, start, start + slots))
            session.execute(
                "UPDATE vector_codes SET embedder = ?, codes = ? WHERE +namespace = ? AND number = ?",
                (embedder[0], codes.encoded(), namespace, run),
            )

    namespace = row[1]
    database.write(write, *paths)
    return True


def drop_vectors(database: Database, embedder: Embedder, limit: int) -> int:
    """Remove up to `limit` vectors of other embedders than the current one; return how many."""

    def read(session: Session) -> tuple[list[Any], list[str]]:
        rows = session.execute(_OTHERS, (embedder[0], limit)).fetchall()
        return rows, _paths(session, sorted({row[1] for row in rows}))

    while True:
        rows, paths = database.read(read)
        drop = partial(_drop, embedder=embedder, rows=rows)
        # If another process removed all of these first, there may be more.
        if (dropped := database.write(drop, *paths)) or not rows:
            return dropped


def _drop(session: Session, embedder: Embedder, rows: Sequence[Any]) -> int:
    """Remove the vectors that still exist, in a write that locks their namespaces."""
    rows = _remaining(session, rows)
    (name,) = session.execute("SELECT name FROM embedders WHERE number = ?", (embedder[0],)).fetchone()
    session.executemany(
        "DELETE FROM vectors WHERE +namespace = ? AND number = ?",
        [(namespace, number) for number, namespace, _ in rows],
    )
    session.executemany(
        "UPDATE memories SET embedder = '', version = version + 1 "
        "WHERE +namespace = ? AND number = ? AND embedder NOT IN ('', ?)",
        [(namespace, session.dialect.number(namespace, slot), name) for _, namespace, slot in rows],
    )
    for namespace in sorted({namespace for _, namespace, _ in rows}):
        # Codes of removed vectors are useless; a process with the old embedder may have made some.
        session.execute(
            "UPDATE vector_codes SET embedder = NULL, codes = NULL WHERE namespace = ? AND embedder <> ?",
            (namespace, embedder[0]),
        )
        log_change(session, namespace, "vectors", [slot for _, owner, slot in rows if owner == namespace][-1])
    return len(rows)


def _remaining(session: Session, rows: Sequence[Any]) -> list[Any]:
    """Return the rows of vectors that have not been removed since they were read."""
    find = "SELECT number FROM vectors WHERE +namespace = ? AND number IN (SELECT value FROM json_each(?))"
    remaining: set[tuple[int, int]] = set()
    for namespace in {row[1] for row in rows}:
        numbers = session.dialect.array([row[0] for row in rows if row[1] == namespace])
        remaining.update((namespace, number) for (number,) in session.execute(find, (namespace, numbers)))
    return [row for row in rows if (row[1], row[0]) in remaining]


def _put(
    session: Session, namespace: Namespace, slot: int, entry: Embedded, passages: int, embedder: int
) -> None:
    number = namespace.number
    row = session.dialect.vectors_number(embedder, number, slot)
    session.execute(_ADD, (row, number, embedder, slot, entry.digest, sealed(entry.vectors).tobytes()))
    record = changed(record_of(session, namespace, slot), vectors=passages)
    session.execute("UPDATE records SET record = ? WHERE namespace = ? AND slot = ?", (record, number, slot))
    session.execute(
        "UPDATE vector_codes SET embedder = NULL, codes = NULL "
        "WHERE namespace = ? AND embedder = ? AND first <= ? AND first + slots > ?",
        (number, embedder, slot, slot),
    )


def _paths(session: Session, numbers: Iterable[int]) -> list[str]:
    """Return the paths of some namespaces that are there."""
    find = "SELECT path FROM namespaces WHERE number = ?"
    rows = [session.execute(find, (number,)).fetchone() for number in numbers]
    return [path for (path,) in rows]


def _first(session: Session, embedder: Embedder) -> int:
    """Return the difference between the number of a memory's vectors and that of the memory."""
    return session.dialect.vectors_number(embedder[0], 0, 0)


def _parsed(cursor: str, count: int) -> list[int]:
    parts = cursor.split(".")
    digits = [part.removeprefix("-") for part in parts]
    if len(parts) != count or not all(
        part.isascii() and part.isdigit() and len(part) < _DIGITS for part in digits
    ):
        raise InvalidArgument("cursor", cursor, "the cursor of a page before")
    return [int(part) for part in parts]
