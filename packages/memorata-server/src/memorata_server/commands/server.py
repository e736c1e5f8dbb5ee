"""Servers and their keys: start, mcp, proxy, key.

This is the one place where the interfaces are put together: `start` mounts the pages beside ``/v1``.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from typer import Argument, Option

from memorata.extend.commands import Session, visible
from memorata.extend.errors import InvalidArgument, NotGiven

if TYPE_CHECKING:
    from socket import socket

    from memorata import Engine
    from memorata.extend.access import ApiKeys
    from memorata_server.mcp.auth import Verifier

_PORT: Final = 8765
_MCP_PORT: Final = 8766
_PROXY_PORT: Final = 8767
_REQUESTS_PER_SECOND: Final = 100.0
"""Requests a second that one key may make, where keys are needed and --rate is absent."""
_CREATE_KEY: Final = "memorata server key create NAME --namespace 'acme/*' --scope read"
_ONE_THREAD: Final = {"threads": 1}
"""Settings by which a model computes on one thread."""

Host = Annotated[str, Option("--host", help="The address to listen at; others than loopback need a key.")]
Port = Annotated[int, Option("--port", "-p", min=0, max=65_535, help="The port; 0 for any that is free.")]
RequireKey = Annotated[bool, Option("--require-key", help="Require a key on loopback too.")]


def mcp(
    session: Session,
    transport: Literal["stdio", "http"] = Option(
        "stdio", "-t", help="How clients connect: stdio, when they start it, or http."
    ),
    host: str = Option(
        "127.0.0.1", help="For http, the address to listen at; others than loopback need a key."
    ),
    port: int = Option(_MCP_PORT, "-p", min=0, max=65_535, help="For http; 0 for any free port."),
    compat: Literal["reference"] | None = Option(
        None, help="Tools by the names of the protocol's reference memory server."
    ),
    require_key: RequireKey = False,
    issuer: str | None = Option(
        None, metavar="URL", help="An OAuth issuer whose access tokens are good, too."
    ),
    resource: str | None = Option(
        None, metavar="URL", help="The address those tokens are for: this server's."
    ),
) -> None:
    """Serve this memory to agents by the Model Context Protocol."""
    from memorata_server.sockets import is_loopback

    if (issuer is None) != (resource is None):
        raise NotGiven("--issuer", "together with --resource, the address that its tokens are for")
    server = _load_mcp()
    server.log_to_stderr(debug=session.options.debug)
    reference = compat == "reference"

    def opening() -> AbstractContextManager[Engine]:
        return session.memory(create=True, embed=True)

    def announce(address: str) -> None:
        session.output.say(f"Listening on {address}")

    if transport == "stdio":
        if sys.stdin.isatty():
            session.output.say(
                "Waiting for a client on standard input; clients start this command themselves, "
                "and docs/mcp.md says how. Ctrl-C ends it.",
                "",
            )
        server.serve_stdio(opening, reference=reference)
    else:
        keys = require_key or issuer is not None or not is_loopback(host)
        verifier = partial(_verifier, host=host, issuer=issuer, resource=resource) if keys else None
        server.serve_http(opening, host, port, announce, reference=reference, verifier=verifier)


def _verifier(engine: Engine, *, host: str, issuer: str | None, resource: str | None) -> Verifier:
    """Return the verifier of the tokens of agents; without an issuer there must be a key."""
    from memorata.extend.access import ApiKeys
    from memorata_server.mcp.auth import Issuer, Verifier

    keys = ApiKeys(engine.store)
    if issuer is None or resource is None:
        _check_key(keys, host)
        return Verifier(keys)
    return Verifier(keys, Issuer(issuer, resource))


def _load_mcp() -> ModuleType:
    """Return the module of the MCP server, loaded quickly, because a client waits for it.

    The SDK makes hundreds of classes of messages, of which a conversation uses few. Their validators are
    built when first needed, and the garbage collector is off meanwhile: a quarter less time.
    """
    with _deferred_validators():
        from memorata_server.mcp import server
    return server


@contextmanager
def _deferred_validators() -> Iterator[None]:
    from pydantic import BaseModel

    was_on = gc.isenabled()
    gc.disable()
    # A class inherits the configuration of its base when it is made.
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        if was_on:
            gc.enable()


def start(
    session: Session,
    host: Host = "127.0.0.1",
    port: Port = _PORT,
    require_key: RequireKey = False,
    allow_host: list[str] | None = Option(None, metavar="NAME", help="A host name; repeatable."),
    cors: list[str] | None = Option(
        None, metavar="ORIGIN", help="A web site whose pages may send requests; repeatable."
    ),
    trusted_proxy: list[str] | None = Option(
        None,
        metavar="ADDRESS",
        help="A proxy, or a network of them, that says where requests came from; repeatable.",
    ),
    rate: float | None = Option(None, help="Requests a second that one key may make."),
    burst: int = Option(100, help="How many of them at once."),
    timeout: float = Option(30.0, help="The most seconds for one answer."),
    threads: int = Option(8, help="How many requests work at the same time."),
    workers: int = Option(1, "-w", min=1, max=64, help="How many processes answer; one per processor."),
    max_body: int = Option(4 * 1024 * 1024, help="The most bytes of one request."),
    log_level: Literal["debug", "info", "warning", "error"] = Option(
        "info", help="What is written to standard error: debug, info, warning or error."
    ),
    log_contents: bool = Option(False, help="Log error texts too, which may quote memories."),
    no_pages: bool = Option(False, help="Only /v1, without the pages."),
) -> None:
    """Serve this memory over HTTP: /v1 for programs, / for people."""
    from memorata.extend.access import ApiKeys
    from memorata.extend.serving import load_models, prepare_to_serve
    from memorata_server.http import server, telemetry
    from memorata_server.http.app import create_api
    from memorata_server.http.balance import Balance
    from memorata_server.http.middleware import LOOPBACK_NAMES, Limits
    from memorata_server.http.supervisor import FirstWorker, Supervisor
    from memorata_server.sockets import address_of, check_network, is_loopback, listening
    from memorata_server.web.app import create_pages

    required = require_key or not is_loopback(host)
    if not required and "*" in (cors or ()):
        raise InvalidArgument("--cors", "*", "the sites that may, unless a key is needed (--require-key)")
    for proxy in trusted_proxy or ():
        check_network("--trusted-proxy", proxy)
    if rate is None and required:
        rate = _REQUESTS_PER_SECOND
    limits = Limits(body=max_body, rate=rate, burst=burst, seconds=timeout, threads=threads)
    if required and not session.settings.db.exists():
        # Without a database there is no key, and none has to be created to find that out.
        _check_key(None, host)
    hosts = None if required and not allow_host else {*LOOPBACK_NAMES, host, *(allow_host or ())}
    telemetry.set_up(log_level, contents=log_contents)

    def answer(
        engine: Engine,
        sockets: Sequence[socket],
        ready: Callable[[], None],
        around: Callable[[Any], Any] = lambda app: app,
        *,
        with_pages: bool = not no_pages,
        parent: int | None = None,
        balance: tuple[Balance, int] | None = None,
    ) -> None:
        keys = ApiKeys(engine.store, required=required)
        pages = create_pages(engine, keys=keys, hosts=allow_host or ()) if with_pages else None
        api = create_api(engine, keys, limits=limits, hosts=hosts, origins=cors or (), pages=pages)
        try:
            server.serve(api, sockets, ready, trusted_proxy or (), around, parent, balance)
        finally:
            if pages is not None:
                pages.state.jobs.close()

    if workers > 1:
        _check_workers(session, workers)
    with ExitStack() as stack:
        engine = stack.enter_context(session.memory(create=True, embed=True))
        if required:
            _check_key(ApiKeys(engine.store), host)
        sock = stack.enter_context(closing(listening(host, port)))

        def announce() -> None:
            address = address_of(sock)
            if session.output.json:
                session.output.data({"address": address, "key_required": required})
            else:
                access = "a key is needed" if required else "no key is needed on this machine"
                session.output.say(f"Serving at {address} ({access}); Ctrl-C stops it")

        if workers == 1:
            answer(engine, [sock], announce)
            return
        load_models(engine)
        # A connection to a database is no use to the processes that are forked; models are.
        engine.close()
        folder = stack.enter_context(TemporaryDirectory(prefix="memorata-"))
        telemetry.share_metrics(folder)
        path = str(Path(folder) / "first")
        first = stack.enter_context(closing(server.listening_file(path)))
        parent = os.getpid()
        balance = Balance(workers)

        def work(number: int, ready: Callable[[], None]) -> None:
            own = Session(replace(session.options, quiet=True))
            own.settings = own.settings.changed(**_ONE_THREAD)
            with own.memory(embed=True) as opened:
                prepare_to_serve(opened, models=engine)
                answer(
                    opened,
                    [sock] if number else [sock, first],
                    ready,
                    partial(FirstWorker, path=path, forwards=number > 0),
                    with_pages=not no_pages and number == 0,
                    parent=parent,
                    balance=(balance, number),
                )

        Supervisor(workers, work, announce, [sock, first]).run()


def _check_workers(session: Session, workers: int) -> None:
    """Raise if the memory cannot be served by several processes, and let each of them compute by itself."""
    if not hasattr(os, "fork"):
        raise InvalidArgument("--workers", workers, "1 on this system, which cannot fork a process")
    if str(session.settings.db) == ":memory:":
        raise InvalidArgument("--workers", workers, "1 for a memory that is in no file")
    # Threads do not outlive a fork.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    session.settings = session.settings.changed(**_ONE_THREAD)


def proxy(
    session: Session,
    upstream: str = Option(metavar="URL", help="The service, by its address."),
    host: Host = "127.0.0.1",
    port: Port = _PROXY_PORT,
    limit: int = Option(8, "-l", min=0, help="How many memories a prompt gets at most."),
    budget: int = Option(800, min=0, help="How many tokens they may take."),
    no_capture: bool = Option(False, help="Only recall; messages are not remembered."),
) -> None:
    """Run a proxy before a chat service of OpenAI's or Anthropic's kind that gives it a memory."""
    from memorata.extend.access import ApiKeys
    from memorata_server.http.proxy import Proxy, ProxySettings, checked_upstream
    from memorata_server.http.proxy import serve as serve_proxy
    from memorata_server.sockets import is_loopback

    checked_upstream(upstream)
    # Prompts hold keys and passwords more often than memories that are chosen.
    redact = True if session.settings.origin("redact") == "default" else None
    with session.memory(create=True, embed=True, redact=redact) as engine:
        keys = None if is_loopback(host) else ApiKeys(engine.store, required=True)
        if keys is not None:
            _check_key(keys, host)
        settings = ProxySettings(limit=limit, budget=budget, capture=not no_capture)
        # A chat does not wait until a model is loaded.
        engine.recall("warm up")
        app = Proxy(engine, upstream, keys=keys, settings=settings)

        def announce(address: str) -> None:
            session.output.say(f"Proxy for {upstream} at {address}/v1", "")

        serve_proxy(app, host, port, announce)


def _check_key(keys: ApiKeys | None, host: str) -> None:
    """Raise unless there is a valid key; without a database there is none."""
    from memorata_server.sockets import is_loopback

    now = datetime.now(UTC)
    if keys is not None and any(key.holds_at(now) for key in keys.list()):
        return
    first = "as long as there is no key; make one first: " + _CREATE_KEY
    if is_loopback(host):
        raise InvalidArgument("--require-key", True, f"left out {first}")
    raise InvalidArgument("--host", host, f"127.0.0.1 {first}")


def create(
    session: Session,
    name: str = Argument(metavar="NAME", help="What the key is called."),
    scope: list[str] | None = Option(
        None, "-s", help="What it may do: read, write or admin; each includes the one before."
    ),
    expires: datetime | None = Option(None, help="Until when it is valid."),
) -> None:
    """Create a key for the namespaces that --namespace names, such as 'acme/*'; its token is shown once."""
    from memorata.extend.json import key_json

    patterns = session.options.namespace
    if patterns is None:
        raise NotGiven("--namespace", "as acme/alice, 'acme/*', '*', or several with commas")
    with _api_keys(session) as keys:
        key, token = keys.create(name, patterns.split(","), scope or ["read"], expires_at=expires)
    kept = "Keep it: the database holds only its digest, and it is not shown again"
    session.output.result({**key_json(key), "token": token}, token, notes=[kept])


def list_(session: Session) -> None:
    """List the keys, revoked ones too."""
    from memorata.extend.json import key_json

    with _api_keys(session) as api_keys:
        keys = api_keys.list()
    now, lines = datetime.now(UTC), []
    for key in keys:
        state = "revoked" if key.revoked_at is not None else "valid" if key.holds_at(now) else "expired"
        row = (key.id, visible(key.name), ",".join(key.namespaces), ",".join(key.scopes), state)
        lines.append("\t".join(row))
    empty = "" if keys else "There is no key yet; memorata server key create makes one"
    session.output.result({"keys": [key_json(key) for key in keys]}, *lines, notes=[empty])


def revoke(session: Session, id: str = Argument(metavar="ID", help="The id of the key.")) -> None:
    """Revoke a key; a running server refuses it within two seconds."""
    with _api_keys(session) as keys:
        keys.revoke(id)
    session.output.result({"revoked": id}, f"revoked {visible(id)}")


@contextmanager
def _api_keys(session: Session) -> Iterator[ApiKeys]:
    from memorata.extend.access import ApiKeys

    # Here --namespace is a pattern, which is no namespace to open.
    opening = Session(replace(session.options, namespace=None))
    with opening.memory(create=True) as engine:
        yield ApiKeys(engine.store)
