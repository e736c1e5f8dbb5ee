"""A tool lists itself with honest hints, and says what is wrong with arguments that do not fit."""

import pytest

from recollect.mcp.reading_tools import READING
from recollect.mcp.reference_tools import REFERENCE
from recollect.mcp.tool import BadArguments, Tool
from recollect.mcp.writing_tools import WRITING

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
    assert "colour: Extra inputs are not permitted" in said
    assert "Its arguments are: question, limit, budget, category, tags, as_of." in said


def test_a_fault_does_not_repeat_what_was_given() -> None:
    with pytest.raises(BadArguments) as caught:
        TOOLS["remember"].checked({"text": 7, "secret": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(BadArguments):
        TOOLS["remember"].checked({"text": "\ud800"})
