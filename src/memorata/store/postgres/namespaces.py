"""Namespaces: their rows, what is counted in them, and the changes that happen to them.

Whoever writes locks the row first, so that in one namespace there is one writer at a time: slots are given
out, changes numbered and counters kept without a gap. Writers of different namespaces do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.record import FIELDS, Records, unpacked
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import FEED

NOBODY: Final = 2**31 - 1
"""The slot of a change that is about no memory; no memory ever gets it."""
NO_RECORDS: Final = unpacked([])
_COLUMNS: Final = "number, path, slots, change, naming, begun, memories, shown, sums, holders"
_COUNT: Final = (
    "memories = memories + %s, shown = shown + %s, "
    "sums = (SELECT array_agg(a + b ORDER BY at) FROM unnest(sums, %s::bigint[]) "
    "WITH ORDINALITY AS t (a, b, at)), "
    "holders = (SELECT array_agg(a + b ORDER BY at) FROM unnest(holders, %s::int[]) "
    "WITH ORDINALITY AS t (a, b, at))"
)
_FIND: Final = f"SELECT {_COLUMNS} FROM namespaces WHERE path = %s"


@frozen
class Namespace:
    """The row of a namespace.

    Attributes
    ----------
    number, path
        Its number, which never changes and is never given out again, and its name.
    slots
        How many slots were ever given out.
    change, naming, begun
        Its last change, the last of its declared names, and the last of all before it came to be.
    memories, shown
        How many memories there are, and how many of those are neither forgotten nor superseded.
    sums, holders
        Of those that are shown, by lexical field, how many terms there are and how many memories have any.
    """

    number: int
    path: str
    slots: int
    change: int
    naming: int
    begun: int
    memories: int
    shown: int
    sums: tuple[int, ...]
    holders: tuple[int, ...]


EMPTY: Final = Namespace(0, "", 0, 0, 0, 0, 0, 0, (0,) * len(FIELDS), (0,) * len(FIELDS))
"""One that nothing was ever written to."""


def find(connection: Server, path: str) -> Namespace | None:
    """Return a namespace, or None if nothing was ever written to it."""
    return _found(connection, _FIND, path)


def locked(connection: Server, path: str) -> Namespace | None:
    """Return a namespace and keep others from writing to it until the transaction ends.

    Its number stays as it is, so whoever only refers to it does not wait.
    """
    return _found(connection, f"{_FIND} FOR NO KEY UPDATE", path)


def made(connection: Server, path: str) -> Namespace:
    """Return a namespace, locked, and make it if it is not there yet."""
    # Not once: whoever makes it at the same moment may also remove it at the next.
    while (found := locked(connection, path)) is None:
        connection.execute(
            "INSERT INTO namespaces (path, begun) SELECT %s, "
            "CASE WHEN is_called THEN last_value ELSE 0 END FROM change_numbers ON CONFLICT DO NOTHING",
            (path,),
        )
    return found


def log(
    connection: Server,
    namespace: Namespace,
    slots: Sequence[int],
    kind: str,
    *,
    naming: bool = False,
    gained: Records = NO_RECORDS,
    lost: Records = NO_RECORDS,
    memories: int = 0,
) -> list[int]:
    """Write changes into the feed, and return their numbers; the namespace must be locked.

    And bring the counters up to date: which records are shown that were not, which no longer are, and how
    many memories there are more.
    """
    assigned, values = ["change = (SELECT max(change) FROM logged)"], _counts(gained, lost, memories)
    if naming:
        assigned.append("naming = (SELECT max(change) FROM logged)")
    if any(np.any(value) for value in values):
        assigned.append(_COUNT)
    else:
        values = ()
    return _logged(connection, namespace, slots, kind, ", ".join(assigned), values)


def log_added(connection: Server, namespace: Namespace, added: Records) -> list[int]:
    """Write into the feed that memories were added, and count them; the namespace must be locked.

    Return the numbers of the changes.
    """
    slots = range(namespace.slots, namespace.slots + len(added))
    assigned = f"change = (SELECT max(change) FROM logged), slots = %s, {_COUNT}"
    values = (slots.stop, *_counts(added, NO_RECORDS, len(added)))
    return _logged(connection, namespace, slots, "add", assigned, values)


def count(
    connection: Server, namespace: Namespace, gained: Records, lost: Records, memories: int = 0
) -> None:
    """Bring the counters up to date: which records are shown that were not, and which no longer are."""
    values = _counts(gained, lost, memories)
    if any(np.any(value) for value in values):
        connection.execute(f"UPDATE namespaces SET {_COUNT} WHERE number = %s", (*values, namespace.number))


def last_change(connection: Server) -> int:
    """Return the number of the last change of all."""
    row = connection.execute(
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM change_numbers"
    ).fetchone()
    return int((row or (0,))[0])


def settle(connection: Server) -> int:
    """Wait until no change is on its way, and return the last number that was given out until then.

    Numbers are given out before transactions end, and those of two namespaces may end in another order: a
    reader who saw the later one first would never see the other. Every writer shares a lock; to hold it alone
    for an instant is to know that all of them have ended.
    """
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (FEED,))
    return last_change(connection)


def lock_all(connection: Server, paths: Iterable[str]) -> dict[str, Namespace]:
    """Lock, or make, several namespaces in one order, so that two writers do not wait for each other."""
    return {path: made(connection, path) for path in sorted(set(paths))}


def lock_all_known(connection: Server, paths: Iterable[str]) -> None:
    """Lock those of some namespaces that there are, in one order."""
    for path in sorted(set(paths)):
        locked(connection, path)


def _logged(
    connection: Server,
    namespace: Namespace,
    slots: Sequence[int],
    kind: str,
    assigned: str,
    values: Sequence[object],
) -> list[int]:
    """Write changes into the feed and into the row of a namespace, and return their numbers."""
    rows = connection.execute(
        "WITH logged AS (INSERT INTO changes (namespace, change, slot, kind) "
        "SELECT %s, nextval('change_numbers'), slot, %s FROM unnest(%s::int[]) AS new (slot) "
        f"RETURNING change), noted AS (UPDATE namespaces SET {assigned} WHERE number = %s) "
        "SELECT change FROM logged ORDER BY change",
        (namespace.number, kind, array(slots), *values, namespace.number),
    )
    return [number for (number,) in rows]


def _counts(gained: Records, lost: Records, memories: int) -> tuple[Any, ...]:
    sums = gained["lengths"].sum(axis=0, dtype=np.int64) - lost["lengths"].sum(axis=0, dtype=np.int64)
    having = (gained["lengths"] > 0).sum(axis=0) - (lost["lengths"] > 0).sum(axis=0)
    return memories, len(gained) - len(lost), sums.tolist(), having.tolist()


def _found(connection: Server, query: str, path: str) -> Namespace | None:
    row = connection.execute(query, (path,)).fetchone()
    if row is None:
        return None
    return replace(Namespace(*row), sums=tuple(row[8]), holders=tuple(row[9]))
