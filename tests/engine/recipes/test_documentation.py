"""A declared parameter has a control on the page, a field in JSON, an option and a line in the documents."""

import re
import runpy
from pathlib import Path

import pytest

from memorata.cli.options import parameter_values
from memorata.engine.recipes import GROUPS, PARAMETERS, RECIPES
from memorata.model import Parameter
from memorata.service.codec import recipe_json
from memorata_server.schemas import RecallRequest
from memorata_server.web.forms import controls, written

DOCS = Path(__file__).parents[3] / "docs"
BY_NAME = pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda each: each.name)


def test_the_page_of_recipes_is_what_the_declarations_say() -> None:
    written = runpy.run_path(str(DOCS / "write_recipes.py"))
    assert (DOCS / "recipes.md").read_text("utf-8") == written["page"](), "run python docs/write_recipes.py"
    for recipe in RECIPES.values():
        drawn = (DOCS / "images" / "recipes" / f"{recipe.name}.svg").read_text("utf-8")
        assert drawn == written["picture"](recipe), "run python docs/write_recipes.py"


@BY_NAME
def test_a_parameter_is_within_reach_everywhere(parameter: Parameter) -> None:
    assert parameter.group in GROUPS
    assert re.search(rf"^\| `{parameter.name}` \|", (DOCS / "recipes.md").read_text("utf-8"), re.MULTILINE)
    fields = {each["name"]: each for each in recipe_json(RECIPES["balanced"])["parameters"]}
    assert fields[parameter.name]["doc"] == parameter.doc
    asked = RecallRequest.model_validate({"query": "tea", "parameters": {parameter.name: parameter.default}})
    assert asked.parameters == {parameter.name: parameter.default}
    option = parameter_values([f"{parameter.name}={written(parameter.default)}"])
    assert option == {parameter.name: parameter.default}
    shown = {each.name for group in controls(RECIPES["balanced"], {}) for each in group.controls}
    # How words are read belongs to the store: turning it on the page would change nothing.
    assert parameter.name in shown or parameter.name == "analyser"
