"""The hook and its background process: asked, started, refused, and never in the agent's way."""

import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata_agents.hooks import client
from memorata_agents.hooks.client import (
    address_file,
    ask,
    last_failure,
    log_failure,
    read_address,
    run,
    run_folder,
)
from memorata_agents.hooks.daemon import HookServer

PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": "When do we deploy?"}
REQUEST = {"agent": "claude-code", "event": PROMPT}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run_folder({}, tmp_path)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of the server that these tests share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[HookServer]:
    """Serve a memory from a thread of this process."""
    folder = run_folder({}, home)
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember("We deploy on Fridays.")
        server = HookServer(engine, address_file(folder, {}), folder)
        thread = threading.Thread(target=server.serve)
        thread.start()
        while read_address(folder, {}) is None:
            thread.join(0.01)
        yield server
        server.shutdown()
        thread.join()
        assert read_address(folder, {}) is None


def test_an_event_is_answered(server: HookServer, home: Path) -> None:
    answers = io.StringIO()
    event = json.dumps(PROMPT).encode()
    assert run("claude-code", io.BytesIO(event), answers, {}, home=home) == 0
    told = json.loads(answers.getvalue())
    assert "We deploy on Fridays." in told["hookSpecificOutput"]["additionalContext"]


def test_nothing_to_tell_is_nothing_written(server: HookServer, home: Path) -> None:
    answers = io.StringIO()
    event = json.dumps({**PROMPT, "prompt": "/clear"}).encode()
    assert run("claude-code", io.BytesIO(event), answers, {}, home=home) == 0
    assert answers.getvalue() == ""


def test_the_address_is_for_the_user_alone(server: HookServer) -> None:
    if os.name == "posix":
        assert stat.S_IMODE(address_file(server.folder, {}).stat().st_mode) == 0o600
        assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700


def test_who_does_not_know_the_token_is_told_nothing(server: HookServer) -> None:
    elsewhere = server.folder / "forged"
    elsewhere.mkdir()
    address = json.loads(address_file(server.folder, {}).read_text())
    address_file(elsewhere, {}).write_text(json.dumps({**address, "token": "x"}))
    with pytest.raises(ConnectionError, match="wrong token"):
        ask(REQUEST, 1.0, {}, elsewhere)


def resident() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1]) * 1_024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_strangers_take_neither_memory_nor_the_place_of_the_user(server: HookServer) -> None:
    before, part = resident(), b"a" * 1_000_000
    with ExitStack() as opened:
        for _ in range(40):
            stranger = opened.enter_context(
                socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=5)
            )
            with suppress(OSError):
                for _ in range(3):
                    stranger.sendall(part)
        assert resident() - before < 20_000_000
    until = time.monotonic() + 20
    while True:
        # Their threads end when they have gone.
        with suppress(OSError, ValueError):
            assert ask(REQUEST, 5.0, {}, server.folder)
            break
        assert time.monotonic() < until


@pytest.mark.parametrize(
    "sent", [b"", b"\n", b"\xff" * 200 + b"\n{}\n", b"[" * 100_000 + b"\n", b'{"token": "x", "event": {}}\n']
)
def test_odd_bytes_of_strangers_are_refused(server: HookServer, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=5) as stranger:
        stranger.sendall(sent)
        stranger.shutdown(socket.SHUT_WR)
        assert json.loads(stranger.makefile("rb").read()) == {"error": "wrong token"}


@pytest.mark.parametrize(
    "request_", [b"[", b"[" * 100_000, b"5", b'{"event": 5}', b'{"agent": "x", "event": {}}']
)
def test_odd_requests_get_an_error_and_the_next_one_an_answer(server: HookServer, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=5) as stranger:
        stranger.sendall(server.token.encode() + b"\n" + request_ + b"\n")
        assert "error" in json.loads(stranger.makefile("rb").readline())
    assert ask(REQUEST, 5.0, {}, server.folder)


@pytest.mark.parametrize("event", [b"{", b"[]", b'{"hook_event_name": "Stop"}'])
def test_whatever_goes_wrong_is_logged_and_the_agent_goes_on(
    event: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        client, "start", lambda environment: subprocess.Popen([sys.executable, "-c", "raise"])
    )
    answers = io.StringIO()
    assert run("codex", io.BytesIO(event), answers, {}, home=tmp_path) == 0
    assert answers.getvalue() == ""
    assert "codex: " in str(last_failure(run_folder({}, tmp_path)))


