"""What a process keeps of namespaces: partitions, within a budget, the least recently used going first.

A partition is changed by whoever looks at it, so a look holds the lock of its namespace. It is as old as the
view that was last opened on it; who looks at an older state (of a transaction that began before, or of a
replica that is behind) gets a partition of their own. What this process itself has just written is at hand,
and is added when somebody looks, if nothing else has happened to the namespace in between: reading it back
(:mod:`.loading`) takes longer than writing it did.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.index import cell_rows
from memorata.index.codes import Codes, Floats, Owners, coded_in
from memorata.index.partition import Partition
from memorata.index.posting_lists import SEGMENTS
from memorata.index.record import Records, decoded_terms, unpacked, unpacked_run
from memorata.index.segments import Embedder, stored_vectors, vectors_statement
from memorata.index.vectors import MAX_EXACT_VECTORS
from memorata.model.errors import IndexCorrupt
from memorata.store.database import Session, Statement
from memorata.store.entries import Entry
from memorata.store.rows import EMPTY, SLOTS, Namespace, listed, marks, named_in, speakers_in

_Key = tuple[str, str]
"""From where (a database and its replica may differ), and which namespace."""


class PartitionCache:
    """The partitions of a store."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._kept: OrderedDict[_Key, tuple[Partition, int]] = OrderedDict()
        self._used = 0
        self._added: dict[str, list[Added]] = {}
        self._lock = threading.Lock()

    def partition(self, session: Session, namespace: Namespace, embedder: Embedder | None) -> Partition:
        """Return the partition of a namespace as of a session's view; the caller is looking at it."""
        if namespace is EMPTY:
            return Partition(embedder[1] if embedder else 0, exact=True)
        key = session.origin, namespace.path
        with self._lock:
            cached, size = self._kept.pop(key, (None, 0))
            self._used -= size
            added = self._added.pop(namespace.path, ()) if not session.origin else ()
        if cached is not None and cached.change < namespace.begun:
            cached = None
        if cached is not None and cached.change > namespace.change:
            # Others have gone on since this view began. One without a transaction finds out here that it is
            # too late, before a whole namespace is loaded for it.
            self._keep(key, cached)
            session.execute("SELECT 1")
            return caught_up(session, namespace, embedder, None)
        if cached is not None and added:
            catch_up(cached, added, namespace.change, embedder[1] if embedder else 0)
        fresh = caught_up(session, namespace, embedder, cached)
        self._keep(key, fresh)
        return fresh

    def holds(self, path: str) -> bool:
        """Return whether a namespace is loaded, so that a look at it reads only what is new."""
        return ("", path) in self._kept

    def note_added(self, entries: Sequence[Entry], added: Sequence[Added]) -> None:
        """Keep what was added for the next look, where there has been one and no segment was written."""
        unseen = {entry.memory.namespace for entry in entries} - {batch.namespace.path for batch in added}
        with self._lock:
            for path in unseen:
                self._added.pop(path, None)
            for batch in added:
                if ("", batch.namespace.path) in self._kept:
                    self._added.setdefault(batch.namespace.path, []).append(batch)

    def drop(self, path: str) -> None:
        """Forget what is kept of a namespace."""
        with self._lock:
            for key in [key for key in self._kept if key[1] == path]:
                _, size = self._kept.pop(key)
                self._used -= size

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._added.clear()
            self._used = 0

    def _keep(self, key: _Key, partition: Partition) -> None:
        size = partition.nbytes
        with self._lock:
            self._used -= self._kept.pop(key, (None, 0))[1]
            self._kept[key] = partition, size
            self._used += size
            while self._used > self._budget and len(self._kept) > 1:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._used -= dropped


@frozen(eq=False)
class Added:
    """What was added to one namespace, and nothing else: no segment written, nothing superseded.

    Parameters
    ----------
    namespace
        As it was before.
    entries
        What was added, in the order of their slots.
    records
        The record of each.
    change
        The last change, which is the last of these.
    """

    namespace: Namespace
    entries: Sequence[Entry]
    records: Sequence[bytes]
    change: int


def catch_up(partition: Partition, added: Sequence[Added], until: int, dimension: int) -> None:
    """Add to a partition what was added to its namespace, as far as that goes on from what it knows.

    `added`: what was written since, in order. `until`: the last change that may be seen. `dimension`: that of
    the current embedder's vectors; 0 without one.
    """
    change, entries, records = partition.change, list[Entry](), list[bytes]()
    for batch in added:
        before = batch.namespace
        if before.change != change or before.generation != partition.generation or batch.change > until:
            break
        change = batch.change
        entries += batch.entries
        records += batch.records
    first = len(partition)
    owners, rows = rows_of(entries, first, dimension)
    if not entries or not partition.vectors.exact or len(partition.vectors) + len(owners) > MAX_EXACT_VECTORS:
        # What a large namespace keeps is made by those who load it.
        return
    for slot, entry in enumerate(entries, first):
        partition.remember_tail(slot, entry.terms)
    partition.append(unpacked(records))
    if 0 < first == partition.named:
        partition.add_names(first, [listed(entry.memory.entities) for entry in entries])
    partition.add_speakers(first, [entry.memory.source for entry in entries])
    if dimension:
        partition.add_vectors(owners, rows)
    partition.change = change


