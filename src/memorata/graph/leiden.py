"""Communities by the Leiden algorithm, of a library that has it.

Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities" (2019), as
implemented in graspologic-native (MIT licence, wheels for the usual platforms). It climbs to a high
modularity in one level, and every community it finds is connected; an extra, because it needs compiled code.
"""

from __future__ import annotations

import importlib

import numpy as np

from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.communities import Partition, Seed, renumbered
from memorata.graph.label_propagation import Weave
from memorata.graph.modularity import Resolution, modularity_of
from memorata.model import checks
from memorata.model.errors import InvalidArgument, MissingExtra

_REQUIREMENT = "'memorata[communities]'"
_LARGEST_SEED = 2**63 - 1
_LOWEST, _HIGHEST = 1e-6, 1e6
_MOST_ITERATIONS = 1000


def leiden(graph: Graph, *, resolution: Resolution = 1.0, iterations: int = 2, seed: Seed = 0) -> Partition:
    """Return communities of high modularity, the edges read without their direction.

    Parameters
    ----------
    graph
        Those of both directions, and parallel edges, add up; loops are left to the modularity that is
        reported.
    resolution
        From 1e-6 to 1e6; more makes smaller communities.
    iterations
        How often the whole procedure is applied to its own result, from 1 to 1,000.
    seed
        The same graph and seed give the same communities.

    Raises
    ------
    MissingExtra
        The library is not installed; the message says what to install.

    Examples
    --------
    >>> graph = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> leiden(graph).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    checked_graph(graph)
    resolution = checks.within("resolution", resolution, _LOWEST, _HIGHEST)
    iterations = checks.whole("iterations", iterations, 1)
    if iterations > _MOST_ITERATIONS:
        raise InvalidArgument("iterations", iterations, f"a whole number from 1 to {_MOST_ITERATIONS}")
    seed = checks.whole("seed", seed)
    if seed > _LARGEST_SEED:
        raise InvalidArgument("seed", seed, f"a whole number from 0 to {_LARGEST_SEED}")
    try:
        library = importlib.import_module("graspologic_native")
    except ImportError as error:
        raise MissingExtra("The Leiden algorithm", _REQUIREMENT) from error
    sources, targets, weights, _, _ = graph.listed()
    labels = np.arange(graph.nodes)
    weave = Weave.of(graph.nodes, sources, targets, weights)
    real = weave.weights > 0.0
    if real.any():
        # The loops that label propagation needs would be edges here. What the library does not name is alone.
        before = np.append(0, np.cumsum(real))
        _, found = library.leiden_csr(
            before[weave.starts].astype(np.int64),
            weave.targets[real].astype(np.int32),
            weave.weights[real],
            graph.nodes,
            resolution=resolution,
            iterations=iterations,
            seed=seed,
        )
        nodes = np.fromiter(found, dtype=np.intp, count=len(found))
        labels[nodes] = graph.nodes + np.fromiter(found.values(), dtype=np.intp, count=len(found))
    labels = renumbered(labels)
    with checks.finite_arithmetic("resolution", resolution):
        return Partition(labels, modularity_of((sources, targets, weights), labels, resolution))
