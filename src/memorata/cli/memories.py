"""Memories: remember, correct, list, show, history, update, forget, restore, purge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import (
    TIERS,
    MemoryId,
    MemoryIds,
    ids_of,
    memory_of,
    one_of,
    place_of,
    text_of,
    time_of,
)
from memorata.cli.output import (
    counted,
    details,
    embedder_name,
    hidden_reasons,
    memories,
    memory_table,
    one_line,
    plain_line,
    short_id,
    visible,
)
from memorata.model.errors import InvalidArgument, NotGiven

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory

_EXCERPT_LENGTH: Final = 70
_MAX_CONTRADICTIONS: Final = 3
"""Contradicted memories shown."""
_LONG_TEXT: Final = 20_000
"""Characters from which a text is more than one memory should hold."""
_MAX_LISTED: Final = 20

Content = Annotated[list[str], Argument(metavar="TEXT", help="The content; - reads it from stdin.")]
Speaker = Annotated[
    str | None, Option("--speaker", help="user, assistant, or a declared person; any other is not trusted.")
]
Role = Annotated[str | None, Option("--role", help="The speaker's role: user, assistant, tool, …")]
Selected = Annotated[
    list[str] | None, Argument(metavar="ID", help="The memories: their ids, or parts of them.")
]
FilterAll = Annotated[
    dict[str, Any] | None, Option("--filter", "-f", help="All that meet it, instead of ids.")
]


class DetailOptions(TypedDict, total=False):
    """The fields that a new memory and a correction may have."""

    category: Annotated[str | None, Option(None, "-c", help="preference, decision, event, …")]
    tag: Annotated[list[str] | None, Option(None, "-t", metavar="TAG", help="A tag; repeatable.")]
    confidence: Annotated[float | None, Option(None, help="From 0 to 1.")]
    place: Annotated[str | None, Option(None, metavar="LAT,LON[,NAME]", help="Where, in degrees.")]
    valid_from: Annotated[datetime | None, Option(None, help="Since when it is true.")]


class FieldOptions(DetailOptions, total=False):
    """The fields that can be set and changed later."""

    tier: Annotated[str | None, Option(None, help=", ".join(TIERS) + ".")]
    importance: Annotated[float | None, Option(None, help="From 0 to 1.")]
    entity: Annotated[list[str] | None, Option(None, metavar="NAME", help="An entity in it; repeatable.")]
    metadata: Annotated[dict[str, Any] | None, Option(None, help="Anything else, as JSON.")]
    valid_to: Annotated[datetime | None, Option(None, help="Until when it is true.")]


def remember(
    session: Session,
    text: Content,
    speaker: Speaker = None,
    role: Role = None,
    session_name: str | None = Option(None, "--session", help="The conversation it is from."),
    link: str | None = Option(None, help="Where to read it again."),
    expires: datetime | None = Option(None, help="When it expires."),
    id: str | None = Option(None, help="An id of your own; otherwise one is made."),
    **options: Unpack[FieldOptions],
) -> None:
    """Remember one thing, word for word."""
    source = _present({"speaker": speaker, "role": role, "session": session_name, "link": link})
    fields = _fields(options) | _present({"source": source or None, "expires_at": expires, "id": id})
    content = text_of(text)
    with session.memory(create=True, embed=True) as engine:
        _warn_of_length(session, content)
        memory = engine.remember(content, **fields)
        _report(session, "Repeated" if memory.mentions > 1 else "Remembered", memory)
        _report_duplicates(session, engine, memory)


def correct(
    session: Session,
    id: MemoryId,
    text: Content,
    speaker: Speaker = None,
    role: Role = None,
    **options: Unpack[DetailOptions],
) -> None:
    """Supersede a memory by a new one; the old one stays in its history."""
    source = _present({"speaker": speaker, "role": role})
    fields = _fields(options) | _present({"source": source or None})
    content = text_of(text)
    with session.memory(embed=True) as engine:
        old = memory_of(engine, id)
        _warn_of_length(session, content)
        memory = engine.correct(old.id, content, **fields)
        _report(session, "Corrected", memory)


def list_(
    session: Session,
    limit: options.Limit = 20,
    filter: options.Filter = None,
    cursor: str | None = Option(None, help="Continue after the page before."),
    hidden: bool = Option(False, help="Forgotten and superseded ones too."),
    oldest_first: bool = Option(False, help="The first remembered first."),
) -> None:
    """List memories, the last remembered first, each with the day it is about."""
    with session.memory() as engine:
        page = engine.list(
            limit=limit, filter=filter, cursor=cursor, hidden=hidden, oldest_first=oldest_first
        )
        _show_all(session, engine, page.memories, cursor=page.cursor)
    if not page.memories and not limit:
        session.output.say("--limit 0 shows none.", "")
    elif not page.memories:
        session.output.say(f"No memories here · namespace {engine.namespace} · {session.settings.db}")
    elif page.cursor is not None:
        session.output.say(f"More: --cursor {page.cursor}")


def show(session: Session, ids: MemoryIds) -> None:
    """Show all fields of memories."""
    output = session.output
    with session.memory() as engine:
        shown = [memory_of(engine, id_) for id_ in ids]
        reasons = hidden_reasons(engine, shown)
        confidences = [engine.admin.lifecycle.confidence_of(memory) for memory in shown]
        if output.json:
            output.data(_rows(engine, shown, reasons))
            return
    for number, (memory, confidence) in enumerate(zip(shown, confidences, strict=True)):
        if number:
            output.line("")
        if output.terminal:
            output.show(visible(memory.content) + "\n")
        else:
            output.line(visible(memory.content))
        output.pairs(details(memory, reasons.get(memory.id, ""), confidence))


def history(session: Session, id: MemoryId) -> None:
    """Show what a memory superseded and what superseded it, oldest first."""
    with session.memory() as engine:
        chain = engine.history(memory_of(engine, id).id)
        _show_all(session, engine, chain, cursor=None)
    if len(chain) == 1:
        session.output.say("It has never been corrected.")


def update(
    session: Session,
    id: MemoryId,
    expires: str | None = Option(None, metavar="TIME", help="When it expires."),
    expected_version: int | None = Option(None, metavar="NUMBER", help="Only if it has this version."),
    pinned: bool | None = Option(
        None, "--pin/--unpin", help="Whether it is kept: it does not fade, expire or change by maintenance."
    ),
    **options: Unpack[FieldOptions],
) -> None:
    """Change fields of a memory, each as a whole; to change its content, correct it."""
    from memorata.service.codec import memory_json

    fields = _fields(options)
    if expires is not None:
        fields["expires_at"] = None if expires == "never" else time_of("--expires", expires)
    if pinned is not None:
        fields["pinned"] = pinned
    if not fields:
        raise InvalidArgument("options", "none", "at least one thing to change, such as --category")
    with session.memory() as engine:
        whole_id = memory_of(engine, id).id
        updated = engine.update(whole_id, expected_version=expected_version, **fields)
    if session.output.terminal:
        session.output.show(f"Updated; it is at version {updated.version} now.")
    else:
        session.output.result(memory_json(updated), updated.id)


def forget(
    session: Session, ids: Selected = None, filter: FilterAll = None, dry_run: options.DryRun = False
) -> None:
    """Hide memories from every recall, by id or by a filter; restore brings them back."""
    _check_selection(ids, filter)
    with session.memory() as engine:
        whole_ids = ids_of(engine, ids)
        forgotten = engine.forget(*whole_ids, filter=filter, dry_run=dry_run)
    if dry_run:
        session.output.changed("would_forget", forgotten, "Would forget")
        return
    session.output.changed("forgotten", forgotten, "Forgot")
    session.output.say("restore brings them back; purge removes them for good")


def restore(session: Session, ids: MemoryIds) -> None:
    """Show forgotten memories again."""
    with session.memory() as engine:
        whole_ids = ids_of(engine, ids)
        engine.restore(*whole_ids)
    session.output.changed("restored", whole_ids, "Restored")


def purge(
    session: Session,
    ids: Selected = None,
    filter: FilterAll = None,
    dry_run: options.DryRun = False,
    yes: bool = Option(False, "-y", help="Do not ask; whole ids only."),
) -> None:
    """Remove memories for good: text, vectors, words. This cannot be undone.

    Afterwards the whole file is written anew, so that its bytes hold no trace either. That takes time in
    proportion to its size, so give many ids at once. If others keep it
    busy, memorata admin vacuum finishes it.
    """
    output = session.output
    _check_selection(ids, filter)
    with session.memory() as engine:
        # Without a confirmation, a part of an id is too little to destroy by.
        matches = [memory_of(engine, id_) for id_ in ids or ()]
        for id_, memory in zip(ids or (), matches, strict=True):
            if yes and memory.id != id_ and not dry_run:
                raise InvalidArgument("ID", id_, f"the whole id, {memory.id}, without a confirmation")
        if filter is not None:
            from memorata.service.transfer import listed

            matches = list(listed(engine, filter, hidden=True, oldest_first=True))
        whole_ids = [memory.id for memory in matches]
        purged = [] if yes and not dry_run else engine.purge(*whole_ids, dry_run=True)
        if dry_run:
            for memory in engine.store.get(engine.namespace, list(purged)):
                output.say(f"  {one_line(memory.content, 100)}", "")
            output.changed("would_purge", list(purged), "Would remove")
            return
        lines = [f"  {one_line(memory.content, 100)}" for memory in matches[:_MAX_LISTED]]
        lines += ["  …"] if len(matches) > _MAX_LISTED else []
        copies = len(purged) - len(matches)
        along = "" if copies <= 0 else f" and {counted(copies, 'copy or summary', 'copies and summaries')}"
        if not session.confirm(f"Remove {memories(len(matches))}{along} for good?", yes=yes, lines=lines):
            return
        engine.purge(*whole_ids)
        for log in engine.store.statistics().get("kept_logs", ()):
            output.say(f"Note: {log}, of a file that was replaced, may still hold it; remove it too")
    output.changed("purged", whole_ids, "Removed")


def _check_selection(ids: Sequence[str] | None, filter: dict[str, Any] | None) -> None:
    """Raise unless memories are selected by ids or by a filter with a condition."""
    if bool(ids) == (filter is not None):
        raise NotGiven("ID or --filter", "(one of the two, not both)")
    if filter == {}:
        raise InvalidArgument("--filter", filter, 'at least one condition; {"id": {"exists": true}} is all')


def _warn_of_length(session: Session, content: str) -> None:
    """Warn of a long text; nothing is written before it is embedded."""
    if len(content) >= _LONG_TEXT:
        session.output.warn(
            f"{len(content):,} characters are a lot for one memory, and take time to embed; memorata import "
            "makes one of every paragraph of a file. Ctrl-C stops it, and nothing is written then"
        )


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != []}


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory that options set."""
    fields = _present(options)
    if "tier" in fields:
        one_of("--tier", fields["tier"], TIERS)
    if "place" in fields:
        fields["place"] = place_of("--place", fields["place"])
    return {{"tag": "tags", "entity": "entities"}.get(name, name): value for name, value in fields.items()}


