import pytest

from memorata.geo.box import Box
from memorata.model import InvalidArgument

CORNERS = ([10, 10, 20, 20, 15], [0, 30, 0, 30, 15])


def test_the_edges_are_inside() -> None:
    assert Box(10, 0, 20, 30).holds(*CORNERS).all()
    assert Box(10.1, 0.1, 19.9, 29.9).holds(*CORNERS).tolist() == [False, False, False, False, True]


def test_west_beyond_east_lies_across_the_meridian() -> None:
    held = Box(-10, 170, 10, -170).holds([0] * 6, [169, 170, 180, -180, -170, -169])
    assert held.tolist() == [False, True, True, True, True, False]


def test_an_edge_on_the_meridian_holds_it_however_it_is_written() -> None:
    assert Box(-10, 170, 10, 180).holds([0, 0], [180, -180]).all()
    assert Box(-10, -180, 10, -170).holds([0, 0], [180, -180]).all()


def test_a_pole_has_every_longitude() -> None:
    assert Box(80, 0, 90, 10).holds([90, 89.9], [120, 120]).tolist() == [True, False]


def test_all_the_way_round() -> None:
    assert Box(-90, -180, 90, 180).holds(*CORNERS).all()


def test_north_below_south_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"north must be at or above south \(20\), got 10"):
        Box(20, 0, 10, 30)
