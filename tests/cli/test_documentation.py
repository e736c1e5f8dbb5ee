"""docs/cli.md and the command line say the same: every command, every option, every key of the JSON."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from memorata.cli.app import app
from memorata.cli.command import GlobalOptions
from memorata.engine.settings import Settings
from memorata.service.codec import FIELDS

Run = Callable[..., Any]

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def named(heading: str) -> list[str]:
    """Return what a heading is about: "memorata lab eval a, b" is about two commands."""
    first, *others = heading.split(", ")
    return [first, *(f"{first.rpartition(' ')[0]} {other}" for other in others)]


SECTIONS = {
    name: text
    for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", DOCS.read_text("utf-8"), re.M | re.S)
    for name in named(heading)
}
EVERYWHERE = {
    "--help",
    "-h",
    "-q",
    "-n",
    *(f"--{name.replace('_', '-')}" for name in GlobalOptions.__dataclass_fields__),
}


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(commands(get_command(app), "memorata"))


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert {name for name in SECTIONS if name.startswith("memorata ")} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described_where_it_belongs(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts if option[0] == "-"}
    assert EVERYWHERE - {"--help", "-h"} <= options
    described = set(re.findall(r"`(-[\w-]+)", "\n".join(re.findall(r"^\| `-.*", SECTIONS[name], re.M))))
    assert described == options - EVERYWHERE


def test_the_options_of_every_command_are_described() -> None:
    described = set(re.findall(r"`(-[\w-]+)", SECTIONS["Options of every command"]))
    assert described == EVERYWHERE
    top = {option for parameter in get_command(app).params for option in parameter.opts}
    assert top - EVERYWHERE == {"--version", "--install-completion", "--show-completion"}
    assert all(option in DOCS.read_text("utf-8") for option in top)


def test_every_setting_is_described_with_its_variable() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(MEMORATA_\w+)` \|", SECTIONS["Settings"], re.M)
    assert rows == [(name, f"MEMORATA_{name.upper()}") for name in Settings.names]


def test_every_field_of_a_memory_is_named() -> None:
    assert set(FIELDS) <= set(re.findall(r"`(\w+)`", SECTIONS["Memories as JSON"]))


JSON = {
    "recall": ("recall", "tea", "-e"),
    "demo": ("demo",),
    "admin reembed": (
        "admin",
        "reembed",
    ),
    "list": ("list",),
    "history": ("history", "{tea}"),
    "namespace list": ("namespace", "list"),
    "graph relate": ("graph", "relate", "Anna", "knows", "Bob"),
    "graph entities": ("graph", "entities", "Anna"),
    "graph paths": ("graph", "paths", "Bob"),
    "graph communities": (
        "graph",
        "communities",
    ),
    "graph near": ("graph", "near", "1,2"),
    "graph timeline": (
        "graph",
        "timeline",
    ),
    "recipes": ("recipes", "balanced"),
    "feedback log": ("feedback", "log"),
    "lab retune": ("lab", "retune", "--dry-run", "--bounds", "0.1,0.9"),
    "lab experiment create": ("lab", "experiment", "create", "e", "--variant", "a:0.5", "--variant", "b:0.5"),
    "feedback used": ("feedback", "used", "{tea}"),
    "feedback confirm": ("feedback", "confirm", "{tea}"),
    "admin maintain": ("admin", "maintain", "--dry-run"),
    "admin consolidate": (
        "admin",
        "consolidate",
    ),
    "graph about": ("graph", "about", "Anna", "anna.jsonl"),
    "graph purge": ("graph", "purge", "Anna", "--yes"),
    "namespace purge": ("namespace", "purge", "default", "--yes"),
    "forget": ("forget", "{tea}"),
    "restore": ("restore", "{tea}"),
    "purge": ("purge", "{tea}", "--yes"),
    "import": ("import", "notes.txt"),
    "export": ("export", "out.jsonl"),
    "duplicates": ("duplicates",),
    "contradictions": ("contradictions",),
    "admin check": (
        "admin",
        "check",
    ),
    "admin stats": (
        "admin",
        "stats",
    ),
    "admin vacuum": (
        "admin",
        "vacuum",
    ),
    "admin backup": ("admin", "backup", "copy.db"),
    "doctor": ("doctor",),
    "admin bench": ("admin", "bench", "--memories", "2", "--queries", "2"),
    "lab eval facts": ("lab", "eval", "facts", "facts.tsv", "--runs", "new"),
    "lab eval score": ("lab", "eval", "score", "{run}"),
    "lab eval compare": ("lab", "eval", "compare", "{run}", "{run}"),
    "lab eval report": ("lab", "eval", "report", "{run}"),
    "model list": ("model", "list"),
    "model verify": ("model", "verify"),
}


@pytest.mark.untraced
@pytest.mark.parametrize("name", JSON)
def test_the_keys_of_the_json_are_described(cli: Run, tea: str, home: Path, name: str) -> None:
    (home / "notes.txt").write_text("one")
    cli("remember", "Anna was here", "--place", "1,2")
    cli("graph", "relate", "Anna", "knows", "Bob")
    (home / "facts.tsv").write_text("Anna likes tea.\tWhat does Anna like?\n")
    run = ""
    if "{run}" in JSON[name]:
        cli("lab", "eval", "facts", "facts.tsv", "--recipe", "bm25")
        (found,) = (home / "runs").glob("*.bm25.jsonl")
        run = str(found)
    ran = cli(*(argument.format(tea=tea, run=run) for argument in JSON[name]), "--json")
    described = set(re.findall(r"`(\w+)`", SECTIONS[f"memorata {name}"]))
    assert ran.code == 0
    assert set(ran.json) <= described
    for value in ran.json.values():
        if isinstance(value, list) and value and isinstance(value[0], dict) and "content" not in value[0]:
            assert set(value[0]) <= described | set(FIELDS)
