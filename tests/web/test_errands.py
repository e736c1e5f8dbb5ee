"""An errand runs beside the answers, one of a kind at a time, and says how far it is and how it ended."""

import threading
from datetime import UTC, datetime

import pytest

from memorata.model.errors import InvalidArgument
from memorata.web.errands import Errands, Progress

NOW = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.fixture
def errands() -> Errands:
    return Errands(lambda: NOW)


def test_it_says_how_far_it_is_and_what_came_of_it(errands: Errands) -> None:
    half, go_on = threading.Event(), threading.Event()

    def work(advance: Progress) -> str:
        advance(5, 10)
        half.set()
        assert go_on.wait(5)
        return "done"

    errand = errands.start("count", "default", work)
    assert half.wait(5)
    assert (errand.running, errand.done, errand.total, errand.result) == (True, 5, 10, None)
    go_on.set()
    errands.wait()
    assert (errand.running, errand.result, errand.finished) == (False, "done", NOW)


def test_one_of_a_kind_at_a_time(errands: Errands) -> None:
    go_on = threading.Event()
    first = errands.start("a", "x", lambda advance: go_on.wait(5))
    assert errands.start("a", "x", lambda advance: None) is first
    assert errands.start("a", "y", lambda advance: None) is not first
    assert errands.start("b", "x", lambda advance: None) is not first
    go_on.set()
    errands.wait()
    assert errands.start("a", "x", lambda advance: None) is not first
    errands.wait()


def test_a_failure_is_told(errands: Errands) -> None:
    def work(advance: Progress) -> None:
        raise InvalidArgument("k", 1, "2")

    errand = errands.start("a", "x", work)
    errands.wait()
    assert (errand.running, errand.error, errand.result) == (False, "k must be 2, got 1", None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_even_one_nobody_thought_of(errands: Errands) -> None:
    errand = errands.start("a", "x", lambda advance: 1 / 0)
    errands.wait()
    assert (errand.running, errand.error) == (False, "ZeroDivisionError: division by zero")


def test_what_is_over_can_be_dropped_and_what_runs_cannot(errands: Errands) -> None:
    go_on = threading.Event()
    errands.start("a", "x", lambda advance: go_on.wait(5))
    errands.drop("a", "x")
    assert errands.last("a", "x") is not None
    go_on.set()
    errands.wait()
    errands.drop("a", "x")
    errands.drop("a", "never")
    assert errands.last("a", "x") is None
