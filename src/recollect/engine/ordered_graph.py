"""The graph of a namespace in an order of its own: not that in which it has grown.

A graph that is kept numbers its nodes as they come, one that is built anew as they are read. What depends on
the order of nodes and edges, if only in a tie or in the last bit of a sum, would then differ between a
process that has watched for a year and one that has just begun.
"""

from __future__ import annotations

import numpy as np

from recollect.engine.namespace_graph import NamespaceGraph
from recollect.graph.adjacency import Graph
from recollect.model.checks import IntArray


def in_order(known: NamespaceGraph) -> tuple[Graph, IntArray]:
    """Return a graph with its nodes in order, and which node of `known` each of them is.

    Memories come by their slots, then entities by their keys; who has no edge is left out, and what an edge
    is called.
    """
    sources, targets, weights, _, _ = known.graph.listed()
    keys = dict(zip(known.entity_nodes().tolist(), known.entity_keys, strict=True))
    linked = np.unique(np.concatenate([sources, targets])).astype(np.intp)
    slots = known.slots_of(linked)
    is_said = slots >= 0
    said = linked[is_said][np.argsort(slots[is_said])]
    named = sorted(linked[~is_said].tolist(), key=keys.__getitem__)
    nodes = np.concatenate([said, np.array(named, np.intp)])
    places = np.zeros(known.graph.nodes, np.intp)
    places[nodes] = np.arange(nodes.size)
    sources, targets = places[sources], places[targets]
    order = np.lexsort((weights, targets, sources))
    return Graph.of(nodes.size, sources[order], targets[order], weights[order]), nodes
