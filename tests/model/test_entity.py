from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memorata.model import Entity, InvalidArgument, Period, Place, Relation

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def test_an_entity_has_a_name_and_perhaps_other_names() -> None:
    anna = Entity("Anna Keller", type="person", aliases=["Anna", "AK"])  # type: ignore[arg-type]
    assert anna.aliases == ("Anna", "AK")
    assert Entity("tea") == Entity("tea", "thing", (), "")
    assert len({anna, anna}) == 1


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ({"name": "  "}, "name"),
        ({"name": None}, "name"),
        ({"name": "tea", "type": 5}, "type"),
        ({"name": "tea", "description": None}, "description"),
        ({"name": "tea", "aliases": "chai"}, "aliases"),
        ({"name": "tea", "aliases": ["chai", 5]}, "aliases[1]"),
        ({"name": "tea", "aliases": ["chai", "\ud83c"]}, "aliases[1]"),
        ({"name": "tea \ud83c"}, "name"),
    ],
)
def test_a_bad_entity_is_refused(values: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Entity(**values)
    assert caught.value.argument == argument


def test_a_relation_is_directed_typed_and_weighted() -> None:
    local = DAY.astimezone(timezone(timedelta(hours=5)))
    edge = Relation("UAV-001", "belongs_to", "fleet-rescue", weight=2, asserted_by="m1", valid_from=local)
    assert edge.weight == 2.0
    assert edge.valid_from == DAY
    assert edge.valid_from is not None
    assert edge.valid_from.tzinfo is UTC
    assert edge != Relation("fleet-rescue", "belongs_to", "UAV-001", weight=2)


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"source": ""}, "source"),
        ({"type": " "}, "type"),
        ({"target": 7}, "target"),
        ({"weight": 0}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"asserted_by": 3}, "asserted_by"),
        ({"valid_from": "today"}, "valid_from"),
        ({"created_at": "today"}, "created_at"),
        ({"source": "\ud83c"}, "source"),
        ({"valid_from": DAY, "valid_to": DAY - timedelta(days=1)}, "valid_to"),
    ],
)
def test_a_bad_relation_is_refused(changes: dict[str, Any], argument: str) -> None:
    values: dict[str, Any] = {"source": "a", "type": "knows", "target": "b"}
    with pytest.raises(InvalidArgument) as caught:
        Relation(**values | changes)
    assert caught.value.argument == argument


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


def test_a_period_is_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    period = Period(datetime(2026, 5, 7, 9, tzinfo=tokyo), datetime(2026, 5, 8, 9, tzinfo=tokyo))
    assert (period.start, period.end) == (DAY, DAY + timedelta(days=1))
    assert period.start.tzinfo is UTC
    assert period.tolerance == timedelta(0)


def test_around_one_instant() -> None:
    assert Period.around(DAY, timedelta(days=2)) == Period(DAY, DAY, timedelta(days=2))


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ((DAY, DAY - timedelta(microseconds=1)), "end"),
        ((datetime(2026, 5, 7), DAY), "start"),
        ((DAY, None), "end"),
        ((DAY, DAY, timedelta(seconds=-1)), "tolerance"),
        ((DAY, DAY, 2), "tolerance"),
    ],
)
def test_a_bad_period_is_refused(values: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Period(*values)
    assert caught.value.argument == argument
