"""The part of the store on a server that keeps keys and answers, and makes several writes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, TypeVar

from memorata.model.errors import InvalidArgument
from memorata.store.access import ApiKey, Reply
from memorata.store.instants import instant, microseconds, moment
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database

_Result = TypeVar("_Result")

_KEY: Final = "id, name, digest, namespaces, scopes, created_at, expires_at, revoked_at"
_REPLY: Final = "caller, key, about, request, status, body, created_at"


class AccessStore:
    """What :class:`~memorata.store.port.Store` promises about keys and answers."""

    rollbacks: int = 0
    """How often a write made of several was undone after something in it had been written."""
    _database: Database

    # --- keys -----------------------------------------------------------------------------------------

    def add_key(self, key: ApiKey) -> None:
        """Keep a key; its id must be new."""

        def write(connection: Server) -> None:
            made = connection.execute(
                f"INSERT INTO access_keys ({_KEY}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                (
                    key.id,
                    key.name,
                    key.digest,
                    list(key.namespaces),
                    list(key.scopes),
                    microseconds(key.created_at),
                    microseconds(key.expires_at),
                    microseconds(key.revoked_at),
                ),
            )
            if not made.rowcount:
                raise InvalidArgument("id", key.id, "that of no other key")

        self._database.write(write)

    def keys(self) -> list[ApiKey]:
        """Return every key, revoked ones too, in the order they were made."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {_KEY} FROM access_keys ORDER BY number"
            ).fetchall()
        )
        return [_api_key(row) for row in rows]

    def find_key(self, id: str) -> ApiKey | None:
        """Return a key by its id, or None if nobody has it."""
        row = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {_KEY} FROM access_keys WHERE id = %s", (id,)
            ).fetchone()
        )
        return None if row is None else _api_key(row)

    def revoke_key(self, id: str, now: datetime) -> None:
        """End a key; one that was revoked already stays revoked since then."""

        def write(connection: Server) -> None:
            found = connection.execute(
                "UPDATE access_keys SET revoked_at = coalesce(revoked_at, %s) WHERE id = %s",
                (microseconds(now), id),
            )
            if not found.rowcount:
                raise InvalidArgument("id", id, "the id of a key (memorata key list shows them)")

        self._database.write(write)

    # --- answers --------------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        try:
            with self._database.together():
                yield
        except BaseException:
            # What was read inside the block may be of changes that never came to be.
            self.rollbacks += 1
            raise

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which is done again where the server gave way in the middle of it."""
        return self._database.tried(work)

    def reply(self, caller: str, key: str) -> Reply | None:
        """Return what a caller's request of that name was answered with, if it was.

        Inside a write, whoever asks about the same name next, on whichever server, waits until it has ended:
        else both would find that nothing was done yet, and do it.
        """

        def read(connection: Server) -> Any:  # noqa: ANN401 - a row
            if self._database.is_writing:
                connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", (caller, key))
            return connection.execute(
                f"SELECT {_REPLY} FROM replies WHERE caller = %s AND key = %s", (caller, key)
            ).fetchone()

        row = self._database.read(read)
        if row is None:
            return None
        namespace, request, status, body, created = row[2:]
        return Reply(caller, key, namespace, request, status, body, moment(created))

    def remember_reply(self, reply: Reply) -> None:
        """Keep an answer, in place of an older one to a request of the same name."""
        self._database.write(
            lambda connection: connection.execute(
                f"INSERT INTO replies ({_REPLY}) VALUES (%s, %s, %s, %s, %s, %s, %s) "
                "ON CONFLICT (caller, key) DO UPDATE SET about = excluded.about, request = excluded.request, "
                "status = excluded.status, body = excluded.body, created_at = excluded.created_at",
                (
                    reply.caller,
                    reply.key,
                    reply.namespace,
                    reply.request,
                    reply.status,
                    reply.body,
                    microseconds(reply.created_at),
                ),
            )
        )

    def remove_replies(self, before: datetime) -> int:
        """Remove the answers that were given before a moment; return how many there were."""
        return self._database.write(
            lambda connection: (
                connection.execute(
                    "DELETE FROM replies WHERE created_at < %s", (microseconds(before),)
                ).rowcount
            )
        )


def erase_replies(connection: Server, namespace: str) -> None:
    """Empty the answers about a namespace, in the transaction of a purge: they may repeat what it removes.

    That the requests were carried out stays known, so that none is carried out twice.
    """
    connection.execute("UPDATE replies SET body = NULL WHERE about = %s", (namespace,))


def _api_key(row: tuple[Any, ...]) -> ApiKey:
    id_, name, digest, patterns, scopes, created, expires, revoked = row
    return ApiKey(
        id_,
        name,
        digest,
        tuple(patterns),
        tuple(scopes),
        moment(created),
        instant(expires),
        instant(revoked),
    )
