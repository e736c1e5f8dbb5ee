"""The command that serves: what it refuses, and a server of its own that loses nothing it acknowledged."""

import gc
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

import memorata
from memorata.engine.access import ApiKeys
from memorata_server.mcp import server
from memorata_server.testing import served

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the environment as it was; the command changes it for what it imports."""
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        monkeypatch.setenv(variable, "1")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_addresses_than_loopback_need_a_key(cli: Run, home: Path, host: str) -> None:
    ran = cli("server", "start", "--host", host)
    assert ran.code == 2
    assert "--host must be 127.0.0.1 as long as there is no key" in ran.err
    assert "memorata server key create" in ran.err
    # Nothing is made for what is refused.
    assert list(home.iterdir()) == []
    made = cli("server", "key", "create", "old", "-n", "*", "--json").json
    cli("server", "key", "revoke", made["id"])
    ran = cli("server", "start", "--host", host)
    assert (ran.code, "as long as there is no key" in ran.err) == (2, True)


def test_asking_for_a_key_needs_one(cli: Run, home: Path) -> None:
    ran = cli("server", "start", "--require-key")
    assert ran.code == 2
    assert "--require-key must be left out as long as there is no key" in ran.err
    assert not (home / "memories.db").exists()


@pytest.mark.parametrize(
    "options",
    [("--rate", "0"), ("--threads", "0"), ("--timeout", "-1"), ("--max-body", "0"), ("--port", "-1")],
)
def test_limits_that_make_no_sense_are_refused(cli: Run, options: tuple[str, ...]) -> None:
    assert cli("server", "start", *options).code == 2


def test_a_port_that_is_taken_is_told_in_one_line(cli: Run, home: Path) -> None:
    with served(home) as (_, address):
        ran = cli("server", "start", "--port", address.rpartition(":")[2])
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
    token = cli("server", "key", "create", "mine", "-n", "acme/*", "--json").json["token"]
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


@pytest.fixture
def mcp_served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was mcp_served, instead of serving it."""
    seen: list[Any] = []

    def stdio(opening: Callable[[], Any], *, reference: bool) -> None:
        with opening() as engine:
            seen.append(("stdio", engine.namespace, reference))

    def http(
        opening: Any,
        host: str,
        port: int,
        announce: Callable[[str], None],
        *,
        reference: bool,
        verifier: Callable[[Any], Any] | None,
    ) -> None:
        announce(f"http://{host}:{port}/mcp")
        seen.append(("http", host, port, reference))
        if verifier is not None:
            with opening() as engine:
                seen.append(verifier(engine))

    monkeypatch.setattr(server, "serve_stdio", stdio)
    monkeypatch.setattr(server, "serve_http", http)
    monkeypatch.setattr(server, "log_to_stderr", lambda *, debug: seen.append(debug))
    return seen


def test_over_stdio_unless_told_otherwise(cli: Run, home: Path, mcp_served: list[Any]) -> None:
    ran = cli("server", "mcp", "-n", "acme/alice")
    assert (ran.code, ran.out) == (0, "")
    assert mcp_served == [False, ("stdio", "acme/alice", False)]
    assert (home / "memories.db").exists()


