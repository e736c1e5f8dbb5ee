"""The recipes and their parameters, as they declare themselves."""

from collections.abc import Callable
from typing import Any

from memorata.engine import PARAMETERS, RECIPES

Run = Callable[..., Any]


def test_every_recipe_is_listed(cli: Run) -> None:
    assert [line.split("\t")[0] for line in cli("recipes").lines] == list(RECIPES)
    assert [recipe["name"] for recipe in cli("recipes", "--json").json["recipes"]] == list(RECIPES)
    assert "what it does" in cli("recipes", terminal=True).out


def test_every_parameter_of_one_is_listed_with_its_value_and_range(cli: Run) -> None:
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in cli("recipes", "azure").lines}
    assert list(rows) == [parameter.name for parameter in PARAMETERS]
    assert rows["vector_weight"] == ["0.65", "0 to 1", "Share of meaning; the rest is words."]
    assert rows["deduplicate"][:2] == ["yes", "yes or no"]
    assert rows["coverage"][:2] == ["none", "none, item or leg"]
    data = cli("recipes", "azure", "--json").json
    weight = next(each for each in data["parameters"] if each["name"] == "vector_weight")
    assert (weight["value"], weight["low"], weight["high"], weight["type"]) == (0.65, 0, 1, "float")
    assert "vector_weight" in cli("recipes", "azure", terminal=True).out


def test_an_unknown_recipe_is_met_with_the_nearest(cli: Run) -> None:
    wrong = cli("recipes", "azur")
    assert wrong.code == 2
    assert "(did you mean azure?), got 'azur'" in wrong.err
