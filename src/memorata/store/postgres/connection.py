"""One connection to a server: how it is set up, and how it is asked what is asked by the thousand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pgvector.psycopg import register_vector
from psycopg import Connection, Cursor
from psycopg.rows import TupleRow

from memorata.store.postgres import arrays, texts

_CURSORS: Final = 64
"""How many cursors a connection keeps; more than there are statements without a filter in them."""


class Server(Connection[TupleRow]):
    """A connection to a server."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - psycopg's own
        super().__init__(*args, **options)
        self._asking: dict[str, tuple[str, Cursor[TupleRow]]] = {}

    def rows(self, sql: str, values: Sequence[object]) -> list[TupleRow]:
        """Return the rows of a statement, arrays of numbers in them as numpy's.

        For statements that are asked by the thousand: each has a cursor, which remembers how to read columns
        as long as it is given the same object, and they are sent in binary.
        """
        known = self._asking.get(sql)
        if known is None:
            if len(self._asking) == _CURSORS:
                self._asking.clear()
            cursor = self.cursor(binary=True)
            arrays.register(cursor)
            known = self._asking[sql] = (sql, cursor)
        return known[1].execute(known[0], values).fetchall()


def prepare(connection: Connection[Any], *, patience: float, statement_seconds: float) -> None:
    """Set a new connection up: time limits, numbers to the last bit, vectors, texts."""
    connection.execute(
        f"SET statement_timeout = {round(statement_seconds * 1000)}; "
        f"SET lock_timeout = {round(patience * 1000)}; "
        f"SET idle_in_transaction_session_timeout = {round(10 * patience * 1000)}; "
        "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; SET extra_float_digits = 1; "
        # Milliseconds are at stake here, and starting workers or a compiler costs more of them than it saves.
        "SET max_parallel_workers_per_gather = 0; SET jit = off"
    )
    register_vector(connection)
    texts.register(connection)
    if _is_pooled(connection):
        connection.prepare_threshold = None


def _is_pooled(connection: Connection[Any]) -> bool:
    """Return whether somebody in between deals out connections, a transaction at a time perhaps.

    Then what was prepared in one transaction is not known in the next, or is somebody else's. Who stands in
    between cannot tell in advance which process of the server will answer, and gave another number.
    """
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is None or row[0] != connection.info.backend_pid
