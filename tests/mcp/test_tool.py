"""A tool lists itself with honest hints, and says what is wrong with arguments that do not fit."""

from datetime import UTC, datetime

import pytest

from memorata.mcp.reading_tools import READING
from memorata.mcp.reference_tools import REFERENCE
from memorata.mcp.tool import BadArguments, Tool
from memorata.mcp.writing_tools import WRITING

HINTS = {
    # read-only, destructive, idempotent
    "recall": (True, False, True),
    "explore": (True, False, True),
    "remember": (False, False, False),
    "correct": (False, True, False),
    "forget": (False, True, True),
    "relate": (False, False, True),
    "feedback": (False, False, False),
    "create_entities": (False, False, True),
    "create_relations": (False, False, True),
    "add_observations": (False, False, True),
    "delete_entities": (False, True, True),
    "delete_observations": (False, True, True),
    "delete_relations": (False, True, True),
    "read_graph": (True, False, True),
    "search_nodes": (True, False, True),
    "open_nodes": (True, False, True),
}
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*READING, *WRITING, *REFERENCE)}


def test_every_tool_has_its_hints() -> None:
    told = {}
    for name, tool in TOOLS.items():
        hints = tool.listed().annotations
        assert hints is not None
        assert hints.open_world_hint is False
        told[name] = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
    assert told == HINTS


def test_a_call_that_does_not_fit_is_told_what_would() -> None:
    with pytest.raises(BadArguments) as caught:
        TOOLS["recall"].checked({"limit": 500, "colour": "red"})
    said = str(caught.value)
    assert "question: Field required" in said
    assert "limit: Input should be less than or equal to 50" in said
    assert "colour: there is no such argument" in said
    assert "Its arguments are: question, limit, budget, category, tags, as_of." in said


def test_a_fault_does_not_repeat_what_was_given() -> None:
    with pytest.raises(BadArguments) as caught:
        TOOLS["remember"].checked({"content": 7, "secret": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_what_was_called_text_is_content_as_everywhere_and_both_at_once_are_refused() -> None:
    for tool, given in (("remember", {}), ("correct", {"id": "m1"})):
        by_now = TOOLS[tool].checked({**given, "content": "Anna likes tea."})
        assert TOOLS[tool].checked({**given, "text": "Anna likes tea."}) == by_now
        assert "text" not in TOOLS[tool].listed().input_schema["properties"]
        with pytest.raises(BadArguments, match="text is the name that content had before: leave it out"):
            TOOLS[tool].checked({**given, "content": "Anna likes tea.", "text": "Anna likes tea."})
    with pytest.raises(BadArguments, match="text: there is no such argument"):
        TOOLS["recall"].checked({"question": "tea", "text": "tea"})


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(BadArguments):
        TOOLS["remember"].checked({"content": "\ud800"})


def test_a_misspelt_argument_is_told_of_with_the_one_that_may_be_meant() -> None:
    with pytest.raises(BadArguments, match=r"limitt: there is no such argument \(did you mean limit\?\)"):
        TOOLS["recall"].checked({"question": "tea", "limitt": 5})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("2020", "not a time such as 2026-05-07T18:30:00Z"),
        ("1588888888", "not a time such as 2026-05-07T18:30:00Z"),
        ("yesterday", "not a time such as 2026-05-07T18:30:00Z"),
        (1588888888, "a time is a text such as 2026-05-07T18:30:00Z"),
        ("2026-05-07", "a time needs its zone, and a day its hour"),
        ("2026-05-07T18:30:00", "a time needs its zone"),
    ],
)
def test_a_year_is_not_taken_for_seconds_since_1970(given: object, said: str) -> None:
    with pytest.raises(BadArguments, match=f"since: {said}"):
        TOOLS["relate"].checked({"subject": "Anna", "relation": "knows", "object": "Bob", "since": given})


def test_a_time_with_its_zone_is_taken_as_it_is() -> None:
    arguments = {"question": "tea", "as_of": "2026-05-07T18:30:00+02:00"}
    asked = TOOLS["recall"].checked(arguments)
    assert asked.as_of == datetime(2026, 5, 7, 16, 30, tzinfo=UTC)  # type: ignore[attr-defined]
