"""Connections that processes share evenly."""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from memorata_server.http.balance import Acceptor, Balance
from memorata_server.sockets import listening


@pytest.fixture
def sock() -> Iterator[socket.socket]:
    with listening("127.0.0.1", 0) as made:
        yield made


async def accepted_by(sock: socket.socket, acceptors: int, clients: int, balance: Balance) -> list[int]:
    """Connect clients at once, and return how many each acceptor had."""
    taken: list[list[socket.socket]] = [[] for _ in range(acceptors)]
    # One loop has one reader for a descriptor; processes have one each.
    own_sockets = [sock.dup() if number else sock for number in range(acceptors)]
    accepting = [
        Acceptor(own, balance, number, taken[number].append) for number, own in enumerate(own_sockets)
    ]
    connected = [socket.create_connection(sock.getsockname()) for _ in range(clients)]
    async with asyncio.timeout(30):
        while sum(map(len, taken)) < clients:
            await asyncio.sleep(0.001)
    for acceptor in accepting:
        acceptor.close()
    for connection in (*own_sockets[1:], *connected, *(one for own in taken for one in own)):
        connection.close()
    return [len(own) for own in taken]


def test_those_who_accept_have_the_same_number(sock: socket.socket) -> None:
    assert asyncio.run(accepted_by(sock, 2, 16, Balance(2))) == [8, 8]
    assert asyncio.run(accepted_by(sock, 3, 12, Balance(3))) == [4, 4, 4]


def test_nobody_waits_for_one_that_does_not_accept(sock: socket.socket) -> None:
    assert asyncio.run(accepted_by(sock, 1, 8, Balance(2))) == [8]


def test_one_that_left_is_ahead_of_nobody() -> None:
    async def left() -> None:
        with listening("127.0.0.1", 0) as sock:
            balance = Balance(2)
            for number in range(2):
                Acceptor(sock, balance, number, print).close()
            balance.note(0, 5)
            assert not balance.is_ahead(0)
            balance.note(1, 4)
            assert balance.is_ahead(0)
            assert not balance.is_ahead(1)

    asyncio.run(left())


def test_an_error_is_logged_and_tried_again(
    sock: socket.socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("memorata_server.http.balance._PAUSE_SECONDS", 0.01)

    class Failing:
        """A socket whose first connection cannot be accepted."""

        failed = False

        def __getattr__(self, name: str) -> object:
            return getattr(sock, name)

        def fileno(self) -> int:
            return sock.fileno()

        def accept(self) -> object:
            if not self.failed:
                self.failed = True
                raise OSError(24, "too many open files")
            return sock.accept()

    with caplog.at_level("ERROR"):
        assert asyncio.run(accepted_by(Failing(), 1, 2, Balance(1))) == [2]  # type: ignore[arg-type]
    assert [record.message for record in caplog.records] == ["accept failed"]
