"""The part of the store on one SQLite file that keeps keys and answers, and makes several writes one."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memorata.model.errors import InvalidArgument
from memorata.store.instants import instant, microseconds, moment
from memorata.store.sqlite import connection as one
from memorata.store.sqlite.connection import reading
from memorata.store.sqlite.connection import writing as transaction

if TYPE_CHECKING:
    from memorata.store.access import ApiKey, Reply

_Result = TypeVar("_Result")

_KEY: Final = "id, name, digest, namespaces, scopes, created_at, expires_at, revoked_at"
_REPLY: Final = "caller, key, namespace, request, status, body, created_at"


class AccessStore:
    """What :class:`~memorata.store.port.Store` promises about keys and answers."""

    path: str
    rollbacks: int = 0
    """How often a write made of several was undone after something in it had been written."""
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def _forget_partitions(self) -> None:
        raise NotImplementedError  # pragma: no cover - the store's own

    # --- keys -----------------------------------------------------------------------------------------

    def add_key(self, key: ApiKey) -> None:
        """Keep a key; its id must be new."""
        row = (
            key.id,
            key.name,
            key.digest,
            json.dumps(key.namespaces, ensure_ascii=False),
            json.dumps(key.scopes),
            microseconds(key.created_at),
            microseconds(key.expires_at),
            microseconds(key.revoked_at),
        )
        with self._lock, transaction(self._connection, self.path):
            if self._connection.execute("SELECT 1 FROM access_keys WHERE id = ?", (key.id,)).fetchone():
                raise InvalidArgument("id", key.id, "that of no other key")
            self._connection.execute(f"INSERT INTO access_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def keys(self) -> list[ApiKey]:
        """Return every key, revoked ones too, in the order they were made."""
        with self._lock, reading(self._connection, self.path):
            rows = self._connection.execute(f"SELECT {_KEY} FROM access_keys ORDER BY number").fetchall()
        return [_api_key(row) for row in rows]

    def find_key(self, id: str) -> ApiKey | None:
        """Return a key by its id, or None if nobody has it."""
        with self._lock, reading(self._connection, self.path):
            row = self._connection.execute(f"SELECT {_KEY} FROM access_keys WHERE id = ?", (id,)).fetchone()
        return None if row is None else _api_key(row)

    def revoke_key(self, id: str, now: datetime) -> None:
        """End a key; one that was revoked already stays revoked since then."""
        with self._lock, transaction(self._connection, self.path):
            found = self._connection.execute(
                "UPDATE access_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?",
                (microseconds(now), id),
            )
            if not found.rowcount:
                raise InvalidArgument("id", id, "the id of a key (memorata key list shows them)")

    # --- answers --------------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that is written in the block one transaction: all of it happens, or nothing.

        The block holds the store: in this process others wait for its end, elsewhere those who write.
        """
        with self._lock:
            before = self._connection.total_changes
            try:
                with one.together(self._connection, self.path):
                    yield
            except BaseException:
                if self._connection.total_changes != before:
                    # What was read inside the block may be of changes that never came to be.
                    self.rollbacks += 1
                    self._forget_partitions()
                raise

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns: between a process and its file nothing is lost."""
        return work()

    def relaxed(self, work: Callable[[], _Result], *, fresh: bool = False) -> tuple[_Result, str]:
        """Return what `work` reads; a file has no replica, so it is always as new as can be."""
        return work(), ""

    def reply(self, caller: str, key: str) -> Reply | None:
        """Return what a caller's request of that name was answered with, if it was."""
        with self._lock, reading(self._connection, self.path):
            row = self._connection.execute(
                f"SELECT {_REPLY} FROM replies WHERE caller = ? AND key = ?", (caller, key)
            ).fetchone()
        if row is None:
            return None
        from memorata.store.access import Reply

        namespace, request, status, body, created = row[2:]
        return Reply(caller, key, namespace, request, status, body, moment(created))

    def remember_reply(self, reply: Reply) -> None:
        """Keep an answer, in place of an older one to a request of the same name."""
        row = (
            reply.caller,
            reply.key,
            reply.namespace,
            reply.request,
            reply.status,
            reply.body,
            microseconds(reply.created_at),
        )
        with self._lock, transaction(self._connection, self.path):
            self._connection.execute(
                f"INSERT OR REPLACE INTO replies ({_REPLY}) VALUES (?, ?, ?, ?, ?, ?, ?)", row
            )

    def remove_replies(self, before: datetime) -> int:
        """Remove the answers that were given before a moment; return how many there were."""
        with self._lock, transaction(self._connection, self.path):
            removed = self._connection.execute(
                "DELETE FROM replies WHERE created_at < ?", (microseconds(before),)
            )
            return removed.rowcount


def erase_replies(connection: sqlite3.Connection, namespace: str) -> None:
    """Empty the answers about a namespace, in the transaction of a purge: they may repeat what it removes.

    That the requests were carried out stays known, so that none is carried out twice.
    """
    connection.execute("UPDATE replies SET body = NULL WHERE namespace = ?", (namespace,))


def _api_key(row: tuple[Any, ...]) -> ApiKey:
    from memorata.store.access import ApiKey

    id_, name, digest, namespaces, scopes, created, expires, revoked = row
    return ApiKey(
        id_,
        name,
        digest,
        tuple(json.loads(namespaces)),
        tuple(json.loads(scopes)),
        moment(created),
        instant(expires),
        instant(revoked),
    )
