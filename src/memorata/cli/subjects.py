"""All about somebody, and the large purges: about, purge-subject, purge-namespace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer

from memorata.cli.command import command
from memorata.cli.exporting import target_of
from memorata.cli.output import counted, one_line, written
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.graph.entities import About

_PANEL: Final = "Let go"

Subject = Annotated[str, typer.Argument(metavar="ENTITY", help="Who or what, by any of its names.")]
File = Annotated[str, typer.Argument(metavar="[FILE]", help="Where to write; - is standard output.")]
Export = Annotated[
    str | None, typer.Option("--export", metavar="FILE", help="Write everything there before it is removed.")
]
Path = Annotated[str, typer.Argument(metavar="NAMESPACE", help="The namespace; those below it stay.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Text = Annotated[
    bool, typer.Option("--text", help="Every memory with that word, though it be no name that is known.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")]
_SHOWN: Final = 5


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "about", _PANEL)(about)
    command(app, "purge-subject", _PANEL)(purge_subject)
    command(app, "purge-namespace", _PANEL)(purge_namespace)


def about(
    session: Session, name: Subject, file: File = "-", text: Text = False, force: Force = False
) -> None:
    """Write everything about a person or a thing as JSONL, as export does: memories, hidden ones too."""
    with session.memory() as engine:
        found = engine.entities.about(name, text=text)
        path = engine.namespace
        with target_of(file, force=force) as target:
            _write(found, path, target)
    if file != "-" and session.output.json:
        session.output.data({**_counts(found), "file": file})
    else:
        session.output.say(_told(found))
    _tell_others(session, found)


def purge_subject(
    session: Session,
    name: Subject,
    export: Export = None,
    text: Text = False,
    dry_run: DryRun = False,
    force: Force = False,
    yes: Yes = False,
) -> None:
    """Remove everything about a person or a thing for good. This cannot be undone.

    It must be somebody or something that is known; of a name that is an ordinary word, such as Will, only
    what names them counts.
    """
    output = session.output
    with session.memory() as engine:
        found = engine.entities.purge(name, text=text, dry_run=True)
        for memory in found.memories[:_SHOWN]:
            output.say(f"  {one_line(memory.content, 100)}", "")
        if len(found.memories) > _SHOWN:
            output.say(f"  … and {counted(len(found.memories) - _SHOWN, 'more', 'more')}", "")
        _tell_others(session, found)
        if dry_run:
            _report_dry_run(session, found)
            return
        if not _agreed(session, f"Remove {_told(found)} for good?", yes=yes):
            return
        if export is not None:
            with target_of(export, force=force) as target:
                _write(found, engine.namespace, target)
        removed = engine.entities.purge(name, text=text)
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


def _report_dry_run(session: Session, found: About) -> None:
    if session.output.json:
        ids = [memory.id for memory in found.memories]
        session.output.data({**_counts(found), "file": None, "would_remove": ids})
    else:
        session.output.line(f"Would remove {_told(found)}.")


def _tell_others(session: Session, found: About) -> None:
    if found.in_texts:
        others = counted(found.in_texts, "more memory has", "more memories have")
        session.output.say(f"{others} the word, and probably not as the name; --text means those, too")


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
