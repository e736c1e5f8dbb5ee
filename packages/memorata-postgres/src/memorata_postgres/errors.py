"""Errors of a server as typed errors: each says what to do, and none shows a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg import Connection, errors
from psycopg.rows import TupleRow

from memorata.extend.errors import ServerUnsuitable, StoreCorrupt, StoreError, StoreUnavailable
from memorata.extend.stores import shown
from memorata_postgres.address import without_secrets

if TYPE_CHECKING:
    from memorata_postgres.session import Evidence


class ConnectionLost(StoreUnavailable):
    """The connection ended before the work was done; nothing of it was written."""


class CommitUnsure(StoreUnavailable):
    """The connection ended while the work was being committed; `note` is there if it was."""

    def __init__(self, message: str, note: Evidence) -> None:
        self.note = note
        super().__init__(message)

    def __reduce__(self) -> tuple[type[CommitUnsure], tuple[str, Evidence]]:
        """Pickle by the constructor's arguments."""
        return type(self), (str(self), self.note)


class Contended(StoreUnavailable):
    """Two transactions got in each other's way, and this one was undone; it can be done again."""


class ViewMoved(StoreUnavailable):
    """What was read without a transaction may not be of one state; it is read again in one."""


class RowOutdated(ViewMoved):
    """The row of a namespace is not as it was last read; it is read again from the row as it is now.

    With `settings`, more than its memories has changed, on which anything done before may rest.
    """

    def __init__(self, message: str, *, settings: bool) -> None:
        self.settings = settings
        super().__init__(message)


_RETRIED: Final = (errors.SerializationFailure, errors.DeadlockDetected)
_CONNECTION_CLASS: Final = "08"
"""The class of connection errors; here, of connections from a coordinator to its workers."""
LOST: Final = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.IdleInTransactionSessionTimeout,
    errors.InvalidSqlStatementName,
)
"""Errors after which a connection is of no use; by the last, psycopg takes a statement for prepared that is
not."""


def ours(error: psycopg.Error, url: str, *, broken: bool) -> StoreError:
    """Return an error of psycopg as a store error, without a password; `broken`: the connection is gone."""
    name, detail = shown(url), detail_of(error, url)
    match error:
        case _ if isinstance(error, _RETRIED):
            return Contended(f"{name}: others kept writing to the same memories ({detail}); try again")
        case _ if broken or isinstance(error, LOST):
            return ConnectionLost(
                f"the connection to {name} was lost ({detail}); nothing of this was written. Try again, and "
                "look at the server if it happens again"
            )
        case _ if (error.sqlstate or "").startswith(_CONNECTION_CLASS):
            return StoreUnavailable(
                f"{name}: the server of its cluster that has these memories cannot be reached ({detail}); "
                "nothing of this was written. Try again when it is back; others can be used meanwhile"
            )
        case errors.QueryCanceled():
            return StoreUnavailable(
                f"{name} took too long to answer ({detail}); it may be overloaded; try again"
            )
        case errors.LockNotAvailable():
            return StoreUnavailable(f"{name}: others kept these memories locked for too long; try again")
        case errors.DiskFull() | errors.OutOfMemory():
            return StoreUnavailable(f"{name} is out of space ({detail}); nothing was written; free some")
        case errors.ProgramLimitExceeded():
            return StoreError(
                f"{name}: something is longer than the server can hold ({detail}); nothing was written; "
                "give it a shorter name"
            )
        case errors.InsufficientPrivilege():
            return ServerUnsuitable(
                f"{name}: the user lacks a right ({detail}); the owner of the tables can give it with "
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO …"
            )
        case errors.ReadOnlySqlTransaction():
            return StoreUnavailable(
                f"{name} can only be read ({detail}); if it is a replica, name the primary; if not, "
                "default_transaction_read_only is on for this user or database: ALTER ROLE … SET it off"
            )
        case errors.UndefinedTable() | errors.UndefinedColumn():
            return StoreCorrupt(
                f"{name} lacks tables that its schema has ({detail}); restore a backup, or name "
                "another database or schema"
            )
    return StoreError(f"{name}: {detail}")


def detail_of(error: psycopg.Error, url: str) -> str:
    """Return the message of the server or of libpq, in one line and without a secret."""
    return without_secrets(" ".join((error.diag.message_primary or str(error)).split()), url)


def unreachable(error: psycopg.Error, url: str) -> StoreError:
    """Return why a connection could not be made, as a store error."""
    name, detail = shown(url), detail_of(error, url)
    # psycopg has no SQLSTATE of a connection that was refused, only the message.
    if "does not exist" in detail and "database" in detail:
        return ServerUnsuitable(
            f"there is no such database at {name}; make it with createdb, or name another"
        )
    if "authentication failed" in detail or "no password supplied" in detail or "pg_hba" in detail:
        return ServerUnsuitable(
            f"{name} does not let this user in ({detail}); check the user and the password in the address"
        )
    return StoreUnavailable(
        f"{name} cannot be reached ({detail}); check the host and the port, and that the server is running"
    )


@contextmanager
def connected(url: str) -> Iterator[Connection[TupleRow]]:
    """Run the block with a connection of its own that begins no transaction; errors are store errors."""
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        try:
            yield connection
        except psycopg.Error as error:
            raise ours(error, url, broken=connection.broken) from error
