"""The stores in a file and on a server, opened by their address: dialects register by its scheme."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memorata._frozen import frozen
from memorata.index.approximate import APPROXIMATE_FROM
from memorata.model.errors import MissingExtra, NotSupportedHere
from memorata.store.postgres.address import SCHEMES
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.sqlite.encryption import resolved_key
from memorata.store.store import MEMORY_BUDGET, Store

if TYPE_CHECKING:
    from memorata.store.postgres.database import PostgresDatabase


class SqliteStore(Store):
    """A store in one file (a path, or ``":memory:"``); any number of processes may open it.

    Other options are those of :class:`~memorata.store.sqlite.database.SqliteDatabase`: `durable`,
    `must_exist`, `migration_backup`, `read_only`, `key`.
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


class PostgresStore(Store):
    """A store on a server (``postgresql://user:password@host:port/database``), for any number of processes.

    Other options are those of :class:`~memorata.store.postgres.database.PostgresDatabase`: `durable`,
    `must_exist`, `connections`, `patience`, `statement_seconds`, `replica`, and its lag and patience.
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
        try:
            # Imported here: it needs packages that a file does not.
            from memorata.store.postgres.database import PostgresDatabase
        except ImportError as error:
            raise MissingExtra("A store on PostgreSQL", "'memorata[postgres]'") from error
        database = PostgresDatabase(url, **options)
        super().__init__(database, memory_budget=memory_budget, approximate_from=approximate_from)


@frozen
class StoreOptions:
    """How a store is opened, whatever its database; see :func:`memorata.open`."""

    durable: bool = True
    must_exist: bool = False
    backup: bool = True
    replica: str | None = None
    approximate_from: int = APPROXIMATE_FROM
    read_only: bool = False
    encryption_key: str | None = None


StoreOpener: TypeAlias = Callable[[str, StoreOptions], Store]
_FILE: Final = ""
"""The scheme of the path of a file."""
_DIALECTS: Final[dict[str, StoreOpener]] = {}


def register_dialect(scheme: str, opener: StoreOpener) -> None:
    """Register the function that opens addresses with a scheme, such as ``postgresql``."""
    _DIALECTS[scheme.lower()] = opener


def open_dialect(path: str, how: StoreOptions) -> Store:
    """Open the store at an address whose scheme is registered, or else in a file."""
    scheme, separator, _ = path.partition("://")
    return _DIALECTS.get(scheme.lower() if separator else _FILE, _file)(path, how)


def _file(path: str, how: StoreOptions) -> Store:
    return SqliteStore(
        path,
        durable=how.durable,
        must_exist=how.must_exist,
        migration_backup=how.backup,
        approximate_from=how.approximate_from,
        read_only=how.read_only,
        key=None if how.encryption_key is None else resolved_key(how.encryption_key),
    )


def _postgres(url: str, how: StoreOptions) -> Store:
    if how.read_only:
        raise NotSupportedHere(
            "a server itself keeps a user from writing: name one with default_transaction_read_only "
            "on (ALTER ROLE … SET default_transaction_read_only = on)"
        )
    if how.encryption_key is not None:
        raise NotSupportedHere("a server encrypts its own disk; leave encryption_key out")
    return PostgresStore(
        url,
        durable=how.durable,
        must_exist=how.must_exist,
        replica=how.replica,
        approximate_from=how.approximate_from,
    )


register_dialect(_FILE, _file)
for _scheme in SCHEMES:
    register_dialect(_scheme.removesuffix("://"), _postgres)
