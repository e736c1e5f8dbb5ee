"""The search page: a query, the controls of a recipe, and hits that show what each signal contributes.

Every change of a control asks again and replaces the hits in place; the address always says what is shown, so
that it can be kept and shared. A second recipe may answer beside the first.

What each signal contributes is drawn as pieces that lie side by side and are together as long as the score.
The explanation of a score is a tree of sums, products, ratios and maxima. Read from the top with a scale of
1, a sum hands its scale to every part; a ratio and a weight change the scale; a factor of at most 1 holds
back everything below it alike; and what a factor above 1 adds, ``value · (factor - 1)``, is a piece of its
own. So the pieces add up to the score, but for the rounding of float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from memorata import Explanation, Hit, RecallResult, Recipe, When
from memorata.extend import frozen
from memorata.extend.model import checks, folded
from memorata.extend.recall import RECIPES, TEXT_PARTS
from memorata_server.web import forms
from memorata_server.web.context import PageContext, PageRoute, excerpt, navigation
from memorata_server.web.forms import controls, joined, read_changes, written

_DEFAULT_LIMIT: Final = 10
_MAX_HITS: Final = 100
_RECENT_LIMIT: Final = 8
_MAX_SHARES: Final = 4
_MIN_SHARE: Final = 0.05
_MAX_ENTRIES: Final = 5
_SIGNALS: Final[Mapping[str, str]] = {
    **{name: name for name in ("vector", "lexical", "graph", "quality", "time", "geo", "base")},
    **dict.fromkeys(("quality factor", "confidence"), "quality"),
    **dict.fromkeys(("time factor", "temporal"), "time"),
    **dict.fromkeys(TEXT_PARTS, "text"),
    "its session": "session",
    "on its own": "base",
}


@frozen
class Row:
    """A hit as it is shown: its place, its bar, and its place on the other side."""

    place: int
    hit: Hit
    pieces: tuple[Piece, ...]
    bar: tuple[Segment, ...]
    moved: str = ""


@frozen
class Side:
    """What one recipe answered."""

    recipe: Recipe
    changed: int
    result: RecallResult
    rows: tuple[Row, ...]
    legend: tuple[str, ...]


def search(context: PageContext) -> Response:
    """Show the search page, or the hits alone."""
    values = context.values
    usual = context.engine.admin.recipes.get()
    choices = recipes(context)
    recipe = choices[checks.one_of("recipe", values.text("recipe", usual.name), tuple(choices))]
    changes = read_changes(recipe, values)
    sides = _sides(context, choices, recipe, changes)
    page_fields = _page_fields(context, recipe, changes, usual.name)
    variables: dict[str, Any] = {
        "query": values.text("q"),
        "sides": sides,
        "signal": signal,
        "sentence": sentence,
        "recipe": recipe,
        "recipes": choices,
        "compared": values.text("compare"),
        "changes": changes,
        "settings": {name: written(value) for name, value in changes.items()},
        "recent": () if sides else context.engine.list(limit=_RECENT_LIMIT).memories,
        "remembered": context.remembered,
    }
    if context.fragment and context.target == "results":
        response = context.page("search_results.html", **variables)
    else:
        template = "search_area.html" if context.fragment else "search.html"
        response = context.page(
            template,
            **variables,
            groups=controls(recipe, changes),
            choices=forms.choices(context.engine),
            narrowed=forms.filled(values),
            narrowings=len(forms.filter_fields(values)) + bool(values.text("as_of")),
            limit=values.whole("limit", _DEFAULT_LIMIT, 1, _MAX_HITS),
            as_of=values.text("as_of"),
        )
    if context.fragment:
        response.headers["HX-Replace-Url"] = context.url("/", page_fields)
    return response


def recipes(context: PageContext) -> Mapping[str, Recipe]:
    """Return the recipes one may choose from, by name: those of the namespace, then the shipped ones."""
    own = context.engine.admin.recipes.list()
    opened = context.engine.recipe
    return {**{saved.recipe.name: saved.recipe for saved in own}, opened.name: opened, **RECIPES}


def signal(label: str) -> str:
    """Return which of the few signals with a colour a piece of a score is."""
    return _SIGNALS.get(label, "other")


def rows(result: RecallResult) -> tuple[Row, ...]:
    """Return the hits with their bars: as long as each is sure to answer, divided as its score is."""
    shown = []
    for place, hit in enumerate(result, 1):
        pieces = contributions(hit.explanation)
        total = sum(piece.value for piece in pieces if piece.value > 0)
        bar = segments(pieces, total, 100 * hit.confidence)
        shown.append(Row(place, hit, pieces, bar))
    return tuple(shown)


def sentence(row: Row) -> str:
    """Return in one sentence how a hit was found and which signals its score is mostly made of."""
    total = sum(piece.value for piece in row.pieces if piece.value > 0)
    shares = sorted(
        ((piece.value / total, piece.label) for piece in row.pieces if piece.value > 0), reverse=True
    )
    parts = [f"{100 * share:.0f} % {label}" for share, label in shares[:_MAX_SHARES] if share >= _MIN_SHARE]
    if not parts:
        return row.hit.reason
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{row.hit.reason[:-1]}. Its score is made of {listed}."


def _sides(
    context: PageContext, choices: Mapping[str, Recipe], recipe: Recipe, changes: Mapping[str, Any]
) -> tuple[Side, ...]:
    if not context.values.text("q"):
        return ()
    first = _side(context, recipe, changes)
    compared = context.values.text("compare")
    if not compared:
        return (first,)
    second = _side(context, choices[checks.one_of("compare", compared, tuple(choices))], {})
    return _moved(first, second), _moved(second, first)


def _side(context: PageContext, recipe: Recipe, changes: Mapping[str, Any]) -> Side:
    values = context.values
    # Every letter and every move of a slider asks: that says nothing about what people look for.
    result = context.engine.scope(logged=False).recall(
        values.text("q"),
        recipe={"base": recipe, **changes},
        limit=values.whole("limit", _DEFAULT_LIMIT, 1, _MAX_HITS),
        filter=forms.filter_of(values, forms.spellings(context.engine), times=False),
        when=When(
            since=values.instant("since"),
            until=values.instant("until", end=True),
            as_of=values.instant("as_of", end=True),
        ),
    )
    shown = rows(result)
    labels = dict.fromkeys(segment.label for row in shown for segment in row.bar)
    return Side(recipe, len(changes), result, shown, tuple(labels))


def _moved(side: Side, other: Side) -> Side:
    """Return a side whose hits say how they stand on the other one."""
    other_places = {row.hit.memory.id: row.place for row in other.rows}
    moved_rows = []
    for row in side.rows:
        place = other_places.get(row.hit.memory.id)
        if place is None:
            moved = "only here"
        elif place == row.place:
            moved = "same place"
        else:
            moved = f"number {place} there"
        moved_rows.append(replace(row, moved=moved))
    return replace(side, rows=tuple(moved_rows))


def _page_fields(
    context: PageContext, recipe: Recipe, changes: Mapping[str, Any], usual: str
) -> dict[str, str]:
    """Return the fields that make this very page again: what is as usual is left out."""
    values = context.values
    fields = {"q": values.text("q")}
    if recipe.name != usual:
        fields["recipe"] = recipe.name
    fields |= {name: values.text(name) for name in ("compare", "as_of")}
    if values.whole("limit", _DEFAULT_LIMIT, 1, _MAX_HITS) != _DEFAULT_LIMIT:
        fields["limit"] = values.text("limit")
    return {
        **fields,
        **forms.filter_fields(values),
        **{name: written(value) for name, value in changes.items()},
    }


def save(context: PageContext) -> Response:
    """Save a recipe with some parameters changed under a name of one's own, and search with it."""
    values = context.values
    base = context.engine.admin.recipes.get(values.text("recipe") or None)
    recipe = base.changed(read_changes(base, values))
    evidence = {"by": "hand", "base": base.name}
    name = values.text("name")
    context.engine.admin.recipes.save(name, recipe, evidence=evidence)
    if values.flag("use"):
        context.engine.admin.recipes.use(name)
    return context.go(context.url("/", q=values.text("q"), recipe=name))


