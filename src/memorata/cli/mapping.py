"""Where and when: near, timeline."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from memorata.cli.arguments import instant, place_of
from memorata.cli.command import command
from memorata.cli.failures import NOTHING
from memorata.cli.output import one_line
from memorata.cli.session import Session

_PANEL: Final = "Who, what, where, when"
_KILOMETRE: Final = 1000

PlaceText = Annotated[str, typer.Argument(metavar="LAT,LON", help="The place, in degrees.")]
Radius = Annotated[float | None, typer.Option("--radius", "-r", help="How far at most, in metres.")]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]
Entity = Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="Only what mentions this one.")]
Start = Annotated[str | None, typer.Option("--start", metavar="TIME", help="Only from that time on.")]
End = Annotated[str | None, typer.Option("--end", metavar="TIME", help="Only before that time.")]

AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="What was known and believed at that time.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "near", _PANEL)(near)
    command(app, "timeline", _PANEL)(timeline)


def near(
    session: Session, place: PlaceText, radius: Radius = None, limit: Limit = 10, as_of: AsOf = None
) -> None:
    """Show the memories that were nearest to a place, and how far each was."""
    from memorata.cli.show_memory import byline
    from memorata.model.errors import InvalidArgument
    from memorata.service.codec import nearby_json

    output = session.output
    point, then = place_of("LAT,LON", place), instant("--as-of", as_of)
    if point is None:
        raise InvalidArgument("LAT,LON", place, "degrees such as 48.857,2.352")
    with session.memory() as engine:
        found = engine.graph.near(point.lat, point.lon, radius, limit=limit, as_of=then)
    if output.json:
        output.data({"memories": [nearby_json(each) for each in found]})
    elif output.terminal:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True, justify="right", style="dim")
        table.add_column(ratio=1, overflow="fold")
        for each in found:
            said = Text(one_line(each.memory.content, 400))
            said.append(f"\n{byline(each.memory)}", style="dim")
            table.add_row(distance(each.metres), said)
        if found:
            output.show(table)
    else:
        for each in found:
            output.line(f"{each.metres:.1f}\t{each.memory.id}\t{one_line(each.memory.content)}")
    if not found:
        output.say("No memory here has a place" + ("" if radius is None else " so near"))
        session.leave(NOTHING)


def timeline(
    session: Session,
    entity: Entity = None,
    start: Start = None,
    end: End = None,
    limit: Limit = 50,
    as_of: AsOf = None,
) -> None:
    """Show memories in the order in which what they tell happened, the oldest first."""
    from memorata.cli.show_memory import memory_table, plain_line
    from memorata.service.codec import memory_json

    output = session.output
    since, until, then = instant("--start", start), instant("--end", end), instant("--as-of", as_of)
    with session.memory() as engine:
        found = engine.graph.timeline(entity, start=since, end=until, limit=limit, as_of=then)
    if output.json:
        output.data({"memories": [memory_json(memory) for memory in found]})
    elif output.terminal:
        if found:
            output.show(memory_table(list(found), {}))
    else:
        for memory in found:
            output.line(plain_line(memory))
    if not found:
        output.say("No memory is from that time")
        session.leave(NOTHING)


def distance(metres: float) -> str:
    """Return a distance for people.

    Examples
    --------
    >>> distance(12.3), distance(263_456)
    ('12 m', '263 km')
    """
    return f"{metres:.0f} m" if metres < _KILOMETRE else f"{metres / _KILOMETRE:,.0f} km"
