"""The table of commands: complete, right about who registers what, and a reason to load one module only."""

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.main import get_group

import memorata.cli
from memorata.cli.commands import HOMES, OnDemand

LOADED = """
import atexit, sys
atexit.register(lambda: print("\\n", *sys.modules))
from memorata.cli import main
main()
"""


def homes_loaded(*arguments: str, **variables: str) -> set[str]:
    """Return the modules with commands that a process has loaded when it ends."""
    command = [sys.executable, "-c", LOADED, *arguments]
    environment = os.environ | variables
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    loaded = done.stdout.splitlines()[-1].split()
    assert "memorata.cli.app" in loaded
    return {home for home in HOMES if f"memorata.cli.{home}" in loaded}


@pytest.mark.parametrize("home", HOMES)
def test_a_module_registers_the_commands_that_the_table_says(home: str) -> None:
    part = typer.Typer()
    import_module(f"memorata.cli.{home}").register(part)
    assert tuple(get_group(part).commands) == HOMES[home]


def test_every_module_that_registers_commands_is_in_the_table() -> None:
    names = [each.name for each in pkgutil.iter_modules(memorata.cli.__path__)]
    registering = {name for name in names if hasattr(import_module(f"memorata.cli.{name}"), "register")}
    assert registering == set(HOMES)


def test_a_command_is_made_once() -> None:
    commands = OnDemand(HOMES)
    assert commands["show"] is commands["show"]
    assert len(dict(commands)) == len(commands) == sum(map(len, HOMES.values()))
    with pytest.raises(KeyError, match="shwo"):
        commands["shwo"]


def test_a_process_loads_the_module_of_its_command_alone(home: Path) -> None:
    assert homes_loaded("--version") == set()
    assert homes_loaded("remember", "Anna prefers green tea") == {"remembering"}
    assert homes_loaded("list") == {"looking"}
    assert homes_loaded("recall", "tea") == {"recalling"}
    assert homes_loaded("key", "--help") == {"keys"}
    assert homes_loaded("--help") == set(HOMES)


def test_the_shell_completes_a_command_from_those_that_begin_so(home: Path) -> None:
    asked = {"_MEMORATA_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert homes_loaded(COMP_WORDS="memorata reca", **asked) == {"recalling"}
