r"""How PostgreSQL writes what SQL has no common form for: keys begin with the namespace, numbers are slots.

A server holds all of Unicode but NUL, which a memory may well contain. NUL is written as two characters,
``\x01\x01``, and ``\x01`` itself as ``\x01\x02``. Written so, texts keep their order, since nothing but NUL
comes before ``\x01``; so comparisons in SQL agree with Python's. The translation is part of a connection, so
that SQL needs no regard for it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types.string import StrDumperUnknown

from memorata.extend.errors import InvalidArgument, StoreError
from memorata.extend.stores import NO_MEMORY, SLOTS, Dialect, Session
from memorata_postgres.errors import Contended, ViewMoved

if TYPE_CHECKING:
    from memorata_postgres.session import PostgresSession

OWNED: Final = (
    "vector_codes", "rewordings", "segments", "contradictions",
    "repeats", "duplicate_runs", "exposures", "saved_settings", "feedback", "recalls", "recall_recipes",
    "relations", "names", "entities", "changes", "writes", "vectors", "records", "sessions", "memories",
)  # fmt: skip
"""The tables whose rows belong to a namespace, in an order in which they can be emptied."""

USER_KEY: Final = "hashtextextended(session_user, 0)"
"""The key of rows of a user of the database that belong to no namespace."""


def namespace_key(path: str) -> int:
    """Return the number of a namespace, which follows from its path, without a round trip to the server.

    >>> namespace_key("acme/alice")
    -3818430809293621067
    """
    return int.from_bytes(sha256(path.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


def _array(numbers: Iterable[int]) -> str:
    """Return numbers as PostgreSQL reads an array, in a third of the time that psycopg takes for it."""
    return f"{{{','.join(map(str, numbers))}}}"


_STORED: Final = {"\x00": "\x01\x01", "\x01": "\x01\x02"}
_RESTORED: Final = {written: read for read, written in _STORED.items()}
_RARE: Final = re.compile("[\x00\x01]")
_PAIR: Final = re.compile("\x01[\x01\x02]")
_MAX_CHARACTER_BYTES: Final = 4
_TYPES: Final = ("text", "varchar")
MAX_NAME_BYTES: Final = 2_000
"""How long a name may be that is a key of an index, which has no room for more."""


def storable(text: str) -> str:
    r"""Return a text without NUL that :func:`restored` turns back into `text`.

    >>> storable("a\x00b"), storable("plain")
    ('a\x01\x01b', 'plain')
    >>> sorted(["\x00z", "\x01", "\x02"], key=storable)
    ['\x00z', '\x01', '\x02']
    """
    if "\x00" not in text and "\x01" not in text:
        return text
    return _RARE.sub(lambda match: _STORED[match.group()], text)


def restored(text: str) -> str:
    r"""Return the text that :func:`storable` encoded."""
    return text if "\x01" not in text else _PAIR.sub(lambda match: _RESTORED[match.group()], text)


def checked_name(argument: str, name: str) -> str:
    r"""Return a name that can be the key of an index; raise if it is too long.

    >>> checked_name("session", "s1")
    's1'
    >>> checked_name("session", "\u65e5" * 1_000)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: session must be at most 2000 bytes long as UTF-8 in a store on
    PostgreSQL, ...
    """
    if len(name) * _MAX_CHARACTER_BYTES > MAX_NAME_BYTES and len(storable(name).encode()) > MAX_NAME_BYTES:
        expected = f"at most {MAX_NAME_BYTES} bytes long as UTF-8 in a store on PostgreSQL"
        raise InvalidArgument(argument, name, expected)
    return name


class PostgresDialect(Dialect):
    """How PostgreSQL writes what SQL has no common form for."""

    name = "postgresql"
    remote = True
    skip_locked = " FOR UPDATE SKIP LOCKED"
    own_replies = "role = session_user"
    memory_key = "m.namespace, m.number"
    change_key = "c.change, c.namespace"
    change_columns = "namespace, change"
    change_memory = "c.slot"
    taken_changes = "SELECT change FROM changes WHERE namespace = ?"
    namespace_number = staticmethod(namespace_key)
    checked_name = staticmethod(checked_name)

    def number(self, namespace: int, slot: int) -> int:
        """Return the number of a memory's row: its slot."""
        return slot

    def vectors_number(self, embedder: int, namespace: int, slot: int) -> int:
        """Return the number of the row with the vectors an embedder made of a memory."""
        return embedder * SLOTS + slot

    def array(self, values: Sequence[Any]) -> list[Any]:
        """Return many values as one."""
        return list(values)

    def among(self, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Return what a column of numbers is compared with: one value, of any number of them.

        A value for each would make a statement of each count, and of each type of number, which psycopg takes
        as small as the value is: they would be planned each time anew.
        """
        is_numbers = bool(values) and isinstance(values[0], int)
        return "IN (SELECT value FROM json_each(?))", [_array(values) if is_numbers else list(values)]

    def joined(self, sql: str) -> str:
        """Return the count and the one value after the other of a statement with one column of bytes."""
        column = sql.split()[1]
        return f"SELECT count(*), string_agg({column}, ''::bytea) FROM ({sql}) AS rows"

    def blob(self, session: Session, table: str, column: str, namespace: int, number: int) -> bytes:
        """Return the bytes of one column of one row."""
        sql = f"SELECT {column} FROM {table} WHERE namespace = ? AND number = ?"
        return bytes(session.execute(sql, (namespace, number)).fetchone()[0])

    def make_namespace(self, session: Session, path: str) -> None:
        """Add the row of a namespace that was not there, and so lock it; raise if another has added it."""
        number, ours = namespace_key(path), _ours(session)
        made = session.execute(
            "INSERT INTO namespaces (number, path, begun, drawn) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING "
            "RETURNING drawn",
            (number, checked_name("namespace", path), ours.clock, ours.clock),
        ).fetchone()
        if made is not None:
            ours.drawn[number] = made[0]
            return
        find = "SELECT 1 FROM namespaces WHERE number = ? AND path = ?"
        if session.execute(find, (number, path)).fetchone() is None:
            raise StoreError(f"another namespace has the number of {path!r}; give it another name")
        # Decisions that rest on its absence have to be made again.
        raise Contended(f"another process has just made the namespace {path!r}; try again")

    def drop_namespace(self, session: Session, number: int, path: str) -> None:
        """Remove every row of a namespace, and its name; its entry in the feed has a random number."""
        change = _ours(session).number(number)
        for table in OWNED:
            session.execute(f"DELETE FROM {table} WHERE namespace = ?", (number,))
        for table in ("replies", "leases"):
            session.execute(f"DELETE FROM {table} WHERE namespace = ?", (path,))
        session.execute("DELETE FROM namespaces WHERE number = ?", (number,))
        _ours(session).drawn.pop(number)
        stub = -secrets.randbits(62)
        session.execute(
            "INSERT INTO namespaces (number, path, change, begun, drawn) VALUES (?, ?, ?, ?, ?)",
            (stub, f"(purged {stub})", change, change, change),
        )
        session.execute(
            "INSERT INTO changes (namespace, change, slot, kind) VALUES (?, ?, ?, 'purge')",
            (stub, change, NO_MEMORY),
        )

    def rename_namespace(self, session: Session, number: int, path: str, to: str) -> int:
        """Copy every row of a namespace under the number of another path, and remove the old ones."""
        self.make_namespace(session, to)
        new, ours = namespace_key(to), _ours(session)
        copied = ("slots", "flushed", "change", "generation", "naming", "settings")
        # Not in one statement: the two rows may be on two servers.
        row = session.execute(
            f"SELECT {', '.join(copied)} FROM namespaces WHERE number = ?", (number,)
        ).fetchone()
        ours.drawn[new] = max(ours.drawn[new], ours.drawn[number])
        session.execute(
            f"UPDATE namespaces SET {' = ?, '.join(copied)} = ?, drawn = ? WHERE number = ?",
            (*row, ours.drawn[new], new),
        )
        for table in reversed(OWNED):
            columns = session.execute(
                "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns "
                "WHERE table_schema = current_schema() AND table_name = ? AND column_name <> 'namespace'",
                (table,),
            ).fetchone()[0]
            session.execute(
                f"INSERT INTO {table} (namespace, {columns}) "
                f"SELECT ?::bigint, {columns} FROM {table} WHERE namespace = ?",
                (new, number),
            )
        for table in ("replies", "leases"):
            session.execute(f"UPDATE {table} SET namespace = ? WHERE namespace = ?", (to, path))
        self.drop_namespace(session, number, path)
        return new

    def log_added(self, session: Session, number: int, first: int, end: int) -> None:
        """Note in the feed that the memories of some slots were added."""
        start = _ours(session).number(number, end - first)
        session.execute(
            "INSERT INTO changes (namespace, change, slot, kind) "
            "SELECT ?::bigint, ?::bigint + s, ?::bigint + s, 'add' FROM generate_series(0, ?::int) AS s",
            (number, start, first, end - first - 1),
        )

    def statistics(self, session: Session) -> Mapping[str, Any]:
        """Return the size of the database, the server's version, and where distributed tables are."""
        from memorata_postgres.distribution import placed

        def ask(sql: str) -> Any:  # noqa: ANN401 - a row, or None
            return session.execute(sql).fetchone()

        size, version = ask(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint, current_setting('server_version') "
            "FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'memories'::regclass)"
        )
        figures: dict[str, Any] = {"bytes": int(size), "server": f"PostgreSQL {version}"}
        distribution = placed(ask)
        if distribution.shards:
            (figures["bytes"],) = ask(
                "SELECT sum(citus_total_relation_size(logicalrelid))::bigint FROM pg_dist_partition"
            )
            figures["shards"], figures["servers"] = distribution.shards, dict(distribution.servers)
            figures["single_shard"] = distribution.single_shard
            figures["multi_shard"] = distribution.multi_shard
        return figures

    def remove_strays(self, session: Session, number: int, embedders: Sequence[int]) -> None:
        """Remove vectors whose number is not that of their embedder and slot."""
        session.execute(
            f"DELETE FROM vectors WHERE namespace = ? AND number <> embedder * {SLOTS} + slot", (number,)
        )

    def lock_reply(self, session: Session, caller: str, key: str) -> None:
        """Make other transactions that read the reply to the same request wait until this one ends.

        By a row: an advisory lock is only a number, which any user of the database could hold.
        """
        if _ours(session).is_writing:
            session.execute(
                "INSERT INTO replies (caller, key, namespace, request, status, created_at) "
                "VALUES (?, ?, '', ''::bytea, 0, 0) ON CONFLICT DO NOTHING",
                (caller, key),
            )
            session.execute(
                f"SELECT 1 FROM replies WHERE caller = ? AND key = ? AND {self.own_replies} FOR UPDATE",
                (caller, key),
            )

    def clock(self, session: Session, now: datetime) -> int:
        """Return the server's time in microseconds."""
        (time,) = session.execute(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        ).fetchone()
        return int(time)

    def tenant(self, session: Session) -> str:
        """Return the user that row-level security restricts; empty for the owner of the tables."""
        (user,) = session.execute(
            "SELECT CASE WHEN row_security_active('namespaces') THEN session_user ELSE '' END"
        ).fetchone()
        return str(user)


def _ours(session: Session) -> PostgresSession:
    from memorata_postgres.session import PostgresSession

    if not isinstance(session, PostgresSession):
        raise ViewMoved("this needs a transaction")
    return session


DIALECT: Final = PostgresDialect()


def register(connection: Connection[Any]) -> None:
    """Let a connection write and read every text, and flags as the numbers that columns have."""
    connection.adapters.register_dumper(bool, _Flag)
    connection.adapters.register_dumper(str, _Text)
    for name in _TYPES:
        connection.adapters.register_loader(name, _Loader)
        connection.adapters.register_loader(name, _BinaryLoader)


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return storable(obj).encode()


class _Loader(Loader):
    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8")
        return text if "\x01" not in text else restored(text)


class _BinaryLoader(_Loader):
    format = Format.BINARY


class _Flag(Dumper):
    def dump(self, obj: bool) -> Buffer | None:
        return b"1" if obj else b"0"
