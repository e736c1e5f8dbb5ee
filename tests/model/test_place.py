from typing import Any

import pytest

from memorata.model import InvalidArgument, Place


@pytest.mark.parametrize(("lat", "lon"), [(90, 180), (-90, -180), (0, 0), (48.8566, 2.3522)])
def test_every_point_on_earth_is_a_place(lat: float, lon: float) -> None:
    place = Place(lat, lon)
    assert (place.lat, place.lon, place.name) == (lat, lon, "")
    assert type(place.lat) is float


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ((90.01, 0), "lat"),
        ((-91, 0), "lat"),
        ((0, 180.01), "lon"),
        ((0, float("nan")), "lon"),
        (("48", 2), "lat"),
        ((48, None), "lon"),
        ((48, 2, None), "name"),
    ],
)
def test_nowhere_else_is(values: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Place(*values)
    assert caught.value.argument == argument
