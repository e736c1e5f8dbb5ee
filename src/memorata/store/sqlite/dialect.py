"""How SQLite writes what SQL has no common form for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from memorata.store.database import Dialect, Session
from memorata.store.rows import NAMESPACES, SLOTS, checked_limit, microseconds
from memorata.store.sqlite import integrity
from memorata.store.sqlite.encryption import database_errors
from memorata.store.sqlite.files import kept_logs

_ADDED: Final = (
    "WITH RECURSIVE added (slot) AS (VALUES (?2) UNION ALL SELECT slot + 1 FROM added WHERE slot < ?3) "
    "INSERT INTO changes (namespace, slot, kind) SELECT ?1, slot, 'add' FROM added"
)
"""From one slot up to another, in order, without a parameter for each of them."""


class SqliteDialect(Dialect):
    """How SQLite writes what SQL has no common form for.

    SQLite finds a row by its whole number without any index. A row's number therefore says what it belongs
    to: 31 bits for the slot, 25 for the namespace and, for vectors, 7 for the embedder. One tree less has to
    be written with every memory, the memories of a namespace lie side by side, and so do their vectors.
    """

    name = "sqlite"
    decides_filters = True
    memory_key = "m.number"
    change_key = "c.change"
    change_columns = "change"
    change_memory = "(c.namespace << 31) + c.slot"
    taken_changes = "SELECT change FROM changes WHERE ?1 IS NOT NULL"
    drop_namespace = staticmethod(integrity.drop_namespace)
    problems = staticmethod(integrity.problems)
    row_problems = staticmethod(integrity.row_problems)
    mend = staticmethod(integrity.mend)
    remove_strays = staticmethod(integrity.remove_strays)
    leniently = staticmethod(integrity.undecoded)

    @property
    def unique_errors(self) -> tuple[type[Exception], ...]:
        """What a second row with a key raises."""
        return database_errors("IntegrityError")

    def number(self, namespace: int, slot: int) -> int:
        """Return the number of a memory's row."""
        return namespace * SLOTS + slot

    def vectors_number(self, embedder: int, namespace: int, slot: int) -> int:
        """Return the number of the row with the vectors an embedder made of a memory."""
        return (embedder * NAMESPACES + namespace) * SLOTS + slot

    def array(self, values: Sequence[Any]) -> str:
        """Return many values as one, in JSON."""
        return json.dumps(list(values), ensure_ascii=False)

    def clock(self, session: Session, now: datetime) -> int:
        """Return `now` in microseconds."""
        return microseconds(now)

    def joined(self, sql: str) -> str:
        """Return the count and the one value after the other of a statement with one column of bytes.

        That bytes are put together as they are is what SQLite does, and not what it promises.
        """
        column = sql.split()[1]
        return f"SELECT count(*), CAST(group_concat({column}, '') AS BLOB) FROM ({sql})"

    def blob(self, session: Session, table: str, column: str, namespace: int, number: int) -> bytes:
        """Return the bytes of one column; not as a row, which SQLite puts together and Python copies."""
        opener = getattr(session, "blobopen", None)
        if opener is None:
            sql = f"SELECT {column} FROM {table} WHERE rowid = ?"
            return bytes(session.execute(sql, (number,)).fetchone()[0])
        with opener(table, column, number, readonly=True) as opened:
            return bytes(opened.read())

    def make_namespace(self, session: Session, path: str) -> None:
        """Add the row of a namespace that is not there yet."""
        (begun,) = session.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
        number = session.insert("namespaces", "path, begun", (path, begun))
        checked_limit("namespaces", number, NAMESPACES)

    def rename_namespace(self, session: Session, number: int, path: str, to: str) -> int:
        """Give a namespace another path; its number stays, and so do its rows."""
        (begun,) = session.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
        session.execute("UPDATE namespaces SET path = ?, begun = ? WHERE number = ?", (to, begun, number))
        for table, by_name in integrity.owned_tables(session).items():
            if by_name:
                session.execute(f'UPDATE "{table}" SET namespace = ? WHERE namespace = ?', (to, path))
        return number

    def log_added(self, session: Session, number: int, first: int, end: int) -> None:
        """Note in the feed that the memories of some slots were added."""
        session.execute(_ADDED, (number, first, end - 1))

    def statistics(self, session: Session) -> Mapping[str, Any]:
        """Return the size of the file, and whether traces of what was purged may be in it."""
        path = session.execute("PRAGMA database_list").fetchone()[2]
        files = [Path(path + suffix) for suffix in ("", "-wal") if path]
        return {
            "unfinished_purge": integrity.unfinished_purge(session) is not None,
            "kept_logs": kept_logs(files[0]) if files else [],
            "bytes": sum(file.stat().st_size for file in files if file.exists()),
        }
