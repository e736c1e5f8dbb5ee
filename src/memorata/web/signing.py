"""Cookies that only this process can have written, and tokens that prove a form came from its own page.

A cookie holds a random session id and when it ends, signed with HMAC-SHA-256 (RFC 2104) under a secret that
lives as long as the process: after a restart people log in again, and there is no secret to keep on a disk.
The token of a session's forms is signed with the same secret, so a page of another site, which can make a
browser send the cookie, cannot know it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Final

from memorata._frozen import frozen

LIFETIME: Final = timedelta(hours=12)
_FIELDS: Final = 3


@frozen
class Visitor:
    """Somebody in front of a browser.

    Attributes
    ----------
    session
        A random text that tells this browser from others.
    until
        When the session ends, in whole seconds since 1970.
    """

    session: str
    until: int


class Signer:
    """Signs and reads cookies, and makes the tokens of forms.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> signer, now = Signer(b"a secret of this example"), datetime(2026, 5, 7, tzinfo=UTC)
    >>> visitor = signer.newcomer(now)
    >>> signer.read(signer.cookie(visitor), now) == visitor
    True
    >>> signer.read(signer.cookie(visitor) + "0", now) is None
    True
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(32) if secret is None else secret

    def newcomer(self, now: datetime) -> Visitor:
        """Return somebody who was not here before."""
        return Visitor(secrets.token_hex(16), int((now + LIFETIME).timestamp()))

    def cookie(self, visitor: Visitor) -> str:
        """Return the text of a visitor's cookie."""
        said = f"{visitor.session}.{visitor.until}"
        return f"{said}.{self._signature('cookie', said)}"

    def read(self, cookie: str, now: datetime) -> Visitor | None:
        """Return the visitor a cookie speaks of; None if it was not written here or has ended."""
        parts = cookie.split(".")
        if len(parts) != _FIELDS:
            return None
        said, signature = ".".join(parts[:-1]), parts[-1]
        if not hmac.compare_digest(self._signature("cookie", said).encode(), signature.encode()):
            return None
        visitor = Visitor(parts[0], int(parts[1]))
        return visitor if now.timestamp() < visitor.until else None

    def token(self, visitor: Visitor) -> str:
        """Return the text that every form of a visitor's pages carries."""
        return self._signature("form", visitor.session)

    def is_token(self, visitor: Visitor, token: str) -> bool:
        """Return whether a form carries the visitor's token."""
        return hmac.compare_digest(self.token(visitor).encode(), token.encode())

    def _signature(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()
