"""The graph explorer: what leads from a name to other names, through memories and relations.

The drawing is made by cytoscape.js from data that this file serves; beside it the same connections stand as a
list, so that nothing depends on seeing or on a mouse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.responses import Response

from memorata.engine.graph.communities import FoundPath, Paths
from memorata.engine.graph.namespace_graph import MENTIONS, NEXT, SUPERSEDES
from memorata.web.rendering import excerpt
from memorata.web.visit import Room, Visit

_NODES: Final = 60
_PATHS: Final = 2_000
_NAMES: Final = 40
_BESIDE: Final = 20
"""How many names are put beside somebody whose memories alone would fill the drawing."""
_SECONDS: Final = 2.0
_OWN: Final = (MENTIONS, NEXT, SUPERSEDES)


@dataclass(slots=True)
class Drawing:
    """Nodes and edges, each once, as cytoscape reads them."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)

    def node(self, id_: str, label: str, kind: str, url: str) -> None:
        """Put a node on the drawing, unless it is there."""
        self.nodes.setdefault(id_, {"id": id_, "label": label, "kind": kind, "url": url})

    def edge(self, source: str, target: str, type_: str, weight: float) -> None:
        """Put an edge on the drawing, unless it is there."""
        key = (source, target, type_)
        name = " ".join(key)
        found = {"id": name, "source": source, "target": target, "label": type_, "weight": weight}
        self.edges.setdefault(key, found)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"nodes": list(self.nodes.values()), "edges": list(self.edges.values())}


def explore(visit: Visit) -> Response:
    """Show who and what is known, and the neighbourhood of one of them."""
    engine, values = visit.engine, visit.values
    known = engine.entities.list(limit=_NAMES, namespace=visit.namespace)
    wanted = values.text("entity") or (known[0].entity.name if known else "")
    if not wanted:
        return visit.page("graph.html", known=known, about=None)
    about = engine.entities.get(wanted, namespace=visit.namespace)
    depth = values.whole("depth", 2, 1, 3)
    answer = _ways(visit, wanted, depth)
    drawing = _drawing(visit, answer, depth)
    others = [
        node
        for node in drawing.nodes.values()
        if node["kind"] == "name" and node["label"] != about.entity.name
    ]
    return visit.page(
        "graph.html",
        known=known,
        about=about,
        relations=engine.entities.relations(wanted, namespace=visit.namespace),
        memories=[node for node in drawing.nodes.values() if node["kind"] == "memory"],
        others=others,
        depth=depth,
        turns=values.flag("turns"),
        truncated=answer.truncated not in (None, "depth"),
    )


def data(visit: Visit) -> Response:
    """Return the neighbourhood of a name, to be drawn."""
    depth = visit.values.whole("depth", 2, 1, 3)
    answer = _ways(visit, visit.values.text("entity"), depth)
    return visit.data(_drawing(visit, answer, depth).as_dict())


def drawn(visit: Visit, paths: Iterable[FoundPath]) -> Drawing:
    """Return the nodes and edges that some ways go through."""
    drawing = Drawing()
    ways = list(paths)
    ids = list(dict.fromkeys(step.memory for way in ways for step in way.steps if step.memory is not None))
    said = (
        {memory.id: memory.content for memory in visit.engine.store.get(visit.namespace, ids)} if ids else {}
    )
    for way in ways:
        here = f"name:{way.start}"
        drawing.node(here, way.start, "name", visit.url("/graph", entity=way.start))
        for step in way.steps:
            if step.memory is not None:
                there = f"memory:{step.memory}"
                drawing.node(
                    there, excerpt(said[step.memory], 60), "memory", visit.url(f"/memories/{step.memory}")
                )
            else:
                name = step.entity or ""
                there = f"name:{name}"
                drawing.node(there, name, "name", visit.url("/graph", entity=name))
            ends = (here, there) if step.forward else (there, here)
            drawing.edge(*ends, step.type, step.weight)
            here = there
    return drawing


def _drawing(visit: Visit, answer: Paths, depth: int) -> Drawing:
    """Return what some ways go through; where memories took all the room, with the names in most of them."""
    drawing = drawn(visit, answer.paths)
    if depth > 1 and answer.truncated == "nodes":
        ids = [
            node["id"].removeprefix("memory:") for node in drawing.nodes.values() if node["kind"] == "memory"
        ]
        memories = visit.engine.store.get(visit.namespace, ids) if ids else []
        counts = Counter(name for memory in memories for name in memory.entities)
        for said, _ in counts.most_common(_BESIDE):
            name = visit.engine.entities.get(said, namespace=visit.namespace).entity.name
            drawing.node(f"name:{name}", name, "name", visit.url("/graph", entity=name))
            for memory in memories:
                if said in memory.entities:
                    drawing.edge(f"memory:{memory.id}", f"name:{name}", MENTIONS, 1.0)
    return drawing


def _ways(visit: Visit, start: str, depth: int) -> Paths:
    types = None
    if not visit.values.flag("turns"):
        named = {relation.type for relation in visit.engine.entities.relations(namespace=visit.namespace)}
        types = [MENTIONS, *sorted(named - set(_OWN))]
    return visit.engine.graph.paths(
        start,
        depth=depth,
        types=types,
        nodes=_NODES,
        paths=_PATHS,
        seconds=_SECONDS,
        namespace=visit.namespace,
    )


ROOMS: Final = (Room("/graph", explore), Room("/graph/data", data))
