"""The time and place legs: what is from about then, and what is near here."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.recall.legs import nearby, timely
from memorata.index.record import NOWHERE, RECORD, Records
from memorata.model.entity import Period, Place
from memorata.rank.distance import haversines

DAY = datetime(2026, 5, 7, tzinfo=UTC)
WEEK = Period(DAY, DAY + timedelta(days=7), timedelta(days=1))
points = st.lists(st.none() | st.tuples(st.floats(-90, 90), st.floats(-180, 180)), max_size=12)


def records_of(
    *, days: list[float] | None = None, places: list[tuple[float, float] | None] | None = None
) -> Records:
    records = np.zeros(len(days or places or []), RECORD)
    records["lat"] = records["lon"] = NOWHERE
    if days:
        records["event"] = [(DAY + timedelta(days=each)).timestamp() for each in days]
    for slot, point in enumerate(places or []):
        if point is not None:
            records[slot]["lat"], records[slot]["lon"] = point
    return records


def test_inside_the_period_comes_first_and_far_away_not_at_all() -> None:
    found = timely(records_of(days=[-9.0, 3.0, 9.0, 0.0]), np.arange(4), WEEK, 10)
    assert found.slots.tolist() == [1, 3, 2]
    assert found.scores.tolist() == [1.0, 1.0, 0.5]


def test_only_what_may_be_returned_is_looked_at() -> None:
    allowed = np.array([0, 2, 3])
    assert timely(records_of(days=[-9.0, 3.0, 9.0, 0.0]), allowed, WEEK, 1).slots.tolist() == [3]


@given(points, st.floats(-90, 90), st.floats(-180, 180), st.integers(0, 5))
def test_the_nearest_are_those_of_a_scan_one_by_one(
    where: list[tuple[float, float] | None], lat: float, lon: float, limit: int
) -> None:
    found = nearby(records_of(places=where), np.arange(len(where)), Place(lat, lon), limit, 1_000.0)
    away = {
        slot: float(haversines(lat, lon, [point[0]], [point[1]])[0])
        for slot, point in enumerate(where)
        if point is not None
    }
    wanted = sorted(away.values())[:limit]
    assert [away[slot] for slot in found.slots.tolist()] == pytest.approx(wanted, abs=1e-3)
    for slot, score in zip(found.slots.tolist(), found.scores.tolist(), strict=True):
        assert score == pytest.approx(1 / (1 + away[slot] / 1_000), rel=1e-6)
