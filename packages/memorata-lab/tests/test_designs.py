"""docs/designs.md: the code computes its numbers, its names exist, and the script writes the same."""

import runpy
from pathlib import Path
from typing import Any

import pytest

LAB = Path(__file__).parents[1]
SCRIPT: dict[str, Any] = runpy.run_path(str(LAB / "designs" / "check.py"))
ITEMS: dict[str, dict[str, Any]] = {
    f"{design}: {item['item']}": item
    for design, items in SCRIPT["TABLE"]["designs"].items()
    for item in items
}
PUBLISHED = {
    "memento",
    "memini",
    "openvault",
    "haia",
    "semstreams",
    "azure",
    "elastic",
    "pinecone",
    "adaptive",
}


@pytest.mark.untraced
@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_an_item_is_computed_as_the_table_says_and_reached_as_it_says(item: dict[str, Any]) -> None:
    assert SCRIPT["problem"](item) == ""


def test_the_page_is_what_the_script_writes() -> None:
    written = SCRIPT["PAGE"].read_text("utf-8")
    assert written == SCRIPT["page"](), "run python packages/memorata-lab/designs/check.py"


def test_every_published_recipe_is_in_the_table() -> None:
    assert {item.get("recipe") for item in ITEMS.values()} >= PUBLISHED


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("memorata.rank.nothing", "_in_python"),
        ("graph.paths(nothing=)", "_in_python"),
        ("graph paths --nothing", "_in_commands"),
        ("graph nothing", "_in_commands"),
        ("GET /v1/paths: nothing", "_in_routes"),
        ("GET /v1/nothing", "_in_routes"),
        ("explore: nothing", "_in_tools"),
        ("nothing", "_in_tools"),
    ],
)
def test_what_does_not_exist_is_found_out(name: str, look: str) -> None:
    assert not SCRIPT[look](name)


@pytest.mark.parametrize(
    ("value", "wanted"), [(0.8276, 0.8275), ([1, 2], [1]), ({"a": 1}, {"b": 1}), (True, False)]
)
def test_what_differs_does_not_agree(value: object, wanted: object) -> None:
    assert not SCRIPT["agrees"](value, wanted)
