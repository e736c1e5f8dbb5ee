"""The rows of approximate indexes: made for large namespaces, stored, loaded and renewed.

Making one takes seconds to a minute, so it is not part of a write: `renew_codes`, which `memorata maintain`
runs, makes it from the stored vectors beside other readers and writers, and stores it in one transaction. A
process that opens the file only loads it. Vectors written since are scanned beside it; when they are a
quarter as many, the next `maintain` adds them, and chooses new centres once there are twice as many as the
centres were chosen for. An index that is damaged, or was made by another version of the library, is not used:
sign bits are scanned, `memorata doctor` reports it, and the next `maintain` makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from memorata.index.approximate import (
    REQUIREMENT,
    Approximate,
    Cells,
    extended,
    is_available,
    sample_size,
    trained,
)
from memorata.index.codes import Floats, Owners
from memorata.index.segments import Embedder, stored_vectors
from memorata.index.vector_rows import unsealed
from memorata.index.vectors import MAX_EXACT_VECTORS, Vectors
from memorata.model.errors import IndexCorrupt, MissingExtra
from memorata.store.database import Database, Session
from memorata.store.entries import Progress
from memorata.store.rows import NAMED, SLOTS, find_namespace

_PART_BYTES: Final = 16 * 1024 * 1024
_BLOCK_SLOTS: Final = 20_000
"""Slots that are read at a time."""
_MAX_NUMBERS: Final = 500
_RENEWAL_FRACTION: Final = 4
"""An index is renewed when more than one vector to this many indexed ones is missing from it."""
_SEED: Final = 1


def load(session: Session, namespace: int, embedder: int, into: Vectors) -> None:
    """Set the stored index of loaded vectors, if it can be read and is not set already."""
    head = None if into.exact or not is_available() else _head(session, namespace, embedder)
    if head is None:
        into.use_approximate(None)
    elif into.approximate is None or into.approximate.number != head[0]:
        try:
            into.use_approximate(Approximate(_cells(session, namespace, head[0]), head[0]))
        except (IndexCorrupt, MissingExtra):
            # The scan finds the same; `methods` reports the reason.
            into.use_approximate(None)


def renew(
    database: Database,
    embedder: Embedder,
    least: int,
    progress: Progress = lambda step, done, total: None,
) -> bool:
    """Make or renew the index of one namespace that needs it, and return whether one did."""
    if not is_available():
        return False
    due = database.read(lambda session: _due(session, embedder[0], least))
    if due is None:
        return False
    number, path, slots, change, base = due

    def blocks(start: int) -> Iterator[tuple[Owners, Floats]]:
        for first in range(start, slots, _BLOCK_SLOTS):
            progress("the approximate index", first, slots)
            with database.reading() as (session, _):
                block = stored_vectors(session, number, embedder, first, min(first + _BLOCK_SLOTS, slots))
            yield block

    if base is None:
        sample, count = database.read(lambda session: _sample(session, number, embedder, slots))
        base = trained(sample, count)
    cells = extended(base, blocks(base.until), slots)
    progress("the approximate index", slots, slots)

    def write(session: Session) -> None:
        namespace = find_namespace(session, path)
        if namespace is not None and namespace.number == number:
            _write(session, number, embedder[0], cells, change)

    database.write(write, path)
    return True


def remove(session: Session, namespace: int, slots: Sequence[int]) -> None:
    """Remove purged memories from the indexes of a namespace, inside the transaction of the purge."""
    for number, embedder, gaps in session.execute(
        "SELECT number, embedder, gaps FROM approximations WHERE namespace = ?", (namespace,)
    ).fetchall():
        try:
            cells = _cells(session, namespace, number).without(np.array(slots, np.int64))
        except IndexCorrupt:
            drop(session, namespace, embedder)
            continue
        _put(session, namespace, embedder, cells, gaps)


def drop(session: Session, namespace: int, embedder: int | None = None) -> None:
    """Remove the indexes of a namespace: one embedder's, or all."""
    session.execute(
        "DELETE FROM approximations WHERE namespace = ?" + ("" if embedder is None else " AND embedder = ?"),
        (namespace,) if embedder is None else (namespace, embedder),
    )


def missed(session: Session, namespace: int, embedder: int, slot: int) -> None:
    """Count a memory of an index that got its vectors after the index was made."""
    session.execute(
        "UPDATE approximations SET gaps = gaps + 1 WHERE namespace = ? AND embedder = ? AND until > ?",
        (namespace, embedder, slot),
    )


