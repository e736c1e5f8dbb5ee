"""Embed everything with the embedder that is named, and make indexes, while others go on searching."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memorata.cli.command import command
from memorata.cli.failures import EMBEDDER
from memorata.cli.output import counted
from memorata.cli.progress import progress
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.admin import Reembedding

_SHOWN: Final = 20

DryRun = Annotated[bool, typer.Option("--dry-run", help="Count, measure on a sample, and write nothing.")]
KeepOld = Annotated[bool, typer.Option("--keep-old", help="Keep the vectors of other embedders.")]
Batch = Annotated[int, typer.Option("--batch", min=1, help="How many memories in one transaction.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "reembed", "Look after it")(reembed)
    command(app, "index", "Look after it")(index)


def reembed(session: Session, dry_run: DryRun = False, keep_old: KeepOld = False, batch: Batch = 256) -> None:
    """Embed everything anew after a change of --embedder, or what could not be embedded when it was said.

    It can be stopped at any moment and run again; searches go on meanwhile.
    """
    output = session.output
    with session.memory(embed=True) as engine, progress(output) as advance:
        try:
            done = engine.admin.reembed(dry_run=dry_run, keep_old=keep_old, batch=batch, progress=advance)
        except KeyboardInterrupt:
            left = counted(engine.store.count_waiting(), "memory", "memories")
            output.say(f"{left} to go; run the same again to go on.", "")
            raise
    if output.json:
        output.data(asdict(done) | {"others": dict(done.others)})
    else:
        for failure in done.failed[:_SHOWN]:
            output.fail(f"memory {failure.memory_id} in {failure.namespace}: {failure.reason}")
        if len(done.failed) > _SHOWN:
            output.fail(f"… and {len(done.failed) - _SHOWN:,} more; --json lists them all")
        output.line(_said(done))
        output.say(f"{done.embedder} · {session.settings.db}")
    if done.failed:
        left = counted(len(done.failed), "memory", "memories")
        output.warn(f"{left} without a vector, found by words only; run the same again to try again")
        session.leave(EMBEDDER)


def index(session: Session) -> None:
    """Make the indexes that large namespaces are searched by; searches and writes go on meanwhile.

    It can be stopped at any moment and run again.
    """
    output = session.output
    with session.memory(embed=True) as engine, progress(output, "indexing") as advance:
        done = engine.admin.index(progress=lambda what, count, total: advance(count, total or None))
    if output.json:
        output.data(asdict(done) | {"methods": dict(done.methods)})
        return
    output.line(f"made {counted(done.made, 'index', 'indexes')}" if done.made else "nothing to index")
    for leg, how in done.methods.items():
        output.say(f"{leg} are searched by {how}")


def _said(done: Reembedding) -> str:
    from memorata.engine.admin import duration

    if not done.waiting and not done.dropped:
        return "every memory has its vector"
    if done.dry_run:
        waiting = counted(done.waiting, "memory", "memories")
        return f"would embed {waiting}, in about {duration(done.seconds)}"
    said = f"embedded {counted(done.embedded, 'memory', 'memories')} in {duration(done.seconds)}"
    if done.dropped:
        said += f", removed {counted(done.dropped, 'old vector')}"
    return said
