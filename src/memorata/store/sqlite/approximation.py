"""The approximate index of large namespaces: how it is made, kept in the file, loaded and mended.

Making one takes seconds to a minute, so it is not part of a write: `renew_codes`, which `memorata maintain`
runs, makes it from the stored vectors while others read and write, and puts it into the file in one
transaction. A process that opens the file only loads it. What was written since is scanned beside it; when
that is a quarter as much, the next `maintain` adds it, and chooses new centres once there is twice as much as
they were chosen for. One that is damaged, or that another version of the library made, is not used: sign bits
are scanned, `memorata doctor` says so, and the next `maintain` makes it anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.approximate import (
    REQUIREMENT,
    Approximate,
    extended,
    is_available,
    sample_size,
    trained,
)
from memorata.index.cells import Cells
from memorata.index.codes import Floats, Owners
from memorata.index.vectors import EXACT, Vectors
from memorata.model.errors import IndexCorrupt, MissingExtra
from memorata.store.port import Progress
from memorata.store.sqlite.emptying import NAMED
from memorata.store.sqlite.places import vectors_place
from memorata.store.sqlite.rows import marks
from memorata.store.sqlite.segments import stored_vectors

_PART_BYTES: Final = 16 * 1024 * 1024
_BLOCK: Final = 20_000
"""How many slots are read at a time."""
_AT_ONCE: Final = 500
_SLACK: Final = 4
"""An index is renewed when what is not in it is more than one in this many of what is."""
_SEED: Final = 1

Look = Callable[[], AbstractContextManager[Any]]
"""Opens a transaction, to read in or to write in."""


@frozen
class _Head:
    """A row of the approximations table."""

    number: int
    until: int
    vectors: int
    trained: int
    gaps: int


def load(connection: sqlite3.Connection, namespace: int, embedder: int, into: Vectors) -> None:
    """Give loaded vectors the index that the file has for them, if it can be read and is not there already.

    Parameters
    ----------
    connection
        Inside a read transaction.
    namespace, embedder
        Whose vectors.
    into
        All of them, as they are in the transaction.
    """
    head = None if into.exact or not is_available() else _head(connection, namespace, embedder)
    if head is None:
        into.use_approximate(None)
    elif into.approximate is None or into.approximate.number != head.number:
        try:
            into.use_approximate(Approximate(_cells(connection, head.number), head.number))
        except (IndexCorrupt, MissingExtra):
            # The scan finds the same; `note` tells about it whoever asks.
            into.use_approximate(None)


def renew(
    connection: sqlite3.Connection,
    embedder: int,
    least: int,
    reading: Look,
    writing: Look,
    progress: Progress = lambda what, done, total: None,
) -> bool:
    """Make, or bring up to date, the index of one namespace that needs it; return whether one did.

    Parameters
    ----------
    connection
        Not in a transaction.
    embedder
        Whose vectors.
    least
        How many memories with vectors a namespace must have.
    reading, writing
        Open transactions; none is held while anything is computed.
    progress
        Told what is done, how far it is, and of how much. If it raises, nothing is written.
    """
    if not is_available():
        return False
    with reading():
        due = _due(connection, embedder, least)
    if due is None:
        return False
    number, slots, change, known = due

    def blocks(start: int) -> Iterator[tuple[Owners, Floats]]:
        for first in range(start, slots, _BLOCK):
            progress("the approximate index", first, slots)
            with reading():
                block = stored_vectors(connection, number, embedder, first, min(first + _BLOCK, slots))
            yield block

    if known is None:
        with reading():
            sample, count = _sample(connection, number, embedder, slots)
        known = trained(sample, count)
    cells = extended(known, blocks(known.until), slots)
    progress("the approximate index", slots, slots)
    with writing():
        if connection.execute(f"SELECT 1 FROM namespaces WHERE number = ? AND {NAMED}", (number,)).fetchone():
            _write(connection, number, embedder, cells, change)
    return True


def remove(connection: sqlite3.Connection, namespace: int, slots: Sequence[int]) -> None:
    """Take purged memories out of the indexes of a namespace, inside the transaction of the purge."""
    for number, embedder in connection.execute(
        "SELECT number, embedder FROM approximations WHERE namespace = ?", (namespace,)
    ).fetchall():
        head = _head(connection, namespace, embedder)
        assert head is not None  # it was there just now
        try:
            cells = _cells(connection, number).without(np.array(slots, np.int64))
        except IndexCorrupt:
            drop(connection, namespace, embedder)
            continue
        _put(connection, namespace, embedder, cells, head.gaps)


def drop(connection: sqlite3.Connection, namespace: int, embedder: int | None = None) -> None:
    """Remove the indexes of a namespace: one embedder's, or all."""
    connection.execute(
        "DELETE FROM approximations WHERE namespace = ?1 AND (?2 IS NULL OR embedder = ?2)",
        (namespace, embedder),
    )


def missed(connection: sqlite3.Connection, namespace: int, embedder: int, slot: int) -> None:
    """Count a memory that got its vectors after the index was made that would hold it."""
    connection.execute(
        "UPDATE approximations SET gaps = gaps + 1 WHERE namespace = ? AND embedder = ? AND until > ?",
        (namespace, embedder, slot),
    )


