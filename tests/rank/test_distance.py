import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank.distance import EARTH_RADIUS, haversines, nearness

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
    assert 0 <= metres <= 2 * QUARTER
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
