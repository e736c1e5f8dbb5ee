"""The timeline page: memories by the day of their events, and how many there are of each time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from starlette.responses import Response

from memorata.extend import frozen
from memorata_graph.graph import Graph
from memorata_server.web.context import PageContext, day

_MAX_COUNTED: Final = 10_000
_MAX_SHOWN: Final = 60
_MAX_NAMES: Final = 60
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
    memories = Graph(context.engine).timeline(
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
        names=[each.entity.name for each in Graph(context.engine).entities.list(limit=_MAX_NAMES)],
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
