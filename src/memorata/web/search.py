"""The search page: a query, the controls of a recipe, and hits that show what each signal contributes.

Every change of a control asks again and replaces the hits in place; the address always says what is shown, so
that it can be kept and sent to somebody. A second recipe may answer beside the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine import RecallResult
from memorata.engine.recipes.recipe import RECIPES, Recipe
from memorata.model import checks
from memorata.model.explanation import Explanation
from memorata.model.hit import Hit
from memorata.web import forms
from memorata.web.context import PageContext, PageRoute
from memorata.web.contributions import Piece, Segment, contributions, segments
from memorata.web.controls import controls, read_changes, written

_LIMIT: Final = 10
_MAX_HITS: Final = 100
_RECENT: Final = 8
_SIGNALS: Final[Mapping[str, str]] = {
    "vector": "vector",
    "lexical": "lexical",
    "graph": "graph",
    "its session": "session",
    "on its own": "base",
    "quality": "quality",
    "quality factor": "quality",
    "confidence": "quality",
    "time": "time",
    "time factor": "time",
    "temporal": "time",
    "geo": "geo",
    "base": "base",
}


@frozen
class Row:
    """A hit as it is shown: its place, its bar, why, and how far it is from its place on the other side."""

    place: int
    hit: Hit
    why: Explanation
    pieces: tuple[Piece, ...]
    bar: tuple[Segment, ...]
    moved: str = ""


@frozen
class Side:
    """What one recipe answered."""

    recipe: Recipe
    changed: int
    found: RecallResult
    rows: tuple[Row, ...]
    legend: tuple[str, ...]


def search(context: PageContext) -> Response:
    """Show the search page, or the hits alone."""
    values = context.values
    usual = context.engine.recipes.get(namespace=context.namespace)
    choices = recipes(context)
    recipe = choices[checks.one_of("recipe", values.text("recipe", usual.name), tuple(choices))]
    changes = read_changes(recipe, values)
    sides = _sides(context, choices, recipe, changes)
    kept = _kept(context, recipe, changes, usual.name)
    variables: dict[str, Any] = {
        "query": values.text("q"),
        "sides": sides,
        "signal": signal,
        "recipe": recipe,
        "recipes": choices,
        "compared": values.text("compare"),
        "changes": changes,
        "settings": {name: written(value) for name, value in changes.items()},
        "kept": kept,
        "recent": () if sides else context.engine.list(namespace=context.namespace, limit=_RECENT).memories,
        "remembered": context.engine.store.namespaces().get(context.namespace, 0),
    }
    if context.fragment and context.target == "results":
        response = context.page("search_results.html", **variables)
    else:
        template = "search_area.html" if context.fragment else "search.html"
        response = context.page(
            template,
            **variables,
            groups=controls(recipe, changes),
            narrowed=forms.filled(values),
            is_narrowed=bool(forms.kept(values)),
            limit=values.whole("limit", _LIMIT, 1, _MAX_HITS),
            as_of=values.text("as_of"),
        )
    if context.fragment:
        response.headers["HX-Replace-Url"] = context.url("/", kept)
    return response


def recipes(context: PageContext) -> Mapping[str, Recipe]:
    """Return the recipes one may choose from, by name: those of the namespace, then the shipped ones."""
    own = context.engine.recipes.list(namespace=context.namespace)
    opened = context.engine.recipe
    return {**{each.recipe.name: each.recipe for each in own}, opened.name: opened, **RECIPES}


def signal(label: str) -> str:
    """Return which of the few signals with a colour a piece of a score is."""
    return _SIGNALS.get(label, "other")


def rows(result: RecallResult, most: float | None = None) -> tuple[Row, ...]:
    """Return the hits with their bars; the best of them, or `most`, fills the width."""
    best = max((hit.score for hit in result), default=0.0) if most is None else most
    shown = []
    for place, hit in enumerate(result, 1):
        why = hit.explanation
        pieces = contributions(why)
        shown.append(Row(place, hit, why, pieces, segments(pieces, best)))
    return tuple(shown)


def _sides(
    context: PageContext, choices: Mapping[str, Recipe], recipe: Recipe, changes: Mapping[str, Any]
) -> tuple[Side, ...]:
    if not context.values.text("q"):
        return ()
    first = _side(context, recipe, changes)
    other = context.values.text("compare")
    if not other:
        return (first,)
    second = _side(context, choices[checks.one_of("compare", other, tuple(choices))], {})
    return _moved(first, second), _moved(second, first)


def _side(context: PageContext, recipe: Recipe, changes: Mapping[str, Any]) -> Side:
    values = context.values
    # Every letter and every move of a slider asks: that says nothing about what people look for.
    with context.engine.recall_log.aside():
        result = context.engine.recall(
            values.text("q"),
            namespace=context.namespace,
            recipe=recipe,
            changes=changes,
            limit=values.whole("limit", _LIMIT, 1, _MAX_HITS),
            filter=forms.filter_of(values, forms.spellings(context.engine, context.namespace), times=False),
            since=values.instant("since"),
            until=values.instant("until", end=True),
            as_of=values.instant("as_of", end=True),
        )
    shown = rows(result)
    labels = dict.fromkeys(segment.label for row in shown for segment in row.bar)
    return Side(recipe, len(changes), result, shown, tuple(labels))


def _moved(side: Side, other: Side) -> Side:
    """Return a side whose hits say how they stand on the other one."""
    there = {row.hit.memory.id: row.place for row in other.rows}
    moved_rows = []
    for row in side.rows:
        place = there.get(row.hit.memory.id)
        if place is None:
            moved = "only here"
        elif place == row.place:
            moved = "same place"
        else:
            moved = f"number {place} there"
        moved_rows.append(Row(row.place, row.hit, row.why, row.pieces, row.bar, moved))
    return Side(side.recipe, side.changed, side.found, tuple(moved_rows), side.legend)


def _kept(context: PageContext, recipe: Recipe, changes: Mapping[str, Any], usual: str) -> dict[str, str]:
    """Return the fields that make this very page again: what is as usual is left out."""
    values = context.values
    fields = {"q": values.text("q")}
    if recipe.name != usual:
        fields["recipe"] = recipe.name
    fields |= {name: values.text(name) for name in ("compare", "as_of")}
    if values.whole("limit", _LIMIT, 1, _MAX_HITS) != _LIMIT:
        fields["limit"] = values.text("limit")
    return {**fields, **forms.kept(values), **{name: written(value) for name, value in changes.items()}}


def save(context: PageContext) -> Response:
    """Save a recipe with some parameters changed under a name of one's own, and search with it."""
    values = context.values
    base = context.engine.recipes.get(values.text("recipe") or None, namespace=context.namespace)
    recipe = base.changed(read_changes(base, values))
    evidence = {"by": "hand", "base": base.name}
    name = values.text("name")
    context.engine.recipes.save(name, recipe, evidence=evidence, namespace=context.namespace)
    if values.flag("use"):
        context.engine.recipes.use(name, namespace=context.namespace)
    return context.go(context.url("/", q=values.text("q"), recipe=name))


ROUTES: Final = (PageRoute("/", search), PageRoute("/recipes", save, "POST"))
