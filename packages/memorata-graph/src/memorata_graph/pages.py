"""The graph explorer, the communities, and the map.

The drawing of the graph is made by cytoscape.js from data that this file serves; beside it the same
connections are a list, so that nothing depends on seeing or on a mouse. The map shows where memories happened
on a drawing of coasts, borders and names, and what is near a point. The plate carrée needs no arithmetic: a
degree of longitude is a unit to the right, one of latitude a unit up. Memories that are closer to each other
than the map can show are one dot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from starlette.responses import Response

from memorata import Memory, Place
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.graph import MENTIONS, NEXT, SUPERSEDES
from memorata.extend.model import checks, folded
from memorata_graph.graph import Graph
from memorata_graph.results import FoundPath, Group, Nearby, Paths
from memorata_graph.summaries import LEVELS, METHODS
from memorata_graph.timeline_page import timeline
from memorata_server.web import forms
from memorata_server.web.context import PageContext, PageRoute, counted, excerpt

PAGES: Final = (
    ("/graph", "Graph"),
    ("/communities", "Communities"),
    ("/timeline", "Timeline"),
    ("/map", "Map"),
)
"""What the top of every page leads to."""
_MAX_NODES: Final = 60
_MAX_PATHS: Final = 2_000
_MAX_ENTITIES: Final = 40
_MAX_HUBS: Final = 8
_MAX_WAYS: Final = 12
_MAX_ADDED: Final = 20
"""How many names are added where the memories of one entity alone would fill the drawing."""
_MAX_SECONDS: Final = 2.0
_BUILTIN_TYPES: Final = (MENTIONS, NEXT, SUPERSEDES)
_TYPES: Final = {
    "person": "person", "people": "person", "human": "person", "user": "person",
    "place": "place", "location": "place", "city": "place", "country": "place",
    "organisation": "organisation", "organization": "organisation", "company": "organisation",
}  # fmt: skip
"""The kinds of names that have a colour, by the types that people declare."""


@dataclass(slots=True)
class Drawing:
    """Nodes and edges, each once, as cytoscape reads them."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)

    def node(self, id_: str, label: str, kind: str, url: str) -> None:
        """Put a node on the drawing, unless it is there."""
        self.nodes.setdefault(id_, {"id": id_, "label": label, "kind": kind, "url": url})

    def colour(self, context: PageContext) -> Drawing:
        """Say of every name whether it is a person, a place, an organisation or some other thing.

        A declared type counts; else a speaker is a person, and the place of a memory is a place.
        """
        names = {node["label"]: node for node in self.nodes.values() if node["kind"] == "name"}
        existing = forms.choices(context.engine)
        speakers, places = existing["speaker"].values, existing["place"].values
        for name, node in names.items():
            declared = Graph(context.engine).entities.get(name).entity.type
            type_ = _TYPES.get(declared.lower(), "thing")
            if type_ == "thing":
                type_ = "person" if name in speakers else "place" if name in places else "thing"
            node["type"] = type_
        return self

    def edge(self, source: str, target: str, type_: str, weight: float) -> None:
        """Put an edge on the drawing, unless it is there."""
        key = (source, target, type_)
        name = " ".join(key)
        edge = {"id": name, "source": source, "target": target, "label": type_, "weight": weight}
        self.edges.setdefault(key, edge)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"nodes": list(self.nodes.values()), "edges": list(self.edges.values())}


def explore(context: PageContext) -> Response:
    """Show the entities of the namespace, and the neighbourhood of one of them."""
    engine, values = context.engine, context.values
    entities = Graph(engine).entities.list(limit=_MAX_ENTITIES)
    entity = values.text("entity") or (entities[0].entity.name if entities else "")
    if not entity:
        return context.page("graph.html", entities=entities, about=None)
    about = Graph(engine).entities.get(entity)
    answer, drawing = _explored(context, entity)
    to, nodes = values.text("to"), list(drawing.nodes.values())
    other_names = [node for node in nodes if node["kind"] == "name" and node["label"] != about.entity.name]
    return context.page(
        "graph.html",
        entities=entities,
        about=about,
        relations=Graph(engine).entities.relations(entity),
        memories=[node for node in nodes if node["kind"] == "memory"],
        others=other_names,
        depth=_depth(context),
        turns=values.flag("turns"),
        truncated=answer.truncated not in (None, "depth"),
        to=to,
        ways=answer.paths[:_MAX_WAYS] if to else (),
        shortest=_shortest(context),
        hubs=Graph(engine).hubs(limit=_MAX_HUBS),
    )


def data(context: PageContext) -> Response:
    """Return the neighbourhood of a name, to be drawn."""
    _, drawing = _explored(context, context.values.text("entity"))
    return context.data(drawing.colour(context).as_dict())


