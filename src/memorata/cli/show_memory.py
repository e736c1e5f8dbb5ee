"""How a memory looks on a screen: one line of it, or all there is to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from memorata.cli.output import one_line, visible

if TYPE_CHECKING:
    from rich.table import Table

    from memorata.engine import Engine
    from memorata.model.memory import Memory

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def short_id(id_: str) -> str:
    """Return the piece of an id that people see and may type: the random end of a UUID, else all of it.

    Examples
    --------
    >>> short_id("01a1e116-a535-77da-93a8-87dda5a72137"), short_id("m-1")
    ('87dda5a72137', 'm-1')
    """
    return id_[-12:] if _UUID.fullmatch(id_) else id_


def byline(memory: Memory, *, dated: bool = True) -> str:
    """Return who, what, when and which, in a few words."""
    day = f"{memory.event_time.day} {memory.event_time:%b %Y}" if dated else ""
    said = [memory.source.speaker, memory.category, day, *(f"#{tag}" for tag in memory.tags)]
    return " · ".join(visible(part) for part in (*filter(None, said), f"id {short_id(memory.id)}"))


def plain_line(memory: Memory) -> str:
    """Return a memory as a line for a pipe: its id, its day and its content, with tabs between."""
    return f"{memory.id}\t{memory.event_time:%Y-%m-%d}\t{one_line(memory.content)}"


def embedder_name(name: str) -> str:
    """Return an embedder's name without the digest that tells its versions apart.

    Examples
    --------
    >>> embedder_name("snowflake-arctic-embed-s-int8@f5e56449:cls")
    'snowflake-arctic-embed-s-int8'
    """
    return name.partition("@")[0] or "none, words only"


def memory_table(memories: list[Memory], reasons: Mapping[str, str]) -> Table:
    """Return a table of memories, with the reason for each one that is hidden."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(ratio=1, overflow="fold")
    for memory in memories:
        hidden = reasons.get(memory.id, "")
        said = Text(one_line(memory.content, 400), style="dim" if hidden else "")
        said.append(f"\n{byline(memory, dated=False)}", style="dim")
        if hidden:
            said.append(f" · {hidden}", style="yellow")
        table.add_row(f"{memory.event_time:%Y-%m-%d}", said)
    return table


def details(memory: Memory, hidden: str, sure: float | None = None) -> list[tuple[str, str]]:
    """Return all there is to know beside the content, as names and values; what is not set is left out.

    `sure` is how sure the memory is by now, if that is known.
    """
    worn = sure is not None and sure != memory.confidence
    source, place = memory.source, memory.place
    said: list[tuple[str, Any]] = [
        ("id", memory.id),
        ("namespace", memory.namespace),
        ("state", hidden or "current"),
        ("category", memory.category),
        ("tier", memory.tier.value),
        (
            "confidence",
            f"{sure:.3g} by now, {memory.confidence:g} as written" if worn else f"{memory.confidence:g}",
        ),
        ("importance", f"{memory.importance:g}"),
        ("pinned", "yes" if memory.pinned else ""),
        ("said", f"{memory.mentions} times" if memory.mentions > 1 else ""),
        ("last supported", _moment(memory.supported_at)),
        ("used", f"{memory.access_count} times" if memory.access_count else ""),
        ("last used", _moment(memory.last_accessed_at)),
        ("tags", ", ".join(memory.tags)),
        ("entities", ", ".join(memory.entities)),
        ("speaker", source.speaker),
        ("session", source.session),
        ("position", source.position),
        ("link", source.link),
        ("place", place and f"{place.lat:g}, {place.lon:g} {place.name}".strip()),
        ("learnt", _moment(memory.created_at)),
        ("true from", _moment(memory.valid_from)),
        ("true until", _moment(memory.valid_to)),
        ("expires", _moment(memory.expires_at)),
        ("replaces", ", ".join(memory.supersedes)),
        ("replaced by", memory.superseded_by),
        ("version", memory.version),
        ("metadata", dict(memory.metadata) or ""),
        ("embedder", embedder_name(memory.embedder)),
    ]
    return [(name, visible(str(value))) for name, value in said if value not in (None, "")]


def hidden_reasons(engine: Engine, memories: list[Memory]) -> dict[str, str]:
    """Return, for those of the memories that recall does not show, why: superseded or forgotten."""
    reasons = {memory.id: "superseded" for memory in memories if memory.superseded_by is not None}
    asked = [memory.id for memory in memories if memory.id not in reasons]
    if asked:
        page = engine.list(namespace=memories[0].namespace, filter={"id": {"in": asked}}, limit=len(asked))
        seen = {memory.id for memory in page.memories}
        reasons |= {id_: "forgotten" for id_ in asked if id_ not in seen}
    return reasons


def _moment(value: Any) -> str:  # noqa: ANN401 - a datetime or None
    return "" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"
