"""The command that serves: what it refuses, and a server of its own that loses nothing it acknowledged."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import memorata

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the environment as it was; the command changes it for what it imports."""
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        monkeypatch.setenv(variable, "1")


@contextmanager
def served(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server on a port of its own until the block ends."""
    command = [sys.executable, "-m", "memorata", "serve", "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command, cwd=home, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate(timeout=120)[1])
        yield process, json.loads(line)["address"]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_addresses_than_loopback_need_a_key(cli: Run, home: Path, host: str) -> None:
    ran = cli("serve", "--host", host)
    assert ran.code == 2
    assert "--host must be 127.0.0.1 as long as there is no key" in ran.err
    assert "memorata key create" in ran.err
    # Nothing is made for what is refused.
    assert list(home.iterdir()) == []
    made = cli("key", "create", "old", "-n", "*", "--json").json
    cli("key", "revoke", made["id"])
    ran = cli("serve", "--host", host)
    assert (ran.code, "as long as there is no key" in ran.err) == (2, True)


def test_asking_for_a_key_needs_one(cli: Run, home: Path) -> None:
    ran = cli("serve", "--require-key")
    assert ran.code == 2
    assert "--require-key must be left out as long as there is no key" in ran.err
    assert not (home / "memories.db").exists()


@pytest.mark.parametrize(
    "options",
    [("--rate", "0"), ("--threads", "0"), ("--timeout", "-1"), ("--max-body", "0"), ("--port", "-1")],
)
def test_limits_that_make_no_sense_are_refused(cli: Run, options: tuple[str, ...]) -> None:
    assert cli("serve", *options).code == 2


def test_a_port_that_is_taken_is_told_in_one_line(cli: Run, home: Path) -> None:
    with served(home) as (_, address):
        ran = cli("serve", "--port", address.rpartition(":")[2])
        assert ran.code == 2
        assert "memorata: --port must be one that is free (Address already in use), got " in ran.err


def test_a_server_answers_programs_and_people_and_logs_without_contents(home: Path) -> None:
    with served(home) as (process, address):
        said = httpx.post(f"{address}/v1/memories", json={"content": "the vault opens with marmalade"})
        assert said.status_code == 201
        assert httpx.get(f"{address}/v1/memories/{said.json()['id']}").status_code == 200
        wrong = httpx.post(f"{address}/v1/recall", json={"query": "marmalade", "limit": -1})
        assert wrong.status_code == 422
        assert httpx.get(f"{address}/").headers["content-type"].startswith("text/html")
        assert httpx.get(f"{address}/v1/health", headers={"Host": "evil.example"}).status_code == 421
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=120)
        assert process.returncode == 0
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines if line["event"] != "request"] == ["started", "stopping"]
    assert {"/v1/memories", "/v1/memories/{id:path}"} <= {line.get("route") for line in lines}
    assert "marmalade" not in log
    assert said.json()["id"] not in log


def test_with_keys_required_a_key_is_needed_on_loopback_too(cli: Run, home: Path) -> None:
    token = cli("key", "create", "mine", "-n", "acme/*", "--json").json["token"]
    with served(home, "--require-key", "--no-pages") as (_, address):
        bearer = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{address}/v1/memories").status_code == 401
        whose = {"namespace": "acme/alice"}
        assert httpx.get(f"{address}/v1/memories", headers=bearer, params=whose).status_code == 200
        assert httpx.get(f"{address}/").status_code == 404


def test_a_stop_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(home: Path) -> None:
    acknowledged: list[str] = []
    failed = 0

    def write(address: str, number: int) -> None:
        nonlocal failed
        with httpx.Client() as client:
            for turn in range(10_000):
                try:
                    said = client.post(f"{address}/v1/memories", json={"content": f"thought {number} {turn}"})
                except httpx.TransportError:
                    failed += 1
                    return
                if said.status_code == 201:
                    acknowledged.append(said.json()["id"])

    with served(home, "--no-pages") as (process, address):
        writers = [threading.Thread(target=write, args=(address, number)) for number in range(4)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 40:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        for writer in writers:
            writer.join(120)
    assert failed == 4
    with memorata.open(home / "memories.db", embedder="lexical") as memory:
        there = {found.id for found in memory.store.export(None)}
        assert set(acknowledged) <= there
        assert memory.admin.check() == []
