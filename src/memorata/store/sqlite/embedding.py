"""The part of the store on one SQLite file that gives memories vectors after they were written.

A batch is one transaction. It takes the codes of the runs it touches away, for those would no longer be
all there is; whoever loads them meanwhile codes from the vectors, and `renew_codes` writes them anew.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Final

import numpy as np

from memorata.index.codes import Codes
from memorata.index.record import changed, unpacked
from memorata.model.errors import InvalidArgument
from memorata.store.adding import checked_passages
from memorata.store.embedding import Embedded
from memorata.store.limits import NAMESPACES, SLOTS
from memorata.store.port import Entry, Page, Progress
from memorata.store.sqlite import addresses, approximation, hashes
from memorata.store.sqlite.connection import reading
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.places import vectors_place
from memorata.store.sqlite.rows import SELECTED, SOURCE, memory
from memorata.store.sqlite.segments import stored_vectors

_DIGITS: Final = 19
"""A cursor has fewer than the largest number."""
_WAITS: Final = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.number = m.number + ?)"
_FOUND: Final = (
    f"SELECT m.number, m.slot, {SELECTED} FROM {SOURCE} WHERE n.path = ? AND m.id = ? AND {_WAITS}"
)
_ADD: Final = (
    "INSERT INTO vectors (number, namespace, embedder, slot, digest, vectors) VALUES (?, ?, ?, ?, ?, ?)"
)
_OTHERS: Final = (
    "SELECT number, namespace, slot FROM vectors WHERE number < ?1 "
    "UNION ALL SELECT number, namespace, slot FROM vectors WHERE number > ?2 LIMIT ?3"
)
"""Each half looks at one end of the tree, however many vectors of the current embedder lie between."""


class EmbeddingStore:
    """What :class:`~memorata.store.port.Store` promises about vectors that are still to be computed."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock
    _embedder: tuple[int, int] | None
    _approximate_from: int

    def dimension_of(self, embedder: str) -> int | None:
        """Return how long the vectors of an embedder are, as recorded; None for one that was never used."""
        find = "SELECT dimension FROM embedders WHERE name = ?"
        with self._lock, reading(self._connection, self.path):
            found = self._connection.execute(find, (embedder,)).fetchone()
        return None if found is None else int(found[0])

    def waiting(self, limit: int, cursor: str | None = None) -> Page:
        """Return memories without a vector of the current embedder, of every namespace, a page at a time."""
        if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < _DIGITS):
            raise InvalidArgument("cursor", cursor, "the cursor of a page before")
        after = -1 if cursor is None else int(cursor)
        with self._lock, reading(self._connection, self.path):
            rows = self._connection.execute(
                f"SELECT m.number, {SELECTED} FROM {SOURCE} WHERE m.number > ? AND {_WAITS} "
                "ORDER BY m.number LIMIT ?",
                (after, self._first(), limit + 1),
            ).fetchall()
        shown = rows[:limit]
        more = len(rows) > limit
        return Page(tuple(memory(row[1:]) for row in shown), str(shown[-1][0]) if more and shown else None)

    def count_waiting(self) -> int:
        """Return how many memories have no vector of the current embedder."""
        with self._lock, reading(self._connection, self.path):
            found = self._connection.execute(
                f"SELECT count(*) FROM memories m WHERE {_WAITS}", (self._first(),)
            ).fetchone()
        return int(found[0])

    def other_vectors(self) -> Mapping[str, int]:
        """Return how many memories have vectors of each other embedder; nothing for those without any."""
        with self._lock, reading(self._connection, self.path):
            if self._connection.execute(_OTHERS, (*self._own(), 1)).fetchone() is None:
                return {}
            rows = self._connection.execute(
                "SELECT e.name, count(*) FROM vectors v "
                "JOIN embedders e ON e.number = v.embedder WHERE v.embedder <> ? "
                "GROUP BY v.embedder ORDER BY v.embedder",
                (self._number(),),
            ).fetchall()
        return dict(rows)

    def put_vectors(self, given: Sequence[Embedded]) -> int:
        """Give memories their vectors, all in one transaction; return how many still waited for them."""
        first, written = self._first(), 0
        placed: list[tuple[bytes, int]] = []
        with self._lock, transaction(self._connection, self.path):
            name = self._name()
            for path, members in groupby(given, key=lambda each: each.namespace):
                slots = []
                for each in members:
                    row = self._connection.execute(_FOUND, (path, each.memory_id, first)).fetchone()
                    # It may have been purged, or embedded by another process, in the meantime.
                    if row is not None:
                        entry = Entry(memory(row[2:]), {}, each.vectors, each.digest)
                        passages = checked_passages(entry, self._embedder)
                        self._put(row[0], row[1], each, passages, name)
                        slots.append(row[1])
                        placed.append((each.digest, row[0] + first))
                if slots:
                    self._tell(path, slots)
                    written += len(slots)
            places = np.array([place for _, place in placed], np.int64)
            addresses.add(
                self._connection,
                hashes.digest_keys(
                    self._number(), places // SLOTS % NAMESPACES, [digest for digest, _ in placed]
                ),
                places,
            )
        return written

    def renew_codes(self, progress: Progress = lambda what, done, total: None) -> bool:
        """Bring what is derived from vectors up to date for the current embedder, one step of it.

        Return whether there was anything to do.
        """
        number = self._number()
        with self._lock, transaction(self._connection, self.path):
            row = self._connection.execute(
                "SELECT number, namespace, first, slots FROM vector_codes WHERE embedder IS NOT ? LIMIT 1",
                (number,),
            ).fetchone()
            if row is not None:
                run, namespace, start, slots = row
                codes = Codes.of(*stored_vectors(self._connection, namespace, number, start, start + slots))
                self._connection.execute(
                    "UPDATE vector_codes SET embedder = ?, codes = ? WHERE number = ?",
                    (number, codes.encoded(), run),
                )
        return row is not None or approximation.renew(
            self._connection, number, self._approximate_from, self._reading, self._writing, progress
        )

    def drop_vectors(self, limit: int) -> int:
        """Remove up to `limit` vectors of other embedders than the current one; return how many.

        Who still searches with one of those finds what lost its vectors by words, and says so.
        """
        with self._lock, transaction(self._connection, self.path):
            rows = self._connection.execute(_OTHERS, (*self._own(), limit)).fetchall()
            numbers = [(number,) for number, _, _ in rows]
            self._connection.executemany("DELETE FROM vectors WHERE number = ?", numbers)
            self._connection.executemany(
                "UPDATE memories SET embedder = '', version = version + 1 "
                "WHERE number = ? AND embedder NOT IN ('', ?)",
                [((namespace * SLOTS) + slot, self._name()) for _, namespace, slot in rows],
            )
            for namespace in sorted({namespace for _, namespace, _ in rows}):
                # Codes of vectors that are gone say nothing; who uses the old embedder may have made some.
                self._connection.execute(
                    "UPDATE vector_codes SET embedder = NULL, codes = NULL "
                    "WHERE namespace = ? AND embedder <> ?",
                    (namespace, self._number()),
                )
                self._connection.execute(
                    "DELETE FROM approximations WHERE namespace = ? AND embedder <> ?",
                    (namespace, self._number()),
                )
                self._log(namespace, [slot for _, whose, slot in rows if whose == namespace][-1:])
            if len(rows) < limit:
                addresses.keep_vectors_of(self._connection, self._number())
        return len(rows)

    def _put(self, number: int, slot: int, given: Embedded, passages: int, name: str) -> None:
        connection, embedder, namespace = self._connection, self._number(), number // SLOTS
        connection.execute(
            _ADD,
            (
                vectors_place(embedder, namespace, slot),
                namespace,
                embedder,
                slot,
                given.digest,
                np.asarray(given.vectors, np.float32).tobytes(),
            ),
        )
        connection.execute(
            "UPDATE memories SET embedder = ?, version = version + 1 WHERE number = ?", (name, number)
        )
        where = (namespace, slot)
        record = connection.execute(
            "SELECT record FROM records WHERE namespace = ? AND slot = ?", where
        ).fetchone()
        connection.execute(
            "UPDATE records SET record = ? WHERE namespace = ? AND slot = ?",
            (changed(unpacked(record or [b""]), vectors=passages), *where),
        )
        connection.execute(
            "UPDATE vector_codes SET embedder = NULL, codes = NULL "
            "WHERE namespace = ? AND embedder = ? AND first <= ? AND first + slots > ?",
            (namespace, embedder, slot, slot),
        )
        approximation.missed(connection, namespace, embedder, slot)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, reading(self._connection, self.path):
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, transaction(self._connection, self.path):
            yield

    def _tell(self, path: str, slots: Sequence[int]) -> None:
        """Let other processes know that memories of a namespace have other vectors than they had."""
        (namespace,) = self._connection.execute(
            "SELECT number FROM namespaces WHERE path = ?", (path,)
        ).fetchone()
        self._log(namespace, slots)

    def _log(self, namespace: int, slots: Sequence[int]) -> None:
        self._connection.executemany(
            "INSERT INTO changes (namespace, slot, kind) VALUES (?, ?, 'vectors')",
            [(namespace, slot) for slot in slots],
        )
        self._connection.execute(
            "UPDATE namespaces SET change = (SELECT max(change) FROM changes) WHERE number = ?", (namespace,)
        )

    def _number(self) -> int:
        if self._embedder is None:
            raise InvalidArgument("embedder", None, "in use, for vectors to belong to it")
        return self._embedder[0]

    def _first(self) -> int:
        """Return what a memory's place has to be moved by to be the place of its vectors."""
        return vectors_place(self._number(), 0, 0)

    def _own(self) -> tuple[int, int]:
        """Return between which places the vectors of the current embedder lie."""
        return self._first(), vectors_place(self._number(), NAMESPACES - 1, SLOTS - 1)

    def _name(self) -> str:
        found = self._connection.execute("SELECT name FROM embedders WHERE number = ?", (self._number(),))
        return str(found.fetchone()[0])
