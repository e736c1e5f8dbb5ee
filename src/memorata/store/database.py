"""The ports between domain code and a SQL database: `Database`, `Session` and `Dialect`.

Domain code (memories, entities, feedback, …) is written once, as functions that get a :class:`Session` inside
a transaction. A dialect is a folder (`sqlite/`, `postgres/`) that implements these three.

How to write portable SQL
-------------------------
- Write it for SQLite, with ``?`` for values (``?1``, ``?2`` where one is used twice, ``:name`` with a
  mapping). The PostgreSQL session translates the placeholders and the few forms listed here.
- Tables have the same names and columns everywhere; columns are whole numbers (BIGINT), DOUBLE, TEXT or
  bytes. Flags are 0 and 1: ``WHERE pinned <> 0``. Times are microseconds since 1970, lists and mappings JSON.
- Every statement names its namespace: ``namespace = ?``. Where SQLite should find rows by their number and
  not by an index over namespaces, write ``+namespace = ?``: the plus hides the column from SQLite's planner,
  and is taken away for PostgreSQL, whose primary keys begin with the namespace.
- A memory is ``namespace`` and ``number``: ``WHERE +m.namespace = ? AND m.number = ?``. The number of a slot
  is ``session.dialect.number(namespace, slot)``; all numbers of a namespace lie from slot 0 up to slot
  `SLOTS`. A join of tables of one namespace compares both: ``ON m.namespace = r.namespace AND m.number =
  r.memory``.
- Rows that get a number of their own are inserted with :meth:`Session.insert`, which returns it. Rows of a
  namespace may be inserted only in a write that named the namespace. Numbers ascend; they have gaps.
- Many values: ``id IN (SELECT value FROM json_each(?))`` with ``session.dialect.array(values)``.
- ``ON CONFLICT (columns) DO UPDATE`` names its columns; ``ON CONFLICT DO NOTHING`` instead of ``INSERT OR
  IGNORE``.
- ``column IS ?`` and ``column IS NOT ?`` compare with a value that may be NULL.
- Read what was changed with ``RETURNING`` and not from a count of rows: on a server, statements whose rows
  are not read are sent without waiting for each other (a pipeline), and fail when the next rows are read,
  or at the end. A violated UNIQUE is therefore not caught where it happens: check first, unless
  `Dialect.unique_errors` names what it raises.
- No modifying CTEs, no sequences, no JSON functions but ``json_each`` as above, no ``max(a, b)`` of two
  values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from memorata._frozen import frozen

if TYPE_CHECKING:
    from memorata.model.memory import Memory
    from memorata.store.filters import Filter

_Result = TypeVar("_Result")

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
Statement: TypeAlias = tuple[str, Values]


class Rows(Protocol):
    """The rows of a statement, as a cursor of Python's DB-API gives them."""

    def fetchone(self) -> Any:  # noqa: ANN401 - as the DB-API has it
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all other rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


@frozen(eq=False)
class Condition:
    """A filter as SQL on ``memories AS m``, and the filter itself where SQL says only a part of it."""

    sql: str
    values: Sequence[object] = ()
    rest: Callable[[Memory], bool] | None = None
    """Whether a memory passes for which the SQL holds; None if all do."""

    def passes(self, memory: Memory) -> bool:
        """Return whether a memory passes for which the SQL holds."""
        return self.rest is None or self.rest(memory)


EVERYTHING: Final = Condition("1 = 1")