def problems(
    session: Session, namespace: int, living: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Iterator[str]:
    """Yield the problems of the indexes of a namespace; `living` is the mask of slots with a memory."""
    for (number,) in session.execute(
        "SELECT number FROM approximations WHERE namespace = ? ORDER BY number", (namespace,)
    ).fetchall():
        try:
            slots = _cells(session, namespace, number).slots
        except IndexCorrupt as error:
            yield str(error)
            continue
        if slots.min(initial=0) < 0 or slots.max(initial=0) >= living.size or not living[slots].all():
            yield "the approximate index holds memories that are gone"


def methods(session: Session, least: int) -> tuple[dict[str, int], str]:
    """Return the number of namespaces by search method, and advice for faster ones; see `Vectors`."""
    counts = {"exact": 0, "sign bits": 0, "approximate": 0}
    advice: dict[str, None] = {}
    for number, slots in session.execute(
        f"SELECT number, slots FROM namespaces WHERE {NAMED} ORDER BY number"
    ).fetchall():
        if slots <= MAX_EXACT_VECTORS:
            counts["exact"] += 1
            continue
        reason = _unusable(session, number)
        counts["sign bits" if reason else "approximate"] += 1
        if reason and slots >= least:
            advice[reason] = None
    return counts, "; ".join(advice)


def _unusable(session: Session, namespace: int) -> str:
    """Return why a namespace has no usable index, and the remedy; empty if it has one."""
    row = session.execute(
        "SELECT number FROM approximations WHERE namespace = ? ORDER BY number DESC", (namespace,)
    ).fetchone()
    if not is_available():
        return (
            f"a large namespace is searched faster by an index: pip install {REQUIREMENT}, memorata maintain"
        )
    if row is None:
        return "a large namespace has no approximate index yet: memorata maintain makes it"
    try:
        Approximate(_cells(session, namespace, row[0]))
    except (IndexCorrupt, MissingExtra) as error:
        return f"{error}: memorata maintain makes it anew"
    return ""


def _due(session: Session, embedder: int, least: int) -> tuple[int, str, int, int, Cells | None] | None:
    """Return a namespace that needs an index, its path, slots and last change, and cells to extend."""
    for namespace, path, slots, change in session.execute(
        f"SELECT number, path, slots, change FROM namespaces WHERE slots >= ? AND {NAMED} ORDER BY number",
        (max(least, 1),),
    ).fetchall():
        head = _head(session, namespace, embedder)
        if head is None:
            if _has_vectors(session, namespace, embedder, least):
                return namespace, path, slots, change, None
            continue
        number, until, vectors, trained_with, gaps = head
        later = slots - until
        try:
            cells = _cells(session, namespace, number)
            Approximate(cells)
        except (IndexCorrupt, MissingExtra):
            return namespace, path, slots, change, None
        if later + gaps > vectors // _RENEWAL_FRACTION:
            outgrown = gaps or vectors + later > 2 * trained_with
            return namespace, path, slots, change, None if outgrown else cells
    return None


def _has_vectors(session: Session, namespace: int, embedder: int, least: int) -> bool:
    place = session.dialect.vectors_number
    (count,) = session.execute(
        "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE +namespace = ? AND number >= ? AND number < ? "
        "LIMIT ?) v",
        (namespace, place(embedder, namespace, 0), place(embedder, namespace, SLOTS), least),
    ).fetchone()
    return int(count) >= max(least, 1)


def _sample(session: Session, namespace: int, embedder: Embedder, slots: int) -> tuple[Floats, int]:
    """Return the vectors of a random sample of memories, and an estimate of the number of all vectors."""
    drawn = np.random.default_rng(_SEED).permutation(slots)[: sample_size(slots)]
    first = session.dialect.vectors_number(embedder[0], namespace, 0)
    blobs: list[bytes] = []
    for start in range(0, drawn.size, _MAX_NUMBERS):
        numbers = [first + slot for slot in np.sort(drawn[start : start + _MAX_NUMBERS]).tolist()]
        among, values = session.dialect.among(numbers)
        rows = session.execute(
            f"SELECT vectors FROM vectors WHERE +namespace = ? AND number {among}", (namespace, *values)
        )
        blobs += [blob for (blob,) in rows]
    sample = unsealed(b"".join(blobs), embedder[1])
    return sample, round(len(sample) * slots / drawn.size)


def _write(session: Session, namespace: int, embedder: int, cells: Cells, since: int) -> None:
    """Write an index made as of a change, corrected by the purges and vectors since."""
    changed = session.execute(
        "SELECT slot, kind FROM changes WHERE namespace = ? AND change > ? AND kind IN ('purge', 'vectors')",
        (namespace, since),
    ).fetchall()
    purged = [slot for slot, kind in changed if kind == "purge"]
    late = sum(kind == "vectors" and slot < cells.until for slot, kind in changed)
    _put(session, namespace, embedder, cells.without(np.array(purged, np.int64)), late)


def _put(session: Session, namespace: int, embedder: int, cells: Cells, gaps: int) -> None:
    drop(session, namespace, embedder)
    number = session.insert(
        "approximations",
        "namespace, embedder, until, vectors, trained, gaps",
        (namespace, embedder, cells.until, len(cells.slots), cells.trained, gaps),
    )
    blob = memoryview(cells.encoded())
    for part, start in enumerate(range(0, len(blob), _PART_BYTES)):
        session.insert(
            "approximation_parts",
            "namespace, approximation, part, data",
            (namespace, number, part, blob[start : start + _PART_BYTES]),
        )
    # Cached partitions reload derived data when this number changes.
    session.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (namespace,))


def _head(session: Session, namespace: int, embedder: int) -> Any:  # noqa: ANN401 - a row, or None
    columns = "number, until, vectors, trained, gaps"
    find = f"SELECT {columns} FROM approximations WHERE namespace = ? AND embedder = ?"
    return session.execute(find, (namespace, embedder)).fetchone()


def _cells(session: Session, namespace: int, number: int) -> Cells:
    parts = session.execute(
        "SELECT data FROM approximation_parts WHERE +namespace = ? AND approximation = ? ORDER BY part",
        (namespace, number),
    ).fetchall()
    return Cells.decoded(b"".join([part for (part,) in parts]))
