"""Finding a memory and its record on a server, and changing its columns and its record.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import math

from memorata._frozen import frozen
from memorata.index.record import Records, unpacked
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import NO_RECORDS, Namespace
from memorata.store.postgres.rows import OWN, memory
from memorata.store.postgres.words import move_words


@frozen(eq=False)
class Kept:
    """A memory, where it stands, and its record."""

    namespace: Namespace
    slot: int
    memory: Memory
    record: Records


def find(connection: Server, path: str, id_: str, *, lock: bool = False) -> Kept:
    """Return a memory and where it is, or raise; its namespace locked, if so wanted."""
    namespace = (namespaces.locked if lock else namespaces.find)(connection, path)
    if namespace is not None:
        found = connection.execute(
            f"SELECT m.slot, m.record, {OWN} FROM memories m WHERE m.namespace = %s AND m.id = %s",
            (namespace.number, id_),
        ).fetchone()
        if found is not None:
            return Kept(namespace, found[0], memory(found[2:], path), unpacked([found[1]]))
    raise MemoryNotFound(id_, path)


def set_columns(connection: Server, kept: Kept, **columns: object) -> None:
    """Change some columns of a memory, which is at its next version then."""
    assigned = ", ".join(f"{name} = %s" for name in columns)
    connection.execute(
        f"UPDATE memories SET {assigned}, version = version + 1 WHERE namespace = %s AND slot = %s",
        (*columns.values(), kept.namespace.number, kept.slot),
    )


def put_record(connection: Server, kept: Kept, record: bytes, kind: str, **columns: object) -> int:
    """Change the record of a memory, some columns and what is counted; return the number of the change."""
    new = unpacked([record])
    gained = new if is_shown(new) else NO_RECORDS
    lost = kept.record if is_shown(kept.record) else NO_RECORDS
    number, moves = kept.namespace.number, len(gained) != len(lost)
    assigned = ", ".join(f"{name} = %s" for name in ("record", *columns))
    words = connection.execute(
        f"UPDATE memories SET {assigned} WHERE namespace = %s AND slot = %s"
        + (" RETURNING words" if moves else ""),
        (record, *columns.values(), number, kept.slot),
    )
    if moves:
        row = words.fetchone()
        assert row is not None  # it was just read
        move_words(connection, number, kept.slot, row[0], hidden=not len(gained))
    return namespaces.log(connection, kept.namespace, [kept.slot], kind, gained=gained, lost=lost)[-1]


def is_shown(record: Records) -> bool:
    """Return whether a record is that of a memory that is neither forgotten nor superseded."""
    return bool(record["state"][0] == 0 and math.isinf(record["superseded"][0]))
