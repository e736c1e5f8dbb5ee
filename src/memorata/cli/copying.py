"""Copy a whole memory from one database into another: from a file to a server, or back."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from memorata.cli.command import command
from memorata.cli.output import counted
from memorata.cli.session import Session

From = Annotated[str, typer.Argument(metavar="FROM", help="The file or the address to copy from.")]
To = Annotated[str, typer.Argument(metavar="TO", help="The file or the address to copy to.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "copy", "Files")(copy)


def copy(session: Session, origin: From, target: To) -> None:
    """Copy every memory, entity and relation into another database, and compare the two.

    The source may be in use. A copy that was interrupted goes on where it was when it is started again.
    """
    from memorata.cli.failures import UNSOUND
    from memorata.engine.opening import open_store
    from memorata.engine.settings import Settings

    output = session.output
    given = session.settings
    source = Settings(db=origin, namespace=given.namespace, embedder=given.embedder)
    with source.open(must_exist=True) as engine, closing(open_store(Settings(db=target).db)) as store:
        done = engine.transfer.copy(store, progress=lambda count: output.say(f"{count} memories looked at"))
    if output.json:
        output.data(
            {
                "namespaces": done.namespaces,
                "memories": done.memories,
                "new": done.new,
                "changed": done.changed,
                "entities": done.entities,
                "relations": done.relations,
                "checksum": done.checksum,
                "differing": list(done.differing),
            }
        )
    else:
        whole = "the same on both sides" if not done.differing else f"{len(done.differing)} differ"
        output.line(
            f"{counted(done.memories, 'memory', 'memories')}, {done.new} new, {done.changed} changed: {whole}"
        )
        for each in done.differing[:20]:
            output.say(f"differs: {each}")
    if done.differing:
        session.leave(UNSOUND)
