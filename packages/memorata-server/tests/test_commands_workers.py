"""A server of several processes: one port, one memory, and no request lost when processes come and go."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memorata_server.testing import served

Run = Callable[..., Any]
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are told from /proc")


def children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Clients:
    """Send requests on connections that are kept alive, and note what was not answered."""

    def __init__(self, address: str, count: int) -> None:
        self.statuses: list[int] = []
        self.broken: list[str] = []
        self._over = threading.Event()
        self._address = address
        self._threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        with httpx.Client(base_url=self._address, timeout=60) as client:
            while not self._over.is_set():
                try:
                    self.statuses.append(client.post("/v1/recall", json={"query": "tea"}).status_code)
                except httpx.ConnectError:
                    return  # nobody listens any more: this was never begun
                except httpx.TransportError as error:
                    self.broken.append(repr(error))

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(120)


@pytest.fixture
def workers(home: Path) -> Iterator[tuple[int, str, Any]]:
    with served(home, "--workers", "2", "--log-level", "error") as (process, address):
        yield process.pid, address, process


@pytest.mark.untraced
def test_processes_are_replaced_and_stopped_without_losing_a_request(workers: tuple[int, str, Any]) -> None:
    pid, address, process = workers
    first = children(pid)
    assert len(first) == 2
    clients = Clients(address, 4)
    until(lambda: len(clients.statuses) > 20)
    process.send_signal(signal.SIGHUP)
    until(lambda: len(now := children(pid)) == 2 and not now & first)
    answered = len(clients.statuses)
    until(lambda: len(clients.statuses) > answered + 20)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    clients.stop()
    assert set(clients.statuses) == {200}
    assert not clients.broken


def test_a_process_that_is_killed_is_started_again(workers: tuple[int, str, Any]) -> None:
    pid, address, _ = workers
    killed = min(children(pid))
    os.kill(killed, signal.SIGKILL)
    until(lambda: len(now := children(pid)) == 2 and killed not in now)
    until(lambda: httpx.get(f"{address}/v1/ready").status_code == 200)


def test_processes_go_when_whoever_watches_them_is_killed(workers: tuple[int, str, Any]) -> None:
    pid, _, process = workers
    left = children(pid)
    process.kill()
    until(lambda: not any(Path(f"/proc/{child}/cmdline").exists() for child in left))


@pytest.mark.untraced
def test_every_process_knows_jobs_pages_memories_and_what_the_others_counted(
    workers: tuple[int, str, Any],
) -> None:
    _, address, _ = workers
    said = httpx.post(f"{address}/v1/memories", json={"content": "Anna prefers green tea"})
    job = httpx.post(f"{address}/v1/jobs/check").json()
    for _ in range(12):  # a connection each: either process may get it
        found = httpx.get(f"{address}/v1/memories/{said.json()['id']}")
        assert found.json()["content"] == "Anna prefers green tea"
        assert httpx.get(f"{address}/v1/jobs/{job['id']}").status_code == 200
        assert httpx.get(f"{address}/").headers["content-type"].startswith("text/html")
    with httpx.stream("GET", f"{address}/v1/jobs/{job['id']}/events") as events:
        assert "event: end" in events.read().decode()
    refused = httpx.post(
        f"{address}/v1/jobs/tune", content=b"{", headers={"Content-Type": "application/json"}
    )
    assert refused.status_code == 400
    text = httpx.get(f"{address}/v1/metrics").text
    counted = next(
        line for line in text.splitlines() if "/v1/memories/{id:path}" in line and "_total" in line
    )
    assert counted.endswith(" 12.0")
    assert "process_resident_memory_bytes" in text


def test_what_cannot_be_shared_is_refused(cli: Run) -> None:
    ran = cli("server", "start", "--workers", "2", "--db", ":memory:")
    assert (ran.code, "--workers must be 1 for a memory that is in no file" in ran.err) == (2, True)
