"""The walk leg: from what the best memories mention over the whole graph of the namespace, many steps.

The graph retrieval of Memento, after HippoRAG (Gutiérrez et al., 2024): the entities of the best memories
are seeds, each weighted by how much the question is about it (:func:`~memorata.graph.seeds.seed_weights`);
a reader who starts at a seed and follows edges, and starts again with probability 0.25 at every step, comes
by every memory with some probability. That, divided by the greatest, counts for a half, and the cosine with
the question for the other. The seeds' share is what :mod:`~memorata.engine.bridging` takes one step of.

Entities have no vectors of their own here: one is as close to the question as the mean of its memories is.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from memorata.engine.edge_types import MENTIONS
from memorata.engine.excluding import permitted
from memorata.engine.leg_notes import noted
from memorata.engine.namespace_graph import NamespaceGraph
from memorata.engine.recipe import Recipe
from memorata.engine.situation import Situation
from memorata.graph.pagerank import local_push, personalised_pagerank, seed_weights
from memorata.model.checks import FloatArray, IntArray
from memorata.store.port import NOTHING, Found

DAMPING: Final = 0.75
ITERATIONS: Final = 25
_SHARE: Final = 0.5
"""What the walk counts for; the cosine counts for the rest."""
_POOL: Final = 100
"""How many memories the leg finds at most."""
_READ: Final = 20
"""From how many of its memories the vector of an entity is made."""
_LARGE: Final = 50_000
"""From so many edges on only the neighbourhood of the seeds is walked."""
_EPSILON: Final = 1e-6


def walk(recipe: Recipe, situation: Situation, slots: IntArray, scores: FloatArray) -> Found:
    """Return the memories that a walk from the best candidates' entities comes by.

    Parameters
    ----------
    recipe
        Says how many of the best are asked what they mention.
    situation
        The view, the question, and where the graph is to be had.
    slots, scores
        The candidates so far, best first.
    """
    if situation.graph is None or not slots.size or scores[0] <= 0:
        return NOTHING
    known = situation.graph()
    nodes = known.nodes_of(slots[: recipe.graph_seeds])
    mentioned = known.graph.around(nodes[nodes >= 0], "out", [MENTIONS]).nodes
    if not mentioned.size:
        return NOTHING
    # In an order in which sums have the same last bit however the graph has grown.
    seeds = known.ordered.nodes[np.unique(known.ordered.places[mentioned])]
    walked = _walked(known, seeds, _weights(known, situation, seeds))
    reached = np.flatnonzero(walked)
    owners = known.slots_of(reached)
    memories = permitted(situation, owners[owners >= 0])
    if not memories.size:
        return NOTHING
    come_by = walked[known.nodes_of(memories)]
    nearest = np.lexsort((memories, -come_by))[:_POOL]
    memories, come_by = memories[nearest], come_by[nearest] / come_by.max()
    close = _cosines(situation, memories)
    total = _SHARE * come_by + (1 - _SHARE) * close
    order = (-total).argsort(kind="stable")
    found = memories[order]
    notes = _notes(known, walked, found, _SHARE * come_by[order], (1 - _SHARE) * close[order])
    return Found(found, total[order], noted(notes))


def _weights(known: NamespaceGraph, situation: Situation, seeds: IntArray) -> FloatArray:
    """Return how much of the walk begins at each seed."""
    own, of_memories = np.zeros(seeds.size), np.zeros(seeds.size)
    if situation.vector is not None:
        mentions = known.graph.around(seeds, "in", [MENTIONS])
        owners, slots = mentions.origin, known.slots_of(mentions.nodes)
        seen = np.isin(slots, situation.view.without(np.unique(slots), ()))
        owners, slots = owners[seen], slots[seen]
        order = np.lexsort((slots, owners))
        owners, slots = owners[order], slots[order]
        read = np.arange(owners.size) - np.searchsorted(owners, owners) < _READ
        owners, (slots, back) = owners[read], np.unique(slots[read], return_inverse=True)
        counts = np.maximum(np.bincount(owners, minlength=seeds.size), 1)
        close = _cosines(situation, slots)
        of_memories = np.bincount(owners, close[back], minlength=seeds.size) / counts
        sums = np.zeros((seeds.size, situation.vector.size))
        if owners.size:
            present, starts = np.unique(owners, return_index=True)
            sums[present] = np.add.reduceat(situation.view.vectors(slots)[back], starts, axis=0)
        sizes = np.linalg.norm(sums, axis=1) * np.linalg.norm(situation.vector)
        np.divide(sums @ situation.vector, sizes, out=own, where=sizes > 0)
        own, of_memories = np.clip(own, -1.0, 1.0), np.clip(of_memories, -1.0, 1.0)
    return seed_weights(own, of_memories, _degrees(known, seeds))


def _walked(known: NamespaceGraph, seeds: IntArray, weights: FloatArray) -> FloatArray:
    """Return for every node how likely the walk is there."""
    graph, starts = known.ordered.both_ways, known.ordered.places[seeds]
    if graph.edges <= _LARGE:
        exact = personalised_pagerank(graph, starts, weights, damping=DAMPING, iterations=ITERATIONS)
        return known.ordered.spread(exact.scores)
    near = local_push(graph, starts, weights, damping=DAMPING, epsilon=_EPSILON)
    scores = np.zeros(known.graph.nodes)
    scores[known.ordered.nodes[near.nodes]] = near.scores
    return scores


def _degrees(known: NamespaceGraph, nodes: IntArray) -> IntArray:
    """Return how many edges each of some nodes has; a loop counts once."""
    around = known.ordered.both_ways.around(known.ordered.places[nodes])
    return np.bincount(around.origin, minlength=nodes.size)


def _notes(
    known: NamespaceGraph, walked: FloatArray, slots: IntArray, shares: FloatArray, close: FloatArray
) -> dict[int, dict[str, float]]:
    """Return what each memory's score is made of: closeness, and the entities that the walk came through.

    The walk's part is told by entity in proportion to what each passes on to a neighbour.
    """
    edges = known.graph.around(known.nodes_of(slots), "out", [MENTIONS])
    order = np.lexsort((known.ordered.places[edges.nodes], edges.origin))
    origin, (ends, back) = edges.origin[order], np.unique(edges.nodes[order], return_inverse=True)
    passed = (walked[ends] / np.maximum(_degrees(known, ends), 1))[back] if ends.size else np.zeros(0)
    totals = np.bincount(origin, passed, minlength=slots.size)
    names = {node: f"by way of {known.name_of(node)}" for node in ends.tolist()}
    notes: dict[int, dict[str, float]] = {
        slot: {"closeness": value} for slot, value in zip(slots.tolist(), close.tolist(), strict=True)
    }
    for at, node, value in zip(origin.tolist(), ends[back].tolist(), passed.tolist(), strict=True):
        if value:
            notes[int(slots[at])][names[node]] = float(shares[at]) * value / float(totals[at])
    for at in np.flatnonzero(totals == 0).tolist():
        notes[int(slots[at])]["by way of its neighbours"] = float(shares[at])
    return notes


def _cosines(situation: Situation, slots: IntArray) -> FloatArray:
    if situation.vector is None:
        return np.zeros(slots.size)
    return np.clip(situation.view.cosines(situation.vector, slots), -1.0, 1.0)
