"""The command `demo`: a made-up conversation, remembered and asked about, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorata.cli.command import command
from memorata.cli.session import Session

Keep = Annotated[Path | None, typer.Option("--keep", metavar="FILE", help="Keep the memories in a new file.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "demo", "Remember and recall")(demo)


def demo(session: Session, keep: Keep = None) -> None:
    """Walk through remembering and recalling, on a conversation that was made up for it."""
    from memorata.cli.demo import demo as walk
    from memorata.model.errors import InvalidArgument

    if keep is not None and keep.exists():
        raise InvalidArgument("--keep", str(keep), "a file that does not exist yet")

    output = session.output
    # Your own database stays out of it: the demo has one of its own, thrown away unless it is to be kept.
    console = output.errors if output.json else output.console
    answers = walk(keep, embedder=session.settings.embedder, console=console)
    if output.json:
        output.data({"steps": {name: found.as_dict() for name, found in answers.items()}})
