"""Memories together with their records, which writes change along with them."""

from __future__ import annotations

from typing import Final, NamedTuple

from memorata.index.record import Records, unpacked
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.database import Session
from memorata.store.rows import OWN, Namespace, find_namespace, log_change, memory

LOCATE: Final = (
    f"SELECT m.number, m.slot, r.record, {OWN}, NULL FROM memories m "
    "LEFT JOIN records r ON r.namespace = m.namespace AND r.slot = m.slot WHERE m.namespace = ? AND m.id = ?"
)


class Located(NamedTuple):
    """A memory with its namespace, number, slot and record."""

    namespace: Namespace
    number: int
    slot: int
    memory: Memory
    record: Records


def locate(session: Session, namespace: Namespace, id_: str) -> Located | None:
    """Return a memory of a namespace with its record; None if it does not exist."""
    row = session.execute(LOCATE, (namespace.number, id_)).fetchone()
    if row is None:
        return None
    number, slot, record, *columns = row
    return Located(namespace, number, slot, memory(columns, namespace.path), unpacked([record or b""]))


def located(session: Session, path: str, id_: str) -> Located:
    """Return a memory with its record, or raise."""
    namespace = find_namespace(session, path)
    memory = None if namespace is None else locate(session, namespace, id_)
    if memory is None:
        raise MemoryNotFound(id_, path)
    return memory


def record_of(session: Session, namespace: Namespace, slot: int) -> Records:
    """Return the record of a memory."""
    row = session.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot = ?", (namespace.number, slot)
    ).fetchone()
    return unpacked(row or [b""])


def put_record(session: Session, namespace: Namespace, slot: int, record: bytes, kind: str) -> int:
    """Change the record of a memory, and return the number of the change."""
    session.execute(
        "UPDATE records SET record = ? WHERE namespace = ? AND slot = ?", (record, namespace.number, slot)
    )
    return log_change(session, namespace.number, kind, slot)
