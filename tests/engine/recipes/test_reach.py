"""docs/designs.md: every parameter, verb, command, field, page and test that it names exists."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import memorata
from memorata.cli.app import app
from memorata.engine.access import ApiKeys
from memorata.engine.recipes import PARAMETERS, RECIPES
from memorata.engine.settings import Settings
from memorata_graph import pages as graph
from memorata_lab import pages as lab
from memorata_server.answers import RecallAnswer
from memorata_server.http.app import create_api
from memorata_server.schemas import RecallRequest, TuningJob
from memorata_server.web import browse, review, search, settings

ROOT = Path(__file__).parents[3]
TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs/designs.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| item ")
]
NAMES = {parameter.name for parameter in PARAMETERS}
PAGES = {route.path for pages in (browse, graph, review, search, settings, lab) for route in pages.ROUTES}
FIELDS = {*RecallRequest.model_fields, *RecallAnswer.model_fields, *TuningJob.model_fields}


@pytest.fixture(scope="module")
def memory() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder=None) as engine:
        yield engine


def named(column: int, expression: str) -> list[str]:
    """Return what an expression finds in the cells of a column, each once."""
    return list(dict.fromkeys(name for row in TABLE for name in re.findall(expression, row[column])))


def test_every_item_has_its_row_of_six_cells() -> None:
    assert len(TABLE) >= 100
    assert all(len(row) == 6 and all(row) for row in TABLE)


def test_parameters_and_recipes_exist() -> None:
    reached = (r'recall\(recipe=\{"(\w+)"', r"--set (\w+)=", r"parameters\.(\w+)", r"control `(\w+)`")
    for column, expression in enumerate(reached, 1):
        found = named(column, expression)
        assert found
        assert set(found) <= NAMES
    assert set(named(1, r'recipe="(\w+)"') + named(2, r"--recipe (\w+)")) <= set(RECIPES)


def test_verbs_and_modules_exist(memory: memorata.Engine) -> None:
    for function, argument in re.findall(r"`(open|recall)\((\w+)=", "\n".join(row[1] for row in TABLE)):
        verb = memorata.open if function == "open" else memory.recall
        assert argument in inspect.signature(verb).parameters, (function, argument)
    for name in named(1, r"`memory\.([\w.]+)`"):
        found: Any = memory
        for part in name.split("."):
            found = getattr(found, part)
    for name in named(1, r"`(memorata\.[\w.]+)`"):
        package, _, last = name.rpartition(".")
        if not hasattr(import_module(package), last):
            import_module(name)


@pytest.mark.untraced
def test_commands_options_and_settings_exist() -> None:
    lines = named(2, r"`(memorata [^`]+)`")
    assert lines
    for line in lines:
        command: Any = get_command(app)
        for word in line.split()[1:]:
            if hasattr(command, "commands"):
                assert word in command.list_commands(None)
                command = command.commands[word]
        options = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", line)) <= options, line
    variables = named(2, r"`MEMORATA_(\w+)`")
    assert {name.lower() for name in variables} <= set(Settings.model_fields)


@pytest.mark.untraced
def test_routes_fields_and_pages_exist(memory: memorata.Engine) -> None:
    paths = create_api(memory, ApiKeys(memory.store, required=False)).openapi()["paths"]
    routes = re.findall(r"`(GET|POST) (/v1/[^`]+)`", "\n".join(row[3] for row in TABLE))
    assert routes
    for method, path in routes:
        assert method.lower() in paths[path], path
    assert set(named(3, r"`: `(\w+)`")) <= FIELDS
    pages = named(4, r"`(/[^`]*)`")
    assert pages
    assert set(pages) <= PAGES


@pytest.mark.parametrize("test", named(5, r"`(tests/[^`]+)`"))
def test_the_tests_exist(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")


def test_every_shipped_design_has_its_recipe_in_the_table() -> None:
    designs = {"memento", "memini", "openvault", "haia", "semstreams", "azure", "elastic", "pinecone"}
    assert designs | {"adaptive", "confident", "precise"} <= set(named(1, r'recipe="(\w+)"'))
