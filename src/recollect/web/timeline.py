"""The timeline: memories in the order in which what they tell happened, and how many there are when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from starlette.responses import Response

from recollect.web.visit import Room, Visit

_COUNTED: Final = 2_000
_SHOWN: Final = 60
_HEIGHT: Final = 60.0
_DAYS: Final = 62
_YEARS: Final = 8
_HOURS_OF_A_YEAR: Final = 8_766


@dataclass(frozen=True, slots=True)
class Bin:
    """A day, a month or a year: when it begins and ends, how much happened in it, and where it is drawn."""

    label: str
    start: datetime
    end: datetime
    count: int
    x: float
    width: float
    height: float


def show(visit: Visit) -> Response:
    """Show the timeline, of everything or of one name."""
    values = visit.values
    entity = values.text("entity") or None
    start, end = values.instant("start"), values.instant("end", end=True)
    memories = visit.engine.timeline(entity, start=start, end=end, limit=_COUNTED, namespace=visit.namespace)
    page = values.whole("page", 0)
    shown = memories[page * _SHOWN : (page + 1) * _SHOWN]
    days = [(day, list(group)) for day, group in groupby(shown, key=lambda each: each.event_time.date())]
    kept: dict[str, Any] = {"entity": entity, "start": values.text("start"), "end": values.text("end")}
    return visit.page(
        "timeline.html",
        memories=memories,
        bins=bins([memory.event_time for memory in memories]),
        days=days,
        page=page,
        more=len(memories) > (page + 1) * _SHOWN,
        all_counted=len(memories) < _COUNTED,
        kept=kept,
        entity=entity or "",
        today=visit.now,
    )


def bins(moments: Sequence[datetime]) -> tuple[Bin, ...]:
    """Return how many moments fall into each day, month or year between the first and the last.

    Days up to two months, months up to eight years, years above; in units of a drawing 100 wide and 60 high.

    Examples
    --------
    >>> days = [datetime(2026, 5, 1, 9, tzinfo=UTC), datetime(2026, 5, 3, tzinfo=UTC)]
    >>> [(each.label, each.count, each.height) for each in bins(days)]
    [('1 May 2026', 1, 60.0), ('2 May 2026', 0, 0.0), ('3 May 2026', 1, 60.0)]
    """
    if not moments:
        return ()
    first, last = min(moments), max(moments)
    span = last - first
    edges = _edges(first, last, span)
    counts = [0] * len(edges)
    place = 0
    for moment in sorted(moments):
        while place + 1 < len(edges) and moment >= edges[place + 1]:
            place += 1
        counts[place] += 1
    ends = [*edges[1:], _after(edges[-1], span)]
    most, width = max(counts), 100 / len(edges)
    return tuple(
        Bin(_label(start, span), start, end, count, number * width, width, count / most * _HEIGHT)
        for number, (start, end, count) in enumerate(zip(edges, ends, counts, strict=True))
    )


def _edges(first: datetime, last: datetime, span: timedelta) -> list[datetime]:
    midnight = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if span >= timedelta(days=_DAYS):
        midnight = midnight.replace(day=1)
    if span >= timedelta(hours=_YEARS * _HOURS_OF_A_YEAR):
        midnight = midnight.replace(month=1)
    edges = [midnight]
    while (following := _after(edges[-1], span)) <= last:
        edges.append(following)
    return edges


def _after(start: datetime, span: timedelta) -> datetime:
    if span < timedelta(days=_DAYS):
        return start + timedelta(days=1)
    if span < timedelta(hours=_YEARS * _HOURS_OF_A_YEAR):
        return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return start.replace(year=start.year + 1)


def _label(start: datetime, span: timedelta) -> str:
    if span < timedelta(days=_DAYS):
        return f"{start.day} {start:%b %Y}"
    return f"{start:%b %Y}" if span < timedelta(hours=_YEARS * _HOURS_OF_A_YEAR) else f"{start:%Y}"


ROOMS: Final = (Room("/timeline", show),)
