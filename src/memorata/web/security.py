"""Who opens a page: a session for every browser, a key where keys are required, forms of our pages only.

- Where no key is asked for, the server listens on loopback alone, and a page is only served under a loopback
  name: otherwise a site could point its own name at this machine and read along (DNS rebinding).
- A form must carry the token of the cookie it is sent with, and must not come from another site (the browser
  says so in ``Sec-Fetch-Site`` and ``Origin``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorata._frozen import frozen
from memorata.engine.access import Access, ApiKeys
from memorata.model.errors import AccessDenied
from memorata.service.auth import SESSION_LIFETIME, Session, Sessions, is_loopback

COOKIE: Final = "memorata"
TOKEN_FIELD: Final = "token"
TOKEN_HEADER: Final = "X-Form-Token"


@frozen
class Browser:
    """A browser: its session, whether it needs the cookie, and what it may do; None to log in first."""

    session: Session
    new: bool
    access: Access | None


class PageSessions:
    """The sessions of the browsers; without `keys`, pages are served under `hosts` and loopback only."""

    def __init__(
        self,
        keys: ApiKeys | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        hosts: Collection[str] = (),
    ) -> None:
        self._sessions = Sessions(keys, clock)
        self._hosts = frozenset(hosts)
        self.now = clock
        self.log_in = self._sessions.log_in
        self.log_out = self._sessions.log_out
        self.token = self._sessions.token

    @property
    def key_required(self) -> bool:
        """Whether a key is asked for."""
        return self._sessions.key_required

    def browser(self, request: Request) -> Browser:
        """Return the browser of a request, and what it may do."""
        host = request.url.hostname or ""
        if not self.key_required and host not in self._hosts and not _is_local(host):
            raise AccessDenied("without a key this page is served under localhost only")
        existing = self._sessions.read(request.cookies.get(cookie_name(request), ""))
        session = self._sessions.new() if existing is None else existing
        return Browser(session, existing is None, self._sessions.access(session))

    def check_form(self, request: Request, browser: Browser, token: str) -> None:
        """Raise unless a form was filled in on our own page."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin")
        elsewhere = origin is not None and _host(origin) != request.headers.get("host")
        if site not in ("same-origin", "none") or elsewhere:
            raise AccessDenied("this form was sent from another site")
        if browser.new or not self._sessions.is_token(browser.session, token):
            raise AccessDenied("this form is too old: open the page again and send it once more")

    def set_cookie(self, response: Response, request: Request, session: Session) -> None:
        """Give the browser its cookie."""
        response.set_cookie(
            cookie_name(request),
            self._sessions.cookie(session),
            max_age=int(SESSION_LIFETIME.total_seconds()),
            path=request.scope.get("root_path", "") or "/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )


def cookie_name(request: Request) -> str:
    """Return what our cookie is called: a browser sends one name to every port of a machine alike."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}-{port}" if port.isascii() and port.isdigit() else COOKIE


def _host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        # No browser sends such a header, so the request does not come from our page.
        return ""


def _is_local(host: str) -> bool:
    return is_loopback(host) or host.endswith(".localhost")


POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" a browser hides where a form comes from from us too, and forms are checked by it.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_STATIC: Final = "/static/"


class SafeHeaders:
    """Adds the headers to every answer, and keeps pages, which show memories, out of caches."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cached = _STATIC in scope["path"]

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-cache" if cached else "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
