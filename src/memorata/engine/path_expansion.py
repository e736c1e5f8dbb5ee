"""The paths leg: from what the question names along relations and shared memories to what that leads to.

The expansion of PathRAG in semstreams: from every entity that the question names, paths are followed within
limits (:func:`~memorata.graph.paths.find_paths`), and each entity on them counts 0.8 to the power of its
steps, the named ones 1. PageRank is the prior: of two entities equally far, the better connected counts up
to twice as much. A memory counts the sum over the entities it mentions.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from memorata.engine.edge_types import MENTIONS, NEXT, SUPERSEDES
from memorata.engine.excluding import permitted
from memorata.engine.leg_notes import noted
from memorata.engine.namespace_graph import NamespaceGraph
from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.graph.paths import Path, find_paths
from memorata.model.checks import FloatArray, IntArray
from memorata.store.port import NOTHING, Found

DECAY: Final = 0.8
_DEPTH: Final = 2
"""A relation is one step; from entity to entity through a memory are two."""
_NODES: Final = 200
_PATHS: Final = 200
_POOL: Final = 100
"""How many memories the leg finds at most."""
_LONGEST: Final = 6
"""The most words of a name that is looked for in a question."""
_WORD: Final = re.compile(r"[^\s,;:!?\"“”„«»()\[\]]+")
_POSSESSIVE: Final = re.compile(r"['’]s?$")


def expand(recipe: Recipe, situation: Situation, slots: IntArray, scores: FloatArray) -> Found:
    """Return the memories of the entities to which paths lead from those that the question names.

    Parameters
    ----------
    recipe
        Says from how many named entities paths are followed at most.
    situation
        The view, the question, and where the graph is to be had.
    slots, scores
        The candidates so far; what the question names does not depend on them.
    """
    if situation.graph is None:
        return NOTHING
    known = situation.graph()
    starts = named_entities(known, situation.question.text)[: recipe.graph_seeds]
    if not starts:
        return NOTHING
    reached, ways = _reached(known, starts)
    entities = np.array(list(reached), np.intp)
    prior = known.ranks[entities]
    worth = np.array(list(reached.values())) * (1 + prior / prior.max()) / 2
    edges = known.graph.around(entities, "in", [MENTIONS])
    # Entity by entity: a sum has the same last bit however the graph has grown.
    order = np.argsort(edges.origin, kind="stable")
    origin = edges.origin[order]
    found, back = np.unique(known.slots_of(edges.nodes[order]), return_inverse=True)
    total: FloatArray = np.bincount(back, worth[origin], minlength=found.size).astype(np.float64)
    kept = np.isin(found, permitted(situation, found))
    if not kept.any():
        return NOTHING
    # Whoever mentions the same is equally far; the question then says which of them is closer.
    close = np.zeros(found.size)
    if situation.vector is not None:
        close = situation.view.cosines(situation.vector, found)
    order = np.lexsort((found, -close, -total))
    order = order[kept[order]][:_POOL]
    notes: dict[int, dict[str, float]] = {slot: {} for slot in found[order].tolist()}
    for at, slot in zip(origin.tolist(), found[back].tolist(), strict=True):
        if slot in notes:
            notes[slot][ways[int(entities[at])]] = float(worth[at])
    return Found(found[order], total[order], noted(notes))


def named_entities(known: NamespaceGraph, text: str) -> list[int]:
    """Return the nodes of the entities that a text names, longer names before the words in them."""
    words = [_POSSESSIVE.sub("", word).rstrip(".") for word in _WORD.findall(text)]
    free = [True] * len(words)
    nodes: dict[int, int] = {}
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = slice(start, start + length)
            if not all(free[span]):
                continue
            node = known.entity_node(" ".join(words[span]))
            # Whoever was only in what has been forgotten still has a node, but nothing leads anywhere.
            if node is not None and known.ordered.places[node] >= 0:
                nodes.setdefault(node, start)
                free[span] = [False] * length
    return sorted(nodes, key=nodes.__getitem__)


def _reached(known: NamespaceGraph, starts: list[int]) -> tuple[dict[int, float], dict[int, str]]:
    """Return the entities on paths from the starts, what each counts, and the way to it in words."""
    types = [name for name in known.graph.type_names if name not in (NEXT, SUPERSEDES)]
    reached = dict.fromkeys(starts, 1.0)
    ways = {node: known.name_of(node) or "" for node in starts}
    for start in starts:
        search = find_paths(
            known.graph,
            start,
            depth=_DEPTH,
            nodes=_NODES,
            paths=_PATHS,
            types=types,
            decay=DECAY,
            precedence=known.precedence,
        )
        for path in search.paths:
            for at, step in enumerate(path.steps):
                score = DECAY ** (at + 1)
                if known.name_of(step.node) is not None and score > reached.get(step.node, 0.0):
                    reached[step.node] = score
                    ways[step.node] = _said(known, path, at)
    return reached, ways


def _said(known: NamespaceGraph, path: Path, last: int) -> str:
    """Return the way to a step of a path: entities and relations; memories are passed by."""
    said = known.name_of(path.start) or ""
    for step in path.steps[: last + 1]:
        name = known.name_of(step.node)
        if name is None:
            continue
        arrow = "—" if step.type == MENTIONS else f"—{step.type}→" if step.forward else f"←{step.type}—"
        said += f" {arrow} {name}"
    return said