def drawn(context: PageContext, paths: Iterable[FoundPath]) -> Drawing:
    """Return the nodes and edges that some ways go through."""
    drawing = Drawing()
    ways = list(paths)
    ids = list(dict.fromkeys(step.memory for way in ways for step in way.steps if step.memory is not None))
    contents = (
        {memory.id: memory.content for memory in context.engine.store.get(context.namespace, ids)}
        if ids
        else {}
    )
    for way in ways:
        node = f"name:{way.start}"
        drawing.node(node, way.start, "name", context.url("/graph", entity=way.start))
        for step in way.steps:
            if step.memory is not None:
                next_node = f"memory:{step.memory}"
                drawing.node(
                    next_node,
                    excerpt(contents[step.memory], 60),
                    "memory",
                    context.url(f"/memories/{step.memory}"),
                )
            else:
                name = step.entity or ""
                next_node = f"name:{name}"
                drawing.node(next_node, name, "name", context.url("/graph", entity=name))
            ends = (node, next_node) if step.forward else (next_node, node)
            drawing.edge(*ends, step.type, step.weight)
            node = next_node
    return drawing


def _explored(context: PageContext, start: str) -> tuple[Paths, Drawing]:
    """Return the ways from a name, and their drawing; where memories fill it, with names in most of them."""
    to = context.values.text("to")
    answer = _route(context, start, to) if to else _ways(context, start)
    drawing = drawn(context, answer.paths)
    if _depth(context) > 1 and answer.truncated == "nodes":
        ids = [
            node["id"].removeprefix("memory:") for node in drawing.nodes.values() if node["kind"] == "memory"
        ]
        memories = context.engine.store.get(context.namespace, ids) if ids else []
        counts = Counter(name for memory in memories for name in memory.entities)
        for mention, _ in counts.most_common(_MAX_ADDED):
            name = Graph(context.engine).entities.get(mention).entity.name
            drawing.node(f"name:{name}", name, "name", context.url("/graph", entity=name))
            for memory in memories:
                if mention in memory.entities:
                    drawing.edge(f"memory:{memory.id}", f"name:{name}", MENTIONS, 1.0)
    return answer, drawing


def _depth(context: PageContext) -> int:
    return context.values.whole("depth", 2, 1, 4)


def _ways(context: PageContext, start: str) -> Paths:
    types = None
    if not context.values.flag("turns"):
        relation_types = {relation.type for relation in Graph(context.engine).entities.relations()}
        types = [MENTIONS, *sorted(relation_types - set(_BUILTIN_TYPES))]
    return Graph(context.engine).paths(
        start, depth=_depth(context), types=types, nodes=_MAX_NODES, paths=_MAX_PATHS, seconds=_MAX_SECONDS
    )


def _shortest(context: PageContext) -> bool:
    return context.values.text("ways", "shortest") == "shortest"


def _route(context: PageContext, start: str, to: str) -> Paths:
    """Return the shortest way from one name to another, or all ways of so many steps."""
    return Graph(context.engine).paths(
        start,
        to=to,
        shortest=_shortest(context),
        depth=_depth(context),
        nodes=_MAX_PATHS,
        paths=_MAX_WAYS,
        seconds=_MAX_SECONDS,
    )


_MAX_MEMORIES: Final = 4
_MAX_NAMES: Final = 10


@frozen
class Card:
    """A group, those of its memories that speak for it, its middle first, and terms beside its names."""

    group: Group
    speakers: tuple[Memory, ...]
    names: tuple[str, ...]
    terms: tuple[str, ...]


def communities(context: PageContext) -> Response:
    """Show the communities of the namespace."""
    values = context.values
    method = checks.one_of("method", values.text("method", "propagation"), METHODS)
    levels = values.whole("levels", LEVELS, 1, 20)
    level = values.whole("level", min(1, levels - 1), 0, levels - 1) if method == "propagation" else 0
    limit = values.whole("limit", 12, 1, 100)
    iterations = values.whole("iterations", 100 if method == "propagation" else 2, 1, 1000)
    resolution = values.number("resolution", 1.0) or 0.0
    result = Graph(context.engine).communities(
        level=level, limit=limit, method=method, levels=levels, iterations=iterations, resolution=resolution
    )
    settings = {"method": method, "levels": levels, "iterations": iterations, "resolution": resolution}
    return context.page(
        "communities.html",
        result=result,
        cards=tuple(_card(context, group) for group in result.groups),
        level=level,
        limit=limit,
        methods=METHODS,
        settings=settings,
        remembered=context.remembered,
    )


def _card(context: PageContext, group: Group) -> Card:
    middle = group.summary.representative
    ids = [] if not middle else [middle]
    ids += [id_ for id_ in group.memories if id_ != middle][: _MAX_MEMORIES - len(ids)]
    speakers = context.engine.store.get(context.namespace, ids) if ids else []
    entity_words = {word for name in group.entities for word in folded(name).split()}
    terms = tuple(term for term in group.summary.terms if folded(term) not in entity_words)
    return Card(group, tuple(speakers), group.entities[:_MAX_NAMES], terms)


