"""The cache of partitions in a process: within a budget, the least recently used evicted first.

Opening a view updates the partition, so it holds the lock of the namespace. A partition is as new as the last
view on it; a view of an older state (of a transaction that began before, or of a replica that is behind) gets
a partition of its own. The entries that this process has just written are held and added by the next view, if
nothing else has changed the namespace in between: reading them back takes longer than writing them did.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.codes import Codes, Floats, Owners, coded_in
from memorata.index.partition import Partition
from memorata.index.record import Records, decoded_terms, unpacked, unpacked_run
from memorata.index.segments import Embedder, segments_statement, stored_vectors, vectors_statement
from memorata.index.vector_rows import stored_bytes, unsealed
from memorata.index.vectors import MAX_EXACT_VECTORS
from memorata.model.errors import IndexCorrupt
from memorata.store.database import Session, Statement
from memorata.store.entries import Entry
from memorata.store.rows import EMPTY, SLOTS, Namespace, listed, named_in, speakers_in

_Key = tuple[str, str]
"""The origin (a database and its replica may differ) and the path of a namespace."""


class PartitionCache:
    """The partitions of a store."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._kept: OrderedDict[_Key, tuple[Partition, int]] = OrderedDict()
        self._used = 0
        self._added: dict[str, list[Added]] = {}
        self._lock = threading.Lock()

    def partition(self, session: Session, namespace: Namespace, embedder: Embedder | None) -> Partition:
        """Return the partition of a namespace as of a session's view; the caller holds its lock."""
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
            # The namespace was changed since this view began. A view without a transaction fails here, before
            # a whole namespace is loaded for it.
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
        """Hold added entries for the next view, where the namespace is cached and no segment was written."""
        unbatched = {entry.memory.namespace for entry in entries} - {batch.namespace.path for batch in added}
        with self._lock:
            for path in unbatched:
                self._added.pop(path, None)
            for batch in added:
                if ("", batch.namespace.path) in self._kept:
                    self._added.setdefault(batch.namespace.path, []).append(batch)

    def drop(self, path: str) -> None:
        """Evict the partitions of a namespace."""
        with self._lock:
            for key in [key for key in self._kept if key[1] == path]:
                _, size = self._kept.pop(key)
                self._used -= size

    def clear(self) -> None:
        """Evict all partitions."""
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
    """A write that only added entries to one namespace: no segment written, nothing superseded.

    Parameters
    ----------
    namespace
        Its row before the write.
    entries
        The added entries, in the order of their slots.
    records
        The record of each.
    change
        The number of the last change, which is the last of these entries.
    """

    namespace: Namespace
    entries: Sequence[Entry]
    records: Sequence[bytes]
    change: int


