"""The application: every command, and what ``memorata`` says when it is given none."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Final

import typer

from memorata._version import __version__
from memorata.cli.command import (
    Config,
    Db,
    Debug,
    Embedder,
    Json,
    Namespace,
    Quiet,
    ReadOnly,
    Replica,
    guarded,
)
from memorata.cli.commands import AllCommands
from memorata.cli.session import Given, Session

_FIRST_STEPS: Final = """\
Memorata remembers what you tell it and finds it again by meaning and by words.

  memorata remember "Anna prefers green tea"     say something
  memorata recall "what does Anna drink?"        ask for it
  memorata recall "what does Anna drink?" -e     … and see why
  memorata import notes.md                       bring in what you have
  memorata demo                                  watch it with a made-up conversation
  memorata doctor                                see what is installed and in use
  memorata --help                                all commands
"""

app = typer.Typer(
    cls=AllCommands,
    name="memorata",
    help="Memory that finds the right few things again, on your machine, with reasons.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

Version = Annotated[bool, typer.Option("--version", help="Show the version.")]


@app.callback()
def start(
    ctx: typer.Context,
    db: Db = None,
    namespace: Namespace = None,
    embedder: Embedder = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    replica: Replica = None,
    read_only: ReadOnly = False,
    config: Config = None,
    version: Version = False,
) -> None:
    """Memory that finds the right few things again, on your machine, with reasons."""
    ctx.obj = Given(db, namespace, embedder, json, quiet, debug, replica, read_only, config)
    if version:
        typer.echo(f"memorata {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        session = Session(ctx.obj)
        guarded(session, lambda: _welcome(session))


def run() -> None:
    """Run the application and leave the process with its exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by whoever started it, such as a scheduler. What is opened next would get its number.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - it lasts as long as the process
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its number rather than an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get("COLUMNS") == "0":
        # Whoever started it does not know how wide the terminal is; nothing fits into no columns.
        del os.environ["COLUMNS"]
    app(prog_name="memorata")


def _welcome(session: Session) -> None:
    path = session.settings.db
    if session.output.json:
        session.output.data({"version": __version__, "db": str(path), "exists": path.exists()})
        return
    session.output.line(_FIRST_STEPS)
    state = "" if path.exists() else " (made when you first remember something)"
    session.output.line(f"Memories are in {path}{state}")
