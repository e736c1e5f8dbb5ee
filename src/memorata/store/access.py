"""API keys, and the replies to requests that carry an idempotency key.

A key is stored as the digest of its token, never as the token itself. A reply is stored for a while, so that
a request which is sent twice under one idempotency key (as the IETF's draft of that header calls it) is
carried out once.
"""

from __future__ import annotations

import json
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model.errors import InvalidArgument
from memorata.store.database import Database, Session
from memorata.store.rows import instant, microseconds, moment

_KEY: Final = "id, name, digest, namespaces, scopes, created_at, expires_at, revoked_at"
_REPLY: Final = "caller, key, namespace, request, status, body, created_at"


@frozen
class ApiKey:
    """A key to some namespaces; good from `created_at` until it expires or is revoked."""

    id: str
    """What the key is known by; no secret."""
    name: str
    digest: bytes = field(repr=False)
    """The SHA-256 of its token."""
    namespaces: tuple[str, ...]
    """Patterns: ``acme/alice`` for that one, ``acme/*`` for all below, ``*`` for every one."""
    scopes: tuple[str, ...]
    """What it may do: ``read``, ``write``, ``admin``."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds_at(self, moment: datetime) -> bool:
        """Return whether the key is good at a moment."""
        ends = [end for end in (self.expires_at, self.revoked_at) if end is not None]
        return all(moment < end for end in ends)


@frozen
class Reply:
    """The reply to a request that a caller sent with an idempotency key."""

    caller: str
    key: str
    namespace: str
    request: bytes
    """The digest of the request, so that one key does not stand for two requests."""
    status: int
    body: bytes | None
    """None if a purge in the namespace has erased it."""
    created_at: datetime


class KeyStore:
    """The API keys of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: ApiKey) -> None:
        """Store a key; its id must be new."""
        values = (
            key.id,
            key.name,
            key.digest,
            json.dumps(key.namespaces, ensure_ascii=False),
            json.dumps(key.scopes),
            microseconds(key.created_at),
            microseconds(key.expires_at),
            microseconds(key.revoked_at),
        )

        def write(session: Session) -> None:
            added = session.execute(
                f"INSERT INTO access_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO NOTHING RETURNING id",
                values,
            )
            if added.fetchone() is None:
                raise InvalidArgument("id", key.id, "that of no other key")

        self._database.write(write)

    def list(self) -> list[ApiKey]:
        """Return every key, revoked ones too, in the order they were added."""
        sql = f"SELECT {_KEY} FROM access_keys ORDER BY number"
        return [_api_key(row) for row in self._database.read(lambda session: session.execute(sql).fetchall())]

    def find(self, id: str) -> ApiKey | None:
        """Return a key by its id, or None."""
        sql = f"SELECT {_KEY} FROM access_keys WHERE id = ?"
        row = self._database.read(lambda session: session.execute(sql, (id,)).fetchone())
        return None if row is None else _api_key(row)

    def revoke(self, id: str, now: datetime) -> None:
        """End a key; one that was revoked already stays revoked since then."""

        def write(session: Session) -> None:
            revoked = session.execute(
                "UPDATE access_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? RETURNING id",
                (microseconds(now), id),
            )
            if revoked.fetchone() is None:
                raise InvalidArgument("id", id, "the id of a key (memorata key list shows them)")

        self._database.write(write)


class ReplyStore:
    """The replies to requests with an idempotency key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, caller: str, key: str) -> Reply | None:
        """Return the reply to a caller's request, if there is one.

        Inside a write, whoever asks about the same request next, on whichever server, waits until the write
        has ended: else both would find that nothing was done yet, and do it.
        """

        def read(session: Session) -> tuple[Any, ...] | None:
            session.dialect.lock_reply(session, caller, key)
            own = session.dialect.own_replies
            sql = f"SELECT {_REPLY} FROM replies WHERE caller = ? AND key = ? AND status <> 0 AND {own}"
            row: tuple[Any, ...] | None = session.execute(sql, (caller, key)).fetchone()
            return row

        row = self._database.read(read)
        if row is None:
            return None
        namespace, request, status, body, created = row[2:]
        return Reply(caller, key, namespace, request, status, body, moment(created))

    def save(self, reply: Reply) -> None:
        """Store a reply, in place of an older one to a request with the same key."""
        values = (
            reply.caller,
            reply.key,
            reply.namespace,
            reply.request,
            reply.status,
            reply.body,
            microseconds(reply.created_at),
        )

        def write(session: Session) -> None:
            own = session.dialect.own_replies
            session.execute(f"DELETE FROM replies WHERE caller = ? AND key = ? AND {own}", values[:2])
            session.execute(f"INSERT INTO replies ({_REPLY}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)

        self._database.write(write)

    def remove(self, before: datetime) -> int:
        """Remove the replies that were given before a moment; return how many."""
        return self._database.write(
            lambda session: len(
                session.execute(
                    "DELETE FROM replies WHERE created_at < ? RETURNING 1", (microseconds(before),)
                ).fetchall()
            )
        )


def erase_replies(session: Session, namespace: str) -> None:
    """Empty the replies about a namespace, in the transaction of a purge: they may repeat what it removes.

    That the requests were carried out stays known, so that none is carried out twice.
    """
    session.execute("UPDATE replies SET body = NULL WHERE namespace = ?", (namespace,))


def _api_key(row: tuple[Any, ...]) -> ApiKey:
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
