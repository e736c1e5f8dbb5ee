"""Calls run on a few threads, wait their turn, can be cancelled, and open the engine once."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from memorata.engine import Engine
from memorata.mcp.errors import Busy
from memorata.mcp.runner import EngineRunner


def run(engine: Engine, conversation: Callable[[EngineRunner], Any], **bounds: int) -> Any:
    runner = EngineRunner(lambda: nullcontext(engine), **bounds)
    try:
        return asyncio.run(conversation(runner))
    finally:
        runner.close()


def test_the_engine_is_opened_once_when_first_needed_and_closed_at_the_end(engine: Engine) -> None:
    events = []

    @contextmanager
    def opening() -> Iterator[Engine]:
        events.append(
            f"opened off the main thread: {threading.current_thread() is not threading.main_thread()}"
        )
        yield engine
        events.append("closed")

    runner = EngineRunner(opening)
    assert events == []

    async def many() -> list[str]:
        return list(await asyncio.gather(*(runner.run(lambda given: given.namespace) for _ in range(8))))

    assert asyncio.run(many()) == ["acme/alice"] * 8
    runner.close()
    assert events == ["opened off the main thread: True", "closed"]


def test_opening_that_failed_is_tried_again(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    tries = []

    def opening() -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("locked")
        return nullcontext(engine)

    runner = EngineRunner(opening, threads=1)

    async def conversation() -> None:
        runner.warm()
        with pytest.raises(RuntimeError, match="locked"):
            await runner.run(lambda given: None)
        assert await runner.run(lambda given: "open") == "open"

    with caplog.at_level(logging.ERROR):
        asyncio.run(conversation())
    runner.close()
    assert caplog.messages == ["the memory cannot be opened: locked"]


def test_no_more_run_at_once_than_there_are_threads(engine: Engine) -> None:
    running = most = 0
    lock = threading.Lock()

    def work(_: Engine) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1

    async def conversation(runner: EngineRunner) -> None:
        await asyncio.gather(*(runner.run(work) for _ in range(12)))

    run(engine, conversation, threads=3)
    assert 1 < most <= 3


def test_those_who_look_do_not_wait_for_those_who_write(engine: Engine) -> None:
    go = threading.Event()

    async def conversation(runner: EngineRunner) -> None:
        writes = [asyncio.create_task(runner.run(lambda given: go.wait(60), writing=True)) for _ in range(4)]
        await asyncio.sleep(0.02)
        assert await asyncio.wait_for(runner.run(lambda given: "found"), 5) == "found"
        go.set()
        assert await asyncio.gather(*writes) == [True] * 4

    run(engine, conversation, threads=2)


def test_a_cancelled_call_that_waits_never_happens_and_one_that_runs_comes_to_its_end(engine: Engine) -> None:
    begun, go, done = threading.Event(), threading.Event(), []

    def first(_: Engine) -> None:
        begun.set()
        go.wait(60)
        done.append("first")

    async def conversation(runner: EngineRunner) -> None:
        running = asyncio.create_task(runner.run(first))
        waiting = asyncio.create_task(runner.run(lambda given: done.append("second")))
        assert await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        waiting.cancel()
        for task in (running, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        go.set()
        await runner.run(lambda given: done.append("third"))

    run(engine, conversation, threads=1)
    assert done == ["first", "third"]


def test_too_many_calls_are_refused_until_some_are_done(engine: Engine) -> None:
    go = threading.Event()

    async def conversation(runner: EngineRunner) -> None:
        taken = [asyncio.create_task(runner.run(lambda given: go.wait(60))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="3 calls are waiting"):
            await runner.run(lambda given: None)
        go.set()
        await asyncio.gather(*taken)
        assert await runner.run(lambda given: 7) == 7

    run(engine, conversation, threads=1, max_calls=3)
