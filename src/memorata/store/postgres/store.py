"""The store on a PostgreSQL server."""

from __future__ import annotations

from typing import Any

from memorata.index.approximate import APPROXIMATE_FROM
from memorata.store.postgres.database import PostgresDatabase
from memorata.store.store import MEMORY_BUDGET, Store


class PostgresStore(Store):
    """A store on a server, which any number of processes on any number of machines may open.

    Parameters
    ----------
    url
        The address: ``postgresql://user:password@host:port/database``.
    memory_budget
        About how many bytes of namespaces to keep in memory; the least recently used go first.
    approximate_from
        From how many memories with vectors on a namespace gets an approximate index, if faiss is installed.
    **options
        As :class:`~.database.PostgresDatabase` has them: `durable`, `must_exist`, `connections`, `patience`,
        `statement_seconds`, `replica`, `replica_lag`, `replica_patience`.
    """

    _database: PostgresDatabase

    def __init__(
        self,
        url: str,
        *,
        memory_budget: int = MEMORY_BUDGET,
        approximate_from: int = APPROXIMATE_FROM,
        **options: Any,  # noqa: ANN401 - the database checks them
    ) -> None:
        database = PostgresDatabase(url, **options)
        super().__init__(database, memory_budget=memory_budget, approximate_from=approximate_from)
