"""Fixtures that run the command line inside the test's process, on a database of its own.

A `conftest.py` imports them; the embedder is the lexical one, so no model is needed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from memorata.cli.app import app


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What the command printed, read as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines that the command printed."""
        return self.out.splitlines()


@pytest.fixture(scope="session", autouse=True)
def commands_are_made_once() -> Iterator[None]:
    """Keep the tree of commands: typer's runner makes it anew for each call, which is most of the call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


def _settle(folder: Path, patch: pytest.MonkeyPatch) -> None:
    for name in ("MEMORATA_CONFIG", "MEMORATA_NAMESPACE", "MEMORATA_RECIPE", "FORCE_COLOR", "COLUMNS"):
        patch.delenv(name, raising=False)
    patch.setenv("MEMORATA_DB", str(folder / "memories.db"))
    patch.setenv("MEMORATA_EMBEDDER", "lexical")
    patch.setenv("MEMORATA_MODELS", str(folder / "models"))
    patch.chdir(folder)


def _run(*arguments: str, input: str | bytes | None = None, terminal: bool = False) -> Ran:
    shown = {"FORCE_COLOR": "1", "COLUMNS": "100"} if terminal else {"FORCE_COLOR": None}
    result = CliRunner().invoke(app, list(arguments), input=input, env=shown)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with settings that point nowhere else."""
    _settle(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def cli(home: Path) -> Callable[..., Ran]:
    """Run a command; `terminal` draws as for a person at a terminal of 100 columns."""
    return _run


@pytest.fixture(scope="session")
def tea_database(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Make a database with three memories, and return it with the id of the one about Anna's tea."""
    folder = tmp_path_factory.mktemp("tea")
    with pytest.MonkeyPatch.context() as patch:
        _settle(folder, patch)
        added = _run(
            "remember",
            "Anna prefers green tea",
            "-c",
            "preference",
            "-t",
            "drinks",
            "--speaker",
            "Anna",
            "--role",
            "user",
        )
        _run("remember", "Bob moved to Lisbon in May")
        _run("remember", "Coffee gives Bob headaches")
    return folder / "memories.db", added.out.strip()


@pytest.fixture
def tea(home: Path, tea_database: tuple[Path, str]) -> str:
    """Copy that database, and return the id of the memory about Anna's tea."""
    file, memory_id = tea_database
    shutil.copy(file, home / "memories.db")
    return memory_id
