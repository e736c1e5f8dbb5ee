"""What was not touched on the form stays as it is, though the form could not show all of it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.model.place import Place
from memorata.web.editing import changes, written
from memorata.web.values import Values

ODD: dict[str, Any] = {
    "category": " two\nlines ",
    "tags": ("Smith, John", "x"),
    "entities": ("Keller, Anna",),
    "valid_from": datetime(12, 3, 4, tzinfo=UTC),
    "valid_to": datetime(2026, 5, 7, 18, 30, 0, 123456, tzinfo=UTC),
    "place": Place(48.857, 2.352, " Café\nParis "),
}


@pytest.fixture
def memory() -> Memory:
    return Memory(id="m1", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC), **ODD)


def sent(memory: Memory, **more: str) -> Values:
    return Values({name: [text] for name, text in {**written(memory), **more}.items()})


def test_the_fields_say_what_a_browser_can_hold(memory: Memory) -> None:
    shown = written(memory)
    assert (shown["category"], shown["tags"], shown["place"]) == ("twolines", "Smith\\, John, x", "CaféParis")
    # Without the zeros a browser takes it for no time at all, shows nothing, and sends nothing back.
    assert shown["valid_from"] == "0012-03-04T00:00:00.000"
    assert shown["valid_to"] == "2026-05-07T18:30:00.123"
    assert shown["expires_at"] == ""


def test_what_comes_back_as_it_was_shown_is_no_change(memory: Memory) -> None:
    assert changes(sent(memory), memory) == {}
    # A browser leaves out the zeros of a time.
    assert changes(sent(memory, valid_from="0012-03-04T00:00"), memory) == {}


def test_only_what_was_changed_is_read(memory: Memory) -> None:
    assert changes(sent(memory, importance="0.9"), memory) == {"importance": 0.9}
    assert changes(sent(memory, tags="x, y"), memory) == {"tags": ("x", "y")}
    with_one_more = written(memory)["tags"] + ", y"
    assert changes(sent(memory, tags=with_one_more), memory) == {"tags": ("Smith, John", "x", "y")}
    assert changes(sent(memory, valid_to="", category="fact"), memory) == {
        "valid_to": None,
        "category": "fact",
    }
    assert changes(sent(memory, lat="", lon="", place=""), memory) == {"place": None}
    assert changes(sent(memory, place="Paris"), memory) == {"place": Place(48.857, 2.352, "Paris")}


@pytest.mark.parametrize("more", [{"lat": ""}, {"confidence": "much"}, {"expires_at": "soon"}])
def test_what_cannot_be_read_is_refused(memory: Memory, more: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        changes(sent(memory, **more), memory)
