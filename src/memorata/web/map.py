"""The map: where memories happened, on a drawing of coasts, borders and names, and what is near a point.

The plate carrée needs no arithmetic: a degree of longitude is a unit to the right, one of latitude a unit up.
Memories that are closer to each other than the map can show are one dot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine.graph.communities import Nearby
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.web import forms
from memorata.web.context import PageContext, PageRoute
from memorata.web.rendering import counted

_MAX_MEMORIES: Final = 1_000
_MAX_NEAR: Final = 20
_CELLS_PER_WIDTH: Final = 60
"""How many dots fit beside each other on the width of the map."""
_MIN_WIDTH: Final = 12.0
"""The smallest width of the map, in degrees: the coastline shows no more than this."""
_MARGIN: Final = 0.12


@frozen
class Country:
    """A country's name, the middle of it (north is negative), and how wide it is, in degrees."""

    name: str
    x: float
    y: float
    width: float


@cache
def countries() -> tuple[Country, ...]:
    """Return the countries of the world, the widest first."""
    rows = json.loads(files("memorata.web").joinpath("countries.json").read_text(encoding="utf-8"))
    return tuple(Country(*row) for row in rows)


@frozen
class Window:
    """The piece of the world that is shown: its west and north edge (north is negative), width and height."""

    x: float
    y: float
    width: float
    height: float


@frozen
class Dot:
    """Memories that happened in about the same place, and how large they are drawn."""

    lat: float
    lon: float
    name: str
    memories: tuple[Memory, ...]

    @property
    def short(self) -> str:
        """The name on the map: of "Graça, Lisbon and 4 other places" the city."""
        return self.name.partition(" and ")[0].rpartition(", ")[2]

    @property
    def size(self) -> float:
        """How wide the dot is, in pixels: its area tells how many."""
        return float(min(8 + 5 * (len(self.memories) ** 0.5), 34))


def show(context: PageContext) -> Response:
    """Show the map, and what is near a point if one was chosen."""
    values = context.values
    narrowed = forms.filter_of(values, forms.spellings(context.engine, context.namespace))
    has_place: dict[str, Any] = {"place": {"exists": True}}
    page = context.engine.list(
        namespace=context.namespace,
        filter=has_place if narrowed is None else {"and": [has_place, narrowed]},
        limit=_MAX_MEMORIES,
    )
    chosen = _chosen(context)
    near: tuple[Nearby, ...] = ()
    if chosen is not None:
        near = context.engine.graph.near(chosen.lat, chosen.lon, limit=_MAX_NEAR, namespace=context.namespace)
    precision = values.whole("precision", 7, 4, 8)
    window = around([memory.place for memory in page.memories if memory.place is not None])
    return context.page(
        "map.html",
        window=window,
        dots=dots(page.memories, window.width / _CELLS_PER_WIDTH),
        countries=countries(),
        chosen=chosen,
        near=near,
        precision=precision,
        cells=context.engine.graph.cells(precision=precision, namespace=context.namespace),
        count=len(page.memories),
        all_shown=page.cursor is None,
        choices=forms.choices(context.engine, context.namespace),
        narrowed=forms.filled(values),
        fields=forms.filter_fields(values),
    )


def dots(memories: Sequence[Memory], cell: float) -> tuple[Dot, ...]:
    """Return memories as dots: those in one square cell of that many degrees together, at their middle."""
    cells: dict[tuple[int, int], list[tuple[Memory, Place]]] = {}
    for memory in memories:
        if memory.place is not None:
            key = (int(memory.place.lat // cell), int(memory.place.lon // cell))
            cells.setdefault(key, []).append((memory, memory.place))
    drawn = []
    for together in cells.values():
        places = [place for _, place in together]
        names = Counter(place.name for place in places if place.name)
        drawn.append(
            Dot(
                sum(place.lat for place in places) / len(places),
                sum(place.lon for place in places) / len(places),
                _dot_label(names),
                tuple(memory for memory, _ in together),
            )
        )
    return tuple(sorted(drawn, key=lambda dot: -len(dot.memories)))


def around(places: Sequence[Place]) -> Window:
    """Return the smallest window, twice as wide as high, in which all places are; the world for none."""
    if not places:
        return Window(-180.0, -90.0, 360.0, 180.0)
    lats, lons = [place.lat for place in places], [place.lon for place in places]
    wide, high = max(lons) - min(lons), max(lats) - min(lats)
    width = min(360.0, max(_MIN_WIDTH, wide * (1 + 2 * _MARGIN), 2 * high * (1 + 2 * _MARGIN)))
    height = width / 2
    x = min(max((max(lons) + min(lons) - width) / 2, -180.0), 180.0 - width)
    y = min(max((-max(lats) - min(lats) - height) / 2, -90.0), 90.0 - height)
    return Window(x, y, width, height)


def _dot_label(names: Counter[str]) -> str:
    """Return the name most memories of a dot have, and how many others there are."""
    if not names:
        return ""
    first = names.most_common(1)[0][0]
    return first if len(names) == 1 else f"{first} and {counted(len(names) - 1, 'other place')}"


def _chosen(context: PageContext) -> Place | None:
    lat, lon = context.values.number("lat"), context.values.number("lon")
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise InvalidArgument(
            "lat and lon", context.values.text("lat") or context.values.text("lon"), "both given"
        )
    return Place(lat, lon)


ROUTES: Final = (PageRoute("/map", show),)
