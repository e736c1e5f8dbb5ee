"""Keeping what is in memory of a namespace up to date with what this process itself has just added to it.

The next look would read it back from the file (:mod:`.loading`), which takes longer than writing it did. What
has just been written is at hand, and is added when somebody looks, if nothing else has happened to the
namespace in between.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memorata._frozen import frozen
from memorata.index.codes import Floats, Owners
from memorata.index.partition import Partition
from memorata.index.record import unpacked
from memorata.index.vectors import EXACT
from memorata.store.namespaces import Namespace
from memorata.store.port import Entry


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


def keep_up(known: Partition, added: Sequence[Added], until: int, dimension: int) -> None:
    """Add to a partition what was added to its namespace, as far as that goes on from what it knows.

    Parameters
    ----------
    known
        What is in memory.
    added
        What was written since, in order.
    until
        The last change that may be seen.
    dimension
        That of the current embedder's vectors; 0 without one.
    """
    change, entries, records = known.change, list[Entry](), list[bytes]()
    for each in added:
        before = each.namespace
        if before.change != change or before.generation != known.generation or each.change > until:
            break
        change = each.change
        entries += each.entries
        records += each.records
    first = len(known)
    owners, rows = rows_of(entries, first, dimension)
    if not entries or not known.vectors.exact or len(known.vectors) + len(owners) > EXACT:
        # What a large namespace keeps is made by those who load it.
        return
    for slot, entry in enumerate(entries, first):
        known.remember_tail(slot, entry.terms)
    known.append(unpacked(records))
    if dimension:
        known.add_vectors(owners, rows)
    known.change = change


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
