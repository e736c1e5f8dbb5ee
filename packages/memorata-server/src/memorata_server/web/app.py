"""The application: every page at its address, and what happens around each of them.

A page is a function of a :class:`~memorata_server.web.context.PageContext`; it runs on a thread, since the
engine is synchronous. Around it: the visitor is authenticated, a form is read within limits and must be from
our own page, the namespace is one that the visitor may touch, and an error becomes a page that says what to
do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memorata import Engine, MemorataError
from memorata.extend import frozen, loaded
from memorata.extend.access import Access, ApiKeys
from memorata.extend.errors import InvalidArgument, NotAdmitted
from memorata.extend.model import checks
from memorata_server.jobs import Jobs
from memorata_server.web import browse, memory, review, search, settings
from memorata_server.web.context import (
    BROKEN,
    HEADERS,
    TOKEN_FIELD,
    TOKEN_HEADER,
    Browser,
    PageContext,
    PageRoute,
    PageSessions,
    SafeHeaders,
    failure,
    packages_with,
)
from memorata_server.web.forms import Values

MAX_FORM_BYTES: Final = 4_000_000
"""The largest form that is read."""
MAX_JOBS: Final = 4
"""How many jobs of the pages run at the same time."""
THEME_COOKIE: Final = "memorata-theme"
_THEMES: Final = ("light", "dark")
_THEME_SECONDS: Final = 31_536_000

_ROUTES: Final[tuple[PageRoute, ...]] = (
    *search.ROUTES,
    *browse.ROUTES,
    *memory.ROUTES,
    *review.ROUTES,
    *settings.ROUTES,
    *(route for satellite in loaded("pages") for route in satellite.ROUTES),
)


def create_pages(
    engine: Engine,
    *,
    keys: ApiKeys | None = None,
    hosts: Collection[str] = (),
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Starlette:
    """Return the pages over an engine, to be mounted at ``/``; ``state.jobs`` is to be closed at the end.

    - `engine`: what the pages show; closing it is left to the caller.
    - `keys`: the API keys. None, or one that requires no key, means that the server listens on loopback
      alone: the pages are then served under loopback names only.
    - `hosts`: other names to be served under without a key.
    - `clock`: tells the time.
    """
    jobs = Jobs(clock, MAX_JOBS)
    site = _Site(engine.scope(via="web"), PageSessions(keys, clock, hosts), jobs)
    routes = [Route(route.path, _endpoint(site, route), methods=[route.method]) for route in _ROUTES]
    static = StaticFiles(packages=[(name, "static") for name in packages_with("static")])
    pages = Starlette(
        routes=[
            Mount("/static", static),
            Route("/login", _open_endpoint(site, _login_page), methods=["GET"]),
            Route("/login", _open_endpoint(site, _log_in), methods=["POST"]),
            Route("/logout", _open_endpoint(site, _log_out), methods=["POST"]),
            Route("/theme", _open_endpoint(site, _set_theme), methods=["POST"]),
            *routes,
        ],
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={HTTPException: _nowhere(site), Exception: _broken(site)},
    )
    pages.state.jobs = jobs
    return pages


@frozen(eq=False)
class _Site:
    """What all pages share."""

    engine: Engine
    sessions: PageSessions
    jobs: Jobs


_Endpoint = Callable[[Request], Awaitable[Response]]


def _endpoint(site: _Site, route: PageRoute) -> _Endpoint:
    async def answer(request: Request) -> Response:
        context = _bare(site, request)
        try:
            browser = await run_in_threadpool(site.sessions.browser, request)
        except MemorataError as error:
            return _failed(context, request, error)
        if browser.access is None:
            return _to_login(context)
        try:
            values = await _values(request)
            if route.method == "POST":
                token = request.headers.get(TOKEN_HEADER) or values.text(TOKEN_FIELD)
                site.sessions.check_form(request, browser, token)
            context = await run_in_threadpool(_context, site, request, browser, values)
            if route.everywhere:
                browser.access.require_everywhere("admin")
            else:
                browser.access.require(route.scope, context.namespace)
            response = await run_in_threadpool(route.answer, context)
        except MemorataError as error:
            response = _failed(context, request, error)
        if browser.new:
            site.sessions.set_cookie(response, request, browser.session)
        return response

    return answer


def _open_endpoint(
    site: _Site, answer: Callable[[_Site, Request, PageContext], Awaitable[Response]]
) -> _Endpoint:
    """Return an endpoint that asks for no key."""

    async def handle(request: Request) -> Response:
        context = _bare(site, request)
        try:
            return await answer(site, request, context)
        except MemorataError as error:
            return _failed(context, request, error)

    return handle


async def _login_page(site: _Site, request: Request, context: PageContext) -> Response:
    browser = await run_in_threadpool(site.sessions.browser, request)
    if browser.access is not None:
        return context.go(context.prefix + "/")
    context = _bare(site, request, site.sessions.token(browser.session))
    response = context.page("login.html", problem="")
    if browser.new:
        site.sessions.set_cookie(response, request, browser.session)
    return response


async def _log_in(site: _Site, request: Request, context: PageContext) -> Response:
    try:
        browser, values = await _checked_form(site, request)
        context = _bare(site, request, site.sessions.token(browser.session))
        address = request.client.host if request.client is not None else ""
        session = await run_in_threadpool(site.sessions.log_in, values.text("key"), address)
    except NotAdmitted as error:
        return context.page("login.html", problem=str(error), status=403)
    except MemorataError as error:
        # With the token of the session, so that the form can be sent again.
        return _failed(context, request, error)
    response = context.go(context.prefix + "/")
    site.sessions.set_cookie(response, request, session)
    return response


async def _log_out(site: _Site, request: Request, context: PageContext) -> Response:
    browser, _ = await _checked_form(site, request)
    site.sessions.log_out(browser.session)
    return _to_login(context)


async def _set_theme(site: _Site, request: Request, context: PageContext) -> Response:
    """Store a visitor's theme in a cookie; scripts do the same without a request."""
    _, values = await _checked_form(site, request)
    theme = checks.one_of("theme", values.text("theme"), ("", *_THEMES))
    from_page = urlsplit(request.headers.get("referer", ""))
    # Two slashes in front would be another host.
    path = "/" + from_page.path.lstrip("/") if from_page.path else context.prefix + "/"
    response = context.go(f"{path}?{from_page.query}".rstrip("?"))
    response.set_cookie(
        THEME_COOKIE, theme, max_age=_THEME_SECONDS, path=context.prefix or "/", samesite="strict"
    )
    return response


