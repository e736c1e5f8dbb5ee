"""Namespaces: list, link, unlink, links, move, split, purge."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.output import counted, memories
from memorata.model.errors import InvalidArgument, NotGiven

Linked = Annotated[str, Argument(metavar="LINKED", help="The namespace that is seen from this one.")]
Moved = Annotated[str, Argument(metavar="NAMESPACE", help="The namespace to move.")]
To = Annotated[str, Argument(metavar="TO", help="Where to.")]


def list_(session: Session) -> None:
    """List the namespaces and how many memories each holds."""
    output = session.output
    with session.memory() as engine:
        counts = engine.store.namespaces()
    lines = [
        f"{count:>9,}  {name}" if output.terminal else f"{name}\t{count}" for name, count in counts.items()
    ]
    total = f"{counted(len(counts), 'namespace')} · {session.settings.db}"
    output.result({"namespaces": dict(counts)}, *lines, notes=[total])


def purge(
    session: Session,
    namespace_path: str = Argument(metavar="NAMESPACE", help="A namespace; those below it stay."),
    yes: options.Yes = False,
) -> None:
    """Remove a namespace for good: memories, names, relations, logs, its own name. This cannot be undone."""
    with session.memory() as engine:
        count = engine.store.namespaces().get(namespace_path)
        if count is None:
            raise InvalidArgument("NAMESPACE", namespace_path, "one that there is (memorata namespace list)")
        question = f"Remove the namespace {namespace_path} and its {memories(count)}?"
        if not session.confirm(question, yes=yes):
            return
        removed = engine.admin.namespaces.purge(namespace_path)
    session.output.result(
        {"namespace": namespace_path, "memories": removed},
        f"Removed {namespace_path} and its {memories(removed)}.",
    )


def link(session: Session, linked: Linked, filter: options.Filter = None) -> None:
    """Let this namespace inherit from another: recall --inherit sees it."""
    with session.memory(create=True) as engine:
        link_ = engine.admin.namespaces.link(linked, filter=filter)
        text = f"{engine.namespace} sees {link_.namespace} where it is asked with --inherit."
    session.output.result({"namespace": link_.namespace, "filter": link_.filter}, text)


def unlink(session: Session, linked: Linked) -> None:
    """Take a link back."""
    with session.memory() as engine:
        engine.admin.namespaces.unlink(linked)
    session.output.result({"unlinked": linked}, f"{linked} is no longer linked.")


def links(session: Session) -> None:
    """List what this namespace is linked to."""
    with session.memory() as engine:
        linked = engine.admin.namespaces.links()
    rows = [{"namespace": link.namespace, "filter": link.filter} for link in linked]
    session.output.result({"links": rows}, *(link.namespace for link in linked))
    if not linked:
        session.output.say("It is linked to none.")


def move(
    session: Session,
    namespace_path: Moved,
    to: To,
    alone: bool = Option(False, help="Leave what is below it where it is."),
) -> None:
    """Give a namespace another path, with everything in it and below it, all or nothing."""
    with session.memory() as engine:
        moved = engine.admin.namespaces.move(namespace_path, to, below=not alone)
    session.output.result({"moved": moved}, *(f"{old} → {new}" for old, new in moved.items()))


def split(session: Session, to: To, filter: options.Filter = None, dry_run: options.DryRun = False) -> None:
    """Move the memories that meet --filter from this namespace into another, all or nothing."""
    if filter is None:
        raise NotGiven("--filter", "to tell which memories go")
    with session.memory() as engine:
        moved = engine.admin.namespaces.split(filter, to, dry_run=dry_run)
    key, verb = ("would_move", "Would move") if dry_run else ("moved", "Moved")
    session.output.changed(key, moved, verb)
