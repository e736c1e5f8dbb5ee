"""The store in one SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memorata.index.approximate import APPROXIMATE_FROM
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.store import MEMORY_BUDGET, Store


class SqliteStore(Store):
    """A store in one file; any number of processes may open it.

    Parameters
    ----------
    path
        The file, or ``":memory:"``.
    memory_budget
        About how many bytes of namespaces to keep in memory; the least recently used go first.
    approximate_from
        From how many memories with vectors on a namespace gets an approximate index, if faiss is installed.
    **options
        As :class:`~.database.SqliteDatabase` has them: `durable`, `must_exist`, `migration_backup`,
        `read_only`, `key`.
    """

    _database: SqliteDatabase

    def __init__(
        self,
        path: str | Path,
        *,
        memory_budget: int = MEMORY_BUDGET,
        approximate_from: int = APPROXIMATE_FROM,
        **options: Any,  # noqa: ANN401 - the database checks them
    ) -> None:
        database = SqliteDatabase(path, **options)
        super().__init__(database, memory_budget=memory_budget, approximate_from=approximate_from)
        self.migration, self.read_only_because = database.migration, database.read_only_because
        self._connection, self._lock = database.session, database.lock
