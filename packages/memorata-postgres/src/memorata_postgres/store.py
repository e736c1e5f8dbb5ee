"""The store on a PostgreSQL server, and what opens it by its address."""

from __future__ import annotations

from typing import Any

from memorata.extend.errors import NotSupportedHere
from memorata.extend.stores import MEMORY_BUDGET, Store, StoreOptions
from memorata_postgres.database import PostgresDatabase


class PostgresStore(Store):
    """A store on a server (``postgresql://user:password@host:port/database``), for any number of processes.

    Other options are those of :class:`~memorata_postgres.database.PostgresDatabase`: `durable`,
    `must_exist`, `connections`, `patience`, `statement_seconds`, `replica`, and its lag and patience.
    """

    _database: PostgresDatabase

    def __init__(
        self,
        url: str,
        *,
        memory_budget: int = MEMORY_BUDGET,
        **options: Any,  # noqa: ANN401 - the database checks them
    ) -> None:
        database = PostgresDatabase(url, **options)
        super().__init__(database, memory_budget=memory_budget)


def open_store(url: str, how: StoreOptions) -> PostgresStore:
    """Open the store at an address; what a file alone can do is refused."""
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
    )
