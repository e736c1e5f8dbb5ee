from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.embedding import embedded_in_advance
from memorata.engine.engine import Engine
from memorata.model.errors import EmbedderError, InvalidArgument
from memorata.store.dialects import SqliteStore


class Slow(LexicalEmbedder):
    """An embedder that takes until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = Event(), Event()
        self.asked: list[str] = []
        self.fails = False

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if texts:
            self.asked += texts
            self.begun.set()
            assert self.go.wait(20)
            if self.fails:
                raise EmbedderError("it is down")
        return super().embed_passages(texts)


ITEM = {"content": "Anna likes tea.", "source": {"speaker": "Ben"}}


def once(memory: Engine, key: str = "k") -> tuple[bytes, bool]:
    def work() -> tuple[int, bytes]:
        return 201, memory.remember_many([ITEM])[0].embedder.encode()

    def early() -> AbstractContextManager[None]:
        return embedded_in_advance(memory, [ITEM])

    found = memory.admin.idempotency.once(key, b"digest", work, ahead=early)
    return found.body, found.again


@pytest.mark.parametrize("fails", [False, True])
def test_nobody_waits_for_an_embedder_in_a_transaction(fails: bool) -> None:
    slow = Slow()
    slow.fails = fails
    with memorata.open(":memory:", embedder=slow) as memory:
        done: list[bytes] = []
        asked: list[int] = []
        writer = Thread(target=lambda: done.append(once(memory)[0]))
        writer.start()
        assert slow.begun.wait(60)
        reader = Thread(target=lambda: asked.append(len(memory.recall("tea"))))
        reader.start()
        reader.join(60)
        stuck = reader.is_alive()
        slow.go.set()
        for thread in (writer, reader):
            thread.join(60)
        assert not stuck
        assert asked == [0]
        assert done == [b"" if fails else slow.name.encode()]
        # Once, whether or not it could be embedded, and not again for the same key.
        assert slow.asked == ["Ben: Anna likes tea."]
        assert once(memory) == (done[0], True)
        assert slow.asked == ["Ben: Anna likes tea."]


class Watching(LexicalEmbedder):
    """An embedder that notes whether a transaction was open when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[bool] = []
        self.is_open: Callable[[], bool] = lambda: False

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if texts:
            self.inside.append(self.is_open())
        return super().embed_passages(texts)


TEA = (
    "Anna made green tea in the kitchen.",
    "Anna drank green tea again. It was cold.",
    "Green tea for Anna at four.",
    "Anna bought more green tea. The shop was full.",
)
ALIKE = (
    "Anna likes the green tea from Japan",
    "Anna likes green tea from Japan a lot",
)


def test_summaries_and_merged_memories_are_embedded_before_they_are_written() -> None:
    watching, now = Watching(), datetime(2026, 5, 7, 12, tzinfo=UTC)
    with memorata.open(
        ":memory:", embedder=watching, clock=lambda: now, config={"duplicates": "off"}
    ) as memory:
        store = memory.store
        assert isinstance(store, SqliteStore)
        watching.is_open = lambda: store._connection.in_transaction
        old = now - timedelta(days=20)
        memory.remember_many([{"content": text, "tier": "episodic", "created_at": old} for text in TEA])
        watching.inside.clear()
        assert len(memory.admin.lifecycle.consolidate()) == 1
        assert watching.inside == [False]
        memory.remember_many(ALIKE, namespace="other")
        watching.inside.clear()
        groups = memory.admin.duplicates.find(strategy="merge", namespace="other").groups
        assert memory.admin.duplicates.supersede(groups, strategy="merge", namespace="other").repeats == 2
        assert watching.inside == [False]


def test_what_is_wrong_is_said_by_who_remembers() -> None:
    with (
        memorata.open(":memory:", embedder="lexical") as memory,
        embedded_in_advance(memory, [{"content": ""}]),
        pytest.raises(InvalidArgument),
    ):
        memory.remember_many([{"content": ""}])


def test_without_an_embedder_nothing_is_embedded() -> None:
    with (
        memorata.open(":memory:", embedder=None) as memory,
        embedded_in_advance(memory, [ITEM]),
        memory.store.together(),
    ):
        assert memory.remember_many([ITEM])[0].embedder == ""
