"""Look around: list, show, history, namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from memorata.cli.arguments import found_memory, json_object
from memorata.cli.command import command
from memorata.cli.output import counted, visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory

_PANEL: Final = "Look around"

Which = Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or a piece of it.")]
Several = Annotated[list[str], typer.Argument(metavar="ID", help="The memories: ids, or pieces of them.")]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]
FilterText = Annotated[
    str | None, typer.Option("--filter", "-f", metavar="JSON", help="Only memories that meet this.")
]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Go on where the page before ended.")]
Hidden = Annotated[bool, typer.Option("--hidden", help="Forgotten and superseded ones too.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "list", _PANEL)(list_)
    command(app, "show", _PANEL)(show)
    command(app, "history", _PANEL)(history)
    command(app, "namespaces", _PANEL)(namespaces)


def list_(
    session: Session,
    limit: Limit = 20,
    filter: FilterText = None,
    cursor: Cursor = None,
    hidden: Hidden = False,
) -> None:
    """List memories, the last remembered first, each with the day it tells of."""
    condition = json_object("--filter", filter)
    with session.memory() as engine:
        page = engine.list(limit=limit, filter=condition, cursor=cursor, hidden=hidden)
        _show_all(session, engine, page.memories, cursor=page.cursor)
    if not page.memories and not limit:
        session.output.say("--limit 0 shows none.", "")
    elif not page.memories:
        session.output.say(f"No memories here · namespace {engine.namespace} · {session.settings.db}")
    elif page.cursor is not None:
        session.output.say(f"More: --cursor {page.cursor}")


def show(session: Session, ids: Several) -> None:
    """Show all there is to know about memories."""
    from memorata.cli.show_memory import details, hidden_reasons
    from memorata.service.codec import memory_json

    output = session.output
    with session.memory() as engine:
        memories = [found_memory(engine, id_) for id_ in ids]
        reasons = hidden_reasons(engine, memories)
        sure = {memory.id: engine.lifecycle.confidence_of(memory) for memory in memories}
    if output.json:
        output.data(
            [
                memory_json(memory) | {"hidden": reasons.get(memory.id), "confidence_now": sure[memory.id]}
                for memory in memories
            ]
        )
        return
    for number, memory in enumerate(memories):
        if number:
            output.line("")
        if output.terminal:
            output.show(visible(memory.content) + "\n")
        else:
            output.line(visible(memory.content))
        output.pairs(details(memory, reasons.get(memory.id, ""), sure[memory.id]))


def history(session: Session, id: Which) -> None:
    """Show what was said before and after in place of a memory, oldest first."""
    with session.memory() as engine:
        chain = engine.history(found_memory(engine, id).id)
        _show_all(session, engine, chain, cursor=None)
    if len(chain) == 1:
        session.output.say("It has never been corrected.")


def namespaces(session: Session) -> None:
    """List the namespaces and how many memories each holds."""
    output = session.output
    with session.memory() as engine:
        counts = engine.store.namespaces()
    if output.json:
        output.data({"namespaces": dict(counts)})
        return
    for name, count in counts.items():
        output.line(f"{name}\t{count}" if not output.terminal else f"{count:>9,}  {name}")
    output.say(f"{counted(len(counts), 'namespace')} · {session.settings.db}")


def _show_all(session: Session, engine: Engine, memories: tuple[Memory, ...], *, cursor: str | None) -> None:
    from memorata.cli.show_memory import hidden_reasons, memory_table, plain_line
    from memorata.service.codec import memory_json

    output = session.output
    reasons = hidden_reasons(engine, list(memories))
    if output.json:
        rows = [
            memory_json(memory)
            | {"hidden": reasons.get(memory.id), "confidence_now": engine.lifecycle.confidence_of(memory)}
            for memory in memories
        ]
        output.data({"memories": rows, "cursor": cursor})
    elif output.terminal:
        if memories:
            output.show(memory_table(list(memories), reasons))
    else:
        for memory in memories:
            output.line(plain_line(memory))
