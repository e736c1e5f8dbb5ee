import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.geo.geometry import (
    EARTH_RADIUS,
    MAX_DISTANCE,
    ROWS_PER_DEGREE,
    Cell,
    cell_height,
    column_of,
    columns_in,
    columns_in_rows,
    columns_of,
    haversines,
    nearness,
    row_of,
    rows_of,
)
from memorata.model import InvalidArgument
from memorata.model.parameter import parameters_of

LATS = st.floats(-90, 90) | st.sampled_from([-90.0, 0.0, 90.0])
LONS = st.floats(-180, 180) | st.sampled_from([-180.0, 0.0, 180.0])
QUARTER = EARTH_RADIUS * math.pi / 2


def haversine(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> float:
    return float(haversines(lat_a, lon_a, [lat_b], [lon_b])[0])


def by_vectors(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> float:
    """Return the distance by the angle between two directions from the centre of the Earth."""
    a, b = (
        np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])
        for lat, lon in (map(math.radians, (lat_a, lon_a)), map(math.radians, (lat_b, lon_b)))
    )
    return EARTH_RADIUS * math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


@pytest.mark.parametrize(
    ("a", "b", "metres"),
    [
        ((0, 0), (0, 90), QUARTER),
        ((0, 0), (90, 17), QUARTER),
        ((0, 0), (0, 180), 2 * QUARTER),
        ((90, 0), (-90, 0), 2 * QUARTER),
        ((0, 0), (1, 0), EARTH_RADIUS * math.pi / 180),
        ((60, 0), (60, 180), EARTH_RADIUS * math.pi / 3),
        ((0, 179.5), (0, -179.5), EARTH_RADIUS * math.pi / 180),
        ((12, -180), (12, 180), 0),
        ((90, -50), (90, 120), 0),
    ],
)
def test_distances_known_by_hand(a: tuple[float, float], b: tuple[float, float], metres: float) -> None:
    assert haversine(*a, *b) == pytest.approx(metres, abs=1e-6)


def test_a_step_of_a_hand_is_not_lost() -> None:
    # 1e-6 degrees are 11 cm; the law of cosines would say 0 or 9 cm.
    assert haversine(50, 8, 50.000001, 8) == pytest.approx(0.1112, abs=1e-4)


@given(LATS, LONS, LATS, LONS)
def test_agrees_with_the_angle_between_directions(a: float, b: float, c: float, d: float) -> None:
    metres = haversine(a, b, c, d)
    assert 0 <= metres <= MAX_DISTANCE
    assert metres == pytest.approx(by_vectors(a, b, c, d), rel=1e-9, abs=0.2)
    assert metres == pytest.approx(haversine(c, d, a, b), rel=1e-12, abs=1e-6)


@given(LATS, LONS, st.lists(st.tuples(LATS, LONS), max_size=5))
def test_many_at_once_are_one_by_one(lat: float, lon: float, others: list[tuple[float, float]]) -> None:
    found = haversines(lat, lon, [a for a, _ in others], [b for _, b in others])
    # Near the opposite point the rounding of the last digit is worth centimetres.
    assert found == pytest.approx([haversine(lat, lon, a, b) for a, b in others], rel=1e-9, abs=0.2)


def test_a_latitude_of_91_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"lats\[0\] must be a number from -90 to 90, got 91"):
        haversine(0, 0, 91, 0)


def test_one_here_a_half_at_the_scale_a_tenth_at_nine() -> None:
    assert nearness([0, 500, 4500], scale=500).tolist() == pytest.approx([1, 0.5, 0.1])


def test_far_places_still_differ() -> None:
    near, far = nearness([1e6, 2e7], scale=10)
    assert near == pytest.approx(20 * far, rel=1e-4)


@given(st.lists(st.floats(0, 1e308), min_size=2, max_size=5), st.floats(5e-324, 1e308))
def test_farther_is_never_worth_more(metres: list[float], scale: float) -> None:
    worth = nearness(np.sort(metres), scale=scale)
    assert ((worth >= 0) & (worth <= 1)).all()
    assert (np.diff(worth) <= 1e-15).all()


def test_the_scale_declares_itself() -> None:
    (scale,) = parameters_of(nearness)
    assert (scale.name, scale.default, scale.low, scale.high) == ("scale", 1000.0, 10, 100_000)


PRECISION = st.sampled_from(sorted(ROWS_PER_DEGREE))


@pytest.mark.parametrize(("precision", "metres"), [(4, 2500), (5, 600), (6, 120), (7, 30), (8, 5)])
def test_the_height_is_true(precision: int, metres: float) -> None:
    assert cell_height(precision) == pytest.approx(metres, rel=0.02)
    box = Cell.at(50.1, 8.7, precision).box
    assert haversines(box.south, 0, [box.north], [0])[0] == pytest.approx(cell_height(precision), rel=1e-6)


@pytest.mark.parametrize("lat", [0, 30, -45, 60, 80])
def test_cells_are_about_square_at_every_latitude(lat: float) -> None:
    box = Cell.at(lat, 8.7, 6).box
    assert haversines(box.south, box.west, [box.south], [box.east])[0] == pytest.approx(
        cell_height(6), rel=0.01
    )


def test_a_name_says_precision_row_and_column() -> None:
    # 0.1 degrees of 45 rows each: row 4; 180.1 of 360 degrees, of 45 · 360 columns: column 8104.
    assert Cell.at(0.1, 0.1, 4).name == "geo_4_4_8104"
    assert Cell.at(-0.1, 0.1, 4).name == "geo_4_-5_8104"
    assert Cell.named("geo_4_-5_8104") == Cell(4, -5, 8104)


def test_longitude_wraps() -> None:
    assert Cell.at(10, 180, 8) == Cell.at(10, -180, 8)
    assert Cell.at(10, 179.999999, 8) != Cell.at(10, 180, 8)


@pytest.mark.parametrize("pole", [90, -90])
def test_a_pole_has_one_cell(pole: float) -> None:
    assert len({Cell.at(pole, lon, 8) for lon in (-180, -1, 0, 77, 180)}) == 1
    box = Cell.at(pole, 0, 8).box
    assert box.north == 90 or box.south == -90


@given(st.floats(-90, 90), st.floats(-180, 180), PRECISION)
def test_a_cell_holds_its_point_and_its_name_leads_back(lat: float, lon: float, precision: int) -> None:
    cell = Cell.at(lat, lon, precision)
    assert Cell.named(cell.name) == cell
    box = cell.box
    assert box.south - 1e-9 <= lat <= box.north + 1e-9
    if abs(lat) < 90 and abs(lon) < 180:
        assert box.west - 1e-9 <= lon <= box.east + 1e-9
    height, width = box.north - box.south, (box.east - box.west) * math.cos(math.radians(box.north))
    assert height == pytest.approx(1 / ROWS_PER_DEGREE[precision], rel=1e-6)
    assert width <= height * 1.001


@pytest.mark.parametrize(
    "name", ["geo_4_0", "geo_3_0_0", "geo_4_4050_0", "geo_4_0_16200", "geo_4_-0_1", "geo_4_01_1", "cell"]
)
def test_a_name_of_no_cell_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"name must be .*, got"):
        Cell.named(name)


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