def rows_of(entries: Sequence[Entry], first: int, dimension: int) -> tuple[Owners, Floats]:
    """Return the owners and float32 rows of the vectors of entries, the first of which has the slot `first`.

    Examples
    --------
    >>> rows_of([], 7, 3)
    (array([], dtype=int32), array([], shape=(0, 3), dtype=float32))
    """
    rows = [(slot, entry.vectors) for slot, entry in enumerate(entries, first) if entry.vectors is not None]
    if not rows:
        return np.zeros(0, np.int32), np.zeros((0, dimension), np.float32)
    owners = np.repeat(np.array([slot for slot, _ in rows], np.int32), [len(vectors) for _, vectors in rows])
    return owners, np.concatenate([vectors for _, vectors in rows]).astype(np.float32, copy=False)


_BLOCK_SLOTS: Final = 20_000
_CHANGED: Final = (
    "SELECT DISTINCT slot, kind = 'vectors' FROM changes WHERE namespace = ? AND change > ? AND kind <> 'add'"
)
_CHANGED_RECORDS: Final = (
    "SELECT slot, record FROM records WHERE namespace = ? AND slot < ? AND slot IN "
    "(SELECT slot FROM changes WHERE namespace = ? AND change > ? AND kind <> 'add')"
)
_TAIL: Final = (
    "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL ORDER BY slot"
)
_CODE_SIZES: Final = (
    "SELECT length(codes) FROM vector_codes WHERE namespace = ? AND embedder = ? AND codes IS NOT NULL"
)
_VECTOR_SIZES: Final = (
    "SELECT coalesce(sum(length(vectors)), 0) FROM "
    "(SELECT vectors FROM vectors WHERE +namespace = ? AND number >= ? AND number < ? LIMIT ?) v"
)
_ROWS: Final = "SELECT record FROM records WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot"


def caught_up(
    session: Session,
    namespace: Namespace,
    embedder: tuple[int, int] | None,
    partition: Partition | None,
) -> Partition:
    """Return the namespace's partition as of the session's view, reading only what is new.

    Inside a read transaction. `partition`: as it was; None to load it.
    """
    if partition is None:
        return _loaded(session, namespace, embedder)
    if partition.change == namespace.change and partition.generation == namespace.generation:
        return partition
    slots_before, number = len(partition), namespace.number
    tail_from = slots_before if namespace.generation == partition.generation else namespace.flushed
    delta: list[Statement] = [
        (_CHANGED, (number, partition.change)),
        (_CHANGED_RECORDS, (number, slots_before, number, partition.change)),
        _tail(namespace, tail_from),
        _records_from(session, namespace, slots_before),
    ]
    if embedder is not None:
        delta.append(vectors_statement(session, number, embedder, slots_before, namespace.slots))
    if session.dialect.remote:
        delta.append((SEGMENTS, (number,)))
        if partition.spoken == slots_before:
            delta.append(speakers_in(session, number, slots_before))
        if partition.named == slots_before:
            delta.append(named_in(number, slots_before, namespace.slots))
    # All of it is here before anything in memory is changed.
    session.namespace(namespace.path, delta)
    changed = session.execute(*delta[0]).fetchall()
    records = dict(session.execute(*delta[1]).fetchall())
    revectored = [slot for slot, vectors in changed if vectors and slot < slots_before]
    late = later_vectors(session, namespace.number, embedder, partition, revectored)
    if late is None:
        return _loaded(session, namespace, embedder)
    more = len(late[0]) + namespace.slots - slots_before
    if partition.vectors.exact and len(partition.vectors) + more > MAX_EXACT_VECTORS:
        return _loaded(session, namespace, embedder)
    # More than that memories were added: any of the others may be another by now.
    partition.forget_memories()
    if namespace.generation != partition.generation:
        partition.start_generation(
            namespace.generation,
            namespace.flushed,
            same_blocks=session.dialect.remote and all(vectors for _, vectors in changed),
        )
    _load_tail(session, namespace, partition, tail_from)
    for slot in sorted({slot for slot, _ in changed if slot < slots_before}):
        partition.replace(slot, unpacked([records.get(slot, b"")]))
    _load_records(session, namespace, partition, slots_before)
    if embedder is not None:
        partition.add_vectors(*late)
        partition.add_vectors(*stored_vectors(session, number, embedder, slots_before, namespace.slots))
        cell_rows.load(session, namespace.number, embedder[0], partition.vectors)
    partition.change = namespace.change
    return partition


