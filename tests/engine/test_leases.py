"""Work is done by one worker at a time, taken over from one that is gone, and never done twice."""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.engine.runtime import Leases
from memorata.model.errors import InvalidArgument, LeaseLost, StoreUnavailable, WorkUnderWay
from memorata.store.dialects import SqliteStore
from memorata.store.leases import LeaseStore

OLD, NEW = LexicalEmbedder(dimension=32), LexicalEmbedder(dimension=64)
WORKER = Path(__file__).with_name("killed_worker.py")
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Noon."""
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the memories are."""
    return tmp_path / "m.db"


@pytest.fixture
def two(path: Path, clock: Clock) -> Iterator[tuple[memorata.Engine, memorata.Engine]]:
    """Two engines on one file, with old episodes to promote, expire and summarise."""
    life = {"working_days": 1, "episodic_uses": 1, "summary_days": 1, "summary_sources": 2}
    options: dict[str, Any] = {"embedder": OLD, "clock": clock, "config": {"life": life, "lease_seconds": 60}}
    with memorata.open(path, **options) as one, memorata.open(path, **options) as other:
        one.remember_many(
            [
                {"content": f"Anna drank green tea in the garden on day {number}", "tier": "episodic"}
                for number in range(6)
            ]
            + [{"content": f"the train leaves at {number}", "tier": "working"} for number in range(4)],
            duplicates="off",
        )
        clock.now += timedelta(days=3)
        yield one, other


def test_of_two_engines_one_maintains_and_the_other_is_told_who(
    two: tuple[memorata.Engine, memorata.Engine], clock: Clock
) -> None:
    one, other = two
    refused: list[str] = []

    def meanwhile(step: str, count: int) -> None:
        with pytest.raises(WorkUnderWay) as caught:
            other.admin.lifecycle.maintain()
        refused.append(str(caught.value))
        assert caught.value.until == clock.now + timedelta(seconds=60)

    done = one.admin.lifecycle.maintain(progress=meanwhile)
    assert len(refused) == 4
    assert f"'maintain' of 'default' is being done by {caught_name()}" in refused[0]
    assert len(done.expired) == 4
    assert len(done.proposed) == 1
    assert one.store.leases.list() == []
    again = other.admin.lifecycle.maintain()
    assert (again.expired, again.proposed) == ((), ())
    assert len(other.admin.lifecycle.summaries()) == 1


def caught_name() -> str:
    return f"{os.uname().nodename}, process {os.getpid()}"


def test_a_dry_run_and_another_namespace_are_in_nobodys_way(
    two: tuple[memorata.Engine, memorata.Engine],
) -> None:
    one, other = two
    with one.leases.hold("maintain", "default"):
        assert len(other.admin.lifecycle.maintain(dry_run=True).expired) == 4
        assert other.admin.lifecycle.maintain(namespace="acme").expired == ()
        with pytest.raises(WorkUnderWay):
            other.admin.lifecycle.consolidate()


def test_a_worker_that_was_taken_over_writes_nothing_more(
    two: tuple[memorata.Engine, memorata.Engine], clock: Clock
) -> None:
    one, other = two

    def slow(step: str, count: int) -> None:
        if step == "demote":
            # So slow that another thinks it dead, and does all of it.
            clock.now += timedelta(seconds=61)
            assert len(other.admin.lifecycle.maintain().expired) == 4

    with pytest.raises(LeaseLost, match="'maintain' of 'default' was taken from"):
        one.admin.lifecycle.maintain(progress=slow)
    assert len(other.admin.lifecycle.summaries()) == 1
    assert other.store.leases.list() == []
    kinds = Counter(change.kind for change in other.store.changes(0, 1000))
    assert kinds["forget"] == 5  # four working memories, and the proposal that waits
    assert one.admin.lifecycle.maintain().expired == ()


def test_work_that_ran_out_of_time_goes_on_if_nobody_wanted_it(
    two: tuple[memorata.Engine, memorata.Engine], clock: Clock
) -> None:
    def slow(step: str, count: int) -> None:
        clock.now += timedelta(hours=1)

    assert len(two[0].admin.lifecycle.maintain(progress=slow).expired) == 4