def _nowhere(site: _Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def say(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = "There is no page at this address." if status == 404 else getattr(error, "detail", "")
        title = "Not here" if status == 404 else BROKEN
        context = await run_in_threadpool(_known_visitor, site, request)
        return context.page("error.html", status=status, title=title, text=text, suggestions=(), typed=())

    return say


def _broken(site: _Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def say(request: Request, error: Exception) -> Response:
        context = _bare(site, request)
        template = "error_notice.html" if context.fragment else "error.html"
        name = request.scope.get("state", {}).get("request_id", "")
        text = "Something went wrong in the server; its log says more" + (f", under {name}." if name else ".")
        response = context.page(template, status=500, title=BROKEN, text=text, suggestions=(), typed=())
        # Unhandled errors are answered outside of the middleware that adds these headers.
        response.headers.update({**HEADERS, "Cache-Control": "no-store"})
        return response

    return say


def _failed(context: PageContext, request: Request, error: MemorataError) -> Response:
    """Return the page of an error, and leave the error for the log of the server around the pages."""
    request.scope.setdefault("state", {})["error"] = error
    return failure(context, error)


def _bare(site: _Site, request: Request, token: str = "") -> PageContext:
    """Return the context of a visitor without any permission."""
    theme, headers = request.cookies.get(THEME_COOKIE, ""), request.headers
    return PageContext(
        engine=site.engine,
        namespace=site.engine.namespace,
        namespaces=(),
        values=Values({}),
        path=request.url.path,
        parts=request.path_params,
        prefix=request.scope.get("root_path", ""),
        token=token,
        now=site.sessions.now(),
        jobs=site.jobs,
        fragment=headers.get("hx-request") == "true" and headers.get("hx-history-restore-request") != "true",
        target=headers.get("hx-target", ""),
        may_write=False,
        may_administer=False,
        login=site.sessions.key_required,
        theme=theme if theme in _THEMES else "",
        method=request.method,
        home=site.engine.namespace,
    )


def _context(site: _Site, request: Request, browser: Browser, values: Values) -> PageContext:
    access = browser.access
    if access is None:
        raise NotAdmitted("a key is needed")
    namespace, all_ = _namespaces(site.engine, access, values.text("namespace"))
    return replace(
        _bare(site, request, site.sessions.token(browser.session)),
        engine=site.engine.scope(namespace),
        namespace=namespace,
        namespaces=all_,
        values=values,
        may_write=access.allows("write", namespace),
        may_administer=access.everywhere and access.may("admin"),
    )


def _known_visitor(site: _Site, request: Request) -> PageContext:
    """Return the context of a logged-in visitor, so that the navigation stays; else a bare one."""
    try:
        browser = site.sessions.browser(request)
        return _context(site, request, browser, Values.of(request.url.query))
    except MemorataError:
        return _bare(site, request)


def _namespaces(engine: Engine, access: Access, wanted: str) -> tuple[str, tuple[str, ...]]:
    """Return the namespace of the request, and all that the visitor may read."""
    existing = sorted({engine.namespace, *engine.store.namespaces(counted=())})
    readable = tuple(path for path in existing if access.allows("read", path))
    if wanted:
        return checks.namespace("namespace", wanted), readable
    if engine.namespace in readable or not readable:
        return engine.namespace, readable
    return readable[0], readable


async def _checked_form(site: _Site, request: Request) -> tuple[Browser, Values]:
    """Return the browser session and the values of a form; raise if it does not come from a page of ours."""
    browser = await run_in_threadpool(site.sessions.browser, request)
    values = await _values(request)
    site.sessions.check_form(request, browser, values.text(TOKEN_FIELD))
    return browser, values


async def _values(request: Request) -> Values:
    if request.method != "POST":
        return Values.of(request.url.query)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM_BYTES:
                raise InvalidArgument("form", f"more than {MAX_FORM_BYTES} bytes", "smaller")
    except ClientDisconnect as error:
        # Nobody reads the answer, but the log and the metrics tell it from a failure of ours.
        raise HTTPException(400, "the form is not all there") from error
    return Values.of(bytes(body))


def _to_login(context: PageContext) -> Response:
    address = context.prefix + "/login"
    if context.fragment:
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)
