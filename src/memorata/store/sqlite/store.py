"""The store in one SQLite file."""

from __future__ import annotations

from pathlib import Path

from memorata.index.approximate import LARGE
from memorata.model import checks
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.store import MEMORY_BUDGET, Store


class SqliteStore(Store):
    """A store in one file; any number of processes may open it.

    Parameters
    ----------
    path
        The file, or ``":memory:"``.
    durable
        Whether an acknowledged write survives a power cut; see :func:`.connection.connect`.
    memory_budget
        About how many bytes of namespaces to keep in memory; the least recently used go first.
    must_exist
        Whether a missing file is an error.
    migration_backup
        Whether a file of an older schema is copied before it is migrated.
    approximate_from
        From how many memories with vectors on a namespace gets an approximate index, if faiss is installed.
    read_only
        Whether nothing is to be written, even though it could be. A file that cannot be is opened so anyway.
    key
        What the file is encrypted with; None for one that is not.
    """

    _database: SqliteDatabase

    def __init__(
        self,
        path: str | Path,
        *,
        durable: bool = True,
        memory_budget: int = MEMORY_BUDGET,
        must_exist: bool = False,
        migration_backup: bool = True,
        approximate_from: int = LARGE,
        read_only: bool = False,
        key: str | None = None,
    ) -> None:
        database = SqliteDatabase(
            path,
            durable=durable,
            must_exist=must_exist,
            migration_backup=migration_backup,
            read_only=checks.flag("read_only", read_only),
            key=key,
        )
        super().__init__(database, memory_budget=memory_budget, approximate_from=approximate_from)
        self.migration, self.read_only_because = database.migration, database.read_only_because
        self._connection, self._lock = database.session, database.lock
