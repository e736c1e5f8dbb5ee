"""Places: one number for where a memory stands, made of its namespace and its slot.

SQLite finds a row by its whole number without any index. A row's number therefore says what it belongs to:
31 bits for the slot, 25 for the namespace and, for vectors, 7 for the embedder. One tree less has to be
written with every memory, the memories of a namespace lie side by side, and so do their vectors.
"""

from __future__ import annotations

from memorata.store.limits import NAMESPACES, SLOTS


def place(namespace: int, slot: int) -> int:
    """Return the number of a memory's row.

    Examples
    --------
    >>> place(1, 5) - place(1, 0), place(2, 0) > place(1, SLOTS - 1)
    (5, True)
    """
    return namespace * SLOTS + slot


def vectors_place(embedder: int, namespace: int, slot: int) -> int:
    """Return the number of the row that holds the vectors an embedder made of a memory.

    Examples
    --------
    >>> vectors_place(1, 1, 5) - vectors_place(1, 1, 0)
    5
    >>> from memorata.store.limits import EMBEDDERS
    >>> vectors_place(EMBEDDERS - 1, NAMESPACES - 1, SLOTS - 1) == 2**63 - 1
    True
    """
    return (embedder * NAMESPACES + namespace) * SLOTS + slot
