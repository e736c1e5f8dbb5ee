"""The legs of time and place, where bands of latitude and edges of the map could mislead them."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memorata.engine.recall.legs import nearby, timely
from memorata.model.entity import Period, Place
from memorata.testing.samples import HERE, NOW, entry, found_ids
from memorata_postgres.store import PostgresStore


def near(store: PostgresStore, places: Sequence[tuple[float, float]], here: Place, limit: int) -> list[str]:
    store.add([entry(f"m{n}", "tea", place=Place(lat, lon)) for n, (lat, lon) in enumerate(places)])
    with store.view(HERE, NOW) as view:
        return found_ids(view, nearby(view.records(), view.without(None, ()), here, limit, 1e7))


def test_the_date_line_is_no_edge(store: PostgresStore) -> None:
    assert near(store, [(0, 170), (0, -179.9), (0, 179)], Place(0, 179.9), 3) == ["m1", "m2", "m0"]


@pytest.mark.parametrize("lon", [-180, 0, 42])
def test_a_pole_is_one_point(store: PostgresStore, lon: float) -> None:
    assert near(store, [(89, 0), (90, 7), (88, lon)], Place(90, lon), 2) == ["m1", "m0"]


def test_who_is_north_in_the_band_does_not_hide_who_is_nearer_outside_of_it(store: PostgresStore) -> None:
    """By latitude alone the first is closer; around the globe it is not."""
    assert near(store, [(0.01, 120), (3, 0)], Place(0, 0), 1) == ["m1"]


def test_the_other_end_of_the_world_is_found_as_well(store: PostgresStore) -> None:
    assert near(store, [(-45, -170)], Place(45, 10), 1) == ["m0"]


def test_times_within_the_tolerance_are_alike_and_those_far_outside_are_nothing(store: PostgresStore) -> None:
    day = timedelta(days=1)
    offsets = {"long-before": -100, "before": -2, "close": -1, "inside": 1, "after": 5}
    store.add([entry(id_, "tea", valid_from=NOW + days * day) for id_, days in offsets.items()])
    with store.view(HERE, NOW) as view:
        found = timely(view.records(), view.without(None, ()), Period(NOW, NOW + 3 * day, tolerance=day), 9)
        assert found_ids(view, found) == ["close", "inside", "before", "after"]
    assert found.scores[0] == found.scores[1] > found.scores[2]
    assert found.scores[2] == pytest.approx(found.scores[3])
