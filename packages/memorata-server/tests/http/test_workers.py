import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from starlette.exceptions import HTTPException

from memorata.service.errors import Overloaded, TimedOut
from memorata_server.http import workers as workers_module
from memorata_server.http.workers import Workers


def test_work_is_done_on_a_thread_and_errors_come_back_as_they_are() -> None:
    async def main() -> str:
        with pytest.raises(KeyError):
            await workers.run(own_mistake)
        with pytest.raises(TimeoutError):
            await workers.run(own_timeout)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await workers.run(lambda: next(iter(())))
        return await workers.run(lambda: threading.current_thread().name)

    def own_mistake() -> None:
        raise KeyError

    def own_timeout() -> None:
        raise TimeoutError

    workers = Workers(1, 0, 5)
    assert asyncio.run(main()).startswith("memorata")
    assert workers.busy == 0
    workers.close()


def test_more_than_can_wait_are_turned_away() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        go_on.wait(60)
        return "done"

    async def main() -> list[str]:
        first = asyncio.create_task(workers.run(slow))
        second = asyncio.create_task(workers.run(slow))
        await asyncio.to_thread(begun.wait, 10)
        with pytest.raises(Overloaded):
            await workers.run(slow)
        go_on.set()
        return list(await asyncio.gather(first, second))

    workers = Workers(1, 1, 5)
    assert asyncio.run(main()) == ["done", "done"]
    workers.close()


def test_what_was_abandoned_while_it_waited_is_not_begun() -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        go_on.wait(60)

    def has_left() -> bool:
        return True

    async def main() -> None:
        first = asyncio.create_task(workers.run(slow, is_abandoned=has_left))
        await asyncio.to_thread(begun.wait, 10)
        waits = asyncio.create_task(workers.run(lambda: done.append("left"), is_abandoned=has_left))
        stays = asyncio.create_task(workers.run(lambda: done.append("stays")))
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(HTTPException):
            await waits
        await asyncio.gather(first, stays)

    workers = Workers(1, 2, 5)
    asyncio.run(main())
    assert (done, workers.busy) == (["stays"], 0)
    workers.close()


def test_who_waits_too_long_is_told_and_what_was_begun_goes_on_to_its_end() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def slow() -> None:
        go_on.wait(60)
        ended.set()
        raise KeyError("nobody hears of it")

    async def main() -> None:
        with pytest.raises(TimedOut):
            await workers.run(slow, seconds=0.01)
        assert workers.busy == 1
        go_on.set()
        while workers.busy:
            await asyncio.sleep(0.001)

    workers = Workers(1, 0, 5)
    asyncio.run(main())
    workers.close()
    assert ended.is_set()


def test_writing_leaves_a_thread_to_those_who_look() -> None:
    go_on = threading.Event()

    def write() -> str:
        go_on.wait(60)
        return "written"

    async def main() -> tuple[list[str], str]:
        writes = [asyncio.create_task(workers.run(write, writing=True)) for _ in range(6)]
        await asyncio.sleep(0.05)
        found = await workers.run(lambda: "found", seconds=5)
        with pytest.raises(TimedOut):
            await workers.run(lambda: "not begun", seconds=0.01, writing=True)
        assert workers.busy == 6
        go_on.set()
        return list(await asyncio.gather(*writes)), found

    workers = Workers(3, 10, 10)
    assert asyncio.run(main()) == (["written"] * 6, "found")
    assert workers.busy == 0
    workers.close()


def test_one_thread_is_shared() -> None:
    async def main() -> list[str]:
        return [await workers.run(lambda: "done", writing=writing) for writing in (True, False, True)]

    workers = Workers(1, 0, 5)
    assert asyncio.run(main()) == ["done"] * 3
    workers.close()


def test_who_stops_waiting_for_a_turn_takes_none() -> None:
    go_on = threading.Event()
    begun: list[str] = []

    async def main() -> None:
        first = asyncio.create_task(workers.run(lambda: go_on.wait(60), writing=True))
        await asyncio.sleep(0.02)
        second = asyncio.create_task(workers.run(lambda: begun.append("second"), writing=True))
        await asyncio.sleep(0.02)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert workers.busy == 1
        go_on.set()
        await first
        await workers.run(lambda: begun.append("third"), writing=True)

    workers = Workers(2, 10, 10)
    asyncio.run(main())
    assert (begun, workers.busy) == (["third"], 0)
    workers.close()


def test_what_only_computes_is_done_one_after_the_other_and_leaves_the_threads_to_others() -> None:
    names: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def compute() -> None:
        names.append(threading.current_thread().name)
        begun.set()
        go_on.wait(60)

    async def main() -> str:
        computing = [asyncio.create_task(workers.run(compute, computing=True)) for _ in range(3)]
        await asyncio.to_thread(begun.wait, 10)
        other = await workers.run(lambda: threading.current_thread().name)
        assert len(names) == 1
        go_on.set()
        await asyncio.gather(*computing)
        return other

    workers = Workers(8, 10, 10)
    assert asyncio.run(main()) not in names
    assert len(set(names)) == 1
    workers.close()


@pytest.mark.parametrize(("seconds", "expected"), [(1_000.0, [4, 4, 1, 1, 1]), (-1.0, [1] * 11)])
def test_the_loop_is_told_of_several_quick_results_at_once_while_as_many_wait(
    monkeypatch: pytest.MonkeyPatch, seconds: float, expected: list[int]
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    told: list[int] = []
    call_all = workers_module._call_all

    def noted(results: Sequence[Callable[[], None]]) -> None:
        told.append(len(results))
        call_all(results)

    def work(number: int) -> int:
        if number == 0:
            begun.set()
            go_on.wait(60)
        if number == 3:
            raise ValueError
        return number

    async def main() -> list[object]:
        first = asyncio.create_task(workers.run(partial(work, 0), computing=True))
        await asyncio.to_thread(begun.wait, 10)
        others = [asyncio.create_task(workers.run(partial(work, at), computing=True)) for at in range(1, 11)]
        await asyncio.sleep(0.01)
        go_on.set()
        return list(await asyncio.gather(first, *others, return_exceptions=True))

    monkeypatch.setattr(workers_module, "_call_all", noted)
    monkeypatch.setattr(workers_module, "_MAX_HELD_SECONDS", seconds)
    workers = Workers(11, 11, 10)
    results = asyncio.run(main())
    assert isinstance(results.pop(3), ValueError)
    assert results == [0, 1, 2, *range(4, 11)]
    assert told == expected
    assert workers.busy == 0
    workers.close()