def _loaded(session: Session, namespace: Namespace, embedder: tuple[int, int] | None) -> Partition:
    number, is_small = namespace.number, namespace.slots <= _BLOCK_SLOTS
    if is_small:
        whole = [_tail(namespace, namespace.flushed), _records_from(session, namespace, 0)]
        if embedder is not None:
            whole.append((_CODE_SIZES, (number, embedder[0])))
            whole.append(vectors_statement(session, number, embedder, 0, namespace.slots))
        if session.dialect.remote:
            whole += (SEGMENTS, (number,)), speakers_in(session, number, 0)
            whole.append(named_in(number, 0, namespace.slots))
        session.namespace(namespace.path, whole)
    vectors = 0 if embedder is None else _count_coded(session, number, embedder)
    read: tuple[Owners, Floats] | None = None
    if embedder is not None and vectors <= MAX_EXACT_VECTORS:
        if is_small:
            # To add their lengths up, a server looks at all of them as well.
            read = stored_vectors(session, number, embedder, 0, namespace.slots)
        vectors = _count_vectors(session, number, embedder) if read is None else len(read[0])
    fresh = Partition(embedder[1] if embedder else 0, exact=vectors <= MAX_EXACT_VECTORS)
    fresh.change = namespace.change
    fresh.start_generation(namespace.generation, namespace.flushed)
    _load_records(session, namespace, fresh, 0)
    _load_tail(session, namespace, fresh, namespace.flushed)
    if embedder is not None:
        fresh.vectors.reserve(vectors if vectors <= MAX_EXACT_VECTORS else max(vectors, namespace.slots))
        if read is not None and fresh.vectors.exact:
            fresh.vectors.add(*read)
        else:
            _load_vectors(session, namespace, fresh, embedder)
        cell_rows.load(session, number, embedder[0], fresh.vectors)
    return fresh


def _count_coded(session: Session, number: int, embedder: tuple[int, int]) -> int:
    """Return how many vectors of a namespace have codes."""
    lengths = session.execute(_CODE_SIZES, (number, embedder[0])).fetchall()
    return sum(coded_in(length, embedder[1]) for (length,) in lengths)


def _count_vectors(session: Session, number: int, embedder: tuple[int, int]) -> int:
    """Return how many vectors a namespace has, or that they are many."""
    place = session.dialect.vectors_number
    # Adding up walks over the vectors themselves: only as far as tells whether they are few.
    bounds = place(embedder[0], number, 0), place(embedder[0], number, SLOTS), MAX_EXACT_VECTORS + 1
    (size,) = session.execute(_VECTOR_SIZES, (number, *bounds)).fetchone()
    return int(size) // (4 * embedder[1])


def _load_records(session: Session, namespace: Namespace, into: Partition, start: int) -> None:
    if not start:
        # Room for all at once; where a few are added, making room for them would copy all others.
        into.reserve(namespace.slots)
    for first in range(start, max(start + 1, namespace.slots), _BLOCK_SLOTS):
        end = first + _BLOCK_SLOTS if first + _BLOCK_SLOTS < namespace.slots else SLOTS
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
    for slot, words in session.execute(*_tail(namespace, start)):
        into.remember_tail(slot, decoded_terms(words))


def _tail(namespace: Namespace, start: int) -> Statement:
    """Return what reads the words of memories that are in no segment yet."""
    return _TAIL, (namespace.number, max(start, namespace.flushed))


def _records_from(session: Session, namespace: Namespace, start: int) -> Statement:
    """Return what reads the first records from a slot on, as :func:`_load_records` does."""
    end = start + _BLOCK_SLOTS if start + _BLOCK_SLOTS < namespace.slots else SLOTS
    return session.dialect.joined(_ROWS), (namespace.number, start, end)


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
                into.vectors.add_codes(
                    Codes.decoded(session.dialect.blob(session, "vector_codes", "codes", number, place))
                )
            else:
                into.vectors.add(*stored_vectors(session, number, embedder, first, first + slots))
            start = first + slots
    into.vectors.add(*stored_vectors(session, number, embedder, start, namespace.slots))


_MAX_NUMBERS = 500


def later_vectors(
    session: Session,
    number: int,
    embedder: tuple[int, int] | None,
    partition: Partition,
    slots: Sequence[int],
) -> tuple[Owners, Floats] | None:
    """Return the vectors to add at the end for memories that are in memory; None if that will not do.

    Inside a read transaction. `slots`: those whose vectors have changed.
    """
    dimension = 0 if embedder is None else embedder[1]
    nothing = np.zeros(0, np.int32), np.zeros((0, dimension), np.float32)
    if embedder is None or not slots:
        return nothing
    owners = partition.vectors.owners.view
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
    passages = [len(of_slot) for of_slot in rows]
    return np.repeat(np.array(new, np.int32), passages), np.concatenate(rows)


def _stored(session: Session, embedder: int, number: int, slots: list[int]) -> dict[int, bytes]:
    """Return the vectors that slots have, by slot."""
    first = session.dialect.vectors_number(embedder, number, 0)
    vectors: dict[int, bytes] = {}
    for start in range(0, len(slots), _MAX_NUMBERS):
        numbers = [first + slot for slot in slots[start : start + _MAX_NUMBERS]]
        vectors |= dict(
            session.execute(
                f"SELECT slot, vectors FROM vectors WHERE +namespace = ? AND number IN ({marks(numbers)})",
                (number, *numbers),
            ).fetchall()
        )
    return vectors
