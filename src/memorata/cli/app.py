"""The application: the table of commands, loaded lazily, and what ``memorata`` prints without a command.

A process of the command line runs one command. To build the others, with all their options, took longer than
most of them run. ``memorata --help`` loads every module of the table: they import typer, this package and the
errors at the top, and the engine where a command runs.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, Final

import typer
from typer import Option
from typer.main import get_group

from memorata import __version__
from memorata.cli.command import GlobalOptions, Group, Session, add_command, guarded, with_global_options

COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "memories": {
        "Remember and recall": "remember correct",
        "Look around": "list show history",
        "Keep in order": "update",
        "Remove": "forget restore purge",
    },
    "recall": {"Remember and recall": "recall briefing", "Look around": "recipes"},
    "graph": {
        "Entities, graph, place and time": "relate entities paths communities hubs near cells timeline",
        "Remove": "about purge-entity",
    },
    "lifecycle": {"Keep in order": "pin unpin used confirm maintain consolidate duplicates contradictions"},
    "transfer": {
        "Files": "import export copy",
        "Look around": "namespaces",
        "Remove": "purge-namespace",
        "Keep in order": "namespace",
    },
    "admin": {"Administration": "check stats vacuum backup encrypt decrypt reembed index distribute bench"},
    "configuration": {"Administration": "doctor trust", "For programs": "install uninstall"},
    "server": {"For agents": "mcp", "For programs": "serve proxy key"},
    "feedback": {"Learn from use": "feedback log replay retune"},
    "demo": {"Remember and recall": "demo"},
    "models": {"Administration": "model"},
    "evaluation": {"Administration": "eval"},
    "tuning": {"Learn from use": "tune experiment"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str | None, str]]]] = {
    "namespace": ("Link, move and split namespaces.", {None: "link unlink links move split"}),
    "key": ("API keys of the server.", {None: "create list revoke"}),
    "model": ("Embedders and re-rankers.", {None: "list install verify remove"}),
    "eval": (
        "Measure the recipes on data with labels.",
        {
            "Data sets": "longmemeval locomo multihop beir smart facts jsonl",
            "Many sets": "suite",
            "Run files": "score compare report",
        },
    ),
    "tune": (
        "Tune on feedback and labels; what wins on held-out questions is saved.",
        {None: "weights thresholds recipe namespaces"},
    ),
    "experiment": ("Compare variants with users.", {None: "create assign recall status stop"}),
}
"""By name, the help of the commands that are groups, and their own commands by heading."""

_FIRST_STEPS: Final = """\
Memorata remembers what you tell it and finds it again, by vectors and by words.

  memorata remember "Anna prefers green tea"     store a memory
  memorata recall "what does Anna drink?"        search
  memorata recall "what does Anna drink?" -e     … and explain the scores
  memorata import notes.md                       import files
  memorata demo                                  a tour, on a made-up conversation
  memorata doctor                                what is installed and in use
  memorata --help                                all commands
"""


class LazyCommands(UserDict[str, Any]):
    """Commands by name, each built with the others of its module when it is first looked up."""

    def __init__(self) -> None:
        self._module_of = {
            name: module
            for module, panels in COMMANDS.items()
            for names in panels.values()
            for name in names.split()
        }
        super().__init__(dict.fromkeys(self._module_of))

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer keeps the type of a command to itself
        if super().__getitem__(name) is None:
            module_name = self._module_of[name]
            module = import_module(f"{__package__}.{module_name}")
            part = typer.Typer(cls=Group, rich_markup_mode="rich")
            _add_all(part, module, COMMANDS[module_name])
            self.update(get_group(part).commands)
        return super().__getitem__(name)


def _add_all(app: typer.Typer, module: ModuleType, panels: Mapping[Any, str]) -> None:
    for panel, names in panels.items():
        for name in names.split():
            if name in GROUPS:
                help_, own = GROUPS[name]
                group = typer.Typer(cls=Group, no_args_is_help=True, help=help_)
                _add_all(group, module, own)
                app.add_typer(group, name=name, rich_help_panel=panel)
            else:
                attribute = name.replace("-", "_")
                function = getattr(module, f"{attribute}_", None) or getattr(module, attribute)
                add_command(app, name, panel, function)


class AllCommands(Group):
    """The group of every command, each loaded when it is asked for."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as typer gives them
        super().__init__(**attributes)
        self.commands = LazyCommands()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the names of the commands, without building any of them."""
        return list(self.commands)


app = typer.Typer(
    cls=AllCommands,
    name="memorata",
    help="Memory that finds the right few things again, on your machine, with reasons.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

Version = Annotated[bool, Option("--version", help="Show the version.")]


def start(ctx: typer.Context, version: Version = False, **options: Any) -> None:  # noqa: ANN401
    """Memory that finds the right few things again, on your machine, with reasons."""
    ctx.obj = GlobalOptions(**options)
    if version:
        typer.echo(f"memorata {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        session = Session(ctx.obj)
        guarded(session, lambda: _show_first_steps(session))


app.callback()(with_global_options(start, [inspect.signature(start, eval_str=True).parameters["version"]]))


def run() -> None:
    """Run the application and leave the process with its exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by the parent process, such as a scheduler. What is opened next would get its number.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - it lasts as long as the process
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its number rather than an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get("COLUMNS") == "0":
        # The parent process does not know the width of the terminal; nothing fits into no columns.
        del os.environ["COLUMNS"]
    app(prog_name="memorata")


def _show_first_steps(session: Session) -> None:
    path = session.settings.db
    if session.output.json:
        session.output.data({"version": __version__, "db": str(path), "exists": path.exists()})
        return
    session.output.line(_FIRST_STEPS)
    state = "" if path.exists() else " (created with the first memory)"
    session.output.line(f"Memories are in {path}{state}")