def palette(context: PageContext) -> Response:
    """Show where one can go, given what was typed: pages, names, memories and namespaces."""
    query = context.values.text("q")
    sought = folded(query)

    def entries(kind: str, labels: Iterable[str], url: Callable[[str], str]) -> list[dict[str, str]]:
        alike = sorted(
            (label for label in labels if sought in folded(label)),
            key=lambda label: not folded(label).startswith(sought),
        )
        return [{"kind": kind, "label": label, "url": url(label)} for label in alike]

    pages = {name: path for path, name in navigation().items()}
    options = entries("page", pages, lambda name: context.url(pages[name]))
    if context.may_write:
        options += entries("action", ["Remember something"], lambda _: context.url("/memories") + "#remember")
    others = [path for path in context.namespaces if path != context.namespace]
    options += entries("namespace", others, lambda path: context.url("/", namespace=path))[:_MAX_ENTRIES]
    if query:
        names = forms.choices(context.engine)["entity"].values
        options += entries(
            "name",
            names,
            lambda name: context.url("/memories", entity=joined([name])),
        )[:_MAX_ENTRIES]
        hits = context.engine.scope(logged=False).recall(query, limit=_MAX_ENTRIES)
        options += [
            {"kind": "memory", "label": excerpt(hit.content, 90), "url": context.url(f"/memories/{hit.id}")}
            for hit in hits
        ]
        options.append({"kind": "search", "label": f"Search for “{query}”", "url": context.url("/", q=query)})
    return context.page("palette.html", entries=options)


