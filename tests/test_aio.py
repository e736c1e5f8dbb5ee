"""The async façade is the engine with await: nothing more, nothing less."""

import asyncio
import inspect

import pytest

from recollect import Engine, aio
from recollect.model import InvalidArgument

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
