"""The store in a file, and on a server by the satellite that knows the scheme of its address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memorata import _satellites
from memorata._frozen import frozen
from memorata.store.address import is_address
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.sqlite.encryption import resolved_key
from memorata.store.store import MEMORY_BUDGET, Store


class SqliteStore(Store):
    """A store in one file (a path, or ``":memory:"``); any number of processes may open it.

    Other options are those of :class:`~memorata.store.sqlite.database.SqliteDatabase`: `durable`,
    `must_exist`, `read_only`, `key`.
    """

    _database: SqliteDatabase

    def __init__(
        self,
        path: str | Path,
        *,
        memory_budget: int = MEMORY_BUDGET,
        **options: Any,  # noqa: ANN401 - the database checks them
    ) -> None:
        database = SqliteDatabase(path, **options)
        super().__init__(database, memory_budget=memory_budget)
        self.read_only_because = database.read_only_because
        self._connection, self._lock = database.session, database.lock


@frozen
class StoreOptions:
    """How a store is opened, whatever its database; see :func:`memorata.open`."""

    durable: bool = True
    must_exist: bool = False
    replica: str | None = None
    read_only: bool = False
    encryption_key: str | None = None


def open_dialect(path: str, how: StoreOptions) -> Store:
    """Open the store at an address, by the satellite that declares its scheme, or else in a file."""
    if not is_address(path):
        return SqliteStore(
            path,
            durable=how.durable,
            must_exist=how.must_exist,
            read_only=how.read_only,
            key=None if how.encryption_key is None else resolved_key(how.encryption_key),
        )
    scheme = path.partition("://")[0].lower()
    point = _satellites.declared("stores").get(scheme)
    if point is None:
        raise _satellites.missing(f"A store at {scheme}://", "memorata-postgres")
    opened: Store = point.load()(path, how)
    return opened
