"""Loading a namespace into memory, and catching up with what was written since.

Every look first asks whether anything was written since the last one (a comparison of two numbers when
nothing was) and reads just what is new. Re-embedding goes from the first memory to the last, so vectors that
memories get later mostly come after all that is in memory, and are added at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata.index import tail
from memorata.index.codes import Codes, Floats, Owners, coded_in
from memorata.index.partition import Partition
from memorata.index.record import Records, unpacked, unpacked_run
from memorata.index.vectors import EXACT
from memorata.model.errors import IndexCorrupt
from memorata.store import approximation
from memorata.store.database import Session
from memorata.store.limits import SLOTS
from memorata.store.namespaces import Namespace
from memorata.store.rows import marks
from memorata.store.segments import stored_vectors

_BLOCK: Final = 20_000
_ROWS: Final = "SELECT record FROM records WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot"


def caught_up(
    session: Session,
    namespace: Namespace,
    embedder: tuple[int, int] | None,
    known: Partition | None,
) -> Partition:
    """Return the namespace's partition as of the session's view, reading only what is new.

    Parameters
    ----------
    session
        Inside a read transaction.
    namespace
        Its row, read in that transaction.
    embedder
        The number and dimension of the current embedder.
    known
        The partition as it was; None to load it.
    """
    if known is not None and known.change == namespace.change and known.generation == namespace.generation:
        return known
    if known is None:
        return _loaded(session, namespace, embedder)
    changed = session.execute(
        "SELECT DISTINCT slot, kind = 'vectors' FROM changes "
        "WHERE namespace = ? AND change > ? AND kind <> 'add'",
        (namespace.number, known.change),
    ).fetchall()
    slots_before = len(known)
    revectored = [slot for slot, vectors in changed if vectors and slot < slots_before]
    late = later_vectors(session, namespace.number, embedder, known, revectored)
    if late is None:
        return _loaded(session, namespace, embedder)
    more = len(late[0]) + namespace.slots - slots_before
    if known.vectors.exact and len(known.vectors) + more > EXACT:
        return _loaded(session, namespace, embedder)
    if namespace.generation != known.generation:
        known.start_generation(namespace.generation, namespace.flushed)
        _load_tail(session, namespace, known, namespace.flushed)
    else:
        _load_tail(session, namespace, known, slots_before)
    for slot in sorted(slot for slot, _ in changed if slot < slots_before):
        record = session.execute(
            "SELECT record FROM records WHERE namespace = ? AND slot = ?", (namespace.number, slot)
        ).fetchone()
        known.replace(slot, unpacked(record or [b""]))
    _load_records(session, namespace, known, slots_before)
    if embedder is not None:
        known.add_vectors(*late)
        known.add_vectors(*stored_vectors(session, namespace.number, embedder, slots_before, namespace.slots))
        approximation.load(session, namespace.number, embedder[0], known.vectors)
    known.change = namespace.change
    return known


def _loaded(session: Session, namespace: Namespace, embedder: tuple[int, int] | None) -> Partition:
    vectors = 0 if embedder is None else _count_vectors(session, namespace.number, embedder)
    fresh = Partition(embedder[1] if embedder else 0, exact=vectors <= EXACT)
    fresh.change = namespace.change
    fresh.start_generation(namespace.generation, namespace.flushed)
    _load_records(session, namespace, fresh, 0)
    _load_tail(session, namespace, fresh, namespace.flushed)
    if embedder is not None:
        fresh.vectors.reserve(vectors if vectors <= EXACT else max(vectors, namespace.slots))
        _load_vectors(session, namespace, fresh, embedder)
        approximation.load(session, namespace.number, embedder[0], fresh.vectors)
    return fresh


def _count_vectors(session: Session, number: int, embedder: tuple[int, int]) -> int:
    """Return how many vectors a namespace has; of those that have codes only how many, if that is many."""
    lengths = session.execute(
        "SELECT length(codes) FROM vector_codes WHERE namespace = ? AND embedder = ? AND codes IS NOT NULL",
        (number, embedder[0]),
    ).fetchall()
    coded = sum(coded_in(length, embedder[1]) for (length,) in lengths)
    if coded > EXACT:
        return coded
    # Adding up walks over the vectors themselves: only as far as tells whether they are few.
    place = session.dialect.vectors_number
    (size,) = session.execute(
        "SELECT coalesce(sum(length(vectors)), 0) FROM "
        "(SELECT vectors FROM vectors WHERE +namespace = ? AND number >= ? AND number < ? LIMIT ?) v",
        (number, place(embedder[0], number, 0), place(embedder[0], number, SLOTS), EXACT + 1),
    ).fetchone()
    return int(size) // (4 * embedder[1])


def _load_records(session: Session, namespace: Namespace, into: Partition, start: int) -> None:
    into.reserve(namespace.slots)
    for first in range(start, max(start + 1, namespace.slots), _BLOCK):
        end = first + _BLOCK if first + _BLOCK < namespace.slots else SLOTS
        into.append(_records(session, namespace.number, first, end))
    if len(into) != namespace.slots:
        raise IndexCorrupt(f"{namespace.path} has {len(into)} records for {namespace.slots} slots")


def _records(session: Session, number: int, first: int, end: int) -> Records:
    # One after the other in one value: put together in half the time that a row of each takes.
    count, run = session.execute(session.dialect.joined(_ROWS), (number, first, end)).fetchone()
    try:
        return unpacked_run(run or b"", count)
    except IndexCorrupt:
        # That bytes are put together as they are is what SQLite does, and not what it promises: one by one
        # they tell whether anything is wrong with them.
        rows = session.execute(_ROWS, (number, first, end)).fetchall()
        return unpacked([record for (record,) in rows])


def _load_tail(session: Session, namespace: Namespace, into: Partition, start: int) -> None:
    for slot, words in session.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL "
        "ORDER BY slot",
        (namespace.number, max(start, namespace.flushed)),
    ):
        into.remember_tail(slot, tail.decoded(words))


def _load_vectors(session: Session, namespace: Namespace, into: Partition, embedder: tuple[int, int]) -> None:
    number, start = namespace.number, 0
    if not into.vectors.exact:
        for run in session.execute(
            # Asking for its length does not read it.
            "SELECT number, first, slots, embedder, length(codes) FROM vector_codes "
            "WHERE namespace = ? ORDER BY first",
            (number,),
        ).fetchall():
            place, first, slots, coded_by, size = run
            if first != start:
                raise IndexCorrupt(
                    f"the codes of slot {start} of {namespace.path} are missing or there twice"
                )
            if size is not None and coded_by == embedder[0]:
                into.vectors.add_codes(Codes.decoded(session.blob("vector_codes", "codes", number, place)))
            else:
                into.vectors.add(*stored_vectors(session, number, embedder, first, first + slots))
            start = first + slots
    into.vectors.add(*stored_vectors(session, number, embedder, start, namespace.slots))


_AT_ONCE = 500


def later_vectors(
    session: Session,
    number: int,
    embedder: tuple[int, int] | None,
    known: Partition,
    slots: Sequence[int],
) -> tuple[Owners, Floats] | None:
    """Return the vectors to add at the end for memories that are in memory; None if that will not do.

    Parameters
    ----------
    session
        Inside a read transaction.
    number
        The namespace.
    embedder
        The number and dimension of the current embedder.
    known
        What is in memory.
    slots
        Those whose vectors have changed.
    """
    dimension = 0 if embedder is None else embedder[1]
    nothing = np.zeros(0, np.int32), np.zeros((0, dimension), np.float32)
    if embedder is None or not slots:
        return nothing
    owners = known.vectors.owners.view
    wanted = np.unique(np.array(slots, np.int32))
    loaded = np.isin(wanted, owners)
    stored = _stored(session, embedder[0], number, wanted.tolist())
    if not all(slot in stored for slot in wanted[loaded].tolist()):
        # Vectors that are in memory are gone, and there is no way to take some out.
        return None
    new = [slot for slot in wanted[~loaded].tolist() if slot in stored]
    if not new:
        return nothing
    if owners.size and new[0] < owners[-1]:
        return None
    rows = [np.frombuffer(stored[slot], np.float32).reshape(-1, dimension) for slot in new]
    passages = [len(each) for each in rows]
    return np.repeat(np.array(new, np.int32), passages), np.concatenate(rows)


def _stored(session: Session, embedder: int, number: int, slots: list[int]) -> dict[int, bytes]:
    """Return the vectors that slots have, by slot."""
    first = session.dialect.vectors_number(embedder, number, 0)
    found: dict[int, bytes] = {}
    for start in range(0, len(slots), _AT_ONCE):
        numbers = [first + slot for slot in slots[start : start + _AT_ONCE]]
        found |= dict(
            session.execute(
                f"SELECT slot, vectors FROM vectors WHERE +namespace = ? AND number IN ({marks(numbers)})",
                (number, *numbers),
            ).fetchall()
        )
    return found
