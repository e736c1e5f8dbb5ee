"""The async façade is the engine with await: nothing more, nothing less."""

import asyncio
import inspect
import threading
import time

import pytest

from memorata import Engine, aio
from memorata.engine import open as open_engine
from memorata.model import InvalidArgument

VERBS = [name for name, value in inspect.getmembers(Engine, inspect.isfunction) if not name.startswith("_")]


def test_every_verb_of_the_engine_can_be_awaited() -> None:
    awaited = {
        name for name, value in vars(aio.AsyncEngine).items() if inspect.isfunction(value) and name[0] != "_"
    }
    assert awaited == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_signatures_are_the_same(verb: str) -> None:
    awaited, plain = getattr(aio.AsyncEngine, verb), getattr(Engine, verb)
    assert inspect.iscoroutinefunction(awaited)
    assert inspect.signature(awaited) == inspect.signature(plain)
    assert awaited.__doc__ == plain.__doc__


def test_many_at_once_and_errors_as_they_are() -> None:
    async def talk() -> tuple[int, str]:
        async with await aio.open(":memory:", embedder="lexical") as memory:
            await asyncio.gather(*(memory.remember(f"thought number {number}") for number in range(40)))
            answers = await asyncio.gather(*(memory.recall(f"number {number}") for number in range(40)))
            with pytest.raises(InvalidArgument, match="limit must be"):
                await memory.recall("anything", limit=-1)
            page = await memory.list(limit=100)
            return len(page.memories), answers[7].hits[0].memory.content

    assert asyncio.run(talk()) == (40, "thought number 7")


@pytest.mark.parametrize("early", [True, False])
def test_an_engine_that_nobody_waits_for_any_more_is_closed(
    monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    engine = open_engine(":memory:", embedder="lexical")
    begun, go, over = threading.Event(), threading.Event(), threading.Event()
    close = engine.close

    def slow(*_: object, **__: object) -> Engine:
        begun.set()
        go.wait(10)
        return engine

    def closed() -> None:
        close()
        over.set()

    monkeypatch.setattr(aio, "open_engine", slow)
    monkeypatch.setattr(engine, "close", closed)

    async def leave() -> None:
        opening = asyncio.create_task(aio.open("anything"))
        await asyncio.to_thread(begun.wait, 10)
        if not early:
            # It is open, and the news of that is on its way to whoever leaves.
            go.set()
            time.sleep(0.2)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        go.set()

    asyncio.run(leave())
    assert over.wait(10)
