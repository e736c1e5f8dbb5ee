"""Fields of addresses and forms are read strictly: what cannot be read is refused by name."""

from datetime import UTC, datetime

import pytest

from memorata.engine import Engine
from memorata.model.errors import InvalidArgument
from memorata_graph import Graph
from memorata_server.web.forms import (
    FIELDS,
    MAX_FIELDS,
    Values,
    filled,
    filter_fields,
    filter_of,
    joined,
    spellings,
)


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


@pytest.mark.parametrize("written", ["q=%ff", b"q=\xff", "&".join(f"a{n}=" for n in range(MAX_FIELDS + 1))])
def test_what_is_no_form_is_refused(written: str | bytes) -> None:
    with pytest.raises(InvalidArgument, match="form"):
        Values.of(written)


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("", ["coffee", "lisbon", "script", "tea"]),
        ("category=preference", ["coffee", "tea"]),
        ("text=TEA", ["coffee", "tea"]),
        ("speaker=Anna&tag=travel", ["lisbon"]),
        ("entity=Anna,+Boris", ["lisbon"]),
        ("session=attack", ["script"]),
        ("tier=working", []),
        ("since=2026-05-11", []),
        ("since=2026-05-10&until=2026-05-10", ["coffee", "lisbon", "script", "tea"]),
        ('filter={"place": {"exists": true}}', ["lisbon"]),
    ],
)
def test_a_form_finds_what_it_says(engine: Engine, form: str, found: list[str]) -> None:
    page = engine.list(filter=filter_of(Values.of(form)))
    assert sorted(memory.id for memory in page.memories) == found


def test_a_name_is_found_however_it_is_written(engine: Engine) -> None:
    Graph(engine).entities.merge("Anna", "Boris")
    Graph(engine).entities.describe("Anna", aliases=["Annie, the cook"])
    engine.remember("She cooked.", id="cook", entities=["Annie, the cook"])
    spelt = spellings(engine)
    for name in ("anna", "Boris", "Annie\\, the cook"):
        page = engine.list(filter=filter_of(Values({"entity": [name]}), spelt))
        assert sorted(memory.id for memory in page.memories) == ["coffee", "cook", "lisbon", "tea"], name
    assert engine.list(filter=filter_of(Values({"entity": ["Nobody"]}), spelt)).memories == ()


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "[" * 100_000])
def test_a_filter_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="filter"):
        filter_of(Values({"filter": [text]}))


def test_what_was_filled_in_is_kept() -> None:
    values = Values.of("tag=tea&q=x&speaker=")
    assert filter_fields(values) == {"tag": "tea"}
    assert filled(values) == {**dict.fromkeys(FIELDS, ""), "tag": "tea"}


def test_fields_as_browsers_send_them() -> None:
    values = Values.of("q=green+tea&tag=a&tag=b&speaker=&since=2026-05-07")
    assert (values.text("q"), values.texts("tag")) == ("green tea", ("a", "b"))
    assert values.text("speaker", "anybody") == "anybody"
    since = values.instant("since")
    assert since is not None
    assert since.isoformat() == "2026-05-07T00:00:00+00:00"
    assert Values({"tags": ["tea, green,"]}).listed("tags") == ("tea", "green")
    names = joined(["Keller, Anna", "Bob"])
    assert names == "Keller\\, Anna, Bob"
    assert Values({"entities": [names]}).listed("entities") == ("Keller, Anna", "Bob")
    narrowed = filter_of(Values.of("category=event&tag=food&speaker="))
    assert narrowed == {"and": [{"category": "event"}, {"tags": {"all": ["food"]}}]}
