"""Write docs/recipes.md: the shipped recipes and every parameter, from their declarations.

Run it again after a recipe or a parameter changes: ``python docs/write_recipes.py``.
"""

from pathlib import Path

from memorata.engine.recipes.recipe import GROUPS, PARAMETERS, RECIPES

PAGE = Path(__file__).parent / "recipes.md"
HEAD = """# Recipes and their parameters

A recipe is data: which legs, fusion, re-ranking, gate and diversity a recall uses. This page is written by
`python docs/write_recipes.py` from the declarations in `engine/recipes/recipe.py`; a test compares the two.

A parameter is reached by its name everywhere: `recall(…, changes={"vector_weight": 0.7})` in Python,
`--set vector_weight=0.7` on the command line, `"parameters": {"vector_weight": 0.7}` over HTTP, a control on
the search page, a grid of `memorata tune weights`, a variant of an experiment. `memorata recipes NAME` and
`/v1/recipes/NAME` show the values of one recipe. Agents choose a recipe by name, with `recipe`.

## Shipped recipes

| recipe | what it does |
|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    text = HEAD + "".join(f"| `{recipe.name}` | {recipe.doc} |\n" for recipe in RECIPES.values())
    for group in GROUPS:
        text += f"\n## {group}\n\n| parameter | default | may be | what it does |\n|---|---|---|---|\n"
        for each in PARAMETERS:
            if each.group == group:
                default = ("yes" if each.default else "no") if each.type is bool else each.default
                shown = f"{default:g}" if each.type is float else default
                text += f"| `{each.name}` | {shown} | {each.range} | {each.doc} |\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
