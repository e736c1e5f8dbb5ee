"""The graph of a namespace in an order of its own: not that in which it has grown.

A graph that is kept numbers its nodes as they come, one that is built anew as they are read. What depends on
the order of nodes and edges, if only in a tie or in the last bit of a sum, would then differ between a
process that has watched for a year and one that has just begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph
from memorata.model.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from memorata.engine.namespace_graph import NamespaceGraph


@frozen(eq=False)
class Ordered:
    """A graph with its nodes in order.

    Attributes
    ----------
    graph, both_ways
        Its edges without their types: as they are, and each in both directions.
    nodes
        Which node of the graph that has grown each node is.
    places
        For each of those, which node here it is; -1 for one without an edge.
    """

    graph: Graph
    both_ways: Graph
    nodes: IntArray
    places: IntArray

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return the scores of nodes here as those of the graph that has grown; 0 for who has no edge."""
        found = np.zeros(self.places.size)
        found[self.nodes] = scores
        return found


def in_order(known: NamespaceGraph) -> Ordered:
    """Return a graph with its nodes in order: memories by their slots, then entities by their keys.

    Who has no edge is left out: one that is built anew would not know of it.
    """
    sources, targets, weights, _, _ = known.graph.listed()
    keys = dict(zip(known.entity_nodes().tolist(), known.entity_keys, strict=True))
    linked = np.unique(np.concatenate([sources, targets])).astype(np.intp)
    slots = known.slots_of(linked)
    is_said = slots >= 0
    said = linked[is_said][np.argsort(slots[is_said])]
    named = sorted(linked[~is_said].tolist(), key=keys.__getitem__)
    nodes = np.concatenate([said, np.array(named, np.intp)])
    places = np.full(known.graph.nodes, -1, np.intp)
    places[nodes] = np.arange(nodes.size)
    sources, targets = places[sources], places[targets]
    order = np.lexsort((weights, targets, sources))
    graph = Graph.of(nodes.size, sources[order], targets[order], weights[order])
    return Ordered(graph, graph.undirected(), nodes, places)
