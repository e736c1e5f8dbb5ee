"""How often a verb waits for the server; statements whose rows nobody reads go out with the next."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import memorata
from memorata.store.postgres.pool import Pool
from memorata.store.postgres.session import PostgresSession
from memorata.store.postgres.store import PostgresStore

RECALL, REMEMBER, BATCH = 5, 7, 8
"""What each takes at most when the namespace is in memory; the ends of transactions are counted."""


class Waits:
    """Counts: a read of rows after something was sent, the end of a transaction, a statement by itself."""

    def __init__(self) -> None:
        self.count = 0
        self.sent = False

    def read(self) -> None:
        self.count += self.sent
        self.sent = False


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    counted = Waits()
    execute: Any = PostgresSession.execute
    run: Any = PostgresSession.run

    class Counting:
        def __init__(self, rows: Any) -> None:
            self._rows = rows

        def __getattr__(self, name: str) -> Any:
            counted.read()
            return getattr(self._rows, name)

        def __iter__(self) -> Iterator[Any]:
            counted.read()
            return iter(self._rows)

    def counting(self: PostgresSession, sql: str, values: Any = (), /) -> Any:
        counted.sent = True
        return Counting(execute(self, sql, values))

    def running(self: PostgresSession, *statements: str) -> None:
        run(self, *statements)
        counted.sent = True
        if "COMMIT" in statements:
            counted.read()

    def asked(original: Callable[..., Any]) -> Callable[..., Any]:
        def ask(self: Pool, *given: Any) -> Any:
            counted.sent = True
            counted.read()
            return original(self, *given)

        return ask

    monkeypatch.setattr(PostgresSession, "execute", counting)
    monkeypatch.setattr(PostgresSession, "run", running)
    monkeypatch.setattr(Pool, "asked", asked(Pool.asked))
    return counted


def test_verbs_wait_for_the_server_a_few_times(store: PostgresStore, used: str, waits: Waits) -> None:
    def counted(work: Callable[[], object]) -> int:
        before = waits.count
        work()
        return waits.count - before

    with memorata.open(used, embedder="lexical") as memory:
        memory.remember_many([f"Anna drinks tea number {number}" for number in range(400)], duplicates="off")
        for number in range(12):
            memory.recall(f"which tea is number {number}?")
            memory.remember(f"Bruno plays chess in town {number}")
        memory.recall("chess")
        recalls = [counted(lambda: memory.recall("who plays chess?")) for _ in range(3)]
        films = iter(range(9))
        remembers = [
            counted(lambda: memory.remember(f"Carla saw film {next(films)} in Oslo.")) for _ in range(3)
        ]
        pages = [f"Dora read page {number}" for number in range(200)]
        batch = counted(lambda: memory.remember_many(pages, duplicates="off"))
    assert min(recalls) <= RECALL, (recalls, remembers, batch)
    assert min(remembers) <= REMEMBER
    assert batch <= BATCH, (recalls, remembers, batch)
