"""A line of points as an SVG drawing, for the few plots the pages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from memorata._frozen import frozen

WIDTH: Final = 480.0
HEIGHT: Final = 180.0
_LEFT: Final = 56.0
_EDGE: Final = 14.0
_BELOW: Final = 34.0
_ROOM: Final = 0.12


@frozen
class Mark:
    """A point that has a name."""

    label: str
    x: float
    y: float
    value: float
    height: float


@frozen
class Tick:
    """A number beside an axis, and where it stands along it."""

    text: str
    at: float


@frozen
class Plot:
    """A drawing: the line and its points in drawing units, what is marked, and the numbers at the axes."""

    line: str
    points: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    across: tuple[Tick, ...]
    upwards: tuple[Tick, ...]
    x_label: str
    y_label: str
    width: float = WIDTH
    height: float = HEIGHT


def plotted(
    points: Sequence[tuple[float, float]], x_label: str, y_label: str, marks: Mapping[str, float]
) -> Plot | None:
    """Return a drawing of points in the order of their first coordinate; None with fewer than two.

    Parameters
    ----------
    points
        What is drawn.
    x_label, y_label
        What the axes show.
    marks
        Names for some of the points, by their first coordinate; what is none of the points is left out.

    Examples
    --------
    >>> drawing = plotted([(0.0, 0.5), (1.0, 0.7)], "share", "ndcg", {"found": 1.0})
    >>> [(mark.label, mark.value, mark.height) for mark in drawing.marks]
    [('found', 1.0, 0.7)]
    """
    if len(points) < 2:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    # A flat line is drawn in the middle.
    slack = (max(ys) - min(ys)) * _ROOM or 0.01
    low, high = min(ys) - slack, max(ys) + slack

    def across(x: float) -> float:
        return _LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - _LEFT - _EDGE)

    def upwards(y: float) -> float:
        return HEIGHT - _BELOW - (y - low) / (high - low) * (HEIGHT - _BELOW - _EDGE)

    drawn = tuple(Mark("", across(x), upwards(y), x, y) for x, y in points)
    named = tuple(
        Mark(label, each.x, each.y, each.value, each.height)
        for label, wanted in marks.items()
        for each in drawn
        if each.value == wanted
    )
    return Plot(
        " ".join(f"{each.x:.1f},{each.y:.1f}" for each in drawn),
        drawn,
        named,
        tuple(Tick(f"{x:g}", across(x)) for x in (xs[0], xs[len(xs) // 2], xs[-1])),
        tuple(Tick(f"{y:.3f}", upwards(y)) for y in (min(ys), max(ys))),
        x_label,
        y_label,
    )
