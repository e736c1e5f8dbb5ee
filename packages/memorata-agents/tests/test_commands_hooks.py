"""Installing into coding agents from the command line: shown, asked, written, undone."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata_agents.hooks.client import address_file, log_failure, read_address, run_folder
from memorata_agents.hooks.daemon import HookServer

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a home without agents."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_what_would_change_is_shown_and_nothing_written(cli: Run, home: Path) -> None:
    shown = cli("agents", "install", "claude-code", "--dry-run")
    assert "memorata-hook claude-code" in shown.out
    assert list(home.iterdir()) == []


def test_install_and_uninstall(cli: Run, home: Path) -> None:
    assert cli("agents", "install", "codex", "--yes").code == 0
    assert (home / ".codex" / "hooks.json").exists()
    assert "has all of it already" in cli("agents", "install", "codex", "--yes").err
    assert "codex\tinstalled" in cli("agents", "list").out
    undone = cli("agents", "uninstall", "codex", "--yes", "--json").json
    assert undone["written"]
    assert len(undone["files"]) == 2
    assert not (home / ".codex" / "hooks.json").exists()
    assert "has none of it already" in cli("agents", "uninstall", "codex", "--yes").err


def test_uninstalling_ends_the_background_process(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(home / "data"))
    cli("agents", "install", "cursor", "--yes")
    folder = run_folder(os.environ, home)
    with memorata.open(":memory:", embedder="lexical") as engine:
        server = HookServer(engine, address_file(folder, os.environ), folder)
        serving = threading.Thread(target=server.serve)
        serving.start()
        while read_address(folder, os.environ) is None:
            serving.join(0.01)
        try:
            cli("agents", "uninstall", "cursor", "--dry-run")
            assert read_address(folder, os.environ) is not None
            cli("agents", "uninstall", "cursor", "--yes")
            serving.join(30)
            assert not serving.is_alive()
        finally:
            server.shutdown()
            serving.join()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "cursor"])
def test_a_server_that_could_not_start_is_not_installed(
    cli: Run, home: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without_server:
        without_server.setattr("memorata_agents.commands.hooks.find_spec", lambda name: None)
        refused = cli("agents", "install", agent, "--yes")
        assert refused.code != 0
        assert refused.err.endswith("pip install . packages/memorata-server\n")
        assert list(home.iterdir()) == []
        assert cli("agents", "uninstall", agent, "--yes").code == 0
    assert cli("agents", "install", agent, "--yes").code == 0


def test_without_a_terminal_it_asks_for_yes(cli: Run, home: Path) -> None:
    refused = cli("agents", "install", "cursor")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert list(home.iterdir()) == []


def test_an_agent_that_is_not_known(cli: Run) -> None:
    assert "one of 'claude-code', 'codex', 'cursor', got 'clippy'" in cli("agents", "install", "clippy").err


def test_the_last_failure_is_listed(cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    cli("agents", "install", "cursor", "--yes")
    log_failure(run_folder({"XDG_DATA_HOME": str(home / "data")}, home), "cursor: TimeoutError: too late")
    listed = cli("agents", "list", "--json").json
    assert listed["agents"] == {"claude-code": False, "codex": False, "cursor": True}
    assert listed["last_failure"].endswith("cursor: TimeoutError: too late")
    assert "cursor: TimeoutError: too late" in cli("agents", "list").err
