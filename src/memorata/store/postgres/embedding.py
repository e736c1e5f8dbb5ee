"""The part of the store on a server that gives memories vectors after they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from memorata.index.record import changed
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.store.embedding import Embedded
from memorata.store.insertion import checked_passages
from memorata.store.limits import SLOTS
from memorata.store.port import Entry, Page, Progress
from memorata.store.postgres import namespaces
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.finding import find, put_record, set_columns
from memorata.store.postgres.indexing import make_index, next_to_index
from memorata.store.postgres.rows import OWN, memory
from memorata.store.postgres.vectors import WIDEST, index_name, put_vectors, remove_vectors

_DIGITS: Final = 19
"""A cursor has fewer than the largest number."""
_WAITS: Final = (
    "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.namespace = m.namespace AND v.embedder = %s "
    "AND v.slot = m.slot)"
)


class EmbeddingStore:
    """What :class:`~memorata.store.port.Store` promises about vectors that are still to be computed."""

    _database: Database
    _embedder: tuple[int, int] | None

    def dimension_of(self, embedder: str) -> int | None:
        """Return how long the vectors of an embedder are, as recorded; None for one that was never used."""
        find = "SELECT dimension FROM embedders WHERE name = %s"
        found = self._database.read(lambda connection: connection.execute(find, (embedder,)).fetchone())
        return None if found is None else int(found[0])

    def waiting(self, limit: int, cursor: str | None = None) -> Page:
        """Return memories without a vector of the current embedder, of every namespace, a page at a time."""
        if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < _DIGITS):
            raise InvalidArgument("cursor", cursor, "the cursor of a page before")
        after = (0, -1) if cursor is None else divmod(int(cursor), SLOTS)
        number = self._number()
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT m.namespace, m.slot, n.path, {OWN} FROM memories m "
                "JOIN namespaces n ON n.number = m.namespace "
                f"WHERE (m.namespace, m.slot) > (%s, %s) AND {_WAITS} ORDER BY m.namespace, m.slot LIMIT %s",
                (*after, number, limit + 1),
            ).fetchall()
        )
        shown = rows[:limit]
        more = len(rows) > limit
        last = str(shown[-1][0] * SLOTS + shown[-1][1]) if more and shown else None
        return Page(tuple(memory(row, path) for _, _, path, *row in shown), last)

    def count_waiting(self) -> int:
        """Return how many memories have no vector of the current embedder."""
        number = self._number()
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT coalesce(sum(n.memories - coalesce(c.memories, 0)), 0) FROM namespaces n "
                "LEFT JOIN vector_counts c ON c.namespace = n.number AND c.embedder = %s",
                (number,),
            ).fetchone()
        )
        return int((row or (0,))[0])

    def other_vectors(self) -> Mapping[str, int]:
        """Return how many memories have vectors of each other embedder; nothing for those without any."""
        number = self._number()
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT e.name, sum(c.memories)::bigint FROM vector_counts c "
                "JOIN embedders e ON e.number = c.embedder WHERE c.embedder <> %s "
                "GROUP BY e.number, e.name HAVING sum(c.memories) > 0 ORDER BY e.number",
                (number,),
            ).fetchall()
        )
        return dict(rows)

    def put_vectors(self, given: Sequence[Embedded]) -> int:
        """Give memories their vectors, all in one transaction; return how many still waited for them."""
        return self._database.write(lambda connection: self._put(connection, given))

    def renew_codes(self, progress: Progress = lambda what, done, total: None) -> bool:
        """Make an approximate index for one namespace that has grown large; return whether any had.

        Searches are exact until it is there. Others read and write meanwhile.
        """
        number, embedder = self._number(), self._embedder
        assert embedder is not None  # _number looked
        if embedder[1] > WIDEST:
            return False
        found = self._database.read(lambda connection: next_to_index(connection, number))
        if found is None:
            return False
        make_index(self._database.url, found, embedder, self._database.read, progress)
        return True

    def drop_vectors(self, limit: int) -> int:
        """Remove up to `limit` vectors of other embedders than the current one; return how many."""
        return self._database.write(lambda connection: self._drop(connection, limit))

    def _put(self, connection: Server, given: Sequence[Embedded]) -> int:
        number, written = self._number(), 0
        name = _name(connection, number)
        namespaces.lock_all_known(connection, [each.namespace for each in given])
        for path, members in groupby(given, key=lambda each: each.namespace):
            slots = []
            for each in members:
                try:
                    kept = find(connection, path, each.memory_id)
                except MemoryNotFound:
                    # It was purged in the meantime.
                    continue
                if _has_vectors(connection, kept.namespace.number, number, kept.slot):
                    # Another process was faster.
                    continue
                passages = checked_passages(Entry(kept.memory, {}, each.vectors, each.digest), self._embedder)
                put_vectors(
                    connection, kept.namespace.number, number, [(kept.slot, each.digest, each.vectors)]
                )
                set_columns(connection, kept, embedder=name)
                put_record(connection, kept, changed(kept.record, vectors=passages), "vectors")
                slots.append(kept.slot)
            written += len(slots)
        return written

    def _drop(self, connection: Server, limit: int) -> int:
        number = self._number()
        name = _name(connection, number)
        whose = connection.execute(
            "SELECT DISTINCT n.path, n.number FROM vector_counts c JOIN namespaces n "
            "ON n.number = c.namespace WHERE c.embedder <> %s AND c.memories > 0",
            (number,),
        ).fetchall()
        namespaces.lock_all_known(connection, [path for path, _ in whose])
        # Of those that are locked only: others may have got some since.
        rows = connection.execute(
            "SELECT namespace, slot, embedder FROM vectors WHERE embedder <> %s AND passage = 0 "
            "AND namespace = ANY (%s::bigint[]) ORDER BY namespace, slot, embedder LIMIT %s",
            (number, array(each for _, each in whose), limit),
        ).fetchall()
        for namespace, slot, embedder in rows:
            remove_vectors(connection, namespace, slot, embedder)
            connection.execute(
                "UPDATE memories SET embedder = '', version = version + 1 "
                "WHERE namespace = %s AND slot = %s AND embedder NOT IN ('', %s)",
                (namespace, slot, name),
            )
        for path, _ in whose:
            found = namespaces.find(connection, path)
            slots = [slot for namespace, slot, _ in rows if found is not None and namespace == found.number]
            if found is not None and slots:
                namespaces.log(connection, found, slots[-1:], "vectors")
        for namespace, embedder in {(namespace, embedder) for namespace, _, embedder in rows}:
            _drop_index(connection, namespace, embedder)
        return len(rows)

    def _number(self) -> int:
        if self._embedder is None:
            raise InvalidArgument("embedder", None, "in use, for vectors to belong to it")
        return self._embedder[0]


def _drop_index(connection: Server, namespace: int, embedder: int) -> None:
    """Remove an index that has nothing left to find."""
    gone = connection.execute(
        "UPDATE vector_counts SET indexed = false "
        "WHERE namespace = %s AND embedder = %s AND indexed AND memories = 0",
        (namespace, embedder),
    )
    if gone.rowcount:
        connection.execute(f"DROP INDEX IF EXISTS {index_name(namespace, embedder)}")


def _has_vectors(connection: Server, namespace: int, embedder: int, slot: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM vectors WHERE namespace = %s AND embedder = %s AND slot = %s LIMIT 1",
        (namespace, embedder, slot),
    ).fetchone()
    return row is not None


def _name(connection: Server, embedder: int) -> str:
    row: Any = connection.execute("SELECT name FROM embedders WHERE number = %s", (embedder,)).fetchone()
    return str(row[0])