def catch_up(partition: Partition, added: Sequence[Added], until: int, dimension: int) -> None:
    """Add entries to a partition, as far as they follow on its last change.

    `added`: the writes since, in order. `until`: the last visible change. `dimension`: that of the current
    embedder's vectors; 0 without one.
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
        # Codes of large namespaces are made by loading.
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
    "SELECT slot, record FROM records WHERE namespace = ? AND +slot < ? AND slot IN "
    "(SELECT slot FROM changes WHERE namespace = ? AND change > ? AND kind <> 'add')"
)
"""By the slots that changed: without the sign SQLite walks over all records up to the bound (110 ns each)."""
_TAIL: Final = (
    "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL ORDER BY slot"
)
_REWORDINGS: Final = "SELECT slot, terms FROM rewordings WHERE namespace = ? ORDER BY slot"
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
    """Return the namespace's partition as of the session's view, reading only the delta.

    Inside a read transaction. `partition`: the cached one; None to load it.
    """
    if partition is None:
        return _loaded(session, namespace, embedder)
    if partition.change == namespace.change and partition.generation == namespace.generation:
        return partition
    slots_before, number = len(partition), namespace.number
    anew = namespace.generation != partition.generation
    tail_from = namespace.flushed if anew else slots_before
    delta: list[Statement] = [
        (_CHANGED, (number, partition.change)),
        (_CHANGED_RECORDS, (number, slots_before, number, partition.change)),
        _tail(namespace, tail_from),
        _records_from(session, namespace, slots_before),
    ]
    if anew:
        delta.append((_REWORDINGS, (number,)))
    if embedder is not None:
        delta.append(vectors_statement(session, number, embedder, slots_before, namespace.slots))
    if session.dialect.remote:
        delta.append(segments_statement(number, partition.last_segment))
        if partition.spoken == slots_before:
            delta.append(speakers_in(session, number, slots_before))
        if partition.named == slots_before:
            delta.append(named_in(number, slots_before, namespace.slots))
    # All rows are read before the partition is changed.
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
    # Not only additions: any cached memory may have changed.
    partition.forget_memories()
    if anew:
        partition.start_generation(namespace.generation, namespace.flushed)
        _load_rewordings(session, namespace, partition)
    _load_tail(session, namespace, partition, tail_from)
    for slot in sorted({slot for slot, _ in changed if slot < slots_before}):
        partition.replace(slot, unpacked([records.get(slot, b"")]))
    _load_records(session, namespace, partition, slots_before)
    if embedder is not None:
        partition.add_vectors(*late)
        partition.add_vectors(*stored_vectors(session, number, embedder, slots_before, namespace.slots))
    partition.change = namespace.change
    return partition


def _loaded(session: Session, namespace: Namespace, embedder: tuple[int, int] | None) -> Partition:
    number, is_small = namespace.number, namespace.slots <= _BLOCK_SLOTS
    if is_small:
        statements = [_tail(namespace, namespace.flushed), _records_from(session, namespace, 0)]
        statements.append((_REWORDINGS, (number,)))
        if embedder is not None:
            statements.append((_CODE_SIZES, (number, embedder[0])))
            statements.append(vectors_statement(session, number, embedder, 0, namespace.slots))
        if session.dialect.remote:
            statements += segments_statement(number, 0), speakers_in(session, number, 0)
            statements.append(named_in(number, 0, namespace.slots))
        session.namespace(namespace.path, statements)
    vectors = 0 if embedder is None else _count_coded(session, number, embedder)
    read: tuple[Owners, Floats] | None = None
    if embedder is not None and vectors <= MAX_EXACT_VECTORS:
        if is_small:
            # The sum of their lengths would make a server read all of them as well.
            read = stored_vectors(session, number, embedder, 0, namespace.slots)
        vectors = _count_vectors(session, number, embedder) if read is None else len(read[0])
    fresh = Partition(embedder[1] if embedder else 0, exact=vectors <= MAX_EXACT_VECTORS)
    fresh.change = namespace.change
    fresh.start_generation(namespace.generation, namespace.flushed)
    _load_records(session, namespace, fresh, 0)
    _load_rewordings(session, namespace, fresh)
    _load_tail(session, namespace, fresh, namespace.flushed)
    if embedder is not None:
        fresh.vectors.reserve(vectors if vectors <= MAX_EXACT_VECTORS else max(vectors, namespace.slots))
        if read is not None and fresh.vectors.exact:
            fresh.vectors.add(*read)
        else:
            _load_vectors(session, namespace, fresh, embedder)
    return fresh


def _count_coded(session: Session, number: int, embedder: tuple[int, int]) -> int:
    """Return the number of vectors of a namespace that have codes."""
    lengths = session.execute(_CODE_SIZES, (number, embedder[0])).fetchall()
    return sum(coded_in(length, embedder[1]) for (length,) in lengths)


def _count_vectors(session: Session, number: int, embedder: tuple[int, int]) -> int:
    """Return the number of vectors of a namespace; of many, a lower bound above `MAX_EXACT_VECTORS`."""
    place = session.dialect.vectors_number
    # The sum reads the vectors themselves, so it stops where they are known to be many.
    bounds = place(embedder[0], number, 0), place(embedder[0], number, SLOTS), MAX_EXACT_VECTORS + 1
    (size,) = session.execute(_VECTOR_SIZES, (number, *bounds)).fetchone()
    return int(size) // stored_bytes(embedder[1])


def _load_records(session: Session, namespace: Namespace, into: Partition, start: int) -> None:
    if not start:
        # Room for all at once; for a few added ones that would copy all others.
        into.reserve(namespace.slots)
    for first in range(start, max(start + 1, namespace.slots), _BLOCK_SLOTS):
        end = first + _BLOCK_SLOTS if first + _BLOCK_SLOTS < namespace.slots else SLOTS
        into.append(_records(session, namespace.number, first, end))
    if len(into) != namespace.slots:
        raise IndexCorrupt(f"{namespace.path} has {len(into)} records for {namespace.slots} slots")


def _records(session: Session, number: int, first: int, end: int) -> Records:
    # Concatenated into one value, which takes half the time of a row for each.
    count, run = session.execute(session.dialect.joined(_ROWS), (number, first, end)).fetchone()
    try:
        return unpacked_run(run or b"", count)
    except IndexCorrupt:
        # SQLite concatenates bytes unchanged, but does not promise it: read one by one, records show whether
        # they are damaged.
        rows = session.execute(_ROWS, (number, first, end)).fetchall()
        return unpacked([record for (record,) in rows])


def _load_tail(session: Session, namespace: Namespace, into: Partition, start: int) -> None:
    for slot, words in session.execute(*_tail(namespace, start)):
        into.remember_tail(slot, decoded_terms(words))


def _load_rewordings(session: Session, namespace: Namespace, into: Partition) -> None:
    for slot, words in session.execute(_REWORDINGS, (namespace.number,)):
        into.remember_rewording(slot, decoded_terms(words))


def _tail(namespace: Namespace, start: int) -> Statement:
    """Return the statement that reads the terms of memories in no segment yet."""
    return _TAIL, (namespace.number, start)


def _records_from(session: Session, namespace: Namespace, start: int) -> Statement:
    """Return the statement that reads the first block of records from a slot on."""
    end = start + _BLOCK_SLOTS if start + _BLOCK_SLOTS < namespace.slots else SLOTS
    return session.dialect.joined(_ROWS), (namespace.number, start, end)


def _load_vectors(session: Session, namespace: Namespace, into: Partition, embedder: tuple[int, int]) -> None:
    number, start = namespace.number, 0
    if not into.vectors.exact:
        for run in session.execute(
            # length() does not read the blob.
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
    """Return the vectors to append for memories of the partition; None if it has to be loaded again.

    Inside a read transaction. `slots`: the slots with changed vectors.
    """
    dimension = 0 if embedder is None else embedder[1]
    nothing = np.zeros(0, np.int32), np.zeros((0, dimension), np.float32)
    if embedder is None or not slots:
        return nothing
    owners = partition.vectors.owners.view
    changed = np.unique(np.array(slots, np.int32))
    loaded = np.isin(changed, owners)
    stored = _stored(session, embedder[0], number, changed.tolist())
    if not all(slot in stored for slot in changed[loaded].tolist()):
        # Vectors of the partition were removed, which it does not support.
        return None
    new = [slot for slot in changed[~loaded].tolist() if slot in stored]
    if not new:
        return nothing
    if owners.size and new[0] < owners[-1]:
        return None
    rows = [unsealed(stored[slot], dimension) for slot in new]
    passages = [len(of_slot) for of_slot in rows]
    return np.repeat(np.array(new, np.int32), passages), np.concatenate(rows)


def _stored(session: Session, embedder: int, number: int, slots: list[int]) -> dict[int, bytes]:
    """Return the stored vectors by slot."""
    first = session.dialect.vectors_number(embedder, number, 0)
    vectors: dict[int, bytes] = {}
    for start in range(0, len(slots), _MAX_NUMBERS):
        among, numbers = session.dialect.among([first + slot for slot in slots[start : start + _MAX_NUMBERS]])
        vectors |= dict(
            session.execute(
                f"SELECT slot, vectors FROM vectors WHERE +namespace = ? AND number {among}",
                (number, *numbers),
            ).fetchall()
        )
    return vectors
