"""Browse and timeline: every memory, newest first, narrowed down by a form; by day of writing or of event.

What is ticked is changed together. Whatever is done to many at once is done to those it changes, and can be
taken back with one click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from starlette.responses import Response

from memorata import Engine, Memory
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_server.web import forms
from memorata_server.web.context import PageContext, PageRoute, day

_PAGE_SIZE: Final = 50
_MAX_TICKED: Final = 1_000


@frozen
class Action:
    """An action on memories: whether it would change one, given its state, and how it is undone, if it is."""

    name: str
    done: str
    undo: str
    applies: Callable[[Memory, str], bool]
    verb: Callable[[Engine], Callable[..., object]]


def _reinstate(engine: Engine) -> Callable[..., object]:
    return lambda *ids: [engine.duplicates.reinstate(id_) for id_ in ids]


ACTIONS: Final[Mapping[str, Action]] = {
    action.name: action
    for action in (
        Action("forget", "forgotten", "restore", lambda _, state: state != "forgotten", lambda e: e.forget),
        Action("restore", "restored", "forget", lambda _, state: state == "forgotten", lambda e: e.restore),
        Action("pin", "pinned", "unpin", lambda memory, _: not memory.pinned, lambda e: e.lifecycle.pin),
        Action("unpin", "unpinned", "pin", lambda memory, _: memory.pinned, lambda e: e.lifecycle.unpin),
        Action(
            "reinstate", "current again", "", lambda memory, _: memory.superseded_by is not None, _reinstate
        ),
    )
}


def browse(context: PageContext) -> Response:
    """Show a page of memories."""
    return _listing(context)


def act(context: PageContext) -> Response:
    """Do something to the memories that are ticked, and show the listing again with a way back."""
    ids = list(dict.fromkeys(context.values.texts("memory")))
    if not ids:
        raise InvalidArgument("memory", ids, "at least one ticked memory")
    if len(ids) > _MAX_TICKED:
        raise InvalidArgument("memory", f"{len(ids)} memories", f"at most {_MAX_TICKED} memories")
    action = ACTIONS[checks.one_of("do", context.values.text("do"), tuple(ACTIONS))]
    changed = apply(context, action, ids)
    return _listing(context, action, changed)


def remember(context: PageContext) -> Response:
    """Write a new memory down, and go to it."""
    values = context.values
    details: dict[str, Any] = {}
    if values.text("category"):
        details["category"] = values.text("category")
    if values.listed("tags"):
        details["tags"] = values.listed("tags")
    memory = context.engine.remember(values.text("content"), **details)
    notice = "known" if memory.mentions > 1 else "remembered"
    return context.go(context.url(f"/memories/{memory.id}", done=notice))


def apply(context: PageContext, action: Action, ids: Sequence[str]) -> list[str]:
    """Do something to memories; return the ids of those it changed."""
    memories = context.engine.store.get(context.namespace, ids)
    states = hidden_states(context, memories)
    changed = [memory.id for memory in memories if action.applies(memory, states.get(memory.id, ""))]
    if changed:
        action.verb(context.engine)(*changed)
    return changed


def hidden_states(context: PageContext, memories: Sequence[Memory]) -> dict[str, str]:
    """Return, for those of the memories that recall does not show, why: forgotten, superseded or expired."""
    ids = [memory.id for memory in memories]
    if not ids:
        return {}
    page = context.engine.list(filter={"id": {"in": ids}}, limit=len(ids))
    visible = {memory.id for memory in page.memories}
    forgotten: set[str] = set()
    if len(visible) < len(set(ids)):
        everything = context.engine.store.hidden(context.namespace)
        forgotten = {memory.memory_id for memory in everything if memory.forgotten_at is not None}
    states = {}
    for memory in memories:
        if memory.id in forgotten:
            states[memory.id] = "forgotten"
        elif memory.superseded_by is not None:
            states[memory.id] = "superseded"
        elif memory.expires_at is not None and memory.expires_at <= context.now:
            states[memory.id] = "expired"
    return states


def _listing(context: PageContext, action: Action | None = None, changed: Sequence[str] = ()) -> Response:
    values = context.values
    hidden = values.flag("hidden")
    page = context.engine.list(
        filter=forms.filter_of(values, forms.spellings(context.engine)),
        limit=_PAGE_SIZE,
        cursor=values.text("cursor") or None,
        hidden=hidden,
    )
    filter_fields = {**forms.filter_fields(values), "hidden": "true" if hidden else ""}
    variables: dict[str, Any] = {
        "memories": page.memories,
        "states": hidden_states(context, page.memories),
        "cursor": page.cursor,
        "current_cursor": values.text("cursor"),
        "fields": filter_fields,
        "narrowed": forms.filled(values),
        "hidden": hidden,
        "filters": len(forms.filter_fields(values).keys() - {"text"}) + hidden,
        "tiers": forms.TIERS,
        "action": action,
        "changed": changed,
        "remembered": context.remembered,
        "imported": values.whole("imported", 0),
        "failed": values.whole("failed", 0),
    }
    if context.fragment and context.target == "listing":
        response = context.page("browse_listing.html", **variables)
        if action is None:
            response.headers["HX-Replace-Url"] = context.url("/memories", filter_fields)
        return response
    choices = forms.choices(context.engine)
    return context.page("browse.html", choices=choices, **variables)


_MAX_COUNTED: Final = 10_000
_MAX_SHOWN: Final = 60
_HEIGHT: Final = 60.0
_HOURS_OF_A_YEAR: Final = 8_766
_UNITS: Final = (
    ("day", timedelta(days=62)),
    ("month", timedelta(hours=8 * _HOURS_OF_A_YEAR)),
    ("year", timedelta(hours=120 * _HOURS_OF_A_YEAR)),
    ("decade", timedelta(hours=1_200 * _HOURS_OF_A_YEAR)),
)
"""What a bar stands for, and up to how much time; above all, a century."""
_YEARS: Final = {"year": 1, "decade": 10, "century": 100}


@frozen
class Bin:
    """A day, a month or some years: when it begins and ends, how much happened in it, and where it is drawn.

    The last one that a calendar knows has no end.
    """

    label: str
    start: datetime
    end: datetime | None
    count: int
    x: float
    width: float
    height: float


def timeline(context: PageContext) -> Response:
    """Show the timeline, of everything or of one name."""
    values = context.values
    entity = values.text("entity") or None
    start, end = values.instant("start"), values.instant("end", end=True)
    memories = context.engine.graph.timeline(
        entity, start=start, end=end, limit=_MAX_COUNTED, newest_first=True
    )
    page = values.whole("page", 0)
    shown = memories[page * _MAX_SHOWN : (page + 1) * _MAX_SHOWN]
    days = [
        (date, list(group)) for date, group in groupby(shown, key=lambda memory: memory.event_time.date())
    ]
    fields: dict[str, Any] = {"entity": entity, "start": values.text("start"), "end": values.text("end")}
    return context.page(
        "timeline.html",
        memories=memories,
        bins=bins([memory.event_time for memory in memories]),
        days=days,
        page=page,
        more=len(memories) > (page + 1) * _MAX_SHOWN,
        all_counted=len(memories) < _MAX_COUNTED,
        fields=fields,
        entity=entity or "",
        names=forms.entity_names(context.engine),
        remembered=context.remembered,
        today=context.now,
    )


def bins(moments: Sequence[datetime]) -> tuple[Bin, ...]:
    """Return how many moments fall into each day, month or some years between the first and the last.

    Days up to two months, months up to eight years, then years, decades and centuries, so that there are
    never too many to be seen; in units of a drawing 100 wide and 60 high.
    """
    if not moments:
        return ()
    first, last = min(moments), max(moments)
    unit = next((name for name, most in _UNITS if last - first < most), "century")
    edges = [_begin(first, unit)]
    while (following := _after(edges[-1], unit)) is not None and following <= last:
        edges.append(following)
    counts = [0] * len(edges)
    place = 0
    for moment in sorted(moments):
        while place + 1 < len(edges) and moment >= edges[place + 1]:
            place += 1
        counts[place] += 1
    ends = [*edges[1:], following]
    most, width = max(counts), 100 / len(edges)
    return tuple(
        Bin(_label(start, end, unit), start, end, count, number * width, width, count / most * _HEIGHT)
        for number, (start, end, count) in enumerate(zip(edges, ends, counts, strict=True))
    )


def _begin(moment: datetime, unit: str) -> datetime:
    """Return when the unit that a moment is in began."""
    midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return midnight
    if unit == "month":
        return midnight.replace(day=1)
    # There is no year 0.
    return midnight.replace(year=max(1, midnight.year - midnight.year % _YEARS[unit]), month=1, day=1)


def _after(start: datetime, unit: str) -> datetime | None:
    """Return when the next unit begins; None where the calendar ends."""
    try:
        if unit == "day":
            return start + timedelta(days=1)
        if unit == "month":
            return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        return start.replace(year=(start.year // _YEARS[unit] + 1) * _YEARS[unit])
    except (ValueError, OverflowError):
        return None


def _label(start: datetime, end: datetime | None, unit: str) -> str:
    if unit == "day":
        return day(start)
    if unit == "month":
        return f"{start:%b} {start.year:04}"
    until = 9999 if end is None else end.year - 1
    return f"{start.year:04}" if start.year == until else f"{start.year:04}–{until:04}"


ROUTES: Final = (
    PageRoute("/memories", browse),
    PageRoute("/memories", remember, "POST"),
    PageRoute("/memories/act", act, "POST"),
    PageRoute("/timeline", timeline),
)
