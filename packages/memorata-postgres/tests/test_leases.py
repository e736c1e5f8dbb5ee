"""Leases on a server: by its clock, for workers that are killed, and for tenants."""

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.engine.engine import Engine
from memorata.engine.lifecycle import MaintenanceReport
from memorata.model.errors import LeaseLost, WorkUnderWay
from memorata.store import leases
from memorata_postgres.store import PostgresStore

OLD, NEW = LexicalEmbedder(dimension=32), LexicalEmbedder(dimension=64)
WORKER = Path(__file__).parents[3] / "tests" / "engine" / "killed_worker.py"
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def test_the_server_tells_the_time_and_not_the_worker(store: PostgresStore, used: str) -> None:
    far = NOW + timedelta(days=100_000)
    lease = store.leases.acquire("tune", "acme", "fast clock", 60, far)
    assert lease is not None
    assert abs(lease.until - datetime.now(UTC)) < timedelta(seconds=120)
    assert store.leases.acquire("tune", "acme", "faster clock", 60, far + timedelta(days=1)) is None
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute("UPDATE leases SET until = 0")
    assert store.leases.acquire("tune", "acme", "slow clock", 60, NOW) is not None


def test_whoever_would_take_over_in_the_middle_of_a_write_does_not(store: PostgresStore, used: str) -> None:
    lease = store.leases.acquire("tune", "acme", "first", 0.001, NOW)
    assert lease is not None
    sleep(0.01)
    with store.leases.fenced(lease, 60, lambda: NOW), store.together():
        # It had run out, and is being renewed: nobody waits for the end of that.
        began = monotonic()
        got: list[object] = []
        other = threading.Thread(
            target=lambda: got.append(store.leases.acquire("tune", "acme", "second", 60, NOW))
        )
        other.start()
        other.join()
        assert got == [None]
        assert monotonic() - began < 30
        store.remember_setting("x", "1")
    assert store.setting("x") == "1"


def test_what_is_given_back_while_somebody_asks_is_free(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = store.leases.acquire("tune", "acme", "first", 60, NOW)
    assert lease is not None
    kept, looks = leases._current, iter([True])

    def looked(*given: Any) -> Any:
        found = kept(*given)
        if next(looks, False):
            # In a transaction of its own, on another connection, just after the other has looked.
            other = threading.Thread(target=store.leases.release, args=(lease,))
            other.start()
            other.join()
        return found

    monkeypatch.setattr(leases, "_current", looked)
    second = store.leases.acquire("tune", "acme", "second", 60, NOW)
    assert second is not None
    assert second.number > lease.number


def test_two_servers_that_maintain_at_once_do_it_once(store: PostgresStore, used: str) -> None:
    life = {"working_days": 1, "summary_days": 1, "summary_sources": 2}
    options: dict[str, Any] = {"embedder": OLD, "config": {"life": life}}
    done: list[MaintenanceReport] = []
    busy: list[WorkUnderWay] = []
    ready, refused = threading.Barrier(2), threading.Event()

    def wait(step: str, count: int) -> None:
        """Whichever comes first goes on once the other was refused."""
        refused.wait(60)

    def work(engine: Engine) -> None:
        ready.wait()
        try:
            done.append(engine.admin.lifecycle.maintain(progress=wait))
        except WorkUnderWay as error:
            busy.append(error)
            refused.set()

    with memorata.open(used, **options) as one, memorata.open(used, **options) as other:
        old = datetime.now(UTC) - timedelta(days=3)
        one.remember_many(
            [
                {"content": f"Anna drank green tea in the garden on day {number}", "created_at": old}
                for number in range(6)
            ]
            + [
                {"content": f"the train leaves at {n}", "tier": "working", "created_at": old}
                for n in range(4)
            ],
            duplicates="off",
        )
        threads = [threading.Thread(target=work, args=(engine,)) for engine in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(done) == 1
        assert len(busy) == 1
        assert len(done[0].expired) == 4
        assert len(one.admin.lifecycle.summaries()) == len(done[0].proposed)
        assert store.leases.list() == []


def test_a_killed_worker_is_taken_over_and_everything_is_embedded_once(
    store: PostgresStore, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As from another machine, where nobody can see that it is gone.
    monkeypatch.setattr("memorata.engine.runtime.is_gone", lambda worker: False)
    with memorata.open(used, embedder=OLD) as memory:
        memory.remember_many([f"thought number {number} about tea" for number in range(96)])
    with subprocess.Popen(
        [sys.executable, str(WORKER), used, "300"], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        for _ in range(2):
            worker.stdout.readline()
        os.kill(worker.pid, signal.SIGKILL)
    with memorata.open(used, embedder=NEW) as memory:
        with pytest.raises(WorkUnderWay, match=f"process {worker.pid}"):
            memory.admin.reembed()
        with psycopg.connect(used, autocommit=True) as connection:
            # Waits for what the worker was in the middle of, which the server may still be ending.
            connection.execute("UPDATE leases SET until = 0")
        waiting = memory.store.count_waiting()
        assert 0 < waiting <= 96 - 2 * 16
        assert memory.admin.reembed().embedded == waiting
        assert {each.version for each in memory.store.export(None)} == {2}
        assert memory.store.count_waiting() == 0
        assert memory.admin.check() == []


def test_a_slow_worker_that_was_taken_over_embeds_nothing_more(store: PostgresStore, used: str) -> None:
    with memorata.open(used, embedder=OLD) as memory:
        memory.remember_many([f"thought number {number} about tea" for number in range(48)])
    with (
        memorata.open(used, embedder=NEW, config={"lease_seconds": 0.05}) as slow,
        memorata.open(used, embedder=NEW) as other,
    ):

        def wait(done: int, total: int) -> None:
            sleep(0.1)
            assert other.admin.reembed().embedded == 48 - done

        with pytest.raises(LeaseLost, match="'reembed' of all namespaces"):
            slow.admin.reembed(batch=16, progress=wait)
        assert {each.version for each in other.store.export(None)} == {2}
