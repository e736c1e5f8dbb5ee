"""Where was it? Grid cells, distances, and what lies near a point.

A place becomes a term (:mod:`~memorata.geo.cells`), a distance a score (:mod:`~memorata.geo.distance`), and
many places an index that answers what is near or nearest (:mod:`~memorata.geo.places`). Everything is pure
and works round the 180th meridian and over the poles.
"""

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.geo.cells import ROWS_PER_DEGREE, Box, Cell, cell_height
    from memorata.geo.distance import EARTH_RADIUS, haversines, nearness
    from memorata.geo.places import Near, Places

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".cells": ("ROWS_PER_DEGREE", "Box", "Cell", "cell_height"),
        ".distance": ("EARTH_RADIUS", "haversines", "nearness"),
        ".places": ("Near", "Places"),
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
    "haversines",
    "nearness",
]
