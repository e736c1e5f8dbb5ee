"""Connections over the bound, silent ones and those that read nothing."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from memorata_server.connections import (
    HEADER_SECONDS,
    IDLE_SECONDS,
    STALL_SECONDS,
    Connections,
    connection_bound,
    protocol_of,
)


class Transport:
    """Knows where it comes from, and whether it was cut off."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.aborted = False

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        return (self.address, 1) if self.address else None

    def abort(self) -> None:
        self.aborted = True


class Client:
    """A connection as uvicorn has them: `answering` says whether a request is being answered."""

    def __init__(
        self, address: str = "10.0.0.1", *, answering: bool | None = None, paused: bool = False
    ) -> None:
        self.transport: Any = Transport(address)
        self.cycle: Any = None
        if answering is not None:
            self.cycle = SimpleNamespace(response_complete=not answering, more_body=False)
        self.flow = SimpleNamespace(write_paused=paused)

    @property
    def closed(self) -> bool:
        return bool(self.transport.aborted)


class Ticks:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def taken_in(connections: Connections, *clients: Client) -> list[bool]:
    for client in clients:
        connections.add(client, client.transport)
    return [client.closed for client in clients]


def test_the_oldest_silent_one_makes_room_for_a_new_one() -> None:
    connections = Connections(total=10, per_address=2)
    clients = [Client(answering=True), Client(), Client(), Client("10.0.0.2")]
    assert taken_in(connections, *clients) == [False, True, False, False]


def test_one_that_reads_nothing_goes_before_silent_ones_and_a_new_one_if_all_are_at_work() -> None:
    connections = Connections(total=10, per_address=3)
    clients = [Client(), Client(answering=True, paused=True), Client(answering=True), Client()]
    assert taken_in(connections, *clients) == [False, True, False, False]
    busy = Connections(total=10, per_address=1)
    assert taken_in(busy, Client(answering=True), Client()) == [False, True]


def test_in_all_the_address_with_most_makes_room() -> None:
    connections = Connections(total=3, per_address=3)
    clients = [Client("10.0.0.9"), Client(), Client(), Client("10.0.0.8")]
    assert taken_in(connections, *clients) == [False, True, False, False]


def test_a_trusted_proxy_is_bounded_by_the_total_alone() -> None:
    connections = Connections(total=3, per_address=1, proxies=["10.0.0.0/8"])
    assert taken_in(connections, *[Client() for _ in range(4)]) == [True, False, False, False]
    assert taken_in(Connections(per_address=1, proxies=["10.0.0.1"]), Client(""), Client("")) == [True, False]


def test_who_says_or_reads_nothing_for_too_long_is_closed() -> None:
    ticks = Ticks()
    connections = Connections(ticks=ticks)
    new, idle, stalled, busy = (
        Client(),
        Client(answering=False),
        Client(answering=True, paused=True),
        Client(answering=True),
    )
    taken_in(connections, new, idle, stalled, busy)
    closed_at: dict[Client, float] = {}
    for ticks.now in range(0, 60):
        connections.sweep()
        closed_at |= {
            client: ticks.now
            for client in (new, idle, stalled, busy)
            if client.closed and client not in closed_at
        }
    assert closed_at == {new: HEADER_SECONDS + 1, stalled: STALL_SECONDS + 1, idle: IDLE_SECONDS + 1}


def test_a_body_that_drips_is_cut_off_and_one_that_came_is_not() -> None:
    ticks = Ticks()
    connections = Connections(ticks=ticks, body_seconds=5.0)
    drips, again, came = (Client(answering=True) for _ in range(3))
    taken_in(connections, drips, again, came)
    for ticks.now in range(12):
        drips.cycle.more_body = True
        # Every request has its own time.
        again.cycle = SimpleNamespace(response_complete=False, more_body=ticks.now % 4 > 0)
        connections.sweep()
        assert drips.closed == (ticks.now > 5)
    assert not again.closed
    assert not came.closed


@pytest.mark.parametrize(("limit", "bound"), [(1_024, 896), (100_000, 1_000), (64, 16), (-1, 1_000)])
def test_the_bound_leaves_descriptors_for_others(limit: int, bound: int) -> None:
    assert connection_bound(limit) == bound
    assert 16 <= connection_bound() <= 1_000


def test_silent_sockets_do_not_keep_a_request_out() -> None:
    """Over real sockets, with bounds a hundred times smaller than the usual."""
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def main() -> bytes:
        connections = Connections(total=8, per_address=8)
        config = uvicorn.Config(app, port=0, http=protocol_of(connections), log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.001)
        port = server.servers[0].sockets[0].getsockname()[1]
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 30)
        closed = 0
        for other, _ in silent[:20]:
            closed += await other.read() == b""
        assert closed == 20
        for _, each in [*silent, (reader, writer)]:
            each.close()
        server.should_exit = True
        await serving
        return answer

    assert asyncio.run(main()).endswith(b"ok")