def test_an_error_of_the_process_is_logged(server: HookServer, home: Path) -> None:
    answers = io.StringIO()
    run("clippy", io.BytesIO(json.dumps(PROMPT).encode()), answers, {}, home=home)
    assert "InvalidArgument" in str(last_failure(server.folder))


@pytest.mark.parametrize("address", [None, {"port": 1, "token": "x"}])
def test_a_prompt_goes_on_silently_while_the_process_starts(
    address: dict[str, Any] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run_folder({}, tmp_path)
    folder.mkdir(parents=True)
    if address is not None:
        address_file(folder, {}).write_text(json.dumps(address))
    started: list[subprocess.Popen[bytes]] = []

    def start(environment: Any) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(client, "start", start)
    monkeypatch.setitem(client.TIMEOUT_SECONDS, "UserPromptSubmit", 0.1)
    answers = io.StringIO()
    assert run("claude-code", io.BytesIO(json.dumps(PROMPT).encode()), answers, {}, home=tmp_path) == 0
    assert answers.getvalue() == ""
    assert last_failure(folder) is None
    [process] = started
    process.kill()
    process.communicate()


def test_other_settings_have_another_process(folder: Path) -> None:
    assert address_file(folder, {"MEMORATA_DB": "a"}) != address_file(folder, {"MEMORATA_DB": "b"})
    assert address_file(folder, {"PATH": "a"}) == address_file(folder, {"PATH": "b"})


def test_a_process_ends_when_another_took_over_and_when_nobody_asks(folder: Path) -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        first = HookServer(engine, address_file(folder, {}), folder)
        thread = threading.Thread(target=first.serve)
        thread.start()
        while read_address(folder, {}) is None:
            thread.join(0.01)
        idle = HookServer(engine, address_file(folder, {}), folder, idle=0.0)
        idle.serve()
        thread.join()
        assert read_address(folder, {}) is None


def test_the_log_is_bounded(folder: Path) -> None:
    for _ in range(30):
        log_failure(folder, "x" * 10_000)
    assert (folder / "failures.log").stat().st_size < 2 * client.MAX_LOG_BYTES


def test_a_hook_starts_the_process_and_what_it_captures_is_recalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "LOCALAPPDATA": str(tmp_path / "data"),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "MEMORATA_EMBEDDER": "lexical",
        "PATH": os.environ["PATH"],
    }
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(client, "_CAPTURE_TIMEOUT_SECONDS", 60.0)
    start = client.start
    processes: list[subprocess.Popen[bytes]] = []

    def counted(given: Any) -> subprocess.Popen[bytes]:
        processes.append(start(given))
        return processes[-1]

    monkeypatch.setattr(client, "start", counted)
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"content": "We deploy on Fridays."}}
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(json.dumps(line))
    folder = run_folder(environment, tmp_path)
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    told = None
    try:
        run("claude-code", io.BytesIO(json.dumps(stop).encode()), io.StringIO(), environment, home=tmp_path)
        assert last_failure(folder) is None
        while told is None:
            # Captures are done behind the answers.
            told = ask(REQUEST, 60.0, environment, folder)
    finally:
        # Without its address a process has been replaced, and ends.
        address_file(folder, environment).unlink(missing_ok=True)
        for process in processes:
            process.wait(60)
    assert len(processes) == 1
    assert "We deploy on Fridays." in told["hookSpecificOutput"]["additionalContext"]


def test_the_process_computes_on_one_thread_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, *, env, **options: started.append(env))
    client.start({"PATH": "/bin"})
    client.start({"PATH": "/bin", "OPENBLAS_NUM_THREADS": "4"})
    assert [env["OPENBLAS_NUM_THREADS"] for env in started] == ["1", "4"]


@pytest.mark.skipif(os.name == "nt", reason="rights of files are another matter there")
def test_the_log_is_for_the_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = tmp_path / "share" / "memorata" / "hooks"
        log_failure(folder, "it did not answer")
        log_failure(folder, "again")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.parents[:2])] == [0o700] * 3
    assert stat.S_IMODE((folder / "failures.log").stat().st_mode) == 0o600
