"""Clients that put load on servers, and know what they may be answered with.

A writer goes on until it is told that a memory is written: after an error it sends the same request, under
the same idempotency key, to the next server. What was acknowledged is put in a ledger with its id, and from
then on every answer that lacks it, or tells of it otherwise, is wrong.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from benchmarks.engine_data import batches

Address = tuple[str, int]
Json = dict[str, Any]

_REPLAYED: Final = "Idempotency-Replayed"
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.05
_NAMESPACES: Final = 4
_TWINS: Final = 0.1
"""The share of writes that are sent to two servers at the same time."""
_BATCHES: Final = 0.2
"""The share of writes that bring several memories."""
_BATCH: Final = 5


class Answer(NamedTuple):
    """What a server said, and whether it had said so before."""

    status: int
    replayed: bool
    said: Json


@dataclass(frozen=True, slots=True)
class Note:
    """A memory that was acknowledged, and the word by which nothing else can be found."""

    namespace: str
    content: str
    word: str
    id: str


class Ledger:
    """What was sent, what was acknowledged, and what went wrong on the way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: list[Note] = []
        self.sent: set[tuple[str, str]] = set()
        self.errors: Counter[str] = Counter()

    def send(self, namespace: str, contents: Sequence[str]) -> None:
        """Note that something is about to be sent."""
        with self._lock:
            self.sent.update((namespace, content) for content in contents)

    def acknowledge(self, notes: Sequence[Note]) -> None:
        """Note that something was acknowledged."""
        with self._lock:
            self._notes += notes

    def acknowledged(self) -> list[Note]:
        """Return all that was acknowledged."""
        with self._lock:
            return list(self._notes)

    def some(self, chance: random.Random) -> Note | None:
        """Return one of what was acknowledged, rather one of the last; None if there is nothing yet."""
        with self._lock:
            if not self._notes:
                return None
            first = max(0, len(self._notes) - 50) if chance.random() < 0.5 else 0
            return self._notes[chance.randrange(first, len(self._notes))]

    def fail(self, kind: str) -> None:
        """Count an error."""
        with self._lock:
            self.errors[kind] += 1


class Caller:
    """Keeps a connection to each of several servers, and makes a new one when it breaks.

    Attributes
    ----------
    taken
        The milliseconds of every request that was answered.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._connections: dict[Address, http.client.HTTPConnection] = {}
        self.taken: list[float] = []

    def ask(
        self, address: Address, method: str, path: str, body: Json | None = None, key: str = ""
    ) -> Answer | None:
        """Return an answer; None if there was none."""
        connection = self._connections.get(address)
        if connection is None:
            connection = http.client.HTTPConnection(*address, timeout=_PATIENCE)
            self._connections[address] = connection
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        kind = f"{method} {path.partition('?')[0].split('/')[2]}"
        began = time.perf_counter()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        except (OSError, http.client.HTTPException) as error:
            self._ledger.fail(f"{kind}: {type(error).__name__}")
            connection.close()
            del self._connections[address]
            return None
        if answer.status >= 500:
            self._ledger.fail(f"{kind}: {answer.status} {said.get('type')}")
        else:
            self.taken.append((time.perf_counter() - began) * 1000)
        return Answer(answer.status, answer.getheader(_REPLAYED) is not None, said)

    def close(self) -> None:
        """Let go of the connections."""
        for connection in self._connections.values():
            connection.close()


class Client(threading.Thread, ABC):
    """Somebody who does one thing after the other.

    Attributes
    ----------
    caller
        How it talks to servers.
    failure
        What ended the thread, if it was not meant to end.
    """

    def __init__(
        self, name: str, addresses: Sequence[Address], ledger: Ledger, stop: threading.Event
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._addresses = addresses
        self._ledger = ledger
        self._stopped = stop
        self._chance = random.Random(name)
        self.caller = Caller(ledger)
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Work until it is time to stop."""
        try:
            while not self._stopped.is_set():
                self.turn()
        except BaseException as error:
            self.failure = error
        finally:
            self.caller.close()

    @abstractmethod
    def turn(self) -> None:
        """Do one thing."""


