"""Connections: how many there may be, and how long one may say nothing, or read nothing.

A socket costs a descriptor whether or not anything is sent over it, and a process that has none left accepts
no connection. So there is a bound for one address and one for all, below what the system allows. A connection
that comes when a bound is reached replaces a stalled one, whose answer is not read, or the one that has been
silent for longest: hundreds of silent connections do not keep out an active one.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import ip_address, ip_network
from itertools import chain
from time import monotonic
from typing import Any, Final

import uvicorn

from memorata_server.heads import BoundedHeads

MAX_CONNECTIONS: Final = 1_000
MAX_PER_ADDRESS: Final = 256
HEADER_SECONDS: Final = 10.0
"""How long a connection may take to send the head of its first request."""
IDLE_SECONDS: Final = 35.0
"""The same for later ones; a little longer than the server itself keeps an idle connection."""
STALL_SECONDS: Final = 30.0
"""How long a client may read nothing of an answer that is being sent."""
BODY_SECONDS: Final = 30.0
"""How long the body of a request may take to arrive, at servers that do not time it themselves."""
TICKS_PER_SWEEP: Final = 10
"""uvicorn ticks ten times a second."""
_RESERVED_DESCRIPTORS: Final = 128
"""What is left for the database, models and services."""


def connection_bound(limit: int | None = None) -> int:
    """Return how many connections there may be under a limit on descriptors; None for the system's."""
    if limit is None:
        limit = MAX_CONNECTIONS + _RESERVED_DESCRIPTORS
        with suppress(ImportError):
            import resource

            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(16, min(MAX_CONNECTIONS, limit - _RESERVED_DESCRIPTORS)) if limit > 0 else MAX_CONNECTIONS


class Connections:
    """The connections of a server, oldest first; those of `proxies` are bounded by the total alone."""

    def __init__(
        self,
        total: int = MAX_CONNECTIONS,
        per_address: int = MAX_PER_ADDRESS,
        proxies: Collection[str] = (),
        ticks: Callable[[], float] = monotonic,
        body_seconds: float = math.inf,
    ) -> None:
        self._total = total
        self._per_address = min(per_address, total)
        self._proxies = [ip_network(proxy, strict=False) for proxy in proxies]
        self._ticks = ticks
        self._body_seconds = body_seconds
        self._open: dict[Any, _Connection] = {}
        self._of_address: Counter[str] = Counter()

    def add(self, protocol: Any, transport: asyncio.Transport) -> None:  # noqa: ANN401 - uvicorn's
        """Take in a connection; one that is silent goes if there are too many, or else the new one."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        self._open[protocol] = _Connection(protocol, transport, address, self._ticks())
        self._of_address[address] += 1
        if self._of_address[address] > self._per_address and not self._is_proxy(address):
            self._make_room(
                [connection for connection in self._open.values() if connection.address == address]
            )
        elif len(self._open) > self._total:
            busiest = max(self._of_address.values())
            # From the address with most connections: it does not push out addresses with a few.
            self._make_room(
                [
                    connection
                    for connection in self._open.values()
                    if self._of_address[connection.address] == busiest
                ]
            )

    def discard(self, protocol: Any) -> None:  # noqa: ANN401
        """Forget a connection that is closed."""
        connection = self._open.pop(protocol, None)
        if connection is not None:
            self._of_address[connection.address] -= 1
            if not self._of_address[connection.address]:
                del self._of_address[connection.address]

    def sweep(self) -> None:
        """Close connections that have sent or read nothing for too long."""
        now = self._ticks()
        for connection in list(self._open.values()):
            if connection.is_overdue(now, self._body_seconds):
                self._close(connection)

    def _make_room(self, connections: list[_Connection]) -> None:
        stalled = (connection for connection in connections if connection.is_stalled)
        silent = (connection for connection in connections if connection.is_silent)
        self._close(next(chain(stalled, silent), connections[-1]))

    def _close(self, connection: _Connection) -> None:
        self.discard(connection.protocol)
        connection.transport.abort()

    def _is_proxy(self, address: str) -> bool:
        with suppress(ValueError):
            return any(ip_address(address) in network for network in self._proxies)
        return False


class _Connection:
    """One connection, and since when it has been silent, or has not been read from."""

    __slots__ = ("address", "arriving", "protocol", "silent_since", "stalled_since", "transport")

    def __init__(self, protocol: Any, transport: asyncio.Transport, address: str, now: float) -> None:  # noqa: ANN401
        self.protocol = protocol
        self.transport = transport
        self.address = address
        self.silent_since: float | None = now
        self.stalled_since: float | None = None
        self.arriving: tuple[object, float] | None = None

    @property
    def is_silent(self) -> bool:
        """Whether no request is being answered."""
        cycle = self.protocol.cycle
        return cycle is None or cycle.response_complete

    @property
    def is_stalled(self) -> bool:
        """Whether an answer is being sent that the client does not read."""
        return not self.is_silent and bool(self.protocol.flow.write_paused)

    def is_overdue(self, now: float, body_seconds: float) -> bool:
        """Return whether it is to be closed; to be asked every second or so, for it notes what changed."""
        self.silent_since = _since(self.silent_since, now) if self.is_silent else None
        self.stalled_since = _since(self.stalled_since, now) if self.is_stalled else None
        cycle = self.protocol.cycle
        if cycle is None or not cycle.more_body:
            self.arriving = None
        elif self.arriving is None or self.arriving[0] is not cycle:
            self.arriving = cycle, now
        elif now - self.arriving[1] > body_seconds:
            return True
        patience = HEADER_SECONDS if self.protocol.cycle is None else IDLE_SECONDS
        return (self.silent_since is not None and now - self.silent_since > patience) or (
            self.stalled_since is not None and now - self.stalled_since > STALL_SECONDS
        )


def _since(before: float | None, now: float) -> float:
    return now if before is None else before


def protocol_of(connections: Connections) -> type[asyncio.Protocol]:
    """Return a protocol with bounded heads, which tells `connections` of every connection."""

    class BoundedProtocol(BoundedHeads):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            connections.add(self, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.discard(self)
            super().connection_lost(exc)

    return BoundedProtocol


def serve_bounded(app: Any, sock: socket.socket, **settings: Any) -> None:  # noqa: ANN401 - uvicorn's
    """Serve an application until SIGINT or SIGTERM, with bounded connections, heads and times of bodies."""
    connections = Connections(connection_bound(), body_seconds=BODY_SECONDS)

    class BoundedServer(uvicorn.Server):
        async def on_tick(self, counter: int) -> bool:
            if counter % TICKS_PER_SWEEP == 0:
                connections.sweep()
            return await super().on_tick(counter)

    config = uvicorn.Config(app, http=protocol_of(connections), log_config=None, access_log=False, **settings)
    BoundedServer(config).run([sock])
