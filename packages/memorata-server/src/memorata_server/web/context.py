"""One request, as the pages see it: who sends it, what they may do, its fields, and its answers, errors too.

- Where no key is asked for, the server listens on loopback alone, and a page is only served under a loopback
  name: otherwise a site could point its own name at this machine and read along (DNS rebinding).
- A form must carry the token of the cookie it is sent with, and must not come from another site (the browser
  says so in ``Sec-Fetch-Site`` and ``Origin``).
- Everything in a template is escaped unless it says otherwise, and none does. A variable that a template uses
  and that is not passed is an error, not an empty string.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorata import Engine, __version__
from memorata.extend import errors, frozen, loaded
from memorata.extend.access import Access, ApiKeys
from memorata.extend.errors import kind_of
from memorata.extend.model import DEFAULT_NAMESPACE
from memorata_server.auth import SESSION_LIFETIME, Session, Sessions
from memorata_server.jobs import Job, Jobs
from memorata_server.sockets import is_loopback
from memorata_server.web.forms import Values, joined

COOKIE: Final = "memorata"
TOKEN_FIELD: Final = "token"
TOKEN_HEADER: Final = "X-Form-Token"


@frozen
class Browser:
    """A browser: its session, whether it needs the cookie, and what it may do; None to log in first."""

    session: Session
    new: bool
    access: Access | None


class PageSessions(Sessions):
    """The sessions of the browsers; without `keys`, pages are served under `hosts` and loopback only."""

    def __init__(
        self,
        keys: ApiKeys | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        hosts: Collection[str] = (),
    ) -> None:
        super().__init__(keys, clock)
        self._hosts = frozenset(hosts)

    def browser(self, request: Request) -> Browser:
        """Return the browser of a request, and what it may do."""
        host = request.url.hostname or ""
        local = host in self._hosts or is_loopback(host) or host.endswith(".localhost")
        if not self.key_required and not local:
            raise errors.AccessDenied("without a key this page is served under localhost only")
        existing = self.read(request.cookies.get(cookie_name(request), ""))
        session = self.new() if existing is None else existing
        return Browser(session, existing is None, self.access(session))

    def check_form(self, request: Request, browser: Browser, token: str) -> None:
        """Raise unless a form was filled in on our own page."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin")
        elsewhere = origin is not None and _host(origin) != request.headers.get("host")
        if site not in ("same-origin", "none") or elsewhere:
            raise errors.AccessDenied("this form was sent from another site")
        if browser.new or not self.is_token(browser.session, token):
            raise errors.AccessDenied("this form is too old: open the page again and send it once more")

    def set_cookie(self, response: Response, request: Request, session: Session) -> None:
        """Give the browser its cookie."""
        response.set_cookie(
            cookie_name(request),
            self.cookie(session),
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


PAGES: Final = (
    ("/", "Search"),
    ("/memories", "Browse"),
    ("/review", "Review"),
    ("/settings", "Settings"),
)
"""The navigation, beside the pages of satellites."""
_EXCERPT_LENGTH: Final = 280


@cache
def navigation() -> Mapping[str, str]:
    """Return the title of every page by its path, those of satellites before the settings."""
    added = [page for satellite in loaded("pages") for page in satellite.PAGES]
    return dict((*PAGES[:-1], *added, PAGES[-1]))


def packages_with(folder: str) -> list[str]:
    """Return this package, and the packages of pages by satellites that have a folder of this name."""
    packages = ["memorata_server.web", *(page.__package__ for page in loaded("pages"))]
    return [name for name in packages if files(name).joinpath(folder).is_dir()]


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Return a template filled in."""
    return environment().get_template(template).render(variables)


@cache
def environment() -> Environment:
    """Return the templates, with the filters they use."""
    jinja = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in packages_with("templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (day, moment, number, excerpt, counted, embedder_name, number_or_dash, joined, share)
    jinja.filters |= {function.__name__: function for function in filters}
    jinja.globals |= {
        "version": __version__,
        "pages": navigation(),
        "one_day": timedelta(days=1),
    }
    return jinja


def day(value: date) -> str:
    """Return a day for people."""
    return f"{value.day} {value:%b} {value.year:04}"


def moment(value: datetime) -> str:
    """Return a time for people, to the minute."""
    return f"{day(value)}, {value:%H:%M} UTC"


def number(value: float, digits: int = 3) -> str:
    """Return a number with as many digits after the point, always."""
    return f"{value:,.{digits}f}"


def number_or_dash(value: float, digits: int) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if math.isnan(value) else number(value, digits)


def share(value: float) -> str:
    """Return a share as a percentage, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def excerpt(text: str, length: int = _EXCERPT_LENGTH) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[:length].rstrip(" ,.;:") + "…"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def embedder_name(name: str) -> str:
    """Return an embedder's name without the digest that tells its versions apart."""
    return name.partition("@")[0]


_NEAREST: Final = re.compile(r"\(did you mean ([^()]+)\?\)")
_DOTS: Final = re.compile(r"/\.\.?(?=/|$)")


@frozen(eq=False)
class PageContext:
    """One request: what it asks for, what its sender may do, and how it is answered.

    `values` are the fields of the address or the form, `parts` the named parts of the path, `prefix` is where
    the pages are mounted, `token` is what a form has to carry. With `fragment`, only the part of the page
    with the id `target` is asked for. `login` tells that a key was needed, so that one can log out. `theme`
    is what the visitor chose: ``"light"``, ``"dark"``, or nothing for what the system has. `home` is the
    namespace of the server, which no address has to name.
    """

    engine: Engine
    namespace: str
    namespaces: tuple[str, ...]
    values: Values
    path: str
    parts: Mapping[str, str]
    prefix: str
    token: str
    now: datetime
    jobs: Jobs
    fragment: bool = False
    target: str = ""
    may_write: bool = True
    may_administer: bool = True
    login: bool = False
    theme: str = ""
    method: str = "GET"
    home: str = DEFAULT_NAMESPACE

    @property
    def remembered(self) -> int:
        """How many memories the namespace has, hidden ones included."""
        return self.engine.store.namespaces(counted=[self.namespace]).get(self.namespace, 0)

    def url(self, path: str, fields: Mapping[str, Any] | None = None, /, **more: Any) -> str:  # noqa: ANN401
        """Return the address of a page of the same namespace; fields that are None or empty are left out."""
        parameters: dict[str, Any] = {**(fields or {}), **more}
        if self.namespace != self.home:
            parameters.setdefault("namespace", self.namespace)
        present = {name: value for name, value in parameters.items() if value not in (None, "", ())}
        query = urlencode(present, doseq=True)
        # A browser takes a step of dots as the way up, wherever it stands: behind %2F it is part of a name.
        steps = _DOTS.sub(lambda match: match[0].replace("/", "%2F"), quote(path, safe="/"))
        return self.prefix + steps + (f"?{query}" if query else "")

    def page(self, template: str, /, *, status: int = 200, **variables: Any) -> Response:  # noqa: ANN401
        """Return a page, or the part of it that was asked for."""
        return HTMLResponse(render(template, {"context": self, **variables}), status)

    def data(self, data: Any) -> Response:  # noqa: ANN401 - whatever JSON can hold
        """Return plain data, for a script."""
        return JSONResponse(data)

    def failure_of(self, job: Job) -> str:
        """Return why a job failed; details that only administrators may see are left to the log."""
        if job.error is None or (self.login and not self.may_administer):
            return job.problem
        return (
            str(job.error)
            if isinstance(job.error, errors.MemorataError)
            else f"{type(job.error).__name__}: {job.error}"
        )

    def go(self, url: str) -> Response:
        """Send the browser on to another page."""
        if self.fragment:
            return Response(status_code=204, headers={"HX-Redirect": url})
        return RedirectResponse(url, 303)


@frozen
class PageRoute:
    """One address, what answers there, and what a visitor must be allowed to do.

    A page that concerns `everywhere`, and not one namespace, needs the right to administer all of them.
    """

    path: str
    answer: Callable[[PageContext], Response]
    method: Literal["GET", "POST"] = "GET"
    everywhere: bool = False

    @property
    def scope(self) -> str:
        """The scope that a key must have: read for a GET, write for the rest."""
        return "read" if self.method == "GET" else "write"


BROKEN: Final = "That did not work"
_TITLES: Final[dict[str, str]] = {
    "invalid": "That cannot be used",
    "access-denied": "You may not do that",
    "not-admitted": "You may not do that",
    "version-conflict": "It was changed meanwhile",
    "read-only": "This memory can only be read",
    "unavailable": "The store is busy",
}
_TITLES_BY_TYPE: Final[tuple[tuple[type[errors.MemorataError], str], ...]] = (
    (errors.MemoryNotFound, "No such memory"),
    (errors.EntityNotFound, "No such entity"),
    (errors.RecallNotFound, "No such recall"),
    (errors.ExperimentNotFound, "No such experiment"),
    (errors.WorkUnderWay, "This is running already"),
    (errors.NotEnoughData, "Not enough data"),
    (errors.ServiceUnreachable, "A service does not answer"),
)
_PAGE_STATUS: Final = {401: 403, 422: 400}
"""Statuses that a page has in place of those for programs."""
_SEE_LOG: Final = "the server's log says why"


def failure(context: PageContext, error: errors.MemorataError) -> Response:
    """Return the page of an error, or the part of a page that shows it."""
    kind = kind_of(error)
    status = _PAGE_STATUS.get(kind.status, kind.status)
    title = next((text for type_, text in _TITLES_BY_TYPE if isinstance(error, type_)), "")
    title = title or _TITLES.get(kind.code, BROKEN)
    # Paths and addresses of the server are shown to administrators only.
    shown = status < 500 or context.may_administer or not context.login
    text = str(error) if shown else _SEE_LOG
    template = "error_notice.html" if context.fragment else "error.html"
    return context.page(
        template,
        status=status,
        title=title,
        text=text[:1].upper() + text[1:],
        suggestions=_suggestions(context, error),
        typed=_typed(context),
    )


def _suggestions(context: PageContext, error: errors.MemorataError) -> tuple[tuple[str, str], ...]:
    """Return links to the same page with what may have been meant in place of what was written."""
    rejected, nearest_values = "", tuple[str, ...]()
    if isinstance(error, errors.EntityNotFound):
        rejected, nearest_values = error.name, error.nearest
    elif isinstance(error, errors.InvalidArgument) and (nearest := _NEAREST.search(str(error))):
        rejected, nearest_values = str(error.value), (nearest[1],)
    field = next((name for name in context.values if context.values.text(name) == rejected), None)
    if field is None or context.method != "GET":
        return ()
    other_fields = {name: list(values) for name, values in context.values.items() if name != field}
    path = context.path.removeprefix(context.prefix)
    return tuple((value, context.url(path, {**other_fields, field: value})) for value in nearest_values)


def _typed(context: PageContext) -> tuple[tuple[str, str], ...]:
    """Return the fields of a form that was refused, to be corrected and sent again."""
    if context.method != "POST":
        return ()
    return tuple(
        (name, value) for name, values in context.values.items() if name != "token" for value in values
    )
