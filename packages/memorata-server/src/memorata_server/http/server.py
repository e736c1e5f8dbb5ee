"""Serving an application until it is asked to stop, without losing anything that was acknowledged.

A write is acknowledged when it is on the disk, so what matters is that answers on their way still arrive: at
a signal the server stops listening, tells what streams to end, waits for the requests being answered,
then for its threads, and only then lets go of the database.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from memorata_server.connections import TICKS_PER_SWEEP, Connections, connection_bound, protocol_of
from memorata_server.http.balance import Acceptor, Balance
from memorata_server.http.context import ServerState
from memorata_server.http.telemetry import log_event
from memorata_server.sockets import BACKLOG

_MAX_ACCEPTED_PER_TICK: Final = 64
"""How many connections are accepted before the first of them is looked at: they need descriptors too."""
_SWITCH_SECONDS: Final = 0.0005
"""After how long a thread that computes lets another compute. At Python's own 5 ms a short request beside a
long one took 41 ms instead of 29: it gives up the interpreter, and waits to get it back, several times."""
DRAIN_SECONDS: Final = 1.0
"""How long connections that are kept alive may bring one more request after the server was asked to stop."""
_GRACE_SECONDS: Final = 30
"""How many seconds requests have to end after the server was asked to stop."""


def serve(
    app: FastAPI,
    sockets: Sequence[socket.socket],
    ready: Callable[[], None],
    proxies: Sequence[str] = (),
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    parent: int | None = None,
    balance: tuple[Balance, int] | None = None,
) -> None:
    """Serve an application on sockets until SIGINT or SIGTERM; `ready` is called once it can answer.

    `around` is put around it, and it does not outlive its `parent`. Of the first socket it accepts its share
    of the connections, by a `balance` with other processes and its number among them. `proxies` are addresses
    or networks whose headers X-Forwarded-For and X-Forwarded-Proto are trusted for where a request came from;
    those of other clients are ignored, since any client can write them.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    connections = Connections(connection_bound(), proxies=proxies)
    config = uvicorn.Config(
        around(app),
        http=protocol_of(connections),
        backlog=_MAX_ACCEPTED_PER_TICK,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    before = signal.signal(signal.SIGTERM, leave)
    try:
        _Server(config, app.state.server, connections, ready, parent, balance).run(list(sockets))
    finally:
        signal.signal(signal.SIGTERM, before)


def listening_file(path: str) -> socket.socket:
    """Return a socket that listens in the file system, for this user alone."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(path)
    os.chmod(path, 0o600)
    sock.listen(BACKLOG)
    return sock


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        server: ServerState,
        connections: Connections,
        announce: Callable[[], None],
        parent: int | None,
        balance: tuple[Balance, int] | None,
    ) -> None:
        super().__init__(config)
        self._balance = balance
        self._acceptor: Acceptor | None = None
        self._connecting: set[asyncio.Task[Any]] = set()
        self._server = server
        self._connections = connections
        self._announce = announce
        self._parent = parent

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        shared = [] if self._balance is None or sockets is None else sockets[:1]
        await super().startup(None if sockets is None else sockets[len(shared) :])
        for sock in sockets or ():
            # How many wait to be accepted is another number than how many are accepted at once.
            sock.listen(BACKLOG)
        if self.started:
            for sock in shared:
                assert self._balance is not None  # nothing is shared otherwise
                self._acceptor = Acceptor(sock, *self._balance, self._connect)
            log_event("started")
            self._announce()

    def _connect(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.connect_accepted_socket(self._protocol, connection))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def on_tick(self, counter: int) -> bool:
        if self._balance is not None:
            balance, number = self._balance
            balance.note(number, len(self.server_state.connections))
        if counter % TICKS_PER_SWEEP == 0:
            self._connections.sweep()
            if self._parent is not None and os.getppid() != self._parent:
                # It can neither stop nor replace this any more.
                self.handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
            await asyncio.gather(*self._connecting, return_exceptions=True)
        # Connections in the backlog would be reset without an answer.
        accepted = [connection for sock in sockets or () for connection in _accepted(sock)]
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        for connection in accepted:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        # Every answer now says that its connection ends: clients come again, elsewhere. Only those that say
        # nothing all the while are closed without a word.
        until = asyncio.get_running_loop().time() + DRAIN_SECONDS
        while self.server_state.connections and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        log_event("stopping", signal=signal.Signals(sig).name)
        self._server.jobs.closing = True
        super().handle_exit(sig, frame)


def _accepted(sock: socket.socket) -> Iterator[socket.socket]:
    """Accept the connections in the backlog."""
    sock.setblocking(False)
    with suppress(OSError):
        while True:
            yield sock.accept()[0]


def leave(sig: int, frame: FrameType | None) -> None:
    """End the process as after any command; uvicorn raises the signal again when all is done."""
    raise SystemExit(0)
