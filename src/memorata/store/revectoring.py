"""Vectors that memories got after they were loaded: what to add to those in memory.

Re-embedding goes from the first memory to the last, so what is new mostly comes after all that is in memory
and can be added at the end; whoever searches meanwhile then reads a batch, and not everything, anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memorata.index.codes import Floats, Owners
from memorata.index.partition import Partition
from memorata.store.database import Session
from memorata.store.rows import marks

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
