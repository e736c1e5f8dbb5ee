"""What every look at a namespace begins with, in one statement: its row, its vectors counted, what is hidden.

A namespace of few memories is *small*: then the slots of those that may not be seen are read at once, and
every leg leaves them out by itself; lists and cosines of it are read whole (:mod:`lists`, :mod:`vectors`),
for to select from them takes the server longer than to send them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.record import RECORD, Records, unpacked
from memorata.model.checks import IntArray
from memorata.store.instants import microseconds
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import EMPTY, Namespace

SMALL: Final = 4_096
"""Up to how many slots that were ever given out a namespace is small."""
NOT_PLAIN: Final = "(m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL OR m.expires_at IS NOT NULL)"
"""Word for word the condition of an index."""
EXPIRED: Final = f"{NOT_PLAIN} AND m.forgotten_at IS NULL AND m.superseded_at IS NULL AND m.expires_at <= %s"
UNSEEN: Final = (
    f"{NOT_PLAIN} AND (m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL OR m.expires_at <= %s)"
)
_OPEN: Final = (
    "SELECT n.number, n.slots, n.change, n.naming, n.begun, n.memories, n.shown, n.sums, n.holders, "
    "coalesce(v.memories, 0), coalesce(v.passages, 0), coalesce(v.indexed, false), "
    f"(SELECT string_agg(m.record, '') FROM memories m WHERE m.namespace = n.number AND {EXPIRED}), "
    "CASE WHEN n.slots <= %s THEN "
    f"ARRAY(SELECT m.slot FROM memories m WHERE m.namespace = n.number AND {UNSEEN}) END "
    "FROM namespaces n LEFT JOIN vector_counts v ON v.namespace = n.number AND v.embedder = %s "
    "WHERE n.path = %s"
)


@frozen(eq=False)
class Opened:
    """What is known of a namespace at an instant when a look at it begins.

    Attributes
    ----------
    namespace
        Its row.
    embedded, passages, indexed
        How many memories have vectors of the embedder, how many those are, and whether there is an
        approximate index of them.
    expired
        The records of what has expired and is not hidden otherwise.
    unseen
        The slots of all that may not be seen, of a small namespace; None for others.
    """

    namespace: Namespace
    embedded: int
    passages: int
    indexed: bool
    expired: Records
    unseen: IntArray | None


NOTHING: Final = Opened(EMPTY, 0, 0, False, unpacked([]), np.zeros(0, np.intp))
"""Of a namespace that nothing was ever written to."""


def opened(connection: Server, path: str, now: datetime, embedder: tuple[int, int] | None) -> Opened:
    """Return what is known of a namespace, inside a read transaction."""
    at = microseconds(now)
    whose = -1 if embedder is None else embedder[0]
    rows = connection.rows(_OPEN, (at, SMALL, at, whose, path))
    if not rows:
        return NOTHING
    ((number, slots, change, naming, begun, memories, shown, sums, holders, *counts, expired, unseen),) = rows
    namespace = Namespace(
        number,
        path,
        slots,
        change,
        naming,
        begun,
        memories,
        shown,
        tuple(sums.tolist()),
        tuple(holders.tolist()),
    )
    embedded, passages, indexed = counts
    size, blob = RECORD.itemsize, expired or b""
    records = unpacked([blob[start : start + size] for start in range(0, len(blob), size)])
    return Opened(
        namespace,
        embedded,
        passages,
        indexed,
        records,
        None if unseen is None else unseen.astype(np.intp),
    )
