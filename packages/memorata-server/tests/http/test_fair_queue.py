"""Turns among callers: nobody waits for the length of another's queue."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from memorata_server.http.workers import ACTIVE_SECONDS, FairQueue, Turn


class Machine:
    """Workers that do what they are given one after the other, in virtual time."""

    def __init__(self, workers: int, writers: int = 9) -> None:
        self.now = 0.0
        self.queue = FairQueue(workers, writers, lambda: self.now)
        self.started: list[str] = []
        self.running: list[Turn] = []

    def ask(self, caller: str, *, writing: bool = False) -> Turn:
        def start() -> None:
            self.started.append(caller)
            self.running.append(turn)

        turn = Turn(caller, start, writing=writing)
        self.queue.add(turn)
        return turn

    def finish(self, seconds: float) -> str:
        turn = self.running.pop(0)
        self.now += seconds
        self.queue.end(turn, seconds)
        return turn.caller


def test_who_has_used_least_is_next_however_many_wait() -> None:
    machine = Machine(1)
    for _ in range(100):
        machine.ask("anna")
    machine.ask("bert")
    machine.finish(0.1)
    assert machine.started == ["anna", "bert"]
    machine.ask("bert")
    machine.finish(0.1)
    assert len(machine.started) == 3


def test_turns_are_shared_by_the_time_they_take_not_by_their_number() -> None:
    machine = Machine(1)
    for _ in range(50):
        machine.ask("large")
        machine.ask("small")
    for _ in range(33):
        machine.finish(1.0 if machine.running[0].caller == "large" else 0.1)
    assert machine.started.count("small") >= 7 * machine.started.count("large")


def test_one_of_several_has_one_worker_and_the_only_one_all_but_one() -> None:
    machine = Machine(4)
    for _ in range(9):
        machine.ask("anna")
    assert machine.started == ["anna"] * 3
    machine.ask("bert")
    assert machine.started[3:] == ["bert"]
    for _ in range(3):
        machine.running.sort(key=lambda turn: turn.caller != "anna")
        machine.finish(0.1)
    assert machine.started.count("anna") == 4
    machine.running.sort(key=lambda turn: turn.caller != "bert")
    machine.finish(0.1)
    machine.now += ACTIVE_SECONDS
    machine.finish(0.1)
    assert machine.started.count("anna") == 7


def test_everybody_together_has_all_workers_and_is_nobodys_rival() -> None:
    machine = Machine(3)
    for _ in range(3):
        machine.ask("")
    assert machine.started == [""] * 3
    alone = Machine(3)
    alone.ask("")
    for _ in range(2):
        alone.ask("anna")
    assert alone.started == ["", "anna", "anna"]


def test_a_write_that_waits_is_passed_by_what_only_reads() -> None:
    machine = Machine(3, writers=1)
    for writing in (True, True, False):
        machine.ask("", writing=writing)
    assert len(machine.started) == 2
    assert machine.queue.waiting("") == 1


def test_who_is_withdrawn_gets_no_turn_and_gives_one_back() -> None:
    machine = Machine(1)
    first, second, third = (machine.ask("anna") for _ in range(3))
    machine.queue.withdraw(second)
    machine.queue.withdraw(second)
    machine.queue.withdraw(first)
    assert machine.started == ["anna", "anna"]
    assert third.running


def test_what_was_not_used_is_not_saved_up() -> None:
    machine = Machine(1)
    machine.ask("late")
    machine.finish(0.1)
    for _ in range(20):
        machine.ask("anna")
    for _ in range(10):
        machine.finish(1.0)
    for _ in range(10):
        machine.ask("late")
    before = len(machine.started)
    for _ in range(8):
        machine.finish(1.0)
    assert 3 <= machine.started[before:].count("late") <= 5


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.floats(0, 1)), max_size=60))
def test_everything_is_done_once_and_never_more_at_a_time_than_there_are_workers(
    asked: list[tuple[str, bool, float]],
) -> None:
    machine = Machine(3, writers=2)
    for caller, writing, seconds in asked:
        machine.ask(caller, writing=writing)
        assert len(machine.running) <= 3
        assert sum(turn.writing for turn in machine.running) <= 2
        if seconds > 0.5 and machine.running:
            machine.finish(seconds)
    while machine.running:
        machine.finish(0.1)
    assert sorted(machine.started) == sorted(caller for caller, _, _ in asked)


def test_an_example_of_fair_queue() -> None:
    started: list[str] = []
    queue = FairQueue(2, 2, ticks=lambda: 0.0)
    names = ["anna", "anna", "anna", "bert"]
    turns = [Turn(name, partial(started.append, name)) for name in names]
    for turn in turns:
        queue.add(turn)
    assert started == ["anna", "bert"]
    queue.end(turns[0], 0.5)
    assert started == ["anna", "bert", "anna"]
