"""Say what is known about memories: change, pin, unpin, used, confirm."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from memorata.cli.arguments import found_memory, instant, json_object, place_of
from memorata.cli.command import command
from memorata.cli.output import counted
from memorata.cli.session import Session

_PANEL: Final = "Keep in order"
_NEVER: Final = "never"

Which = Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or a piece of it.")]
Several = Annotated[list[str], typer.Argument(metavar="ID", help="The memories: ids, or pieces of them.")]
Category = Annotated[str | None, typer.Option("--category", "-c", help="Its category.")]
TierName = Annotated[str | None, typer.Option("--tier", help="working, episodic, semantic or procedural.")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="How sure it is, from 0 to 1.")]
Importance = Annotated[float | None, typer.Option("--importance", help="How much it matters, from 0 to 1.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="All its tags; repeatable.")]
Entities = Annotated[
    list[str] | None, typer.Option("--entity", help="All the names it mentions; repeatable.")
]
Metadata = Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="All its metadata.")]
PlaceText = Annotated[str | None, typer.Option("--place", metavar="LAT,LON[,NAME]", help="Where it was.")]
ValidFrom = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="Since when it is true.")]
ValidTo = Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="Until when it is true.")]
Expires = Annotated[str | None, typer.Option("--expires", metavar="TIME", help="When it expires, or never.")]
Version = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="NUMBER", help="Only if it still has this version."),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "change", _PANEL)(change)
    command(app, "pin", _PANEL)(pin)
    command(app, "unpin", _PANEL)(unpin)
    command(app, "used", _PANEL)(used)
    command(app, "confirm", _PANEL)(confirm)


def change(
    session: Session,
    id: Which,
    category: Category = None,
    tier: TierName = None,
    confidence: Confidence = None,
    importance: Importance = None,
    tag: Tags = None,
    entity: Entities = None,
    metadata: Metadata = None,
    place: PlaceText = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    expires: Expires = None,
    expected_version: Version = None,
) -> None:
    """Change what is known about a memory; to say something new, correct it."""
    from memorata.model.errors import InvalidArgument
    from memorata.service.codec import memory_json

    given: dict[str, Any] = {
        "category": category,
        "tier": tier,
        "confidence": confidence,
        "importance": importance,
        "tags": tag,
        "entities": entity,
        "metadata": json_object("--metadata", metadata, '{"page": 12}'),
        "place": place_of("--place", place),
        "valid_from": instant("--valid-from", valid_from),
        "valid_to": instant("--valid-to", valid_to),
        "expires_at": None if expires == _NEVER else instant("--expires", expires),
    }
    wanted = {name: value for name, value in given.items() if value is not None}
    if expires == _NEVER:
        wanted["expires_at"] = None
    if not wanted:
        raise InvalidArgument("options", "none", "at least one thing to change, such as --category")
    with session.memory() as engine:
        known = found_memory(engine, id).id
        changed = engine.update(known, expected_version=expected_version, **wanted)
    if session.output.json:
        session.output.data(memory_json(changed))
    elif session.output.terminal:
        session.output.show(f"Changed; it is at version {changed.version} now.")
    else:
        session.output.line(changed.id)


def pin(session: Session, ids: Several) -> None:
    """Keep memories: they do not fade, do not expire, and upkeep leaves them alone."""
    _do(session, "pin", ids, "pinned", "Pinned")


def unpin(session: Session, ids: Several) -> None:
    """Let memories live as others do again."""
    _do(session, "unpin", ids, "unpinned", "Unpinned")


def used(session: Session, ids: Several) -> None:
    """Say that memories were of use, which makes them last and count more."""
    _do(session, "mark_used", ids, "used", "Noted the use of")


def confirm(session: Session, ids: Several) -> None:
    """Say that memories are true, still or again, which makes them surer."""
    _do(session, "confirm", ids, "confirmed", "Confirmed")


def _do(session: Session, verb: str, ids: list[str], key: str, done: str) -> None:
    with session.memory() as engine:
        known = [found_memory(engine, id_).id for id_ in ids]
        getattr(engine.lifecycle, verb)(*known)
    if session.output.json:
        session.output.data({key: known})
    elif session.output.terminal:
        session.output.show(f"{done} {counted(len(known), 'memory', 'memories')}.")
    else:
        for id_ in known:
            session.output.line(id_)
