from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import Event, Thread

import pytest

import recollect
from recollect.embed.lexical import LexicalEmbedder
from recollect.embed.port import Vectors
from recollect.engine.ahead import ahead, embedded_ahead
from recollect.engine.engine import Engine
from recollect.model.errors import EmbedderError, InvalidArgument


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
        return embedded_ahead(memory, [ITEM])

    found = memory.once(key, b"digest", work, ahead=early)
    return found.body, found.again


@pytest.mark.parametrize("fails", [False, True])
def test_nobody_waits_for_an_embedder_in_a_transaction(fails: bool) -> None:
    slow = Slow()
    slow.fails = fails
    with recollect.open(":memory:", embedder=slow) as memory:
        done: list[bytes] = []
        asked: list[int] = []
        writer = Thread(target=lambda: done.append(once(memory)[0]))
        writer.start()
        assert slow.begun.wait(20)
        reader = Thread(target=lambda: asked.append(len(memory.recall("tea"))))
        reader.start()
        reader.join(10)
        stuck = reader.is_alive()
        slow.go.set()
        for thread in (writer, reader):
            thread.join(20)
        assert not stuck
        assert asked == [0]
        assert done == [b"" if fails else slow.name.encode()]
        # Once, whether or not it could be embedded, and not again for the same key.
        assert slow.asked == ["Ben: Anna likes tea."]
        assert once(memory) == (done[0], True)
        assert slow.asked == ["Ben: Anna likes tea."]
        assert dict(ahead()) == {}


def test_what_is_wrong_is_said_by_who_remembers() -> None:
    with recollect.open(":memory:", embedder="lexical") as memory, embedded_ahead(memory, [{"content": ""}]):
        assert dict(ahead()) == {}
        with pytest.raises(InvalidArgument):
            memory.remember_many([{"content": ""}])


def test_without_an_embedder_nothing_is_embedded() -> None:
    with (
        recollect.open(":memory:", embedder=None) as memory,
        embedded_ahead(memory, [ITEM]),
        memory.store.together(),
    ):
        assert memory.remember_many([ITEM])[0].embedder == ""
