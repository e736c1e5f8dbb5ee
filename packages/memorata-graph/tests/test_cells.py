import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank.distance import haversines
from memorata_graph.cells import ROWS_PER_DEGREE, cell_height, cell_name, cells_of, columns_in

PRECISION = st.sampled_from(sorted(ROWS_PER_DEGREE))


def name_at(lat: float, lon: float, precision: int = 7) -> str:
    (row,), (column,) = cells_of([lat], [lon], precision)
    return cell_name(precision, row, column)


def by_hand(lat: float, lon: float, precision: int) -> str:
    """Return the name of the cell of one point, a step at a time."""
    per_degree = ROWS_PER_DEGREE[precision]
    row = min(math.floor(lat * per_degree), 90 * per_degree - 1)
    edge = min(abs(row), abs(row + 1)) / per_degree
    columns = max(1, math.ceil(360 * per_degree * math.cos(math.radians(edge))))
    column = 0 if lon == 180 or abs(lat) == 90 else min(int((lon + 180) / 360 * columns), columns - 1)
    return f"geo_{precision}_{row}_{column}"


@pytest.mark.parametrize(("precision", "metres"), [(4, 2500), (5, 600), (6, 120), (7, 30), (8, 5)])
def test_the_height_is_true(precision: int, metres: float) -> None:
    assert cell_height(precision) == pytest.approx(metres, rel=0.02)
    height = 1 / ROWS_PER_DEGREE[precision]
    assert haversines(0, 0, [height], [0])[0] == pytest.approx(cell_height(precision), rel=1e-6)


@pytest.mark.parametrize("lat", [0, 30, -45, 60, 80])
def test_cells_are_about_square_at_every_latitude(lat: float) -> None:
    steps = np.linspace(8, 8.1, 20_000)
    columns = cells_of(np.full(steps.size, float(lat)), steps, 6)[1]
    begins = steps[1:][np.diff(columns) > 0]
    widths = [haversines(lat, west, [lat], [east])[0] for west, east in pairwise(begins)]
    assert np.mean(widths) == pytest.approx(cell_height(6), rel=0.01)


def test_a_name_has_precision_row_and_column() -> None:
    assert name_at(0.1, 0.1, 4) == "geo_4_4_8104"
    assert name_at(-0.1, 0.1, 4) == "geo_4_-5_8104"


def test_longitude_wraps() -> None:
    assert name_at(10, 180, 8) == name_at(10, -180, 8) != name_at(10, 179.999999, 8)


@pytest.mark.parametrize("pole", [90, -90])
def test_a_pole_has_one_cell(pole: float) -> None:
    assert len({name_at(pole, lon, 8) for lon in (-180, -1, 0, 77, 180)}) == 1


@given(st.floats(-90, 90), st.floats(-180, 180), PRECISION)
def test_arrays_are_counted_as_one_by_one(lat: float, lon: float, precision: int) -> None:
    assert name_at(lat, lon, precision) == by_hand(lat, lon, precision)


def test_a_band_has_as_many_cells_as_fit_round_its_wider_edge() -> None:
    # Next to the equator 360; from 60 to 61 degrees half as many; from 89 to 90 degrees 360 · cos 89° = 6.3.
    assert columns_in(np.array([0, -1, 60, -61, 89, -90]), 1).tolist() == [360, 360, 181, 181, 7, 7]


@given(st.integers(-90 * 45, 90 * 45 - 1))
def test_no_cell_is_wider_than_high(row: int) -> None:
    edge = min(abs(row), abs(row + 1)) / 45
    width = 360 / columns_in(np.array([row]), 45)[0] * math.cos(math.radians(edge))
    assert width <= 1 / 45 + 1e-12


@pytest.mark.parametrize(
    ("lats", "lons", "precision"), [([91], [0], 7), ([0], [181], 7), ([0, 1], [0], 7), ([0], [0], 3)]
)
def test_what_is_no_point_or_precision_is_refused(
    lats: list[float], lons: list[float], precision: int
) -> None:
    with pytest.raises(InvalidArgument):
        cells_of(lats, lons, precision)