class Dialect(ABC):
    """How a database writes what SQL has no common form for; what is not abstract suits a single machine."""

    name: str
    remote: bool = False
    """Whether every statement whose rows are read waits for a network."""
    decides_filters: bool = False
    """Whether it has SQLite's functions of JSON, and those that decide where they are not exact."""
    skip_locked: str = ""
    """The end of a SELECT that locks its rows and leaves out those that others have locked."""
    own_replies: str = "1 = 1"
    """The condition on replies that selects those of this user of the database."""
    memory_key: str
    """The columns of the memories `m` that put those of all namespaces in order."""
    change_key: str
    """The columns of the changes `c` that put those of all namespaces in order."""
    change_columns: str
    """The key of the table of changes."""
    change_memory: str
    """The number of the memory that a change `c` is about."""
    taken_changes: str
    """The statement that reads the numbers which no other change of a namespace may have."""

    @property
    def unique_errors(self) -> tuple[type[Exception], ...]:
        """What a violated UNIQUE raises where it happens; nothing where it is raised later."""
        return ()

    def namespace_number(self, path: str) -> int | None:
        """Return the number of a namespace, there or not, where it follows from its path; None elsewhere."""
        return None

    @abstractmethod
    def number(self, namespace: int, slot: int) -> int:
        """Return the number of a memory's row."""

    @abstractmethod
    def vectors_number(self, embedder: int, namespace: int, slot: int) -> int:
        """Return the number of the row with the vectors an embedder made of a memory."""

    @abstractmethod
    def array(self, values: Sequence[Any]) -> Any:  # noqa: ANN401 - a value of a statement
        """Return many values as one, for ``IN (SELECT value FROM json_each(?))``."""

    def among(self, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Return what a column of numbers or bytes is compared with to be one of these, and its values."""
        return f"IN ({', '.join('?' * len(values))})", values

    def lock_reply(self, session: Session, caller: str, key: str) -> None:  # noqa: B027 - one writer at a time
        """Inside a write, make transactions that read the reply to the same request wait until it ends."""

    @abstractmethod
    def clock(self, session: Session, now: datetime) -> int:
        """Return the time in microseconds: that of a server, which several machines share, or else `now`."""

    def tenant(self, session: Session) -> str:
        """Return the tenant whose rows alone are seen; empty for all rows."""
        return ""

    def checked_name(self, argument: str, name: str) -> str:
        """Return a name that is a key of rows; raise if it is too long for an index."""
        return name

    @abstractmethod
    def joined(self, sql: str) -> str:
        """Return the statement that selects the count of another's rows, and their bytes joined."""

    @abstractmethod
    def blob(self, session: Session, table: str, column: str, namespace: int, number: int) -> bytes:
        """Return the bytes of one column of one row, which may be many."""

    def condition(self, filter: Filter | None) -> Condition:
        """Return the condition on memories `m` that selects what a filter lets through, or more."""
        if filter is None:
            return EVERYTHING
        # Loaded with the first filter.
        from memorata.store.conditions import compiled

        return compiled(filter, by_sqlite=self.decides_filters)

    @abstractmethod
    def make_namespace(self, session: Session, path: str) -> None:
        """Add the row of a namespace that is not there yet."""

    @abstractmethod
    def drop_namespace(self, session: Session, number: int, path: str) -> None:
        """Remove every row of a namespace, and its name; the feed gets an entry of the purge."""

    @abstractmethod
    def rename_namespace(self, session: Session, number: int, path: str, to: str) -> int:
        """Give a namespace another path that no namespace has, with all its rows; return its new number."""

    @abstractmethod
    def log_added(self, session: Session, number: int, first: int, end: int) -> None:
        """Note in the feed that the memories of some slots were added."""

    @abstractmethod
    def statistics(self, session: Session) -> Mapping[str, Any]:
        """Return the size of the database, and figures of its own, for display."""

    def problems(self, session: Session) -> list[str]:
        """Return what is wrong with the database itself, whatever its tables mean."""
        return []

    def row_problems(self, session: Session, number: int) -> list[str]:
        """Return what is wrong with the columns of a namespace's memories that change one by one."""
        return []

    def mend(self, session: Session) -> None:  # noqa: B027 - a server looks after its files itself
        """Mend what is wrong with the database itself, as far as that can be."""

    @abstractmethod
    def remove_strays(self, session: Session, number: int, embedders: Sequence[int]) -> None:
        """Remove vectors whose number is of a namespace and whose columns name another."""

    def leniently(self, session: Session) -> AbstractContextManager[None]:
        """Read damaged texts as bytes in a block, instead of failing at them."""
        return nullcontext()


class Session(Protocol):
    """A transaction: statements on one consistent view of the database."""

    @property
    def dialect(self) -> Dialect:
        """How the database writes what differs."""
        ...

    @property
    def origin(self) -> str:
        """Which copy of the database is read: empty for the first, else that of a replica."""
        ...

    def execute(self, sql: str, values: Any = ..., /) -> Rows:  # noqa: ANN401 - Values
        """Run one statement and return its rows."""
        ...

    def executemany(self, sql: str, rows: Iterable[Any], /) -> object:
        """Run one statement for each of many values."""
        ...

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> Any:  # noqa: ANN401 - a row
        """Return the row of a namespace, or None; it is read once as long as nothing is written to it.

        Its columns are `rows.NAMESPACE_COLUMNS`. Where that saves round trips, the rows of the statements
        `ahead` are read with it; they are executed with the same values before anything is written.
        """
        ...

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> int:
        """Add rows of one namespace, which is first among their columns; return the last number drawn."""
        ...


@frozen
class DatabaseInfo:
    """Where a database is, and how it was opened."""

    path: str
    """For display: without a password."""
    read_only: bool = False
    """Whether nothing can be written to it."""
    notices: tuple[str, ...] = ()
    """Notices for display, such as that it is only read."""
    replica: str = ""
    """The copy that may be read from, for display; empty where there is none."""


class Database(Protocol):
    """A SQL database: transactions on it, and its upkeep."""

    @property
    def info(self) -> DatabaseInfo:
        """Where it is, and how it was opened."""
        ...

    def reading(self, namespace: str | None = None) -> AbstractContextManager[tuple[Session, bool]]:
        """Run a block on one consistent view; inside a transaction of this thread it is that one's view.

        With a namespace, no other thread of this process uses its cache meanwhile. The second value says
        whether that is so: inside a transaction, other threads are not waited for for long.
        """
        ...

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads from one consistent view; it may be run twice."""
        ...

    def write(
        self,
        work: Callable[[Session], _Result],
        *namespaces: str,
        batch: bool = False,
        erasing: bool = False,
        durable: bool = True,
        patience: float | None = None,
    ) -> _Result:
        """Return what `work` returns, done as one transaction: exactly once, or not at all.

        Writers of a namespace, which are named here, wait for each other. Inside :meth:`together` it is a
        part of that transaction. A write that is not `durable` may be lost in a power cut. Others are waited
        for so many seconds (`patience`), or as long as usual.
        """
        ...

    def together(self, undone: Callable[[], None] = ...) -> AbstractContextManager[None]:
        """Make what this thread writes in the block one transaction; `undone` is called if that fails."""
        ...

    def attempt(
        self, work: Callable[[], _Result], *, replica: bool = False, fresh: bool = False
    ) -> tuple[_Result, str]:
        """Return what `work` returns, done again if the database gave way and nothing was written.

        Everything that is read in it is checked against one reading of a namespace's row. With `replica` it
        only reads, perhaps from a copy, with `fresh` from one that has every write of the primary. The second
        value is why it was not read from the copy, if it should have been.
        """
        ...

    def guarded(self, guard: Callable[[Session], object]) -> AbstractContextManager[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        ...

    def settled(self) -> int:
        """Return a number up to which every change is there to be read, and none is on its way."""
        ...

    def backup(self, target: str | Path) -> None:
        """Copy the database to a file while others go on using it."""
        ...

    def vacuum(self) -> None:
        """Write the database anew without any trace of what was removed."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...
