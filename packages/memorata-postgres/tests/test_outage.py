"""A server that goes away behind a store: closing it is no error, and is not waited for."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic

import pytest
from psycopg.conninfo import conninfo_to_dict

from memorata.model.errors import StoreError, StoreUnavailable
from memorata.testing.samples import HERE, NOW, entry
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import changed

PATIENCE = 60.0
"""How long a store waits for a connection; who closes it has far less."""


class Way:
    """Carries bytes between clients and a server until it is blocked."""

    def __init__(self, parameters: dict[str, str]) -> None:
        self._parameters = parameters
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._opened: list[socket.socket] = []
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def block(self) -> None:
        """End every connection, and let nobody in any more."""
        for opened in (self._listening, *self._opened):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = self._connected()
                self._opened += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def _connected(self) -> socket.socket:
        host, port = self._parameters.get("host", "localhost"), self._parameters.get("port", "5432")
        if not host.startswith("/"):
            return socket.create_connection((host, int(port)))
        opened = socket.socket(socket.AF_UNIX)
        opened.connect(f"{host}/.s.PGSQL.{port}")
        return opened


@pytest.fixture
def way(base: str) -> Iterator[Way]:
    opened = Way({name: str(value) for name, value in conninfo_to_dict(base).items()})
    yield opened
    opened.block()


@pytest.fixture
def store(way: Way, used: str, server_store: PostgresStore) -> PostgresStore:
    """A store on the emptied tables, by a way that can be blocked."""
    address = changed(used, host="127.0.0.1", port=str(way.port), sslmode="disable")
    return PostgresStore(address, patience=PATIENCE)


def closed_within(store: PostgresStore, seconds: float) -> bool:
    begun = monotonic()
    store.close()
    return monotonic() - begun < seconds


def test_a_store_whose_server_is_away_is_closed_without_an_error_or_a_wait(
    store: PostgresStore, server_store: PostgresStore, way: Way
) -> None:
    store.add([entry("m1", "tea")])
    way.block()
    assert closed_within(store, PATIENCE / 4)
    with pytest.raises(StoreError, match="was closed"):
        store.add([entry("m2", "milk")])
    store.close()
    # What was acknowledged is there, and what the writer could not tidy up is in nobody's way.
    assert [memory.id for memory in server_store.export(HERE)] == ["m1"]
    server_store.add([entry("m3", "milk")])


def test_so_is_one_that_was_reading_when_its_server_went_away(store: PostgresStore, way: Way) -> None:
    store.add([entry("m1", "tea")])
    with suppress(StoreError), store.view(HERE, NOW) as view:
        assert view.status.count == 1
        way.block()
    assert closed_within(store, PATIENCE / 4)


def test_so_is_one_that_was_in_the_middle_of_a_write(
    store: PostgresStore, server_store: PostgresStore, way: Way
) -> None:
    store.add([entry("m1", "tea")])

    def write() -> None:
        with store.together():
            store.add([entry("m2", "milk")])
            way.block()
            store.add([entry("m3", "milk")])

    with pytest.raises(StoreUnavailable, match="nothing of this was written"):
        write()
    assert closed_within(store, PATIENCE / 4)
    assert [memory.id for memory in server_store.export(HERE)] == ["m1"]
