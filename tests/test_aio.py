"""The async façade is the engine with await: nothing more, nothing less."""

import asyncio
import inspect
import threading
import time
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter

import pytest

from memorata import Engine, aio
from memorata.engine import open as open_engine
from memorata.model import InvalidArgument

FACETS = ("duplicates", "feedback", "idempotency", "lifecycle", "namespaces", "recipes", "transfer")
"""The facets of `admin`."""


def verbs(plain: type) -> list[str]:
    """Return the public methods of a class that do something."""
    return [name for name, _ in inspect.getmembers(plain, inspect.isfunction) if name[0] != "_"]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical") as opened:
        yield opened


@pytest.mark.parametrize("facet", ["", "admin", *(f"admin.{facet}" for facet in FACETS)])
def test_every_verb_can_be_awaited_under_the_same_signature(engine: Engine, facet: str) -> None:
    both = aio.AsyncEngine(engine), engine
    awaited, plain = (type(attrgetter(facet)(each) if facet else each) for each in both)
    # These two compute nothing.
    wanted = set(verbs(plain)) - {"now", "scope"}
    assert set(verbs(awaited)) - {"scope"} == wanted
    for verb in wanted:
        assert inspect.iscoroutinefunction(getattr(awaited, verb))
        assert inspect.signature(getattr(awaited, verb)) == inspect.signature(getattr(plain, verb))
        assert getattr(awaited, verb).__doc__ == getattr(plain, verb).__doc__


def test_every_facet_has_an_awaited_one(engine: Engine) -> None:
    lazy = inspect.getmembers(type(engine.admin), lambda value: isinstance(value, cached_property))
    assert {name for name, _ in lazy} - {"keys"} | {"recipes"} == set(FACETS)


def test_the_engine_is_one_page() -> None:
    """At most 22 public methods, and at most ten arguments where it is opened and asked."""
    assert len(verbs(Engine)) <= 22
    for function in (open_engine, Engine.recall):
        assert len(inspect.signature(function).parameters) <= 10


def test_a_scope_is_the_same_memory_in_another_namespace(engine: Engine) -> None:
    memory = aio.AsyncEngine(engine)
    written = asyncio.run(memory.scope("acme/anna", via="proxy").remember("Anna prefers tea."))
    assert (written.namespace, written.source.via) == ("acme/anna", "proxy")
    assert inspect.signature(aio.AsyncEngine.scope).parameters == inspect.signature(Engine.scope).parameters


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
        go.wait(60)
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
    assert over.wait(60)
