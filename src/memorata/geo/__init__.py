"""Where was it? Grid cells, distances, and what lies near a point.

A place becomes a word (:mod:`~memorata.geo.cells`), a distance (:mod:`~memorata.geo.distance`) becomes
a score (:mod:`~memorata.geo.scoring`), and many places an index that answers what is near, nearest, or
inside a box (:mod:`~memorata.geo.nearby`). Everything is pure and works round the 180th meridian and over
the poles.
"""

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.geo.box import Box
    from memorata.geo.cells import ROWS_PER_DEGREE, Cell, cell_height
    from memorata.geo.distance import EARTH_RADIUS, haversine, haversines
    from memorata.geo.nearby import Near, Places
    from memorata.geo.scoring import nearness

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".box": ("Box",),
        ".cells": ("ROWS_PER_DEGREE", "Cell", "cell_height"),
        ".distance": ("EARTH_RADIUS", "haversine", "haversines"),
        ".nearby": ("Near", "Places"),
        ".scoring": ("nearness",),
    },
)

__all__ = [
    "EARTH_RADIUS",
    "ROWS_PER_DEGREE",
    "Box",
    "Cell",
    "Near",
    "Places",
    "cell_height",
    "haversine",
    "haversines",
    "nearness",
]