_MAX_PLACED: Final = 1_000
_MAX_NEAR: Final = 20
_CELLS_PER_WIDTH: Final = 60
"""How many dots fit beside each other on the width of the map."""
_MIN_WIDTH: Final = 12.0
"""The smallest width of the map, in degrees: the coastline shows no more than this."""
_MARGIN: Final = 0.12


@frozen
class Country:
    """A country's name, the middle of it (north is negative), and how wide it is, in degrees."""

    name: str
    x: float
    y: float
    width: float


@cache
def countries() -> tuple[Country, ...]:
    """Return the countries of the world, the widest first."""
    rows = json.loads(files("memorata_graph").joinpath("countries.json").read_text(encoding="utf-8"))
    return tuple(Country(*row) for row in rows)


@frozen
class Window:
    """The piece of the world that is shown: its west and north edge (north is negative), width and height."""

    x: float
    y: float
    width: float
    height: float


@frozen
class Dot:
    """Memories that happened in about the same place, and how large they are drawn."""

    lat: float
    lon: float
    name: str
    memories: tuple[Memory, ...]

    @property
    def short(self) -> str:
        """The name on the map: of "Graça, Lisbon and 4 other places" the city."""
        return self.name.partition(" and ")[0].rpartition(", ")[2]

    @property
    def size(self) -> float:
        """How wide the dot is, in pixels: its area tells how many."""
        return float(min(8 + 5 * (len(self.memories) ** 0.5), 34))


def world(context: PageContext) -> Response:
    """Show the map, and what is near a point if one was chosen."""
    values = context.values
    narrowed = forms.filter_of(values, forms.spellings(context.engine))
    has_place: dict[str, Any] = {"place": {"exists": True}}
    page = context.engine.list(
        filter=has_place if narrowed is None else {"and": [has_place, narrowed]}, limit=_MAX_PLACED
    )
    chosen = _chosen(context)
    near: tuple[Nearby, ...] = ()
    if chosen is not None:
        near = Graph(context.engine).near(chosen.lat, chosen.lon, limit=_MAX_NEAR)
    precision = values.whole("precision", 7, 4, 8)
    window = around([memory.place for memory in page.memories if memory.place is not None])
    return context.page(
        "map.html",
        window=window,
        dots=dots(page.memories, window.width / _CELLS_PER_WIDTH),
        countries=countries(),
        chosen=chosen,
        near=near,
        precision=precision,
        cells=Graph(context.engine).cells(precision=precision),
        count=len(page.memories),
        all_shown=page.cursor is None,
        choices=forms.choices(context.engine),
        narrowed=forms.filled(values),
        fields=forms.filter_fields(values),
    )


def dots(memories: Sequence[Memory], cell: float) -> tuple[Dot, ...]:
    """Return memories as dots: those in one square cell of that many degrees together, at their middle."""
    cells: dict[tuple[int, int], list[tuple[Memory, Place]]] = {}
    for memory in memories:
        if memory.place is not None:
            key = (int(memory.place.lat // cell), int(memory.place.lon // cell))
            cells.setdefault(key, []).append((memory, memory.place))
    drawn = []
    for together in cells.values():
        places = [place for _, place in together]
        names = Counter(place.name for place in places if place.name)
        drawn.append(
            Dot(
                sum(place.lat for place in places) / len(places),
                sum(place.lon for place in places) / len(places),
                _dot_label(names),
                tuple(memory for memory, _ in together),
            )
        )
    return tuple(sorted(drawn, key=lambda dot: -len(dot.memories)))


def around(places: Sequence[Place]) -> Window:
    """Return the smallest window, twice as wide as high, in which all places are; the world for none."""
    if not places:
        return Window(-180.0, -90.0, 360.0, 180.0)
    lats, lons = [place.lat for place in places], [place.lon for place in places]
    wide, high = max(lons) - min(lons), max(lats) - min(lats)
    width = min(360.0, max(_MIN_WIDTH, wide * (1 + 2 * _MARGIN), 2 * high * (1 + 2 * _MARGIN)))
    height = width / 2
    x = min(max((max(lons) + min(lons) - width) / 2, -180.0), 180.0 - width)
    y = min(max((-max(lats) - min(lats) - height) / 2, -90.0), 90.0 - height)
    return Window(x, y, width, height)


def _dot_label(names: Counter[str]) -> str:
    """Return the name most memories of a dot have, and how many others there are."""
    if not names:
        return ""
    first = names.most_common(1)[0][0]
    return first if len(names) == 1 else f"{first} and {counted(len(names) - 1, 'other place')}"


def _chosen(context: PageContext) -> Place | None:
    lat, lon = context.values.number("lat"), context.values.number("lon")
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise InvalidArgument(
            "lat and lon", context.values.text("lat") or context.values.text("lon"), "both given"
        )
    return Place(lat, lon)


ROUTES: Final = (
    PageRoute("/graph", explore),
    PageRoute("/graph/data", data),
    PageRoute("/communities", communities),
    PageRoute("/timeline", timeline),
    PageRoute("/map", world),
)
