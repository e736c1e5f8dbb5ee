"""Fields of addresses and forms are read strictly: what cannot be read is refused by name."""

from datetime import UTC, datetime

import pytest

from memorata.model.errors import InvalidArgument
from memorata.web.values import MOST_FIELDS, Values


def test_an_empty_field_was_not_given() -> None:
    values = Values.of("q=&limit=&box=")
    assert (values.text("q", "x"), values.whole("limit", 10), values.flag("box")) == ("x", 10, False)


def test_the_last_of_several_counts_and_all_are_kept() -> None:
    values = Values.of("id=a&id=b&id=")
    assert (values.texts("id"), dict(values)) == (("a", "b"), {"id": ("a", "b", "")})


def test_lines_end_as_they_were_typed() -> None:
    assert Values.of("content=one%0D%0Atwo").text("content") == "one\ntwo"


@pytest.mark.parametrize("text", ["x", "1.5", "-1", "101"])
def test_a_number_outside_its_range_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="limit must be a whole number from 1 to 100"):
        Values.of(f"limit={text}").whole("limit", 10, 1, 100)


def test_a_day_begins_at_midnight_and_ends_at_the_next() -> None:
    values = Values.of("day=2026-05-07&time=2026-05-07T10:30%2B02:00")
    assert values.instant("day") == datetime(2026, 5, 7, tzinfo=UTC)
    assert values.instant("day", end=True) == datetime(2026, 5, 8, tzinfo=UTC)
    assert values.instant("time", end=True) == datetime(2026, 5, 7, 8, 30, tzinfo=UTC)
    assert values.instant("none") is None


def test_numbers_and_times_that_are_none_are_refused() -> None:
    values = Values.of("lat=north&day=tomorrow")
    with pytest.raises(InvalidArgument, match="lat"):
        values.number("lat")
    with pytest.raises(InvalidArgument, match="day"):
        values.instant("day")


@pytest.mark.parametrize("written", ["q=%ff", b"q=\xff", "&".join(f"a{n}=" for n in range(MOST_FIELDS + 1))])
def test_what_is_no_form_is_refused(written: str | bytes) -> None:
    with pytest.raises(InvalidArgument, match="form"):
        Values.of(written)
