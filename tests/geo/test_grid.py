import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.geo.grid import column_of, columns_in, columns_in_rows, columns_of, row_of, rows_of

PER_DEGREE = st.sampled_from([1, 2, 45, 4096, 22_200])


def test_rows_are_counted_from_the_equator() -> None:
    assert [row_of(lat, 1) for lat in (0.5, -0.5, 89.5, 90, -90)] == [0, -1, 89, 89, -90]


def test_a_band_has_as_many_cells_as_fit_round_its_wider_edge() -> None:
    # Next to the equator 360; from 60 to 61 degrees half as many; from 89 to 90 degrees 360 · cos 89° = 6.3.
    assert [columns_in(row, 1) for row in (0, -1, 60, -61, 89, -90)] == [360, 360, 181, 181, 7, 7]


def test_longitude_180_is_minus_180() -> None:
    just_west = math.nextafter(180, 0)
    assert [column_of(lon, 360) for lon in (-180, -179.5, 0, just_west, 180)] == [0, 0, 180, 359, 0]


@given(st.floats(-90, 90), st.floats(-180, 180), PER_DEGREE)
def test_arrays_are_counted_as_one_by_one(lat: float, lon: float, per_degree: int) -> None:
    row = row_of(lat, per_degree)
    columns = columns_in(row, per_degree)
    rows = rows_of(np.array([lat]), per_degree)
    assert rows.tolist() == [row]
    assert columns_in_rows(rows, per_degree).tolist() == [columns]
    assert columns_of(np.array([lon]), np.array([float(columns)])).tolist() == [column_of(lon, columns)]


@given(st.integers(-90 * 45, 90 * 45 - 1))
def test_no_cell_is_wider_than_high(row: int) -> None:
    edge = min(abs(row), abs(row + 1)) / 45
    width = 360 / columns_in(row, 45) * math.cos(math.radians(edge))
    assert width <= 1 / 45 + 1e-12
