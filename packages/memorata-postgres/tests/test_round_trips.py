"""How often a verb waits for the server, counted on the wire: statements that go out together wait once."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

import memorata
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import changed

HEAD = 5
"""The letter of a message, and four bytes for its length without the letter."""
TRIPS = {
    "`recall`": 1,
    "`remember`": 4,
    "a batch of 1,000": 6,
    "`correct`": 4,
    "`forget`": 2,
    "feedback": 2,
    "`get`": 1,
}
"""How often each verb waits at most, by its name in docs/postgres.md."""
SYNC, FLUSH, QUERY = b"S", b"H", b"Q"
"""What a client sends before it waits for the answer."""


class Wire:
    """Passes on what a client and a server send, and counts how often the client waits."""

    def __init__(self, url: str) -> None:
        self._known = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.count = 0
        port = str(self._listening.getsockname()[1])
        self.url = changed(url, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def counted(self, work: Callable[[], object]) -> int:
        before = self.count
        work()
        return self.count - before

    def _listen(self) -> None:
        try:
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = self._server()
                threading.Thread(target=self._count, args=(client, server), daemon=True).start()
                threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
        except OSError:
            return

    def _server(self) -> socket.socket:
        host, port = self._known.get("host", "localhost"), self._known.get("port", "5432")
        if host.startswith("/"):
            opened = socket.socket(socket.AF_UNIX)
            opened.connect(f"{host}/.s.PGSQL.{port}")
            return opened
        return socket.create_connection((host, int(port)))

    def _count(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what the client sends; a message begins with a letter, but for the first, the greeting."""
        unread, letters, sent = b"", 0, False
        try:
            while data := client.recv(65536):
                unread += data
                while len(unread) >= HEAD:
                    length = int.from_bytes(unread[letters : letters + 4]) + letters
                    if len(unread) < length:
                        break
                    letter = unread[:1] if letters else b""
                    # A flush right behind another, or a sync, waits for what that waits for.
                    self.count += letter in (SYNC, QUERY) or (letter == FLUSH and sent)
                    sent = letter not in (SYNC, FLUSH)
                    unread, letters = unread[length:], 1
                server.sendall(data)
        except OSError:
            pass
        server.close()


def pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    target.close()


@pytest.fixture
def wire(store: PostgresStore, used: str) -> Iterator[Wire]:
    opened = Wire(used)
    yield opened
    opened.close()


@pytest.mark.untraced
def test_verbs_wait_for_the_server_a_few_times(wire: Wire) -> None:
    with memorata.open(wire.url, embedder="lexical") as memory:
        memory.remember_many([f"Anna drinks tea number {number}" for number in range(400)], duplicates="off")
        for number in range(12):
            memory.recall(f"which tea is number {number}?")
            memory.remember(f"Bruno plays chess in town {number}")
        memory.recall("chess")
        recalls = [wire.counted(lambda: memory.recall("who plays chess?")) for _ in range(3)]
        films = iter(range(9))
        remembers = [
            wire.counted(lambda: memory.remember(f"Carla saw film {next(films)} in Oslo.")) for _ in range(3)
        ]
        after_a_write = wire.counted(lambda: memory.recall("who plays chess?"))
    assert max(recalls) <= TRIPS["`recall`"]
    assert after_a_write <= TRIPS["`recall`"] + 1
    assert max(remembers) <= TRIPS["`remember`"]


@pytest.mark.untraced
def test_batches_wait_no_longer_where_segments_become_one(wire: Wire) -> None:
    with memorata.open(wire.url, embedder="lexical") as memory:
        memory.remember("Anna drinks tea.")
        batches = []
        for book in range(9):
            pages = [f"Dora read page {number} of book {book}" for number in range(1_000)]
            batches.append(wire.counted(partial(memory.remember_many, pages, duplicates="off")))
    assert max(batches) <= TRIPS["a batch of 1,000"]


@pytest.mark.untraced
@pytest.mark.parametrize(("memories", "cold_trips"), [(200, 3), (300, 5)])
def test_a_process_that_is_behind_or_has_nothing_of_a_namespace_waits_once_more(
    wire: Wire, memories: int, cold_trips: int
) -> None:
    # From 256 memories on, lists of the words asked for, and of the names found by them, are read as well.
    teas = [f"Anna drinks tea number {number}" for number in range(memories)]
    cold, behind = [], []
    with (
        memorata.open(wire.url, embedder="lexical") as memory,
        memorata.open(wire.url, embedder="lexical") as other,
    ):
        for number in range(3):
            memory.remember_many(teas, duplicates="off", namespace=f"n{number}")
            ask = partial(other.recall, "who drinks tea?", namespace=f"n{number}")
            cold.append(wire.counted(ask))
            memory.remember("Carla saw a film in Oslo.", namespace=f"n{number}")
            behind.append(wire.counted(ask))
    # The very first looks for more: what belongs to the whole store.
    assert max(cold[1:]) <= cold_trips
    assert max(behind) <= 3


@pytest.mark.untraced
def test_other_verbs_wait_for_the_server_a_few_times_too(wire: Wire) -> None:
    with memorata.open(wire.url, embedder="lexical") as memory:
        known = [memory.remember(f"Bruno plays chess in town {number}").id for number in range(30)]
        counted: dict[str, int] = {}
        for number in range(6):
            # The last time counts: a connection prepares what it was asked a few times.
            result = memory.recall(f"who plays chess in town {number}?")
            memory.recall_log.flush()
            shown = result.hits[0].memory.id
            verbs: dict[str, Callable[[], object]] = {
                "feedback": partial(memory.admin.feedback.record, result.id, shown, "click"),
                "`correct`": partial(memory.correct, known.pop(), f"Dora reads book {number}"),
                "`forget`": partial(memory.forget, known.pop()),
                "`get`": partial(memory.get, known[0]),
            }
            counted = {name: wire.counted(verb) for name, verb in verbs.items()}
    assert all(waits <= TRIPS[verb] for verb, waits in counted.items()), counted


def test_the_documentation_names_these_numbers() -> None:
    text = (Path(__file__).parents[3] / "docs" / "postgres.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| [^|]+ \|$", text, re.MULTILINE)
    assert {verb: int(trips) for verb, trips in rows} == TRIPS
