from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata import Engine
from memorata.engine.access import RETENTION, IdempotentReply
from memorata.model.errors import (
    InvalidArgument,
    RecallNotFound,
    ReplyErased,
    StoreUnavailable,
)
from memorata_graph import Graph

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        yield engine


def remembering(memory: Engine, text: str = "Anna likes tea") -> tuple[int, bytes]:
    return 201, memory.remember(text).id.encode()


def test_what_was_done_is_not_done_again(memory: Engine) -> None:
    first = memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory))
    again = memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory))
    assert not first.again
    assert again == IdempotentReply(201, first.body, again=True)
    assert len(memory.list().memories) == 1


def test_two_callers_may_use_one_name(memory: Engine) -> None:
    for caller in ("k1", "k2"):
        assert not memory.admin.idempotency.once(
            "a", b"tea", lambda: remembering(memory), caller=caller
        ).again
    assert memory.list().memories[0].mentions == 2


def test_one_name_does_not_stand_for_two_requests(memory: Engine) -> None:
    memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory))
    with pytest.raises(InvalidArgument, match="not given to another request"):
        memory.admin.idempotency.once("a", b"coffee", lambda: remembering(memory, "Anna likes coffee"))
    assert len(memory.list().memories) == 1


def test_an_error_is_no_answer_and_undoes_what_came_before_it(memory: Engine) -> None:
    def half() -> tuple[int, bytes]:
        Graph(memory).entities.describe("Anna", type="person")
        memory.remember("Anna likes tea")
        assert Graph(memory).entities.get("Anna").memories == 1
        raise StoreUnavailable("the disk is full")

    with pytest.raises(StoreUnavailable):
        memory.admin.idempotency.once("a", b"tea", half)
    assert memory.list().memories == ()
    assert Graph(memory).entities.list() == ()
    # The same numbers of changes are given out again, to other things: nothing may be known of the first.
    Graph(memory).entities.describe("Ben", type="person")
    memory.remember("Ben likes coffee")
    assert [known.entity.name for known in Graph(memory).entities.list()] == ["Ben"]
    assert not memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory)).again


def test_a_recipe_that_was_never_saved_is_not_used(memory: Engine) -> None:
    def half() -> tuple[int, bytes]:
        memory.admin.recipes.save("mine", memory.admin.recipes.get("fast").changed({"vector_weight": 0.1}))
        memory.admin.recipes.use("mine")
        raise StoreUnavailable("the disk is full")

    with pytest.raises(StoreUnavailable):
        memory.admin.idempotency.once("a", b"recipe", half)
    assert memory.admin.recipes.get() is memory.recipe
    with pytest.raises(InvalidArgument, match="recipe"):
        memory.admin.recipes.get("mine")


def test_a_recall_of_what_never_was_is_not_logged(memory: Engine) -> None:
    """What it found was undone: nobody could say any more what that was, and the log could not be read."""
    memory.remember("Anna prefers green tea.", id="tea")

    def work() -> tuple[int, bytes]:
        memory.remember("Anna prefers black tea with milk now.", id="never")
        assert len(memory.recall("what tea does Anna prefer?")) == 2
        raise KeyError

    with pytest.raises(KeyError):
        memory.admin.idempotency.once("1", b"x", work)
    assert memory.admin.feedback.recalls() == []

    def outer() -> tuple[int, bytes]:
        with suppress(KeyError):
            memory.admin.idempotency.once("3", b"x", work)
        return 200, memory.recall("what tea does Anna prefer?").id.encode()

    done = memory.admin.idempotency.once("2", b"x", outer)
    assert [(each.id.encode(), each.ids) for each in memory.admin.feedback.recalls()] == [
        (done.body, ("tea",))
    ]


def test_an_answer_is_kept_for_a_day(memory: Engine, clock: Clock) -> None:
    memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory))
    clock.now = START + RETENTION - timedelta(seconds=1)
    assert memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory)).again
    clock.now = START + RETENTION
    assert not memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory)).again
    assert memory.list().memories[0].mentions == 2


def test_a_purge_is_done_once_and_erases_answers_but_not_that_they_were_given(memory: Engine) -> None:
    said = memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory)).body.decode()

    def purging() -> tuple[int, bytes]:
        memory.purge(said)
        return 200, b"gone"

    assert memory.admin.idempotency.once("b", b"purge", purging, apart=True) == IdempotentReply(
        200, b"gone", again=False
    )
    assert memory.admin.idempotency.once("b", b"purge", purging, apart=True) == IdempotentReply(
        200, b"gone", again=True
    )
    with pytest.raises(ReplyErased, match="a purge has erased its answer"):
        memory.admin.idempotency.once("a", b"tea", lambda: remembering(memory))
    assert memory.list(hidden=True).memories == ()


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 201, None])
def test_a_name_that_cannot_be_one_is_refused(memory: Engine, key: str) -> None:
    with pytest.raises(InvalidArgument, match="visible ASCII"):
        memory.admin.idempotency.once(key, b"", lambda: remembering(memory))
    assert memory.list().memories == ()


def test_the_log_of_recalls_is_written_first_unless_the_work_does_without(memory: Engine) -> None:
    memory.remember("Anna likes tea")
    found = memory.recall("tea")

    def logged() -> int:
        return len(memory.store.recalls.list("default"))

    memory.admin.idempotency.once("a", b"rum", lambda: remembering(memory, "Ben likes rum"), log_first=False)
    assert logged() == 0

    def reacting() -> tuple[int, bytes]:
        return 201, memory.admin.feedback.record(
            found.id, found.hits[0].memory.id, "click"
        ).memory_id.encode()

    with pytest.raises(RecallNotFound):
        memory.admin.idempotency.once("b", b"click", reacting, log_first=False)
    assert not memory.admin.idempotency.once("b", b"click", reacting).again
    assert logged() == 1


def test_a_flag_is_a_flag(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="log_first must be True or False, got 1"):
        memory.admin.idempotency.once("a", b"", lambda: remembering(memory), log_first=1)  # type: ignore[arg-type]
