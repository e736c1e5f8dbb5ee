"""The command mcp: what it is given, what it refuses, and what it says when the SDK is not installed."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from memorata.mcp import server

Run = Callable[..., Any]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was served, instead of serving it."""
    seen: list[Any] = []

    def stdio(opening: Callable[[], Any], *, reference: bool) -> None:
        with opening() as engine:
            seen.append(("stdio", engine.namespace, reference))

    def http(opening: Any, host: str, port: int, announce: Callable[[str], None], *, reference: bool) -> None:
        announce(f"http://{host}:{port}/mcp")
        seen.append(("http", host, port, reference))

    monkeypatch.setattr(server, "serve_stdio", stdio)
    monkeypatch.setattr(server, "serve_http", http)
    monkeypatch.setattr(server, "log_to_stderr", lambda *, debug: seen.append(debug))
    return seen


def test_over_stdio_unless_told_otherwise(cli: Run, home: Path, served: list[Any]) -> None:
    ran = cli("mcp", "-n", "acme/alice")
    assert (ran.code, ran.out) == (0, "")
    assert served == [False, ("stdio", "acme/alice", False)]
    assert (home / "memories.db").exists()


def test_a_person_at_a_terminal_is_told_who_should_be_there(
    cli: Run, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Waiting for a client" not in cli("mcp").err
    monkeypatch.setattr("memorata.cli.mcp.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    asked = cli("mcp")
    assert asked.out == ""
    assert "Waiting for a client to speak on standard input" in asked.err


def test_over_http_where_it_is_told(cli: Run, served: list[Any]) -> None:
    ran = cli("mcp", "-t", "http", "--port", "0", "--compat", "reference", "--debug")
    assert (ran.code, ran.out) == (0, "")
    assert "Listening on http://127.0.0.1:0/mcp" in ran.err
    assert served == [True, ("http", "127.0.0.1", 0, True)]


@pytest.mark.parametrize(
    "given", [("-t", "carrier-pigeon"), ("--compat", "other"), ("--port", "70000"), ("--port", "x")]
)
def test_what_cannot_be_is_refused(cli: Run, served: list[Any], given: tuple[str, ...]) -> None:
    assert cli("mcp", *given).code == 2
    assert served == []


def test_another_machine_is_not_served(cli: Run) -> None:
    ran = cli("mcp", "-t", "http", "--host", "0.0.0.0")
    assert ran.code == 2
    assert "only this machine is served" in ran.err


def test_without_the_sdk_it_says_what_to_install(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.stdio", None)
    monkeypatch.delitem(sys.modules, "memorata.mcp.server")
    monkeypatch.delattr(sys.modules["memorata.mcp"], "server")
    ran = cli("mcp")
    assert ran.code == 4
    assert "pip install 'memorata[mcp]'" in ran.err


def test_the_haste_of_loading_leaves_nothing_behind(cli: Run, served: list[Any]) -> None:
    cli("mcp")
    assert gc.isenabled()
    assert "defer_build" not in BaseModel.model_config