def problems(
    connection: sqlite3.Connection, namespace: int, living: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Iterator[str]:
    """Yield what is wrong with the indexes of a namespace, given which slots hold a memory."""
    for (number,) in connection.execute(
        "SELECT number FROM approximations WHERE namespace = ? ORDER BY number", (namespace,)
    ).fetchall():
        try:
            slots = _cells(connection, number).slots
        except IndexCorrupt as error:
            yield str(error)
            continue
        if slots.min(initial=0) < 0 or slots.max(initial=0) >= living.size or not living[slots].all():
            yield "the approximate index holds memories that are gone"


def methods(connection: sqlite3.Connection, least: int) -> tuple[dict[str, int], str]:
    """Return how many namespaces are searched in each way, and what could make it faster; see `Vectors`."""
    found = {"exact": 0, "sign bits": 0, "approximate": 0}
    advice: dict[str, None] = {}
    for number, slots in connection.execute(
        f"SELECT number, slots FROM namespaces WHERE {NAMED} ORDER BY number"
    ).fetchall():
        if slots <= EXACT:
            found["exact"] += 1
            continue
        wrong = _unusable(connection, number)
        found["sign bits" if wrong else "approximate"] += 1
        if wrong and slots >= least:
            advice[wrong] = None
    return found, "; ".join(advice)


def _unusable(connection: sqlite3.Connection, namespace: int) -> str:
    """Return why a namespace has no index that can be used, and what helps; nothing if it has one."""
    row = connection.execute(
        "SELECT number FROM approximations WHERE namespace = ? ORDER BY number DESC", (namespace,)
    ).fetchone()
    if not is_available():
        return (
            f"a large namespace is searched faster by an index: pip install {REQUIREMENT}, memorata maintain"
        )
    if row is None:
        return "a large namespace has no approximate index yet: memorata maintain makes it"
    try:
        Approximate(_cells(connection, row[0]))
    except (IndexCorrupt, MissingExtra) as error:
        return f"{error}: memorata maintain makes it anew"
    return ""


def _due(
    connection: sqlite3.Connection, embedder: int, least: int
) -> tuple[int, int, int, Cells | None] | None:
    """Return a namespace that needs an index, its slots, its last change, and cells to go on with."""
    for number, slots, change in connection.execute(
        f"SELECT number, slots, change FROM namespaces WHERE slots >= ? AND {NAMED} ORDER BY number",
        (max(least, 1),),
    ).fetchall():
        head = _head(connection, number, embedder)
        if head is None:
            if _has(connection, number, embedder, least):
                return number, slots, change, None
            continue
        later = slots - head.until
        try:
            cells = _cells(connection, head.number)
            Approximate(cells)
        except (IndexCorrupt, MissingExtra):
            return number, slots, change, None
        if later + head.gaps > head.vectors // _SLACK:
            outgrown = head.gaps or head.vectors + later > 2 * head.trained
            return number, slots, change, None if outgrown else cells
    return None


def _has(connection: sqlite3.Connection, namespace: int, embedder: int, least: int) -> bool:
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE number >= ? AND number < ? LIMIT ?)",
        (vectors_place(embedder, namespace, 0), vectors_place(embedder, namespace + 1, 0), least),
    ).fetchone()
    return int(count) >= max(least, 1)


def _sample(connection: sqlite3.Connection, namespace: int, embedder: int, slots: int) -> tuple[Floats, int]:
    """Return vectors of some memories, drawn at random, and about how many vectors there are in all."""
    drawn = np.random.default_rng(_SEED).permutation(slots)[: sample_size(slots)]
    first = vectors_place(embedder, namespace, 0)
    (dimension,) = connection.execute(
        "SELECT dimension FROM embedders WHERE number = ?", (embedder,)
    ).fetchone()
    found: list[bytes] = []
    for start in range(0, drawn.size, _AT_ONCE):
        places = [first + slot for slot in np.sort(drawn[start : start + _AT_ONCE]).tolist()]
        rows = connection.execute(f"SELECT vectors FROM vectors WHERE number IN ({marks(places)})", places)
        found += [blob for (blob,) in rows]
    sample = np.frombuffer(b"".join(found), np.float32).reshape(-1, dimension)
    return sample, round(len(sample) * slots / drawn.size)


def _write(connection: sqlite3.Connection, namespace: int, embedder: int, cells: Cells, since: int) -> None:
    """Write an index that was made of what was there at a change, and see to what has happened since."""
    changed = connection.execute(
        "SELECT slot, kind FROM changes WHERE namespace = ? AND change > ? AND kind IN ('purge', 'vectors')",
        (namespace, since),
    ).fetchall()
    purged = [slot for slot, kind in changed if kind == "purge"]
    late = sum(kind == "vectors" and slot < cells.until for slot, kind in changed)
    _put(connection, namespace, embedder, cells.without(np.array(purged, np.int64)), late)


def _put(connection: sqlite3.Connection, namespace: int, embedder: int, cells: Cells, gaps: int) -> None:
    drop(connection, namespace, embedder)
    number = connection.execute(
        "INSERT INTO approximations (namespace, embedder, until, vectors, trained, gaps) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (namespace, embedder, cells.until, len(cells.slots), cells.trained, gaps),
    ).lastrowid
    blob = memoryview(cells.encoded())
    connection.executemany(
        "INSERT INTO approximation_parts (approximation, namespace, part, data) VALUES (?, ?, ?, ?)",
        [
            (number, namespace, part, blob[start : start + _PART_BYTES])
            for part, start in enumerate(range(0, len(blob), _PART_BYTES))
        ],
    )
    # Whoever has the namespace in memory looks at what is derived when this number changes.
    connection.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (namespace,))


def _head(connection: sqlite3.Connection, namespace: int, embedder: int) -> _Head | None:
    row = connection.execute(
        "SELECT number, until, vectors, trained, gaps FROM approximations "
        "WHERE namespace = ? AND embedder = ?",
        (namespace, embedder),
    ).fetchone()
    return None if row is None else _Head(*row)


def _cells(connection: sqlite3.Connection, number: int) -> Cells:
    parts = connection.execute(
        "SELECT data FROM approximation_parts WHERE approximation = ? ORDER BY part", (number,)
    ).fetchall()
    return Cells.decoded(b"".join([part for (part,) in parts]))
