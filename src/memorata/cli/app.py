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
from functools import partial
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, Final, Protocol, TypeAlias

import typer
from typer import Option
from typer.main import get_group

from memorata import __version__, _satellites
from memorata.cli.command import (
    GlobalOptions,
    Group,
    Session,
    add_command,
    guarded,
    with_global_options,
)

CommandGroup: TypeAlias = tuple[str, str, Mapping[str, Mapping[str | None, str]]]
"""The heading of a group, its help, and its commands by module and heading."""
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "memories": {
        "Remember and recall": "remember correct",
        "Look around": "list show history",
        "Keep in order": "update",
        "Remove": "forget restore purge",
    },
    "recall": {"Remember and recall": "recall briefing", "Look around": "recipes"},
    "lifecycle": {"Keep in order": "duplicates contradictions"},
    "transfer": {"Files": "import export"},
    "configuration": {"Look around": "doctor"},
    "demo": {"Remember and recall": "demo"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, CommandGroup]] = {
    "admin": (
        "Groups of commands",
        "Check, back up and tend the database: what operators do.",
        {
            "admin": {
                "Soundness": "check backup vacuum stats",
                "Vectors": "reembed",
                "Encryption": "encrypt decrypt",
                "Measurement": "bench",
            },
            "lifecycle": {"Upkeep": "maintain consolidate set-trust"},
            "transfer": {"Soundness": "copy"},
            "configuration": {"Consent": "trust"},
        },
    ),
    "namespace": (
        "Groups of commands",
        "List, link, move, split and purge namespaces.",
        {"namespaces": {None: "list link unlink links move split purge"}},
    ),
    "feedback": (
        "Groups of commands",
        "Record how good hits were, and read the log of recalls.",
        {"feedback": {None: "add used confirm log"}},
    ),
}
"""By name, the groups of commands."""


class CommandTables(Protocol):
    """What a package of commands declares: tables like those above."""

    COMMANDS: Mapping[str, Mapping[Any, str]]
    GROUPS: Mapping[str, CommandGroup]


_SATELLITES: Final = "Packages beside the core"
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
    """The commands of the tables of a package by name, each built with the others of its module.

    They are built when one of them is first looked up.
    """

    def __init__(self, package: str, tables: CommandTables) -> None:
        self._package, self._tables = package, tables
        self._module_of = {
            name: module
            for module, panels in tables.COMMANDS.items()
            for names in panels.values()
            for name in names.split()
        }
        super().__init__(dict.fromkeys((*self._module_of, *tables.GROUPS)))

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer keeps the type of a command to itself
        if super().__getitem__(name) is None:
            part = typer.Typer(cls=Group, rich_markup_mode="rich")
            if name in self._module_of:
                home = self._module_of[name]
                module = import_module(f"{self._package}.{home}")
                _add_all(part, module, self._tables.COMMANDS[home])
            elif name in self._tables.GROUPS:
                _add_group(part, name, self._package, self._tables.GROUPS[name])
            else:
                _add_satellite(part, name)
            self.update(get_group(part).commands)
        return super().__getitem__(name)


def lazy_group(package: str, tables: CommandTables) -> type[Group]:
    """Return the class of a group whose commands are built when they are asked for."""

    class LazyGroup(Group):
        """A group that loads a module when one of its commands is asked for."""

        def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as typer gives them
            super().__init__(**attributes)
            self.commands: LazyCommands = LazyCommands(package, tables)

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its context's type to itself
            """Return the names of the commands, without building any of them."""
            return list(self.commands)

    return LazyGroup


def _add_satellite(app: typer.Typer, name: str) -> None:
    """Add the group of a satellite: its entry point names a package with the tables of its commands."""
    package = _satellites.declared("commands")[name].load()
    _add_typer(app, name, lazy_group(package.__name__, package), package.HELP, _SATELLITES)


def _add_group(app: typer.Typer, name: str, package: str, group: CommandGroup) -> None:
    heading, help_, commands = group
    tables = SimpleNamespace(COMMANDS=commands, GROUPS={})
    _add_typer(app, name, lazy_group(package, tables), help_, heading)


def _add_typer(app: typer.Typer, name: str, cls: type[Group], help_: str, heading: str | None) -> None:
    group = typer.Typer(cls=cls, no_args_is_help=True, help=help_)
    # A group without commands of its own is merged with its only one, or refused.
    group.callback()(lambda: None)
    app.add_typer(group, name=name, rich_help_panel=heading)


def _add_all(app: typer.Typer, module: ModuleType, panels: Mapping[Any, str]) -> None:
    for panel, names in panels.items():
        for name in names.split():
            attribute = name.replace("-", "_")
            function = getattr(module, f"{attribute}_", None) or getattr(module, attribute)
            add_command(app, name, panel, function)


class AllCommands(lazy_group("memorata.cli", sys.modules[__name__])):  # type: ignore[misc]
    """The group of every command: those of the core, and the groups of the satellites that are installed.

    To look for entry points takes milliseconds, so it is done for names that the core does not know.
    """

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the names of the commands, without building any of them."""
        self._add_satellites()
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as in list_commands
        """Look the command up; one of a satellite that is not installed names the line that installs it."""
        name = args[0]
        if name not in self.commands:
            self._add_satellites()
            if name in _satellites.COMMANDS and name not in self.commands:
                guarded(Session(GlobalOptions()), partial(_raise_missing, name))
        return super().resolve_command(ctx, args)

    def _add_satellites(self) -> None:
        for name in _satellites.declared("commands"):
            self.commands.setdefault(name, None)


def _raise_missing(name: str) -> None:
    raise _satellites.missing(f"memorata {name}", _satellites.COMMANDS[name])


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