def test_a_progress_that_raises_gives_the_lease_back(two: tuple[memorata.Engine, memorata.Engine]) -> None:
    def stop(step: str, count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        two[0].admin.lifecycle.maintain(progress=stop)
    assert two[1].store.leases.list() == []
    two[1].admin.lifecycle.maintain()


def test_two_threads_of_one_engine_do_not_do_the_same(two: tuple[memorata.Engine, memorata.Engine]) -> None:
    one, found = two[0], []

    def other() -> None:
        try:
            one.admin.lifecycle.maintain()
        except WorkUnderWay as busy:
            found.append(busy)

    with one.leases.hold("maintain", "default"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        # The thread that holds it may.
        one.admin.lifecycle.maintain()
    assert len(found) == 1


def test_a_lease_that_cannot_be_given_back_runs_out_by_itself(
    two: tuple[memorata.Engine, memorata.Engine],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def gone(self: LeaseStore, lease: object) -> None:
        raise StoreUnavailable("the disk is away")

    with monkeypatch.context() as patched:
        patched.setattr(LeaseStore, "release", gone)
        assert len(two[0].admin.lifecycle.maintain().expired) == 4
    assert "was not given back: the disk is away" in caplog.text
    with pytest.raises(WorkUnderWay):
        two[1].admin.lifecycle.maintain()
    clock.now += timedelta(seconds=60)
    two[1].admin.lifecycle.maintain()


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_lease_that_could_not_be_given_back_is_with_the_next_work_or_at_the_end(
    two: tuple[memorata.Engine, memorata.Engine], monkeypatch: pytest.MonkeyPatch, at_the_end: bool
) -> None:
    def full(self: LeaseStore, lease: object) -> None:
        raise StoreUnavailable("the disk is full")

    one, other = two
    with monkeypatch.context() as patched:
        patched.setattr(LeaseStore, "release", full)
        with one.leases.hold("maintain"):
            pass
    assert [lease.kind for lease in other.store.leases.list()] == ["maintain"]
    if at_the_end:
        one.close()
    else:
        with one.leases.hold("maintain"):
            pass
    assert other.store.leases.list() == []


def test_a_lease_is_renewed_now_and_then_and_not_at_every_step(
    two: tuple[memorata.Engine, memorata.Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [0.0]
    monkeypatch.setattr("memorata.engine.runtime.monotonic", lambda: moment[0])
    renewed: list[object] = []
    monkeypatch.setattr(LeaseStore, "renew", lambda self, *given: renewed.append(given))
    with two[0].leases.hold("tune", "default") as held:
        for moment[0] in (1, 14.9, 15, 16, 29, 31):
            held.renew()
    assert len(renewed) == 2


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "60"])
def test_a_lease_lasts_for_a_while(seconds: float, clock: Clock) -> None:
    store = SqliteStore(":memory:")
    with pytest.raises(InvalidArgument, match="lease_seconds"):
        Leases(store, clock, seconds)
    store.close()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_killed_worker_is_taken_over_and_everything_is_embedded_once(
    path: Path, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memorata.open(path, embedder=OLD) as memory:
        memory.remember_many([f"thought number {number} about tea" for number in range(160)])
    with subprocess.Popen(
        [sys.executable, str(WORKER), str(path), "300"], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        for _ in range(3):
            worker.stdout.readline()
        os.kill(worker.pid, signal.SIGKILL)
    later = timedelta(0)
    with memorata.open(path, embedder=NEW, clock=lambda: datetime.now(UTC) + later) as memory:
        waiting = memory.store.count_waiting()
        assert 0 < waiting <= 160 - 3 * 16
        if elsewhere:
            # From another machine nobody can see that it is gone.
            monkeypatch.setattr("memorata.engine.runtime.is_gone", lambda worker: False)
            with pytest.raises(WorkUnderWay, match=f"process {worker.pid}"):
                memory.admin.reembed()
            later = timedelta(seconds=301)
        assert memory.admin.reembed().embedded == waiting
        # Each write of a vector is a version more.
        assert {each.version for each in memory.store.export(None)} == {2}
        assert memory.store.count_waiting() == 0
        assert memory.admin.check() == []
