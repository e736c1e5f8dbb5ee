"""Run the worked examples of the published designs, look up how items are reached, write docs/designs.md.

The items are in `designs.toml` beside this file. ``python packages/memorata-lab/designs/check.py`` writes the
page, and ends with what is not as the table says; a test compares the two.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from typer.main import get_command

import memorata
from memorata import dedupe, rank, text
from memorata.cli.app import app
from memorata.engine.access import ApiKeys
from memorata.engine.recipes import PARAMETERS, RECIPES
from memorata.engine.settings import Settings
from memorata.model import parameters_of
from memorata_graph import Graph, adjacency, cells, pagerank
from memorata_graph import pages as graph_pages
from memorata_lab import pages as lab_pages
from memorata_server.http.app import create_api
from memorata_server.mcp.tools import tools
from memorata_server.web import browse, review, search, settings

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "designs.md"
TABLE = tomllib.loads((HERE / "designs.toml").read_text("utf-8"))
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
TOLERANCE = 5.1e-5
OPTIONS = frozenset(inspect.signature(memorata.open).parameters)
INTERFACES = ("python", "cli", "http", "mcp", "page")
Item = Mapping[str, Any]

HEAD = """# What the designs describe, what the code computes, and how it is reached

Memorata descends from five designs. One row is one item of a design: a worked example with the value that the
code computes, how the item is reached in Python, on the command line, over HTTP, by agents (MCP) and on the
page, and whether it is as in the design. `python packages/memorata-lab/designs/check.py` runs the
examples, looks every name up and writes this page; a test compares the two.

Items: {items}. As in the design: {same}. Different, with the reason: {differing}. With a computed value:
{computed}. Reached in Python alone: {alone}.