ROUTES: Final = (PageRoute("/", search), PageRoute("/palette", palette), PageRoute("/recipes", save, "POST"))


_SCALES: Final = ("weight",)
"""Labels of factors that only say how much of a part is taken."""
_CARRIER: Final = "relevance"


@frozen
class Piece:
    """What one signal put into a score."""

    label: str
    value: float


@frozen
class Segment:
    """A piece as it is drawn: where it begins and how wide it is, in the units of the bar."""

    label: str
    value: float
    start: float
    width: float


def contributions(why: Explanation) -> tuple[Piece, ...]:
    """Return what each signal put into a score, in the order of the explanation, each signal once."""
    values: dict[str, float] = {}
    for piece in _pieces(why, 1.0):
        values[piece.label] = values.get(piece.label, 0.0) + piece.value
    return tuple(Piece(label, value) for label, value in values.items())


def segments(pieces: Sequence[Piece], most: float, width: float = 100.0) -> tuple[Segment, ...]:
    """Return pieces as the segments of a bar on which a score of `most` would be `width` wide.

    Pieces of 0 and below have no segment: a bar cannot show less than nothing.
    """
    drawn: list[Segment] = []
    end = 0.0
    for piece in pieces:
        if piece.value > 0 and most > 0:
            wide = piece.value / most * width
            drawn.append(Segment(piece.label, piece.value, end, wide))
            end += wide
    return tuple(drawn)


def _pieces(node: Explanation, scale: float) -> Iterator[Piece]:
    if node.operation == "sum":
        for part in node.parts:
            yield from _pieces(part, scale)
    elif node.operation == "product":
        yield from _product(node, scale)
    elif node.operation == "ratio":
        below = 1.0
        for part in node.parts[1:]:
            below *= part.value
        yield from _pieces(node.parts[0], scale / below)
    elif node.operation == "max":
        yield from _pieces(max(node.parts, key=lambda part: part.value), scale)
    else:
        yield Piece(node.label, node.value * scale)


def _product(node: Explanation, scale: float) -> Iterator[Piece]:
    carrier = _carrier(node.parts)
    factor, gained = scale, []
    for part in node.parts:
        if part is carrier:
            continue
        if part.label in _SCALES or part.value <= 1:
            factor *= part.value
        else:
            gained.append(part)
    yield from _pieces(carrier, factor)
    value = carrier.value * factor
    for part in gained:
        yield Piece(part.label, value * (part.value - 1))
        value *= part.value


def _carrier(parts: Sequence[Explanation]) -> Explanation:
    """Return the part of a product that the others are factors of."""
    inner = next((part for part in parts if part.parts), None)
    labelled = next((part for part in parts if part.label == _CARRIER), None)
    free = next((part for part in parts if part.label not in _SCALES), parts[0])
    return inner or labelled or free
