"""Behind a pooler that deals out the processes of a server a transaction at a time, as PgBouncer does.

A small one stands here: each client has two processes of the server, and which of them does a transaction is
up to chance. What was prepared in one of them, the other does not know.
"""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from random import Random

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from memorata.testing.samples import HERE, NOW, direction, entry, recalled
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import changed

HEAD = 5
"""The letter of a message, and four bytes for its length without the letter."""


def exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def message(source: socket.socket) -> bytes:
    head = exactly(source, HEAD)
    return head + exactly(source, int.from_bytes(head[1:]) - 4)


class Pooler:
    """Listens for clients, and tells which transactions were carried out by which process."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.turns = 0
        self._chance = Random(1)
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _listen(self) -> None:
        try:
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()
        except OSError:
            return

    def _process(self, greeting: bytes) -> tuple[socket.socket, bytes]:
        """Return a connection to a process of the server, and what it said until it was ready."""
        host, port = self._known.get("host", "localhost"), self._known.get("port", "5432")
        if host.startswith("/"):
            opened = socket.socket(socket.AF_UNIX)
            opened.connect(f"{host}/.s.PGSQL.{port}")
        else:
            opened = socket.create_connection((host, int(port)))
        opened.sendall(greeting)
        said = b""
        while True:
            each = message(opened)
            # The number and the key by which a client may cancel are the pooler's own.
            said += (
                each if each[:1] != b"K" else b"K" + (12).to_bytes(4) + b"\x00\x00\x00\x07\x00\x00\x00\x07"
            )
            if each[:1] == b"Z":
                return opened, said

    def _serve(self, client: socket.socket) -> None:
        length = exactly(client, 4)
        greeting = length + exactly(client, int.from_bytes(length) - 4)
        processes, said = zip(*(self._process(greeting) for _ in range(2)), strict=True)
        client.sendall(said[0])
        try:
            while True:
                self._transaction(client, self._chance.choice(processes))
                self.turns += 1
        except (EOFError, OSError):
            for each in (client, *processes):
                each.close()

    def _transaction(self, client: socket.socket, process: socket.socket) -> None:
        """Pass messages on, both ways, until a transaction has ended and nothing more was asked."""
        asked, ended = 0, True
        while True:
            # A client in a pipeline also wants to be answered (H) before it asks for the end (S).
            for source in select.select([client, process], [], [])[0]:
                each = message(source)
                (process if source is client else client).sendall(each)
                if source is client:
                    asked += each[:1] in (b"Q", b"S")
                elif each[:1] == b"Z":
                    asked -= 1
                    ended = each[HEAD:] == b"I"
                    if ended and not asked:
                        return


@pytest.fixture
def pooler(base: str) -> Iterator[Pooler]:
    with psycopg.connect(base) as connection:
        if connection.pgconn.used_password:
            pytest.skip("the server asks for a password, which this pooler does not pass on")
    opened = Pooler({name: str(value) for name, value in conninfo_to_dict(base).items()})
    yield opened
    opened.close()


def test_everything_works_whichever_process_answers(store: PostgresStore, used: str, pooler: Pooler) -> None:
    url = changed(used, host="127.0.0.1", port=str(pooler.port), sslmode="disable", gssencmode="disable")
    with closing(PostgresStore(url, connections=2)) as through:
        through.use_embedder("mine", 8)
        for number in range(12):
            through.add([entry(f"m{number}", f"tea {number}", direction(1, number))])
            through.use(HERE, [f"m{number}"], NOW)
            assert recalled(through)[0][0] == "m0"
        assert through.namespaces() == {HERE: 12}
        assert len(through.changes(0, 100)) == 24
        assert through.check(lambda memory: entry(memory.id, memory.content).terms) == []
    assert pooler.turns > 50