def test_a_person_at_a_terminal_is_told_who_should_be_there(
    cli: Run, mcp_served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Waiting for a client" not in cli("server", "mcp").err
    monkeypatch.setattr(
        "memorata_server.commands.server.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    )
    asked = cli("server", "mcp")
    assert asked.out == ""
    assert "Waiting for a client on standard input" in asked.err


def test_over_http_where_it_is_told(cli: Run, mcp_served: list[Any]) -> None:
    ran = cli("server", "mcp", "-t", "http", "--port", "0", "--compat", "reference", "--debug")
    assert (ran.code, ran.out) == (0, "")
    assert "Listening on http://127.0.0.1:0/mcp" in ran.err
    assert mcp_served == [True, ("http", "127.0.0.1", 0, True)]


@pytest.mark.parametrize(
    "given", [("-t", "carrier-pigeon"), ("--compat", "other"), ("--port", "70000"), ("--port", "x")]
)
def test_what_cannot_be_is_refused(cli: Run, mcp_served: list[Any], given: tuple[str, ...]) -> None:
    assert cli("server", "mcp", *given).code == 2
    assert mcp_served == []


def test_another_machine_is_not_served_without_a_key(cli: Run, mcp_served: list[Any]) -> None:
    ran = cli("server", "mcp", "-t", "http", "--host", "0.0.0.0")
    assert ran.code == 2
    assert "--host must be 127.0.0.1 as long as there is no key" in ran.err
    assert cli("server", "mcp", "-t", "http", "--require-key").code == 2
    cli("server", "key", "create", "mine", "-n", "*")
    assert cli("server", "mcp", "-t", "http", "--host", "0.0.0.0").code == 0
    assert type(mcp_served[-1]).__name__ == "Verifier"


def test_an_issuer_is_named_with_the_address_its_tokens_are_for(cli: Run, mcp_served: list[Any]) -> None:
    issuer = ("--issuer", "https://login.example")
    assert cli("server", "mcp", "-t", "http", *issuer).code == 2
    assert cli("server", "mcp", "-t", "http", *issuer, "--resource", "https://memory.example/mcp").code == 0
    assert str(mcp_served[-1].settings.resource_server_url) == "https://memory.example/mcp"


def test_the_haste_of_loading_leaves_nothing_behind(cli: Run, mcp_served: list[Any]) -> None:
    cli("server", "mcp")
    assert gc.isenabled()
    assert "defer_build" not in BaseModel.model_config


def test_a_key_is_made_listed_and_revoked(cli: Run, home: Path) -> None:
    made = cli(
        "server", "key", "create", "the bot", "--namespace", "acme/*,beta", "-s", "write", "--json"
    ).json
    assert (made["name"], made["namespaces"], made["scopes"]) == ("the bot", ["acme/*", "beta"], ["write"])
    with memorata.open(home / "memories.db", embedder=None) as memory:
        assert ApiKeys(memory.store).authenticate(made["token"]).allows("write", "acme/alice")
    assert cli("server", "key", "list").lines == [f"{made['id']}\tthe bot\tacme/*,beta\twrite\tvalid"]
    assert cli("server", "key", "revoke", made["id"]).out == f"revoked {made['id']}\n"
    assert cli("server", "key", "list").lines[0].endswith("\trevoked")
    assert cli("server", "key", "list", "--json").json["keys"][0]["revoked_at"] is not None
    assert cli("server", "key", "revoke", made["id"], "--json").json == {"revoked": made["id"]}


def test_a_token_is_shown_once_on_standard_output(cli: Run) -> None:
    made = cli("server", "key", "create", "mine", "-n", "*", "--expires", "2099-01-01")
    assert made.out.startswith("mem_")
    assert "not shown again" in made.err
    assert made.out.strip() not in cli("server", "key", "list", "--json").out
    assert cli("server", "key", "list", "--json").json["keys"][0]["scopes"] == ["read"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "mine"),
        ("create", "mine", "-n", "a/../b"),
        ("create", "mine", "-n", "acme/*", "--scope", "root"),
        ("create", "mine", "-n", "acme/*", "--expires", "2001-01-01"),
        ("create", " ", "-n", "acme/*"),
        ("revoke", "nobody"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Run, arguments: tuple[str, ...]) -> None:
    ran = cli("server", "key", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert cli("server", "key", "list", "--json").json == {"keys": []}


def test_a_key_without_a_namespace_is_told_what_to_give(cli: Run) -> None:
    wrong = cli("server", "key", "create", "laptop").err
    assert wrong.startswith("memorata: --namespace must be given as acme/alice, ")
    assert "got None" not in wrong


def test_no_key_yet_says_how_to_make_one(cli: Run) -> None:
    assert "memorata server key create" in cli("server", "key", "list").err


def test_a_proxy_starts_stands_before_a_service_and_ends_with_a_signal(cli: Run, home: Path) -> None:
    assert cli("server", "proxy", "--upstream", "nowhere").code == 2
    assert cli("server", "proxy", "--upstream", "http://127.0.0.1:9", "--host", "0.0.0.0").code == 2
    command = [
        sys.executable,
        "-m",
        "memorata",
        "server",
        "proxy",
        "--upstream",
        "http://127.0.0.1:9",
        "--port",
        "0",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=home)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("Proxy for"))
        answer = httpx.post(f"{line.split()[-1]}/messages", json={}, trust_env=False)
        assert answer.status_code == 502
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()
