import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from memorata.http.workers import Workers
from memorata.service.errors import Overloaded, TimedOut


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
