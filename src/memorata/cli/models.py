"""The models that measure meaning: list, install, verify, remove."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from memorata.cli.arguments import chosen
from memorata.cli.command import command
from memorata.cli.failures import EMBEDDER
from memorata.cli.flags import Group
from memorata.cli.session import Session

_RECOMMENDED: Final = "arctic-embed-s"


def model_names(incomplete: str) -> list[str]:
    """Return the models that begin with what was typed, for the shell."""
    from memorata.embed.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(metavar="NAME", help="A model.", autocompletion=model_names)]
Wanted = Annotated[
    str,
    typer.Argument(metavar="[NAME]", help=f"A model; {_RECOMMENDED} if none.", autocompletion=model_names),
]
Which = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]", help="A model; all that are installed if none.", autocompletion=model_names
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(cls=Group, no_args_is_help=True, help="The models that measure meaning.")
    command(group, "list")(list_)
    command(group, "install")(install)
    command(group, "verify")(verify)
    command(group, "remove")(remove)
    app.add_typer(group, name="model", rich_help_panel="Look after it")


def list_(session: Session) -> None:
    """List the models that can be installed, and those that are."""
    from memorata.embed.catalogue import available
    from memorata.embed.folder import installed

    here = installed(session.settings.models)
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "installed": entry.name in here,
            "megabytes": entry.megabytes,
            "kind": entry.kind,
            "dimension": entry.dimension,
            "licence": entry.description.licence,
            "summary": entry.summary,
        }
        for entry in available()
    ]
    output = session.output
    if output.json:
        output.data({"models": rows, "folder": str(session.settings.models)})
        return
    states = ["installed" if row["installed"] else "" for row in rows]
    if output.terminal:
        from rich.table import Table

        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for align in ("left", "left", "right"):
            table.add_column(justify=align, no_wrap=True)
        table.add_column(overflow="fold")
        for row, state in zip(rows, states, strict=True):
            table.add_row(row["name"], state, f"{row['megabytes']} MB", row["summary"])
        output.show(table)
    else:
        for row, state in zip(rows, states, strict=True):
            output.line(f"{row['name']}\t{state}\t{row['megabytes']}\t{row['summary']}")
    output.say(f"in {session.settings.models}")


def install(session: Session, name: Wanted = _RECOMMENDED) -> None:
    """Install a model; every file is checked against its pinned hash."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.install import install as fetch

    chosen("NAME", name, tuple(CATALOGUE))
    output = session.output
    shown = output.errors.is_terminal and not output.quiet and not output.json
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=output.errors, transient=True, disable=not shown) as progress:
        tasks: dict[str, Any] = {}

        def report(file: str, done: int, total: int | None) -> None:
            if file not in tasks:
                tasks[file] = progress.add_task(file, total=total)
            progress.update(tasks[file], completed=done, total=total)

        found = fetch(name, session.settings.models, progress=report)
    if output.json:
        output.data({"name": found.name, "folder": str(found.folder), "source": found.source})
        return
    output.line(f"{found.name}: {found.source}, in {found.folder}")
    output.say("new databases use the best model that is installed; memorata doctor says which is in use")
    if CATALOGUE[name].kind == "embedder" and session.settings.db.exists():
        output.say(f"memorata reembed --embedder {found.name} moves the database you have to it")


def verify(session: Session, name: Which = None) -> None:
    """Check the files of installed models against their pinned hashes."""
    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.folder import installed
    from memorata.embed.install import verify as verified
    from memorata.model.errors import EmbedderError

    folder = session.settings.models
    names = installed(folder) if name is None else (chosen("NAME", name, tuple(CATALOGUE)),)
    states: dict[str, str] = {}
    for each in names:
        try:
            verified(each, folder)
            states[each] = ""
        except EmbedderError as error:
            states[each] = str(error)
    if session.output.json:
        rows = [{"name": each, "sound": not state, "problem": state} for each, state in states.items()]
        session.output.data({"models": rows})
    else:
        for each, state in states.items():
            session.output.line(f"{each}: {state or 'verified'}")
        if not states:
            session.output.say(f"no models are installed in {folder}")
    if any(states.values()):
        session.leave(EMBEDDER)


def remove(session: Session, name: Name) -> None:
    """Remove an installed model; stores that use it then answer by words only."""
    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.install import remove as removed

    removed(chosen("NAME", name, tuple(CATALOGUE)), session.settings.models)
    if session.output.json:
        session.output.data({"removed": name})
    else:
        session.output.line(f"removed {name}")
