"""Serve the memory over HTTP, with its pages: the one place where the two interfaces are put together."""

from __future__ import annotations

import os
from errno import EACCES, EADDRINUSE
from os import strerror
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from memorata.cli.command import command
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.access import ApiKeys
    from memorata.model.errors import InvalidArgument

_PORT: Final = 8765
_RATE: Final = 100.0
"""Requests a second that one key may make, where keys are needed and nothing else was said."""
_ONE_EACH: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_MAKE_ONE: Final = "memorata key create NAME --namespace 'acme/*' --scope read"
_PACKAGES: Final = ("fastapi", "jinja2", "prometheus_client", "starlette", "uvicorn")

Host = Annotated[
    str, typer.Option("--host", help="The address to listen at; others than loopback need a key.")
]
Port = Annotated[
    int, typer.Option("--port", "-p", min=0, max=65_535, help="The port; 0 for any that is free.")
]
RequireKey = Annotated[bool, typer.Option("--require-key", help="Ask for a key on loopback too.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A name to answer under; repeatable."),
]
Cors = Annotated[
    list[str] | None,
    typer.Option("--cors", metavar="ORIGIN", help="A web site whose pages may ask; repeatable."),
]
Rate = Annotated[float | None, typer.Option("--rate", help="Requests a second that one key may make.")]
Burst = Annotated[int, typer.Option("--burst", help="How many of them at once.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Most seconds for one answer.")]
Threads = Annotated[int, typer.Option("--threads", help="How many requests work at the same time.")]
MaxBody = Annotated[int, typer.Option("--max-body", help="Most bytes of one request.")]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--log-level", help="What is written to standard error: debug, info, warning or error."),
]
LogContents = Annotated[
    bool, typer.Option("--log-contents", help="Log the words of errors too, which may repeat memories.")
]
NoPages = Annotated[bool, typer.Option("--no-pages", help="Only /v1, without the web page.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "serve", "For programs")(serve)


def serve(
    session: Session,
    host: Host = "127.0.0.1",
    port: Port = _PORT,
    require_key: RequireKey = False,
    allow_host: AllowHost = None,
    cors: Cors = None,
    rate: Rate = None,
    burst: Burst = 100,
    timeout: Timeout = 30.0,
    threads: Threads = 4,
    max_body: MaxBody = 4 * 1024 * 1024,
    log_level: LogLevel = "info",
    log_contents: LogContents = False,
    no_pages: NoPages = False,
) -> None:
    """Serve this memory over HTTP: /v1 for programs, / for people."""
    for variable in _ONE_EACH:
        # Read when numpy is first imported, which is below. Requests share the processors among themselves:
        # threads of a matrix product that wait for each other would only take them away from others.
        os.environ.setdefault(variable, "1")
    try:
        from memorata.http import server, telemetry
        from memorata.http.app import create_api
        from memorata.http.middleware import Limits, loopback_names
        from memorata.web.app import create_pages
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _PACKAGES:
            raise
        from memorata.model.errors import MissingExtra

        raise MissingExtra("The server", "'memorata[server]'") from error
    from memorata.engine.access import ApiKeys
    from memorata.service.auth import is_loopback

    inside = is_loopback(host)
    required = require_key or not inside
    if rate is None and required:
        rate = _RATE
    limits = Limits(body=max_body, rate=rate, burst=burst, seconds=timeout, threads=threads)
    if required and not session.settings.db.exists():
        # There is no key where there is nothing, and to find that out nothing has to be made.
        raise _without_a_key(host, inside=inside)
    with session.memory(create=True, embed=True) as engine:
        keys = ApiKeys(engine.store, required=required)
        if required and not _has_key(keys):
            raise _without_a_key(host, inside=inside)
        hosts = None if keys.required and not allow_host else {*loopback_names(), host, *(allow_host or ())}
        pages = None if no_pages else create_pages(engine, keys=keys, hosts=allow_host or ())
        api = create_api(engine, keys, limits=limits, hosts=hosts, origins=cors or (), pages=pages)
        telemetry.set_up(log_level, contents=log_contents)
        try:
            server.serve(api, host, port, lambda address: _announce(session, address, keys))
        except OSError as error:
            if error.errno not in (EADDRINUSE, EACCES):
                raise
            from memorata.model.errors import InvalidArgument

            raise InvalidArgument("--port", port, f"one that is free ({strerror(error.errno)})") from error
        finally:
            if pages is not None:
                pages.state.jobs.close()


def _announce(session: Session, address: str, keys: ApiKeys) -> None:
    if session.output.json:
        session.output.data({"address": address, "key_required": keys.required})
    else:
        asked = "a key is needed" if keys.required else "no key is needed on this machine"
        session.output.say(f"Serving at {address} ({asked}); Ctrl-C stops it")


def _has_key(keys: ApiKeys) -> bool:
    """Tell whether there is a key that somebody could come in with."""
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    return any(key.holds_at(now) for key in keys.list())


def _without_a_key(host: str, *, inside: bool) -> InvalidArgument:
    from memorata.model.errors import InvalidArgument

    first = "as long as there is no key; make one first: " + _MAKE_ONE
    if inside:
        return InvalidArgument("--require-key", True, f"left out {first}")
    return InvalidArgument("--host", host, f"127.0.0.1 {first}")
