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
from memorata.store.database import Session
from memorata.store.facets import Facet, reads, writes
from memorata.store.rows import instant, microseconds, moment

_KEY: Final = "id, name, digest, namespaces, scopes, created_at, expires_at, revoked_at"
_REPLY: Final = "caller, key, namespace, request, status, body, created_at"


@frozen
class ApiKey:
    """A key to some namespaces; good from `created_at` until it expires or is revoked."""

    id: str
    """The public identifier of the key; no secret."""
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


class KeyStore(Facet):
    """The API keys of a database."""

    @writes
    def add(self, session: Session, key: ApiKey) -> None:
        """Store a key; its id must be new."""
        added = session.execute(
            f"INSERT INTO access_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING RETURNING id",
            (
                key.id,
                key.name,
                key.digest,
                json.dumps(key.namespaces, ensure_ascii=False),
                json.dumps(key.scopes),
                microseconds(key.created_at),
                microseconds(key.expires_at),
                microseconds(key.revoked_at),
            ),
        )
        if added.fetchone() is None:
            raise InvalidArgument("id", key.id, "that of no other key")

    @reads
    def find(self, session: Session, id: str) -> ApiKey | None:
        """Return a key by its id, or None."""
        row = session.execute(f"SELECT {_KEY} FROM access_keys WHERE id = ?", (id,)).fetchone()
        return None if row is None else _api_key(row)

    @writes
    def revoke(self, session: Session, id: str, now: datetime) -> None:
        """End a key; one that was revoked already stays revoked since then."""
        revoked = session.execute(
            "UPDATE access_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? RETURNING id",
            (microseconds(now), id),
        )
        if revoked.fetchone() is None:
            raise InvalidArgument("id", id, "the id of a key (memorata server key list shows them)")

    @reads
    def list(self, session: Session) -> list[ApiKey]:
        """Return every key, revoked ones too, in the order they were added."""
        return [_api_key(row) for row in session.execute(f"SELECT {_KEY} FROM access_keys ORDER BY number")]


class ReplyStore(Facet):
    """The replies to requests with an idempotency key."""

    @reads
    def find(self, session: Session, caller: str, key: str) -> Reply | None:
        """Return the reply to a caller's request, if there is one.

        Inside a write, another transaction that looks up the same request, on any server, waits until the
        write has ended: otherwise both would find no reply, and carry the request out.
        """
        session.dialect.lock_reply(session, caller, key)
        own = session.dialect.own_replies
        row = session.execute(
            f"SELECT {_REPLY} FROM replies WHERE caller = ? AND key = ? AND status <> 0 AND {own}",
            (caller, key),
        ).fetchone()
        if row is None:
            return None
        namespace, request, status, body, created_at = row[2:]
        return Reply(caller, key, namespace, request, status, body, moment(created_at))

    @writes
    def save(self, session: Session, reply: Reply) -> None:
        """Store a reply, in place of an older one to a request with the same key."""
        *values, created_at = (getattr(reply, column) for column in _REPLY.split(", "))
        own = session.dialect.own_replies
        session.execute(f"DELETE FROM replies WHERE caller = ? AND key = ? AND {own}", values[:2])
        session.execute(
            f"INSERT INTO replies ({_REPLY}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, microseconds(created_at)),
        )

    @writes
    def remove(self, session: Session, before: datetime) -> int:
        """Remove the replies that are older than a moment; return how many."""
        removed = session.execute(
            "DELETE FROM replies WHERE created_at < ? RETURNING 1", (microseconds(before),)
        )
        return len(removed.fetchall())


def erase_replies(session: Session, namespace: str) -> None:
    """Empty the replies about a namespace, which may repeat what a purge removes; their rows stay."""
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
