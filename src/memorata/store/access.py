"""What a store keeps about who may come in, and about what it has answered already.

A key is kept as the digest of its token and never as the token itself. An answer is kept for a while, so that
a request which is sent twice under one name (an idempotency key, as the IETF's draft of that header calls it)
is carried out once.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from memorata._frozen import frozen


@frozen
class ApiKey:
    """A key to some namespaces.

    Attributes
    ----------
    id
        What the key is known by; no secret.
    name
        What people call it.
    digest
        The SHA-256 of its token.
    namespaces
        Patterns: ``acme/alice`` for that one, ``acme/*`` for all below, ``*`` for every one.
    scopes
        What it may do: ``read``, ``write``, ``admin``.
    created_at, expires_at, revoked_at
        Since when it is good and until when; None for as long as nobody revokes it.
    """

    id: str
    name: str
    digest: bytes = field(repr=False)
    namespaces: tuple[str, ...]
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds_at(self, moment: datetime) -> bool:
        """Return whether the key is good at a moment."""
        ended = [end for end in (self.expires_at, self.revoked_at) if end is not None]
        return all(moment < end for end in ended)


@frozen
class Reply:
    """What a request was answered with.

    Attributes
    ----------
    caller, key
        Who asked, and the name they gave to the request.
    namespace
        Whose memories it was about; a purge there empties the body.
    request
        The digest of what was asked, so that one name does not stand for two requests.
    status, body
        The answer; None for a body that was erased by a purge.
    created_at
        When it was given.
    """

    caller: str
    key: str
    namespace: str
    request: bytes
    status: int
    body: bytes | None
    created_at: datetime
