"""Who may come in: a cookie for every browser, a key where keys are required, and only from our own pages.

- A browser gets a signed cookie on its first visit. Whoever logs in with a key gets a new one; the key itself
  stays here, in memory, and is looked at again on every request, so that a revoked key stops working.
- Where no key is asked for, the server listens on loopback alone, and a page is only served under a loopback
  name: otherwise a site could point its own name at this machine and read along (DNS rebinding).
- A form must carry the token of the cookie it is sent with, and must not come from another site (the browser
  says so in ``Sec-Fetch-Site`` and ``Origin``).
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine.access import LOCAL, Access, Gatekeeper
from memorata.model.errors import AccessDenied, NotAdmitted
from memorata.web.signing import LIFETIME, Signer, Visitor

COOKIE: Final = "memorata"
TOKEN_FIELD: Final = "token"
TOKEN_HEADER: Final = "X-Form-Token"
_MOST_LOGINS: Final = 1_000


@frozen
class Guest:
    """Somebody at the door.

    Attributes
    ----------
    visitor
        Their session.
    new
        Whether their browser has to be given the cookie.
    access
        What they may do; None where they have to log in first.
    """

    visitor: Visitor
    new: bool
    access: Access | None


class Door:
    """Looks at everybody who comes.

    Parameters
    ----------
    gate
        Knows the keys; None where none is asked for.
    clock
        Tells the time.
    hosts
        Names to be served under without a key, beside those of loopback.
    """

    def __init__(
        self,
        gate: Gatekeeper | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        hosts: Collection[str] = (),
    ) -> None:
        self._gate = gate
        self._hosts = frozenset(hosts)
        self._clock = clock
        self._signer = Signer()
        self._keys: OrderedDict[str, str] = OrderedDict()

    @property
    def locked(self) -> bool:
        """Whether a key is asked for."""
        return self._gate is not None and self._gate.required

    def now(self) -> datetime:
        """Return what time it is."""
        return self._clock()

    def guest(self, request: Request) -> Guest:
        """Return who comes, and what they may do."""
        host = request.url.hostname
        if not self.locked and host not in self._hosts and not _is_loopback(host):
            raise AccessDenied("without a key this page is served under localhost only")
        known = self._signer.read(request.cookies.get(cookie_name(request), ""), self._clock())
        visitor = self._signer.newcomer(self._clock()) if known is None else known
        return Guest(visitor, known is None, self._access(visitor))

    def log_in(self, key: str) -> Visitor:
        """Return a new session for whoever shows a good key; raise NotAdmitted for any other."""
        if self._gate is not None:
            self._gate.admit(key)
        visitor = self._signer.newcomer(self._clock())
        self._keys[visitor.session] = key
        while len(self._keys) > _MOST_LOGINS:
            self._keys.popitem(last=False)
        return visitor

    def log_out(self, visitor: Visitor) -> None:
        """Forget the key of a session."""
        self._keys.pop(visitor.session, None)

    def token(self, visitor: Visitor) -> str:
        """Return what every form of a visitor's pages carries."""
        return self._signer.token(visitor)

    def check_form(self, request: Request, guest: Guest, token: str) -> None:
        """Raise unless a form was filled in on our own page."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin")
        elsewhere = origin is not None and _host(origin) != request.headers.get("host")
        if site not in ("same-origin", "none") or elsewhere:
            raise AccessDenied("this form was sent from another site")
        if guest.new or not self._signer.is_token(guest.visitor, token):
            raise AccessDenied("this form is too old: open the page again and send it once more")

    def greet(self, response: Response, request: Request, visitor: Visitor) -> None:
        """Give the browser its cookie."""
        response.set_cookie(
            cookie_name(request),
            self._signer.cookie(visitor),
            max_age=int(LIFETIME.total_seconds()),
            path=request.scope.get("root_path", "") or "/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )

    def _access(self, visitor: Visitor) -> Access | None:
        if self._gate is None or not self._gate.required:
            return LOCAL
        key = self._keys.get(visitor.session)
        if key is None:
            return None
        try:
            return self._gate.admit(key)
        except NotAdmitted:
            # Revoked since: the browser is asked for another.
            self._keys.pop(visitor.session, None)
            return None


def cookie_name(request: Request) -> str:
    """Return what our cookie is called: a browser sends one name to every port of a machine alike."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}-{port}" if port.isascii() and port.isdigit() else COOKIE


def _host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        # No browser says so; whoever does is not on our page.
        return ""


def _is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