class Writer(Client):
    """Writes memories of its own words, each until it is acknowledged.

    Attributes
    ----------
    twins, replayed
        How many writes were sent to two servers at once, and how many were answered as they had been before.
    longest
        The longest wait for an acknowledgement, in seconds.
    """

    def __init__(
        self, number: int, addresses: Sequence[Address], ledger: Ledger, stop: threading.Event
    ) -> None:
        super().__init__(f"writer {number}", addresses, ledger, stop)
        self._number = number
        self._count = 0
        self._texts = [text for batch in batches(1_000 * (number + 1), number) for text in batch.texts]
        self.twins = self.replayed = 0
        self.longest = 0.0

    def turn(self) -> None:
        """Write something new."""
        several = _BATCH if self._chance.random() < _BATCHES else 1
        namespace = f"people/{self._chance.randrange(_NAMESPACES)}"
        words = [f"w{self._number}n{self._count + place}" for place in range(several)]
        contents = [
            f"{word} {self._texts[(self._count + n) % len(self._texts)]}" for n, word in enumerate(words)
        ]
        self._count += several
        self._ledger.send(namespace, contents)
        where = f"namespace={quote(namespace, safe='')}"
        if several == 1:
            path = f"/v1/memories?{where}"
            body: Json = {"content": contents[0]}
        else:
            path = f"/v1/memories/batch?{where}"
            body = {"items": [{"content": content} for content in contents]}
        began = time.monotonic()
        said = self._until_acknowledged(path, body, key=words[0])
        if said is None:
            return
        self.longest = max(self.longest, time.monotonic() - began)
        memories = said["memories"] if several > 1 else [said]
        if [memory["content"] for memory in memories] != contents:
            raise AssertionError(f"{contents} were acknowledged as {memories}")
        self._ledger.acknowledge(
            [
                Note(namespace, content, word, memory["id"])
                for content, word, memory in zip(contents, words, memories, strict=True)
            ]
        )

    def _until_acknowledged(self, path: str, body: Json, key: str) -> Json | None:
        first = self._chance.randrange(len(self._addresses))
        if self._chance.random() < _TWINS:
            answers = self._at_two(first, path, body, key)
        else:
            answers = [self.caller.ask(self._addresses[first], "POST", path, body, key)]
        attempt = 0
        while True:
            there = [answer for answer in answers if answer is not None and answer.status < 500]
            if there:
                self.replayed += any(answer.replayed for answer in there)
                if any((answer.status, answer.said) != (201, there[0].said) for answer in there):
                    raise AssertionError(f"{key} was answered with {there}")
                return there[0].said
            if self._stopped.is_set() and attempt > 20:
                return None
            attempt += 1
            time.sleep(_PAUSE)
            address = self._addresses[(first + attempt) % len(self._addresses)]
            answers = [self.caller.ask(address, "POST", path, body, key)]

    def _at_two(self, first: int, path: str, body: Json, key: str) -> list[Answer | None]:
        """Send a request to two servers at the same time, as an impatient proxy does."""
        self.twins += 1
        one, other = (self._addresses[(first + n) % len(self._addresses)] for n in range(2))
        with closing(Caller(self._ledger)) as twin, ThreadPoolExecutor(1) as pool:
            second = pool.submit(twin.ask, other, "POST", path, body, key)
            return [self.caller.ask(one, "POST", path, body, key), second.result()]


class Reader(Client):
    """Asks for what was acknowledged, and keeps every answer that is wrong.

    Attributes
    ----------
    wrong
        What was wrong, in words.
    """

    def __init__(
        self, number: int, addresses: Sequence[Address], ledger: Ledger, stop: threading.Event
    ) -> None:
        super().__init__(f"reader {number}", addresses, ledger, stop)
        self.wrong: list[str] = []

    def turn(self) -> None:
        """Ask for one memory, by its word or by its id."""
        note = self._ledger.some(self._chance)
        if note is None:
            time.sleep(_PAUSE)
            return
        where = f"namespace={quote(note.namespace, safe='')}"
        address = self._chance.choice(list(self._addresses))
        if self._chance.random() < 0.3:
            answer = self.caller.ask(address, "GET", f"/v1/memories/{quote(note.id)}?{where}")
        else:
            answer = self.caller.ask(address, "POST", f"/v1/recall?{where}", {"query": note.word})
        if answer is None or answer.status >= 500:
            time.sleep(_PAUSE)
            return
        self._judge(note, answer.status, answer.said)

    def _judge(self, note: Note, status: int, said: Json) -> None:
        if status != 200:
            self.wrong.append(f"{note} was answered with {status}: {said}")
            return
        found = [hit["memory"] for hit in said["hits"]] if "hits" in said else [said]
        if note.id not in [memory["id"] for memory in found]:
            self.wrong.append(f"{note} was not found")
        for memory in found:
            if (note.namespace, memory["content"]) not in self._ledger.sent:
                self.wrong.append(f"{memory['content']!r} of {note.namespace} was never sent there")
            elif memory["id"] == note.id and memory["content"] != note.content:
                self.wrong.append(f"{note} came back as {memory['content']!r}")
