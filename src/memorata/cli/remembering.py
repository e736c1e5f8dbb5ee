"""Say something: remember and correct."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memorata.cli.arguments import chosen, found_memory, instant, json_object, place_of, words
from memorata.cli.command import command
from memorata.cli.output import one_line, visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory

_PANEL: Final = "Remember and recall"
_EXCERPT: Final = 70
_SHOWN: Final = 3
"""How many memories that a new one may contradict are told of."""
_LONG: Final = 20_000
"""From how many characters on a text is more than one memory should hold."""
_TIERS: Final = ("working", "episodic", "semantic", "procedural")

Words = Annotated[list[str], typer.Argument(metavar="TEXT", help="What to remember; - reads it from stdin.")]
Category = Annotated[str | None, typer.Option("--category", "-c", help="preference, decision, event, …")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="A tag; may be repeated.")]
Entities = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME", help="Who or what it is about; repeatable.")
]
Tier = Annotated[str | None, typer.Option("--tier", help=", ".join(_TIERS) + ".")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="How sure, from 0 to 1.")]
Importance = Annotated[float | None, typer.Option("--importance", help="How important, from 0 to 1.")]
Speaker = Annotated[str | None, typer.Option("--speaker", help="Who said it.")]
SessionName = Annotated[str | None, typer.Option("--session", help="The conversation it is from.")]
Link = Annotated[str | None, typer.Option("--link", help="Where to read it again.")]
PlaceText = Annotated[
    str | None, typer.Option("--place", metavar="LAT,LON[,NAME]", help="Where it was, in degrees.")
]
Metadata = Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="Anything else, as JSON.")]
ValidFrom = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="Since when it is true.")]
ValidTo = Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="Until when it is true.")]
Expires = Annotated[str | None, typer.Option("--expires", metavar="TIME", help="When to stop recalling it.")]
Id = Annotated[str | None, typer.Option("--id", help="An id of your own; otherwise one is made.")]
Which = Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or a piece of it.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "remember", _PANEL)(remember)
    command(app, "correct", _PANEL)(correct)


def remember(
    session: Session,
    text: Words,
    category: Category = None,
    tag: Tags = None,
    entity: Entities = None,
    tier: Tier = None,
    confidence: Confidence = None,
    importance: Importance = None,
    speaker: Speaker = None,
    session_name: SessionName = None,
    link: Link = None,
    place: PlaceText = None,
    metadata: Metadata = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    expires: Expires = None,
    id: Id = None,
) -> None:
    """Remember one thing, word for word."""
    details = _details(
        category=category,
        tags=tag,
        entities=entity,
        tier=None if tier is None else chosen("--tier", tier, _TIERS),
        confidence=confidence,
        importance=importance,
        source=_details(speaker=speaker, session=session_name, link=link),
        place=place_of("--place", place),
        metadata=json_object("--metadata", metadata, '{"page": 12}'),
        valid_from=instant("--valid-from", valid_from),
        valid_to=instant("--valid-to", valid_to),
        expires_at=instant("--expires", expires),
        id=id,
    )
    content = words(text)
    with session.memory(create=True, embed=True) as engine:
        with _patiently(session, content):
            said = engine.remember(content, **details)
        _report(session, "Said before" if said.mentions > 1 else "Remembered", said)
        _point_out(session, engine, said)


def correct(
    session: Session,
    id: Which,
    text: Words,
    category: Category = None,
    tag: Tags = None,
    confidence: Confidence = None,
    speaker: Speaker = None,
    place: PlaceText = None,
    valid_from: ValidFrom = None,
) -> None:
    """Say something new in place of a memory; the old one stays in its history."""
    details = _details(
        category=category,
        tags=tag,
        confidence=confidence,
        source=_details(speaker=speaker),
        place=place_of("--place", place),
        valid_from=instant("--valid-from", valid_from),
    )
    content = words(text)
    with session.memory(embed=True) as engine:
        old = found_memory(engine, id)
        with _patiently(session, content):
            said = engine.correct(old.id, content, **details)
        _report(session, "Corrected", said)


@contextmanager
def _patiently(session: Session, content: str) -> Iterator[None]:
    """Say that a long text takes time to read, and show how far it is; nothing is written before the end."""
    if len(content) < _LONG:
        yield
        return
    from memorata.cli.progress import progress
    from memorata.embed.vectors import report_progress

    session.output.warn(
        f"{len(content):,} characters are a lot for one memory, and take time to read; memorata import "
        "makes one of every paragraph of a file. Ctrl-C stops it, and nothing is written then"
    )
    with progress(session.output, "reading passages") as advance, report_progress(advance):
        yield


def _details(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a memory
    """Return what was given, without what was not."""
    return {name: value for name, value in given.items() if value is not None and value not in ([], {})}


def _point_out(session: Session, engine: Engine, said: Memory) -> None:
    """Tell what else happened: that it was known already, and what it may contradict."""
    from memorata.cli.show_memory import short_id

    if said.mentions > 1:
        which = f"memorata history {short_id(said.id)}"
        session.output.say(f"It was said before, {said.mentions:,} times by now; {which} shows them")
    hints = [hint for hint in engine.duplicates.contradictions(said.id) if hint.newer == said.id]
    for hint in hints[:_SHOWN]:
        older = one_line(visible(engine.get(hint.older).content), _EXCERPT)
        session.output.say(f"It may contradict “{older}”: {hint.reason}")
    if hints:
        session.output.say(f"memorata contradictions {short_id(said.id)} shows all, and decides about them")


def _report(session: Session, verb: str, memory: Memory) -> None:
    from memorata.cli.show_memory import embedder_name, short_id
    from memorata.service.codec import memory_json

    if session.output.json:
        session.output.data(memory_json(memory))
    elif session.output.terminal:
        session.output.show(f"{verb} · id {short_id(memory.id)}")
    else:
        session.output.line(memory.id)
    if memory.embedder:
        session.output.say(f"meaning by {embedder_name(memory.embedder)} · {session.settings.db}")
    else:
        session.output.warn("It could not be embedded now, so it is found by its words only.")
