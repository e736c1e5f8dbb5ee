from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.evaluate.datasets.record import Record
from memorata.model.errors import DatasetError


def record(value: Any) -> Record:
    return Record(Path("set.json"), 7, 3, value)


@pytest.mark.parametrize(
    ("value", "ask", "reason"),
    [
        ({}, lambda r: r.text("question"), "has no 'question'; it has []"),
        ([], lambda r: r.text("question"), "must be an object with 'question', got []"),
        ({"a": 1}, lambda r: r.text("a"), "a must be text, got 1"),
        ({"a": None}, lambda r: r.text("a"), "a must be text, got None"),
        (
            {"a": "\ud83c"},
            lambda r: r.text("a"),
            r"a must be text without half surrogate pairs, got '\ud83c'",
        ),
        ({"a": {}}, lambda r: list(r.each("a")), "a must be a list, got {}"),
        ({"a": 1}, lambda r: r.flag("a", False), "a must be true or false, got 1"),
        ({"a": True}, lambda r: r.child("a").a(int), "a must be a whole number, got True"),
        ({"a": True}, lambda r: r.child("a").name(), "a must be text, got True"),
        ({"a": " "}, lambda r: r.child("a").name(), "a must be an identifier, got ' '"),
        ({"a": [[1], [2]]}, lambda r: list(r.each("a"))[1].at(0).a(str), "a[1][0] must be text, got 2"),
        ({"a": [1]}, lambda r: r.child("a").at(1), "a must have at least 2 items, got 1"),
        ({"a": "May"}, lambda r: r.child("a").moment(), "a must be a date as in '2023-05-08T13:56:00+00:00'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    value: Any, ask: Callable[[Record], object], reason: str
) -> None:
    with pytest.raises(DatasetError) as raised:
        ask(record(value))
    assert str(raised.value).startswith(f"set.json, line 7: record 3: {reason}")


def test_a_field_that_may_be_missing_has_a_default_and_null_counts_as_missing() -> None:
    assert record({}).text("title", "") == ""
    assert record({"title": None}).text("title", "") == ""
    assert record({"title": "Tea"}).text("title", "") == "Tea"
    assert record({}).flag("answerable", True) is True
    assert record({"answerable": False}).flag("answerable", True) is False


def test_an_identifier_may_be_a_whole_number() -> None:
    assert record(7).name() == "7"


def test_a_moment_without_a_zone_is_utc_and_another_zone_is_turned_into_it() -> None:
    assert record("2024-03-01").moment() == datetime(2024, 3, 1, tzinfo=UTC)
    shifted = record("2024-03-01T02:00:00+02:00").moment()
    assert (shifted, shifted.tzinfo) == (datetime(2024, 3, 1, tzinfo=UTC), UTC)