def _report(session: Session, verb: str, memory: Memory) -> None:
    from memorata.service.codec import memory_json

    output = session.output
    if output.terminal:
        output.show(f"{verb} · id {short_id(memory.id)}")
    else:
        output.result(memory_json(memory), memory.id)
    if memory.untrusted:
        output.say("It is untrusted, by its source: it counts less, and is never taken for an instruction.")
    if memory.embedder:
        output.say(f"embedded by {embedder_name(memory.embedder)} · {session.settings.db}")
    else:
        output.warn("It could not be embedded now, so it is found by its words only.")


def _report_duplicates(session: Session, engine: Engine, memory: Memory) -> None:
    """Report that a new memory repeats others, and which it may contradict."""
    if memory.mentions > 1:
        command = f"memorata history {short_id(memory.id)}"
        session.output.say(f"It was said before, {memory.mentions:,} times by now; {command} shows them")
    hints = [hint for hint in engine.admin.duplicates.contradictions(memory.id) if hint.newer == memory.id]
    for hint in hints[:_MAX_CONTRADICTIONS]:
        older = one_line(engine.get(hint.older).content, _EXCERPT_LENGTH)
        session.output.say(f"It may contradict “{older}”: {hint.reason}")
    if hints:
        session.output.say(f"memorata contradictions {short_id(memory.id)} shows all, and resolves them")


def _rows(engine: Engine, shown: Sequence[Memory], reasons: dict[str, str]) -> list[dict[str, Any]]:
    from memorata.service.codec import memory_json

    return [
        memory_json(memory)
        | {"hidden": reasons.get(memory.id), "confidence_now": engine.admin.lifecycle.confidence_of(memory)}
        for memory in shown
    ]


def _show_all(session: Session, engine: Engine, shown: Sequence[Memory], *, cursor: str | None) -> None:
    output = session.output
    reasons = hidden_reasons(engine, shown)
    if output.json:
        output.data({"memories": _rows(engine, shown, reasons), "cursor": cursor})
    elif output.terminal:
        if shown:
            output.show(memory_table(shown, reasons))
    else:
        for memory in shown:
            output.line(plain_line(memory))
