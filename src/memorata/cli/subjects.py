"""All about somebody, and the large purges: about, purge-subject, purge-namespace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer

from memorata.cli.command import command
from memorata.cli.exporting import target_of
from memorata.cli.output import counted, written
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.entities import About

_PANEL: Final = "Let go"

Subject = Annotated[str, typer.Argument(metavar="NAME", help="Who or what, by any of its names.")]
File = Annotated[str, typer.Argument(metavar="[FILE]", help="Where to write; - is standard output.")]
Export = Annotated[
    str | None, typer.Option("--export", metavar="FILE", help="Write everything there before it is removed.")
]
Path = Annotated[str, typer.Argument(metavar="NAMESPACE", help="The namespace; those below it stay.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "about", _PANEL)(about)
    command(app, "purge-subject", _PANEL)(purge_subject)
    command(app, "purge-namespace", _PANEL)(purge_namespace)


def about(session: Session, name: Subject, file: File = "-", force: Force = False) -> None:
    """Write everything about a person or a thing as JSONL, as export does: memories, hidden ones too."""
    with session.memory() as engine:
        found = engine.entities.about(name)
        path = engine.namespace
        with target_of(file, force=force) as target:
            _write(found, path, target)
    if file != "-" and session.output.json:
        session.output.data({**_counts(found), "file": file})
    else:
        session.output.say(_told(found))


def purge_subject(
    session: Session, name: Subject, export: Export = None, force: Force = False, yes: Yes = False
) -> None:
    """Remove everything about a person or a thing for good. This cannot be undone."""
    output = session.output
    with session.memory() as engine:
        found = engine.entities.about(name)
        if not _agreed(session, f"Remove {_told(found)} for good?", yes=yes):
            return
        if export is not None:
            with target_of(export, force=force) as target:
                _write(found, engine.namespace, target)
        removed = engine.entities.purge(name)
    if output.json:
        output.data({**_counts(removed), "file": export})
    else:
        output.line(f"Removed {_told(removed)}.")


def purge_namespace(session: Session, namespace_path: Path, yes: Yes = False) -> None:
    """Remove a namespace for good: memories, names, relations, logs, its own name. This cannot be undone."""
    from memorata.model.errors import InvalidArgument

    output = session.output
    with session.memory() as engine:
        count = engine.store.namespaces().get(namespace_path)
        if count is None:
            raise InvalidArgument("NAMESPACE", namespace_path, "one that there is (memorata namespaces)")
        question = f"Remove the namespace {namespace_path} and its {counted(count, 'memory', 'memories')}?"
        if not _agreed(session, question, yes=yes):
            return
        removed = engine.admin.purge_namespace(namespace_path)
    if output.json:
        output.data({"namespace": namespace_path, "memories": removed})
    else:
        output.line(f"Removed {namespace_path} and its {counted(removed, 'memory', 'memories')}.")


def _agreed(session: Session, question: str, *, yes: bool) -> bool:
    from memorata.model.errors import NotGiven

    if yes:
        return True
    if not sys.stdin.isatty():
        raise NotGiven("--yes", "where there is no terminal to ask at")
    if typer.confirm(question, err=True):
        return True
    session.output.say("Nothing was removed.")
    return False


def _write(found: About, path: str, target: TextIO) -> None:
    from memorata.service.export import about_rows

    for row in about_rows(found, path):
        target.write(written(row, target) + "\n")


def _counts(found: About) -> dict[str, int]:
    return {
        "memories": len(found.memories),
        "entities": len(found.entities),
        "relations": len(found.relations),
    }


def _told(found: About) -> str:
    return ", ".join(
        (
            counted(len(found.memories), "memory", "memories"),
            counted(len(found.entities), "entity", "entities"),
            counted(len(found.relations), "relation"),
        )
    )
