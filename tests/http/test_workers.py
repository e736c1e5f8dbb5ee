import asyncio
import threading

import pytest

from recollect.http.workers import Overloaded, TookTooLong, Workers


def test_work_is_done_on_a_thread_and_errors_come_back_as_they_are() -> None:
    async def main() -> str:
        with pytest.raises(KeyError):
            await workers.run(own_mistake)
        with pytest.raises(TimeoutError):
            await workers.run(own_timeout)
        return await workers.run(lambda: threading.current_thread().name)

    def own_mistake() -> None:
        raise KeyError

    def own_timeout() -> None:
        raise TimeoutError

    workers = Workers(1, 0, 5)
    assert asyncio.run(main()).startswith("recollect")
    assert workers.busy == 0
    workers.close()


def test_more_than_can_wait_are_turned_away() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        go_on.wait(10)
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


def test_who_waits_too_long_is_told_and_what_was_begun_goes_on_to_its_end() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def slow() -> None:
        go_on.wait(10)
        ended.set()
        raise KeyError("nobody hears of it")

    async def main() -> None:
        with pytest.raises(TookTooLong):
            await workers.run(slow, seconds=0.01)
        assert workers.busy == 1
        go_on.set()
        while workers.busy:
            await asyncio.sleep(0.001)

    workers = Workers(1, 0, 5)
    asyncio.run(main())
    workers.close()
    assert ended.is_set()
