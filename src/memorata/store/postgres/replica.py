"""A replica: another server that repeats what the first one writes, to read from.

What is read there may be older than what was written a moment ago. Its place in the log of the server
(``pg_last_wal_replay_lsn``) says how far a replica has come: a fresh read waits, for a short time, until the
place of the primary is reached, and otherwise goes to the primary. A replica that is away, too far behind or
no replica at all is not read; after it did not answer it is avoided for a while, so that not every read waits
for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

from psycopg import Connection
from psycopg.rows import TupleRow

from memorata.model.errors import ServerUnsuitable, StoreUnavailable
from memorata.store.postgres.address import shown
from memorata.store.postgres.errors import Contended
from memorata.store.postgres.pool import Pool
from memorata.store.postgres.session import PostgresSession

LAG: Final = 10.0
"""How many seconds a replica may be behind."""
PATIENCE: Final = 1.0
"""For how many seconds a replica, or a write that it has not replayed yet, is waited for."""
_AVOIDED_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.005
_STATUS: Final = """
    SELECT pg_is_in_recovery(),
        pg_last_wal_replay_lsn() >= %s::pg_lsn,
        CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
            AND EXISTS (SELECT 1 FROM pg_stat_wal_receiver) THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8
"""
"""Whether it is a replica, whether it has reached a place, and how many seconds it is behind.

One that has replayed all it was sent is not behind, however long ago the last write was.
"""


class Behind(StoreUnavailable):
    """A replica cannot be used now."""


class Replica:
    """A replica of a server, for reading; :class:`~.database.PostgresDatabase` describes the parameters."""

    def __init__(
        self,
        url: str,
        *,
        connections: int = 10,
        lag: float = LAG,
        patience: float = PATIENCE,
        statement_seconds: float = 30.0,
    ) -> None:
        self.name = shown(url)
        self._lag = lag
        self._patience = patience
        self._away_until, self._why = 0.0, ""
        self._pool = Pool(
            url, durable=True, connections=connections, patience=patience, statement_seconds=statement_seconds
        )

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.close()

    @contextmanager
    def reading(self, place: str | None) -> Iterator[PostgresSession]:
        """Run the block on one consistent view of it, at or after a place in the log of the first server.

        Raises
        ------
        StoreUnavailable
            It is away, or too far behind, or no replica.
        """
        if monotonic() < self._away_until:
            raise Behind(f"the replica {self.name} did not answer a moment ago: {self._why}")
        # At the first read: a process that only writes does not need the replica.
        self._pool.open()
        try:
            with self._pool.borrowed() as connection:
                self._check(connection, place)
                with self._pool.looking(connection, self.name) as session:
                    yield session
        except (Behind, Contended):
            raise
        except (StoreUnavailable, ServerUnsuitable) as error:
            self._away_until, self._why = monotonic() + _AVOIDED_SECONDS, str(error)
            raise

    def _check(self, connection: Connection[TupleRow], place: str | None) -> None:
        until = monotonic() + self._patience
        while True:
            with self._pool.translated(connection):
                row = connection.execute(_STATUS, (place or "0/0",)).fetchone()
            assert row is not None  # a SELECT without a table gives one
            is_replica, reached, seconds = row
            if not is_replica:
                raise Behind(f"{self.name} is no replica (any more)")
            if reached and seconds is not None and seconds <= self._lag:
                return
            if reached or monotonic() > until:
                raise Behind(
                    f"the replica {self.name} is "
                    + ("an unknown time" if seconds is None else f"{seconds:.1f} s")
                    + " behind"
                )
            sleep(_RETRY_SECONDS)
