"""Models of the catalogue, embedders and re-rankers: list, install, verify, remove."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer import Argument

from memorata.cli.command import EMBEDDER_ERROR, add_group
from memorata.cli.options import one_of
from memorata.cli.session import Session
from memorata.model.errors import EmbedderError

_RECOMMENDED: Final = "arctic-embed-s"


def model_names(incomplete: str) -> list[str]:
    """Return the models that begin so, for the shell."""
    from memorata.embed.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


Name = Annotated[str, Argument(metavar="NAME", help="A model.", autocompletion=model_names)]
Wanted = Annotated[
    str, Argument(metavar="[NAME]", help=f"A model; {_RECOMMENDED} if none.", autocompletion=model_names)
]
Which = Annotated[
    str | None,
    Argument(metavar="[NAME]", help="A model; all that are installed if none.", autocompletion=model_names),
]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    add_group(app, "model", "Embedders and re-rankers.", "Administration", list_, install, verify, remove)


def list_(session: Session) -> None:
    """List the models that can be installed, and those that are."""
    from memorata.embed.catalogue import available
    from memorata.embed.folder import installed

    present = installed(session.settings.models)
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "installed": entry.name in present,
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
    cells = [
        (
            row["name"],
            "installed" if row["installed"] else "",
            f"{row['megabytes']} MB" if output.terminal else str(row["megabytes"]),
            row["summary"],
        )
        for row in rows
    ]
    output.table((), cells, style="", unbroken=3)
    output.say(f"in {session.settings.models}")


def install(session: Session, name: Wanted = _RECOMMENDED) -> None:
    """Install a model; every file is checked against its pinned hash."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.install import install as fetch

    one_of("NAME", name, tuple(CATALOGUE))
    output = session.output
    shown = output.errors.is_terminal and not output.quiet and not output.json
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=output.errors, transient=True, disable=not shown) as progress:
        tasks: dict[str, Any] = {}

        def report(file: str, done: int, total: int | None) -> None:
            if file not in tasks:
                tasks[file] = progress.add_task(file, total=total)
            progress.update(tasks[file], completed=done, total=total)

        model = fetch(name, session.settings.models, progress=report)
    if output.json:
        output.data({"name": model.name, "folder": str(model.folder), "source": model.source})
        return
    output.line(f"{model.name}: {model.source}, in {model.folder}")
    output.say("new databases use the best model that is installed; memorata doctor says which is in use")
    if CATALOGUE[name].kind == "embedder" and session.settings.db.exists():
        output.say(f"memorata reembed --embedder {model.name} moves the database you have to it")


def verify(session: Session, name: Which = None) -> None:
    """Check the files of installed models against their pinned hashes."""
    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.folder import installed
    from memorata.embed.install import verify as verified

    folder = session.settings.models
    names = installed(folder) if name is None else (one_of("NAME", name, tuple(CATALOGUE)),)
    states: dict[str, str] = {}
    for each in names:
        try:
            verified(each, folder)
            states[each] = ""
        except EmbedderError as error:
            states[each] = str(error)
    rows = [{"name": each, "sound": not state, "problem": state} for each, state in states.items()]
    lines = [f"{each}: {state or 'verified'}" for each, state in states.items()]
    session.output.result({"models": rows}, *lines)
    if not states and not session.output.json:
        session.output.say(f"no models are installed in {folder}")
    if any(states.values()):
        session.leave(EMBEDDER_ERROR)


def remove(session: Session, name: Name) -> None:
    """Remove an installed model; databases that use it are then searched by words only."""
    from memorata.embed.catalogue import CATALOGUE
    from memorata.embed.install import remove as removed

    removed(one_of("NAME", name, tuple(CATALOGUE)), session.settings.models)
    session.output.result({"removed": name}, f"removed {name}")
