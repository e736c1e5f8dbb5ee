"""Run the command line inside the test's process, on a database of its own, with the lexical embedder."""

import json
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
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture(scope="session", autouse=True)
def commands_are_made_once() -> Iterator[None]:
    """Keep the tree of commands: typer's runner makes it anew for each call, which is most of the call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and settings that point nowhere else."""
    for name in ("MEMORATA_CONFIG", "MEMORATA_NAMESPACE", "MEMORATA_RECIPE", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORATA_DB", str(tmp_path / "memories.db"))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    monkeypatch.setenv("MEMORATA_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(home: Path) -> Callable[..., Ran]:
    """Run a command; `terminal` draws as for a person at a terminal of 100 columns."""

    def run(*arguments: str, input: str | bytes | None = None, terminal: bool = False) -> Ran:
        shown = {"FORCE_COLOR": "1", "COLUMNS": "100"} if terminal else {"FORCE_COLOR": None}
        result = CliRunner().invoke(app, list(arguments), input=input, env=shown)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def tea(cli: Callable[..., Ran]) -> str:
    """A database with three memories; the id of the one about Anna's tea."""
    said = cli("remember", "Anna prefers green tea", "-c", "preference", "-t", "drinks", "--speaker", "Anna")
    cli("remember", "Bob moved to Lisbon in May")
    cli("remember", "Coffee gives Bob headaches")
    return said.out.strip()
