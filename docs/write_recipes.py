"""Write docs/recipes.md from declarations: the shipped recipes with their pipelines, and every parameter.

Run it again after a recipe or a parameter changes: ``python docs/write_recipes.py``.
"""

from html import escape
from pathlib import Path
from textwrap import wrap

from memorata.engine.recipes import GROUPS, PARAMETERS, RECIPES, Recipe

PAGE = Path(__file__).parent / "recipes.md"
PICTURES = Path(__file__).parent / "images" / "recipes"
HEAD = """# Recipes and their parameters

A recipe is data: which legs, fusion, re-ranking, gate and diversity a recall uses. This page is written by
`python docs/write_recipes.py` from `engine/recipes.py` and two files `recipes.toml`; a test compares the two.
Those from `memento` on are published by others, and come with `packages/memorata-lab`.

A parameter is reached by its name everywhere: `recall(…, recipe={"vector_weight": 0.7})` in Python,
`--set vector_weight=0.7` on the command line, `"parameters": {"vector_weight": 0.7}` over HTTP, a control on
the search page, a grid of `memorata lab tune weights`, a variant of an experiment. `memorata recipes NAME`
shows the values of one recipe, `/v1/recipes` those of all. Agents have `recipe` and `parameters`, too.
[Thresholds and presets](thresholds.md) says which to take for what.

## Shipped recipes

"""
GRAPH_LEGS = {
    "names": "memories that share a rare name",
    "walk": "a walk over the graph",
    "paths": "paths from what is named",
    "communities": "communities that match",
}


def pipeline(recipe: Recipe) -> dict[str, list[str]]:
    """Return the steps of a recipe, in their order, with what each does."""
    words = "words: BM25"
    if recipe.soft_weight:
        words += f", {recipe.soft_weight:g} by like meaning"
    legs = []
    if recipe.vector_pool:
        legs.append(f"vectors: the nearest {recipe.vector_pool}")
    if recipe.lexical_pool:
        legs.append(f"{words}: the best {recipe.lexical_pool}")
    if recipe.graph != "none" and recipe.graph_weight:
        legs.append(f"graph: {GRAPH_LEGS[recipe.graph]}, {recipe.graph_weight:g}")
    share = "by type of query" if recipe.legs_by_query else f"{recipe.vector_weight:g} vectors"
    both = recipe.vector_pool and recipe.lexical_pool
    fusion = [f"{recipe.fusion.replace('_', ' ')}, {share}"] if both or len(legs) > 1 else ["none: one leg"]
    changes = [
        (recipe.session_weight, f"session: {recipe.session_weight:g}"),
        (recipe.confidence != "none", f"confidence: {recipe.confidence}, {recipe.weighting}"),
        (recipe.quality != "none", f"quality: {recipe.quality}, {recipe.quality_weight:g}"),
        (recipe.recency_weight, f"recency: {recipe.recency_weight:g}"),
        (recipe.importance_weight, f"importance: {recipe.importance_weight:g}"),
        (recipe.frequency_weight, f"frequency: {recipe.frequency_weight:g}"),
        (recipe.fading != "none", f"fading: {recipe.fading}"),
        (recipe.forgetting, "forgetting curve"),
        (recipe.temporal != "none", f"time: {recipe.temporal}"),
        (recipe.rerank_depth, f"re-ranker reads {recipe.rerank_depth}"),
    ]
    gate = [
        (
            True,
            "similarity as calibrated" if recipe.least_similarity < 0 else f"≥ {recipe.least_similarity:g}",
        ),
        (recipe.lexical_pool, f"word match ≥ {recipe.least_match:g}"),
        (recipe.least_confidence, f"confidence ≥ {recipe.least_confidence:g}"),
        (recipe.samples, f"agreement of {recipe.samples + 1} ways of asking"),
    ]
    variety = [
        (recipe.deduplicate, "each content once"),
        (recipe.diversity != "none", f"{recipe.diversity} MMR".replace("mmr MMR", f"MMR {recipe.trade:g}")),
        (recipe.per_session, f"{recipe.per_session} of a session first"),
    ]
    steps = {"legs": legs, "fusion": fusion}
    for name, parts in (("re-ranking", changes), ("gate", gate), ("variety", variety)):
        steps[name] = [text for used, text in parts if used] or ["none"]
    return steps


def picture(recipe: Recipe) -> str:
    """Return the pipeline of a recipe as an SVG: a column for each step, an arrow to the next."""
    columns = {
        name: [line for text in parts for line in wrap(text, 22, subsequent_indent="  ")]
        for name, parts in pipeline(recipe).items()
    }
    widths = [max(len(text) for text in (name, *parts)) * 7.2 + 24 for name, parts in columns.items()]
    height = 46 + 20 * max(map(len, columns.values()))
    total = sum(widths) + 30 * (len(widths) - 1) + 2
    shapes, left = [], 1.0
    for number, ((name, parts), width) in enumerate(zip(columns.items(), widths, strict=True)):
        shapes.append(
            f'<rect x="{left:g}" y="1" width="{width:g}" height="{height - 2:g}" rx="8" fill="#f4f6fa" '
            f'stroke="#8fa3c7"/><text x="{left + 12:g}" y="22" font-weight="bold">{name}</text>'
        )
        shapes += [
            f'<text x="{left + 12:g}" y="{46 + 20 * row:g}">{escape(text)}</text>'
            for row, text in enumerate(parts)
        ]
        if number < len(widths) - 1:
            arrow, middle = left + width, height / 2
            shapes.append(
                f'<path d="M{arrow + 5:g} {middle:g}h16m-6 -5l6 5l-6 5" fill="none" stroke="#4a5d85"/>'
            )
        left += width + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:g} {height:g}" width="{total:g}" '
        f'font-family="system-ui, sans-serif" font-size="13" xml:space="preserve" fill="#1d2733">'
        + "".join(shapes)
        + "</svg>\n"
    )


def page() -> str:
    """Return the text of the page."""
    text = HEAD
    for recipe in RECIPES.values():
        drawn = f"![The pipeline of {recipe.name}](images/recipes/{recipe.name}.svg)"
        text += f"\n### `{recipe.name}`\n\n{recipe.doc}\n\n{drawn}\n"
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
    PICTURES.mkdir(exist_ok=True)
    for recipe in RECIPES.values():
        (PICTURES / f"{recipe.name}.svg").write_text(picture(recipe), encoding="utf-8")
