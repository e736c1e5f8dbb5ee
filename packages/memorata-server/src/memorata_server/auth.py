"""Authentication of browsers and rate limits; API keys themselves are :mod:`memorata.engine.access`.

A browser's session is a cookie with a random id and an end, signed with HMAC-SHA-256 (RFC 2104) under a
secret that lives as long as the process: a restart ends all sessions, and no secret is on a disk. The token
of a session's forms is signed with the same secret, so a page of another site, which can make a browser send
the cookie, cannot know it. The API key of a session stays in memory and is checked again on every request,
so that a revoked key stops working.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final

from memorata.extend import frozen
from memorata.extend.access import LOCAL, Access, ApiKeys
from memorata.extend.errors import NotAdmitted
from memorata.extend.model import checks

SESSION_LIFETIME: Final = timedelta(hours=12)
MAX_LOGINS: Final = 100
"""Sessions of one key; the oldest ends first."""
FAILURES: Final = (1.0, 20)
"""Rejected keys of one address: a second, and at once."""
MAX_BUCKETS: Final = 10_000
"""Callers with a bucket; the least recent goes first."""


class RateLimiter:
    """A token bucket for each caller (Turner, 1986): `burst` tokens, filled at `rate` a second or unlimited.

    Only recent callers have a bucket: a full one is the same as none. `ticks` counts seconds.
    """

    def __init__(self, rate: float | None, burst: int, ticks: Callable[[], float] = monotonic) -> None:
        self._rate = None if rate is None else checks.above("rate", rate, 0)
        self._burst = checks.whole("burst", burst, 1)
        self._ticks = ticks
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Return the seconds until a caller has a token, without taking it."""
        if self._rate is None or caller not in self._buckets:
            return 0.0
        tokens, since = self._buckets[caller]
        return max(0.0, 1.0 - tokens - (self._ticks() - since) * self._rate) / self._rate

    def charge(self, caller: str, tokens: float) -> None:
        """Take more tokens of a caller, for a request that cost more than one; it may go into debt."""
        if self._rate is not None and caller in self._buckets:
            remaining, since = self._buckets[caller]
            # A debt is paid back within as many seconds as it takes to fill the bucket.
            self._buckets[caller] = max(-float(self._burst), remaining - max(0.0, tokens)), since

    def take(self, caller: str) -> float:
        """Take a token of a caller and return 0, or return the seconds until there is one."""
        if self._rate is None:
            return 0.0
        now = self._ticks()
        tokens, since = self._buckets.pop(caller, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - since) * self._rate)
        lacking = max(0.0, 1.0 - tokens)
        self._buckets[caller] = (tokens if lacking else tokens - 1.0), now
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return lacking / self._rate


@frozen
class Session:
    """A browser's session: a random id, and when it ends, in whole seconds since 1970."""

    id: str
    until: int


class Sessions:
    """Signs and reads the cookies of browsers, and holds the key of each session.

    No `keys` means that none is required, no `secret` a random one.
    """

    def __init__(
        self,
        keys: ApiKeys | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        secret: bytes | None = None,
    ) -> None:
        self.now = clock
        self._keys = keys
        self._secret = secrets.token_bytes(32) if secret is None else secret
        self._logins: dict[str, str] = {}
        self._failures = RateLimiter(*FAILURES)

    @property
    def key_required(self) -> bool:
        """Whether a key is asked for."""
        return self._keys is not None and self._keys.required

    def new(self) -> Session:
        """Return a session for a browser that has none."""
        return Session(secrets.token_hex(16), int((self.now() + SESSION_LIFETIME).timestamp()))

    def cookie(self, session: Session) -> str:
        """Return the text of a session's cookie."""
        text = f"{session.id}.{session.until}"
        return f"{text}.{self._signature('cookie', text)}"

    def read(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if it was not written here or has ended."""
        text, _, signature = cookie.rpartition(".")
        id_, _, until = text.partition(".")
        if not hmac.compare_digest(self._signature("cookie", text).encode(), signature.encode()):
            return None
        session = Session(id_, int(until))
        return session if self.now().timestamp() < session.until else None

    def token(self, session: Session) -> str:
        """Return the text that every form of a session's pages carries."""
        return self._signature("form", session.id)

    def is_token(self, session: Session, token: str) -> bool:
        """Return whether a form carries the session's token."""
        return hmac.compare_digest(self.token(session).encode(), token.encode())

    def log_in(self, key: str, address: str = "") -> Session:
        """Return a new session for a valid key; raise NotAdmitted for any other.

        An address with too many rejected keys has to wait, whatever key it sends.
        """
        wait = self._failures.wait(address)
        if wait:
            raise NotAdmitted(f"too many invalid keys; try again in {wait:.0f} s")
        if self._keys is not None:
            try:
                self._keys.authenticate(key)
            except NotAdmitted:
                self._failures.take(address)
                raise
        session = self.new()
        self._logins[session.id] = key
        # Of this key alone: no key ends the sessions of another.
        own_ids = [id_ for id_, session_key in self._logins.items() if session_key == key]
        for oldest in own_ids[:-MAX_LOGINS]:
            self._logins.pop(oldest)
        return session

    def log_out(self, session: Session) -> None:
        """Forget the key of a session."""
        self._logins.pop(session.id, None)

    def access(self, session: Session) -> Access | None:
        """Return the access of a session; None where it has to log in first."""
        if self._keys is None or not self._keys.required:
            return LOCAL
        key = self._logins.get(session.id)
        if key is None:
            return None
        try:
            return self._keys.authenticate(key)
        except NotAdmitted:
            # Revoked since: the browser is asked for another.
            self.log_out(session)
            return None

    def _signature(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()
