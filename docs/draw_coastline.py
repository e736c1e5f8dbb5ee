"""Draw the coastline of the map page: simplified land of Natural Earth as one SVG path.

The input is ``land-50m.json`` of the npm package world-atlas (ISC licence), which holds the land of Natural
Earth 4.1 (public domain) as TopoJSON. The output goes into a template of the page::

    python docs/draw_coastline.py node_modules/world-atlas/land-50m.json \
        > src/memorata/web/templates/coastline.svg

A degree is a unit, west is left and north is up (the plate carrée), so that a place is put on the map by its
coordinates. Lines are thinned out by the rule of Ramer (1972) and of Douglas and Peucker (1973): a point goes
if it is closer than a tolerance to the line between those that stay.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

Point = tuple[float, float]

TOLERANCE = 0.11
"""In degrees: about 12 km at the equator, a third of a pixel on a map of 1,200 pixels."""
SMALLEST = 0.25
"""In square degrees: smaller islands are left out."""


def main(path: Path) -> None:
    """Write the path of the land in a file of TopoJSON to the standard output."""
    topology = json.loads(path.read_text(encoding="utf-8"))
    arcs = [unpacked(arc, topology["transform"]) for arc in topology["arcs"]]
    pieces = []
    for geometry in topology["objects"]["land"]["geometries"]:
        polygons = [geometry["arcs"]] if geometry["type"] == "Polygon" else geometry["arcs"]
        for polygon in polygons:
            for ring in polygon:
                points = joined(ring, arcs)
                if abs(area(points)) >= SMALLEST:
                    pieces.append(drawn(thinned(points, TOLERANCE)))
    sys.stdout.write(f'<path class="land" d="{"".join(pieces)}"/>\n')


def unpacked(arc: list[list[int]], transform: dict[str, list[float]]) -> list[Point]:
    """Return the points of an arc, which TopoJSON writes as whole steps from one to the next."""
    (scale_x, scale_y), (shift_x, shift_y) = transform["scale"], transform["translate"]
    x = y = 0
    points = []
    for step_x, step_y in arc:
        x, y = x + step_x, y + step_y
        points.append((x * scale_x + shift_x, y * scale_y + shift_y))
    return points


def joined(ring: list[int], arcs: list[list[Point]]) -> list[Point]:
    """Return the points of a ring of arcs; the number ~n stands for arc n read backwards."""
    points: list[Point] = []
    for number in ring:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        points += arc[1 if points else 0 :]
    return points


def area(points: list[Point]) -> float:
    """Return the area inside a ring in square degrees, by the shoelace formula."""
    turned = [*points[1:], points[0]]
    return sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(points, turned, strict=True)) / 2


def thinned(points: list[Point], tolerance: float) -> list[Point]:
    """Return the points of a line that are needed to stay within a tolerance of it."""
    keep = {0, len(points) - 1, len(points) // 2}
    waiting = [(0, len(points) // 2), (len(points) // 2, len(points) - 1)]
    while waiting:
        first, last = waiting.pop()
        inner = range(first + 1, last)
        if not inner:
            continue
        farthest = max(inner, key=lambda each: distance(points[each], points[first], points[last]))
        if distance(points[farthest], points[first], points[last]) > tolerance:
            keep.add(farthest)
            waiting += [(first, farthest), (farthest, last)]
    return [points[each] for each in sorted(keep)]


def distance(point: Point, start: Point, end: Point) -> float:
    """Return how far a point is from the straight line between two others."""
    (x, y), (x1, y1), (x2, y2) = point, start, end
    length = (x2 - x1) ** 2 + (y2 - y1) ** 2
    along = 0.0 if length == 0 else max(0.0, min(1.0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length))
    return float(((x - x1 - along * (x2 - x1)) ** 2 + (y - y1 - along * (y2 - y1)) ** 2) ** 0.5)


def drawn(points: list[Point]) -> str:
    """Return a ring as a piece of an SVG path, in tenths of a degree from point to point."""
    tenths = [(round(x * 10), round(-y * 10)) for x, y in points]
    text = f"M{written(tenths[0][0])} {written(tenths[0][1])}l"
    steps = []
    for (x1, y1), (x2, y2) in pairwise(tenths):
        if (x1, y1) != (x2, y2):
            steps.append(f"{written(x2 - x1)} {written(y2 - y1)}")
    return text + " ".join(steps).replace(" -", "-") + "z"


def written(tenths: int) -> str:
    """Return tenths as a decimal number without a needless zero."""
    text = f"{tenths / 10:.1f}".removesuffix(".0")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


if __name__ == "__main__":
    main(Path(sys.argv[1]))
