"""Draw the map page: land and borders of Natural Earth as two SVG paths, and where names of countries stand.

The input is ``countries-50m.json`` of the npm package world-atlas (ISC licence), which holds the land and the
countries of Natural Earth 4.1 (public domain) as TopoJSON. The output goes into the folder of the pages::

    python docs/draw_coastline.py node_modules/world-atlas/countries-50m.json \
        packages/memorata-graph/src/memorata_graph

A degree is a unit, west is left and north is up (the plate carrée), so that a place is put on the map by its
coordinates. Lines are thinned out by the rule of Ramer (1972) and of Douglas and Peucker (1973): a point goes
if it is closer than a tolerance to the line between those that stay. A border is what two countries share.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Point = tuple[float, float]

TOLERANCE = 0.11
"""In degrees: about 12 km at the equator, a third of a pixel on a map of 1,200 pixels."""
SMALLEST = 0.25
"""In square degrees: smaller islands are left out."""


def main(source: Path, folder: Path) -> None:
    """Write the paths and the names of a file of TopoJSON into a folder."""
    topology = json.loads(source.read_text(encoding="utf-8"))
    arcs = [unpacked(arc, topology["transform"]) for arc in topology["arcs"]]
    land = [
        drawn(thinned(ring, TOLERANCE)) + "z"
        for geometry in topology["objects"]["land"]["geometries"]
        for ring in rings(geometry, arcs)
        if abs(area(ring)) >= SMALLEST
    ]
    countries = topology["objects"]["countries"]["geometries"]
    uses = Counter(
        number for country in countries for number in {max(each, ~each) for each in numbers(country["arcs"])}
    )
    borders = [drawn(thinned(arcs[number], TOLERANCE)) for number, count in uses.items() if count > 1]
    svg = f'<path class="land" d="{"".join(land)}"/>\n<path class="border" d="{"".join(borders)}"/>\n'
    (folder / "templates" / "coastline.svg").write_text(svg, encoding="utf-8")
    names = sorted((named(country, arcs) for country in countries), key=lambda each: -each[3])
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in names)
    (folder / "countries.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def named(country: dict[str, Any], arcs: list[list[Point]]) -> tuple[str, float, float, float]:
    """Return the name of a country, the middle of its largest piece, east and south, and how wide that is."""
    largest = max(rings(country, arcs), key=lambda ring: abs(area(ring)))
    xs, ys = [x for x, _ in largest], [y for _, y in largest]
    turned = [*largest[1:], largest[0]]
    twice = [x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(largest, turned, strict=True)]
    x = sum((a[0] + b[0]) * each for a, b, each in zip(largest, turned, twice, strict=True)) / (
        3 * sum(twice)
    )
    y = sum((a[1] + b[1]) * each for a, b, each in zip(largest, turned, twice, strict=True)) / (
        3 * sum(twice)
    )
    wide = min(max(xs) - min(xs), 2 * (max(ys) - min(ys)))
    return country["properties"]["name"], round(x, 1), round(-y, 1), round(wide, 1)


def rings(geometry: dict[str, Any], arcs: list[list[Point]]) -> list[list[Point]]:
    """Return the rings of a shape."""
    polygons = [geometry["arcs"]] if geometry["type"] == "Polygon" else geometry["arcs"]
    return [joined(ring, arcs) for polygon in polygons for ring in polygon]


def numbers(nested: Any) -> Iterator[int]:  # noqa: ANN401 - lists of lists of numbers
    """Yield the numbers of arcs in the nested lists of a shape."""
    if isinstance(nested, int):
        yield nested
    else:
        for each in nested:
            yield from numbers(each)


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
    """Return a line as a piece of an SVG path, in tenths of a degree from point to point."""
    tenths = [(round(x * 10), round(-y * 10)) for x, y in points]
    text = f"M{written(tenths[0][0])} {written(tenths[0][1])}l"
    steps = []
    for (x1, y1), (x2, y2) in pairwise(tenths):
        if (x1, y1) != (x2, y2):
            steps.append(f"{written(x2 - x1)} {written(y2 - y1)}")
    return text + " ".join(steps).replace(" -", "-") if steps else ""


def written(tenths: int) -> str:
    """Return tenths as a decimal number without a needless zero."""
    text = f"{tenths / 10:.1f}".removesuffix(".0")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
