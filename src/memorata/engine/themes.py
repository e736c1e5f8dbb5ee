"""Themes: which memories are about the same thing, by what they mean and by whom they name.

The memories are nodes; two are tied by a cosine above what unrelated texts have, and by rare names that both
mention. Themes are the communities of that graph (:mod:`memorata.graph.communities`): unlike chains of near
pairs, they do not run from one subject into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from memorata.graph.adjacency import Graph
from memorata.graph.communities import communities
from memorata.model.checks import FloatArray, IntArray
from memorata.store.port import Floats

NEAREST: Final = 10
"""How many others a memory is tied to by meaning at most."""
_BLOCK: Final = 1_000
_NAME_WEIGHT: Final = 0.5


def themes(vectors: Floats, names: Sequence[frozenset[str]], threshold: float, least: int) -> list[IntArray]:
    """Return the groups of at least `least` memories that are about one thing, the largest first.

    Parameters
    ----------
    vectors
        One unit vector per memory; zeros for one without.
    names
        The names that each memory mentions, folded.
    threshold
        The cosine from which two texts count as related.
    least
        How many memories make a theme.

    Examples
    --------
    >>> apart = np.eye(4, dtype=np.float32)[[0, 0, 1, 1, 2]]
    >>> [group.tolist() for group in themes(apart, [frozenset()] * 5, 0.5, 2)]
    [[0, 1], [2, 3]]
    """
    count = len(names)
    sources, targets, weights = _alike(vectors, threshold)
    for source, target, weight in _named_together(names):
        sources.append(np.array([source]))
        targets.append(np.array([target]))
        weights.append(np.array([weight]))
    if not sources:
        return []
    graph = Graph.of(count, np.concatenate(sources), np.concatenate(targets), np.concatenate(weights))
    (level,) = communities(graph.undirected(), levels=1)
    groups = [members for members in level.members() if members.size >= least]
    return sorted(groups, key=lambda members: (-members.size, int(members[0])))


def _alike(vectors: Floats, threshold: float) -> tuple[list[IntArray], list[IntArray], list[FloatArray]]:
    """Return for every memory the others nearest to it, and how far above the threshold they are."""
    sources: list[IntArray] = []
    targets: list[IntArray] = []
    weights: list[FloatArray] = []
    for start in range(0, len(vectors), _BLOCK):
        cosines = (vectors[start : start + _BLOCK] @ vectors.T).astype(np.float64)
        rows = np.arange(len(cosines))
        cosines[rows, rows + start] = -1.0
        kept = min(NEAREST, cosines.shape[1])
        best = np.argpartition(-cosines, kept - 1, axis=1)[:, :kept]
        found = np.take_along_axis(cosines, best, axis=1)
        row, column = np.nonzero(found > threshold)
        sources.append(row + start)
        targets.append(best[row, column])
        weights.append((found[row, column] - threshold) / (1.0 - threshold + 1e-9))
    return sources, targets, weights


def _named_together(names: Sequence[frozenset[str]]) -> list[tuple[int, int, float]]:
    """Return ties from each mention of a name to the next; none for a name that most memories have."""
    mentioned: dict[str, list[int]] = {}
    for position, own in enumerate(names):
        for name in sorted(own):
            mentioned.setdefault(name, []).append(position)
    return [
        (one, other, _NAME_WEIGHT * (1.0 - len(positions) / len(names)))
        for _, positions in sorted(mentioned.items())
        if 1 < len(positions) <= len(names) / 2
        for one, other in pairwise(positions)
    ]
