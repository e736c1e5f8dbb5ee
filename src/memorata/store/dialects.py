"""Opening a store by its address: dialects register by the scheme of their addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from memorata._frozen import frozen
from memorata.index.approximate import APPROXIMATE_FROM
from memorata.model.errors import MissingExtra, NotSupportedHere
from memorata.store.postgres.address import SCHEMES
from memorata.store.sqlite.encryption import resolved_key
from memorata.store.sqlite.store import SqliteStore
from memorata.store.store import Store


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
    try:
        # Imported here: it needs packages that a file does not.
        from memorata.store.postgres.store import PostgresStore
    except ImportError as error:
        raise MissingExtra("A store on PostgreSQL", "'memorata[postgres]'") from error
    return PostgresStore(url, durable=how.durable, must_exist=how.must_exist, replica=how.replica)


register_dialect(_FILE, _file)
for _scheme in SCHEMES:
    register_dialect(_scheme.removesuffix("://"), _postgres)
