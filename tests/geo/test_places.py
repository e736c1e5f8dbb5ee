import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.geo.geometry import MAX_DISTANCE, haversines
from memorata.geo.places import Places
from memorata.model import InvalidArgument
from memorata.model.checks import FloatArray

LATS = st.floats(-90, 90) | st.sampled_from([-90.0, 90.0, 89.99, -89.99, 0.0]) | st.floats(50, 50.001)
LONS = st.floats(-180, 180) | st.sampled_from([-180.0, 180.0, 179.99, -179.99, 0.0]) | st.floats(8, 8.001)
POINTS = st.lists(st.tuples(LATS, LONS), max_size=60)
RADII = st.floats(0, 2.1e7) | st.floats(0, 200) | st.just(MAX_DISTANCE)
ROUNDING = 0.2
"""Metres by which two ways of computing one distance may differ, at worst next to the opposite point."""


def columns(points: list[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    table = np.array(points, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def dense(town: tuple[float, float], count: int) -> tuple[FloatArray, FloatArray]:
    chance = np.random.default_rng(count)
    lats = np.clip(town[0] + chance.normal(0, 0.05, count), -90, 90)
    lons = town[1] + chance.normal(0, 0.05, count)
    return lats, (lons + 180) % 360 - 180


@given(POINTS, LATS, LONS, RADII)
def test_within_finds_what_an_exhaustive_scan_finds(
    points: list[tuple[float, float]], lat: float, lon: float, radius: float
) -> None:
    lats, lons = columns(points)
    found = Places(lats, lons).within(lat, lon, radius)
    exact = haversines(lat, lon, lats, lons)
    surely, possibly = np.flatnonzero(exact <= radius - ROUNDING), np.flatnonzero(exact <= radius + ROUNDING)
    assert set(surely) <= set(found.positions.tolist()) <= set(possibly)
    assert len(set(found.positions.tolist())) == len(found)
    assert (np.diff(found.metres) >= 0).all()
    assert found.metres == pytest.approx(exact[found.positions], rel=1e-9, abs=ROUNDING)


@given(POINTS, LATS, LONS, st.integers(0, 70))
def test_nearest_finds_what_an_exhaustive_scan_finds(
    points: list[tuple[float, float]], lat: float, lon: float, limit: int
) -> None:
    lats, lons = columns(points)
    found = Places(lats, lons).nearest(lat, lon, limit=limit)
    exact = np.sort(haversines(lat, lon, lats, lons))[:limit]
    assert found.metres == pytest.approx(exact, rel=1e-9, abs=ROUNDING)
    assert len(set(found.positions.tolist())) == len(exact)


@given(POINTS, POINTS, LATS, LONS, RADII)
def test_adding_is_indexing_all_at_once(
    first: list[tuple[float, float]], second: list[tuple[float, float]], lat: float, lon: float, radius: float
) -> None:
    grown = Places(*columns(first)).added(*columns(second))
    whole = Places(*columns(first + second))
    assert len(grown) == len(whole)
    assert (
        grown.within(lat, lon, radius).positions.tolist() == whole.within(lat, lon, radius).positions.tolist()
    )
    assert (
        grown.nearest(lat, lon, limit=3).positions.tolist()
        == whole.nearest(lat, lon, limit=3).positions.tolist()
    )


@pytest.mark.parametrize("town", [(48.1, 11.6), (10, 180), (-85, 0), (89.99, 5)])
@pytest.mark.parametrize("radius", [0, 30, 2_000, 50_000])
def test_a_crowded_town_misses_nobody(town: tuple[float, float], radius: float) -> None:
    lats, lons = dense(town, 5_000)
    places = Places(lats, lons)
    for lat, lon in zip(lats[:20].tolist(), lons[:20].tolist(), strict=True):
        exact = haversines(lat, lon, lats, lons)
        assert sorted(places.within(lat, lon, radius).positions) == np.flatnonzero(exact <= radius).tolist()
        nearest = places.nearest(lat, lon, limit=7)
        assert nearest.metres == pytest.approx(np.sort(exact)[:7], abs=1e-6)


def test_the_grid_suits_the_points() -> None:
    chance = np.random.default_rng(3)
    spread = Places(np.degrees(np.arcsin(chance.uniform(-1, 1, 9_000))), chance.uniform(-180, 180, 9_000))
    assert spread.rows_per_degree == 1
    assert Places(*dense((48.1, 11.6), 9_000)).rows_per_degree >= 32
    assert Places([1.0] * 9_000, [1.0] * 9_000).rows_per_degree == 4096


def test_a_crowd_that_grows_gets_a_finer_grid() -> None:
    lats, lons = dense((48.1, 11.6), 4_000)
    places = Places(lats[:10], lons[:10])
    coarse = places.rows_per_degree
    for start in range(10, 4_000, 399):
        places = places.added(lats[start : start + 399], lons[start : start + 399])
    assert places.rows_per_degree > coarse
    assert places.nearest(lats[7], lons[7]).positions.tolist() == [7]


def test_an_index_never_changes() -> None:
    one = Places([50.0], [8.0])
    two = one.added([50.0], [8.001])
    assert (len(one), len(two)) == (1, 2)
    assert one.nearest(50.0, 8.001).positions.tolist() == [0]
    assert two.nearest(50.0, 8.001).positions.tolist() == [1]


def test_equal_distances_keep_the_order_of_adding() -> None:
    places = Places([1, -1, 1, 1], [0, 0, 0, 0])
    assert places.nearest(0, 0, limit=3).positions.tolist() == [0, 1, 2]
    assert places.within(0, 0, 200_000, limit=2).positions.tolist() == [0, 1]


def test_across_the_meridian_and_over_the_pole() -> None:
    places = Places([0, 0, 89, 89], [179.9, -179.9, 0, 180])
    assert places.within(0, 180, 12_000).positions.tolist() == [0, 1]
    assert sorted(places.nearest(90, 44, limit=2).positions) == [2, 3]
    # Two degrees over the pole, not half round the parallel.
    assert places.nearest(89, 0, limit=2).metres[1] == pytest.approx(222_390, abs=1)


def test_no_places() -> None:
    nowhere = Places([], [])
    assert len(nowhere.within(0, 0, 1e9)) == len(nowhere.nearest(0, 0)) == 0
    assert nowhere.added([1.0], [2.0]).nearest(0, 0).positions.tolist() == [0]


@pytest.mark.parametrize("radius", [-1, float("nan"), float("inf"), "1"])
def test_a_radius_that_is_none_is_refused(radius: float) -> None:
    with pytest.raises(InvalidArgument, match=r"radius must be "):
        Places([0], [0]).within(0, 0, radius)


def test_a_latitude_of_91_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"lats\[1\] must be a number from -90 to 90, got 91"):
        Places([0, 91], [0, 0])
    with pytest.raises(InvalidArgument, match="lat must be a number from -90 to 90, got 91"):
        Places([0], [0]).nearest(91, 0)
