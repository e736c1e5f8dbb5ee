"""Let go: forget and restore, which can be undone, and purge, which cannot."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from memorata.cli.arguments import found_memory
from memorata.cli.command import command
from memorata.cli.output import counted, one_line
from memorata.cli.session import Session

_PANEL: Final = "Let go"

Several = Annotated[list[str], typer.Argument(metavar="ID", help="The memories: ids, or pieces of them.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; whole ids only.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "forget", _PANEL)(forget)
    command(app, "restore", _PANEL)(restore)
    command(app, "purge", _PANEL)(purge)


def forget(session: Session, ids: Several) -> None:
    """Hide memories from every recall; restore brings them back."""
    with session.memory() as engine:
        known = [found_memory(engine, id_).id for id_ in ids]
        engine.forget(*known)
    _report(session, "forgotten", known, "Forgot")
    session.output.say("restore brings them back; purge removes them for good")


def restore(session: Session, ids: Several) -> None:
    """Show forgotten memories again."""
    with session.memory() as engine:
        known = [found_memory(engine, id_).id for id_ in ids]
        engine.restore(*known)
    _report(session, "restored", known, "Restored")


def purge(session: Session, ids: Several, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Remove memories for good: text, vectors, words. This cannot be undone.

    Afterwards the whole file is written anew, so that its bytes hold no trace either. That takes time in
    proportion to its size, so give many ids at once. If others keep it busy, memorata vacuum finishes it.
    """
    from memorata.model.errors import InvalidArgument, NotGiven

    with session.memory() as engine:
        # Without anybody to look at what was found, a piece of an id is too little to destroy by.
        known = [found_memory(engine, id_) for id_ in ids]
        for id_, memory in zip(ids, known, strict=True):
            if yes and memory.id != id_ and not dry_run:
                raise InvalidArgument("ID", id_, f"the whole id, {memory.id}, where nobody is asked")
        all_ids = [] if yes and not dry_run else engine.purge(*(each.id for each in known), dry_run=True)
        if dry_run:
            for memory in engine.store.get(engine.namespace, list(all_ids)):
                session.output.say(f"  {one_line(memory.content, 100)}", "")
            _report(session, "would_purge", list(all_ids), "Would remove")
            return
        if not yes:
            if not sys.stdin.isatty():
                raise NotGiven("--yes", "where there is no terminal to ask at")
            for memory in known:
                session.output.errors.print(f"  {one_line(memory.content, 100)}")
            copies = len(all_ids) - len(known)
            along = f" and {counted(copies, 'copy or summary', 'copies and summaries')}" if copies else ""
            question = f"Remove {counted(len(known), 'memory', 'memories')}{along} for good?"
            if not typer.confirm(question, err=True):
                session.output.say("Nothing was removed.")
                return
        engine.purge(*(memory.id for memory in known))
    _report(session, "purged", [memory.id for memory in known], "Removed")


def _report(session: Session, key: str, ids: list[str], verb: str) -> None:
    if session.output.json:
        session.output.data({key: ids})
    elif session.output.terminal:
        session.output.show(f"{verb} {counted(len(ids), 'memory', 'memories')}.")
    else:
        for id_ in ids:
            session.output.line(id_)