In the examples `rank`, `dedupe` and `text` are modules of `memorata`, `adjacency`, `pagerank` and `cells` of
`memorata_graph`, `np` is numpy, `now` is noon of 7 May 2026, and `memory` is new, with the built-in model:
`memorata.open(":memory:", embedder="builtin", clock=lambda: now)`. `graph` is
`memorata_graph.Graph(memory)`. `from_lab` imports from `memorata_lab`,
`rank_parameters` is `memorata.model.parameters_of`, and `error_of` gives the name of what is raised. Names
before an example are of what is prepared; how, stands in the first table.
"""


COLUMNS = "| item | by the code | as in the design? if not, why | Python | command line | HTTP | MCP | page |"


def error_of(call: Callable[[], object]) -> str:
    """Return the name of the error that a call raises; empty if it raises none."""
    try:
        call()
    except memorata.MemorataError as error:
        return type(error).__name__
    return ""


def computed(item: Item) -> object:
    """Return what the code of an item computes, as plain data."""
    names: dict[str, Any] = {
        "memorata": memorata, "rank": rank, "dedupe": dedupe, "text": text,
        "adjacency": adjacency, "pagerank": pagerank, "cells": cells, "np": np,
        "datetime": datetime, "timedelta": timedelta, "UTC": UTC, "now": NOW,
        "rank_parameters": parameters_of, "error_of": error_of,
        "from_lab": lambda name: import_module(f"memorata_lab.{name}"),
    }  # fmt: skip
    lines = "; ".join([*(TABLE["given"][name] for name in item.get("given", ())), item["code"]])
    *before, last = lines.split("; ")
    with memorata.open(":memory:", embedder="builtin", clock=lambda: NOW) as memory:
        names["memory"], names["graph"] = memory, Graph(memory)
        # The table is part of the repository, as a doctest is; what is run is what the page shows.
        exec("\n".join(before), names)
        return plain(eval(last, names))


def plain(value: Any) -> Any:  # noqa: ANN401 - of any item
    """Return a value as TOML has it: numpy's numbers as Python's, tuples as lists, None as an empty text."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def agrees(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - of any item
    """Return whether a computed value is the wanted one, numbers to four decimals."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and value.keys() == wanted.keys() and all(
            agrees(value[name], part) for name, part in wanted.items()
        )  # fmt: skip
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(agrees, value, wanted))
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return isinstance(value, int | float) and abs(value - wanted) <= TOLERANCE
    return bool(value == wanted)


def reach(item: Item) -> dict[str, str]:
    """Return how an item is reached by each interface; an empty text where it is not."""
    cells = dict.fromkeys(INTERFACES, "")
    if parameters := item.get("parameters"):
        cells["python"] = ", ".join(f'`recall(recipe={{"{name}": …}})`' for name in parameters)
        cells["cli"] = f"`memorata recall {' '.join(f'--set {name}=…' for name in parameters)}`"
        cells["http"] = ", ".join(f"`parameters.{name}`" for name in parameters)
        cells["mcp"] = "`recall`: `parameters`"
        cells["page"] = ", ".join(f"control `{name}`" for name in parameters)
    if recipe := item.get("recipe"):
        cells["python"] = f'`recall(recipe="{recipe}")`'
        cells["cli"] = f"`memorata recall --recipe {recipe}`"
        cells["http"], cells["mcp"] = "`POST /v1/recall`: `recipe`", "`recall`: `recipe`"
        cells["page"] = "the recipe on `/`"
    if setting := item.get("setting"):
        taker = "open" if setting in OPTIONS else "Config"
        cells["python"], cells["cli"] = f"`{taker}({setting}=…)`", f"`MEMORATA_{setting.upper()}`"
        cells["http"] = cells["mcp"] = "as the server was started"
        cells["page"] = "`/settings`"
    for name in INTERFACES:
        if own := item.get(name):
            first, _, second = own.partition(": ")
            prefix = "memorata " if name == "cli" else ""
            shown = first.replace("=, ", "=…, ").replace("=)", "=…)")
            cells[name] = f"`{prefix}{shown}`" + (f": `{second}`" if second else "")
    return cells


@cache
def routes() -> dict[str, Any]:
    """Return the paths of the HTTP API with their operations, and the schemas they name."""
    with memorata.open(":memory:", embedder=None) as memory:
        return create_api(memory, ApiKeys(memory.store, required=False)).openapi()


@cache
def pages() -> frozenset[str]:
    """Return the addresses of the page."""
    modules = (browse, graph_pages, lab_pages, review, search, settings)
    return frozenset(route.path for module in modules for route in module.ROUTES)


def unknown(item: Item) -> list[str]:
    """Return what an item names and nothing has."""
    recipe, setting, parameters = item.get("recipe"), item.get("setting"), item.get("parameters", ())
    missing = sorted({*parameters} - {each.name for each in PARAMETERS})
    if recipe is not None and recipe not in RECIPES:
        missing.append(recipe)
    taken = {*OPTIONS, *inspect.signature(memorata.Config).parameters}
    if setting is not None and not (setting in Settings.names and (setting in taken or "python" in item)):
        missing.append(setting)
    looks = {"python": _in_python, "cli": _in_commands, "http": _in_routes, "mcp": _in_tools}
    missing += [item[name] for name, look in looks.items() if name in item and not look(item[name])]
    if "page" in item and item["page"] not in pages():
        missing.append(item["page"])
    return missing


def _in_python(name: str) -> bool:
    """Return whether a name exists, and takes the arguments that stand in brackets."""
    dotted, _, arguments = name.removesuffix(")").partition("(")
    first, *rest = dotted.split(".")
    with memorata.open(":memory:", embedder=None) as memory:
        own: dict[str, Any] = {"memory": memory, "graph": Graph(memory)}
        found: Any = own[first] if first in own else import_module(first)
        for place, part in enumerate(rest, 1):
            if not hasattr(found, part):
                if not inspect.ismodule(found):
                    return False
                try:
                    import_module(".".join([first, *rest[:place]]))
                except ModuleNotFoundError:
                    return False
            found = getattr(found, part)
        taken = inspect.signature(found).parameters if arguments else {}
        return all(argument.rstrip("=") in taken for argument in arguments.split(", ") if argument)


def _in_commands(line: str) -> bool:
    """Return whether a command exists and has the options."""
    command: Any = get_command(app)
    words = line.split()
    for word in words:
        if hasattr(command, "commands"):
            if word not in command.list_commands(None):
                return False
            command = command.commands[word]
    options = {option for parameter in command.params for option in parameter.opts}
    return {word for word in words if word.startswith("--")} <= options


def _in_routes(name: str) -> bool:
    """Return whether an operation exists and has the field, in its query, its body or its answer."""
    (method, path), field = name.partition(": ")[0].split(), name.partition(": ")[2]
    operation = routes()["paths"].get(path, {}).get(method.lower())
    if operation is None or not field:
        return operation is not None
    named = {parameter["name"] for parameter in operation.get("parameters", ())}
    for schema in re.findall(r"#/components/schemas/([\w-]+)", str(operation)):
        named |= routes()["components"]["schemas"][schema].get("properties", {}).keys()
    return field in named


def _in_tools(name: str) -> bool:
    """Return whether agents have a tool, and it the argument."""
    tool, _, argument = name.partition(": ")
    fields = {each.name: each.arguments.model_fields for each in tools()}
    return tool in fields and (not argument or argument in fields[tool])


def problem(item: Item) -> str:
    """Return what an item names and nothing has, or what is computed otherwise; empty if all is right."""
    if missing := unknown(item):
        return f"there is no {', '.join(missing)}"
    if "code" not in item:
        return ""
    value = computed(item)
    return "" if agrees(value, item["is"]) else f"the code gives {value!r}"


def code(source: str) -> str:
    """Return code for a cell of a table."""
    return "`" + source.replace("|", "\\|") + "`"


def row(item: Item) -> str:
    """Return the line of an item."""
    given = "".join(f"{name}: " for name in item.get("given", ()))
    example = f"{given}{code(item['code'])} = {item['is']!r}" if "code" in item else "—"
    verdict = f"no: {item['differs']}" if "differs" in item else "yes"
    cells = reach(item)
    return (
        f"| {' | '.join([item['item'], example, verdict, *(cells[name] or '—' for name in INTERFACES)])} |\n"
    )


def page() -> str:
    """Return the text of the page."""
    items = [item for items in TABLE["designs"].values() for item in items]
    differing = sum("differs" in item for item in items)
    alone = sum(not any(reach(item)[name] for name in INTERFACES[1:]) for item in items)
    lines = [HEAD.format(
        items=len(items), same=len(items) - differing, differing=differing,
        computed=sum("is" in item for item in items), alone=alone,
    )]  # fmt: skip
    lines.append("\n| name | what is prepared |\n|---|---|\n")
    lines += [f"| {name} | {code(source)} |\n" for name, source in TABLE["given"].items()]
    for design, its in TABLE["designs"].items():
        lines.append(f"\n## {design}\n\n{COLUMNS}\n{'|---' * COLUMNS.count(' | ')}|---|\n")
        lines += map(row, its)
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for design, its in TABLE["designs"].items():
        for item in its:
            if wrong := problem(item):
                sys.stderr.write(f"{design}, {item['item']}: {wrong}\n")
