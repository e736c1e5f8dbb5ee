from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest

from memorata.embed.circuit_breaker import CircuitBreaker
from memorata.model.errors import EmbedderError, InvalidArgument, ServiceRefused, ServiceUnreachable


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Service:
    """Answers, or fails as it is told, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails: Exception | None = ServiceUnreachable("nobody is there")

    def __call__(self) -> str:
        self.asked += 1
        if self.fails is not None:
            raise self.fails
        return "here"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service() -> Service:
    return Service()


def test_what_answers_is_asked_each_time(clock: Clock, service: Service) -> None:
    service.fails = None
    breaker = CircuitBreaker(clock=clock)
    assert [breaker.call(service) for _ in range(3)] == ["here"] * 3
    assert service.asked == 3


def test_after_a_failure_nobody_asks_for_a_while(clock: Clock, service: Service) -> None:
    breaker = CircuitBreaker(first_pause=5.0, clock=clock)
    with pytest.raises(ServiceUnreachable, match=r"^nobody is there$"):
        breaker.call(service)
    clock.now += 1.5
    with pytest.raises(ServiceUnreachable, match=r"nobody is there \(it is not asked again for 4 s\)"):
        breaker.call(service)
    assert service.asked == 1
    service.fails = None
    clock.now += 3.5
    assert breaker.call(service) == "here"
    assert breaker.call(service) == "here"


def test_the_pause_doubles_up_to_a_bound_and_ends_with_an_answer(clock: Clock, service: Service) -> None:
    breaker = CircuitBreaker(first_pause=5.0, longest_pause=60.0, clock=clock)
    for pause in (5.0, 10.0, 20.0, 40.0, 60.0, 60.0):
        with pytest.raises(ServiceUnreachable, match=r"^nobody is there$"):
            breaker.call(service)
        clock.now += pause - 0.5
        with pytest.raises(ServiceUnreachable, match="for 1 s"):
            breaker.call(service)
        clock.now += 0.5
    service.fails = None
    breaker.call(service)
    service.fails = ServiceUnreachable("gone again")
    with pytest.raises(ServiceUnreachable, match=r"^gone again$"):
        breaker.call(service)
    with pytest.raises(ServiceUnreachable, match="for 5 s"):
        breaker.call(service)


def test_who_would_rather_wait_asks_anyway_and_tells_the_others(clock: Clock, service: Service) -> None:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(2):
        with pytest.raises(ServiceUnreachable, match=r"^nobody is there$"):
            breaker.call(service, force=True)
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        breaker.call(service)
    service.fails = None
    assert breaker.call(service, force=True) == "here"
    assert breaker.call(service) == "here"


@pytest.mark.parametrize("said", [ServiceRefused("no", 401), EmbedderError("odd")])
def test_what_refuses_is_there(clock: Clock, service: Service, said: Exception) -> None:
    breaker = CircuitBreaker(clock=clock)
    service.fails = said
    for _ in range(2):
        with pytest.raises(type(said)):
            breaker.call(service)
    assert service.asked == 2


def test_one_that_minds_silence_alone_goes_on_asking_who_answers_with_an_error(
    clock: Clock, service: Service
) -> None:
    breaker = CircuitBreaker(clock=clock, silence_only=True)
    service.fails = ServiceUnreachable("on fire", 503)
    for _ in range(2):
        with pytest.raises(ServiceUnreachable, match=r"^on fire$"):
            breaker.call(service)
    service.fails = ServiceUnreachable("nobody is there")
    with pytest.raises(ServiceUnreachable):
        breaker.call(service)
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        breaker.call(service)
    breaker.succeeded()
    service.fails = None
    assert breaker.call(service) == "here"


def test_those_who_asked_together_have_met_one_failure(clock: Clock) -> None:
    breaker = CircuitBreaker(first_pause=5.0, clock=clock)
    everyone, began, go = 8, [Event() for _ in range(8)], Event()

    def away(number: int) -> Callable[[], None]:
        def ask() -> None:
            began[number].set()
            go.wait(60)
            raise ServiceUnreachable("nobody is there")

        return ask

    def run(number: int) -> None:
        with pytest.raises(ServiceUnreachable):
            breaker.call(away(number))

    threads = [Thread(target=run, args=(number,)) for number in range(everyone)]
    for thread in threads:
        thread.start()
    assert all(each.wait(60) for each in began)
    go.set()
    for thread in threads:
        thread.join()
    with pytest.raises(ServiceUnreachable, match="for 5 s"):
        breaker.call(lambda: None)


def test_one_asks_after_the_pause_and_the_others_do_not_wait_for_it(clock: Clock, service: Service) -> None:
    breaker = CircuitBreaker(first_pause=5.0, clock=clock)
    with pytest.raises(ServiceUnreachable):
        breaker.call(service)
    clock.now += 5.0
    asking, answer = Event(), Event()

    def slow() -> str:
        asking.set()
        assert answer.wait(60)
        return "here"

    thread = Thread(target=lambda: breaker.call(slow))
    thread.start()
    assert asking.wait(60)
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        breaker.call(service)
    answer.set()
    thread.join()
    service.fails = None
    assert breaker.call(service) == "here"


def test_one_who_never_tells_blocks_nobody_for_good(clock: Clock, service: Service) -> None:
    breaker = CircuitBreaker(first_pause=5.0, clock=clock)
    with pytest.raises(ServiceUnreachable):
        breaker.call(service)
    clock.now += 5.0

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        breaker.call(interrupted)
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        breaker.call(service)
    clock.now += 5.0
    service.fails = None
    assert breaker.call(service) == "here"


@pytest.mark.parametrize("wrong", [{"first_pause": -1}, {"longest_pause": float("nan")}])
def test_pauses_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        CircuitBreaker(**wrong)
