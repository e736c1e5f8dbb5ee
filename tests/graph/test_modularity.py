"""Modularity, by hand and against networkx."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, modularity

# Two triangles and a bridge.
BARBELL = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Graph:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Graph.of(nodes, *ends, [weight for _, _, weight in edges])


def test_two_triangles() -> None:
    # Each: 3 of 7 edges inside, 7 of 14 ends.
    assert modularity(BARBELL, [0, 0, 0, 1, 1, 1]) == pytest.approx(2 * (3 / 7 - 1 / 4))
    assert modularity(BARBELL, [0] * 6) == pytest.approx(0.0)
    assert modularity(BARBELL, [0, 0, 0, 1, 1, 1], resolution=0) == pytest.approx(6 / 7)
    assert modularity(BARBELL, range(6)) == pytest.approx(-(4 * 4 + 2 * 9) / 14**2)


def test_without_edges_it_is_zero() -> None:
    assert modularity(Graph.of(2, [], []), [0, 1]) == 0.0
    assert modularity(Graph.of(0, [], []), []) == 0.0


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.1, 10)), min_size=1, max_size=20),
    st.lists(st.integers(0, 3), min_size=7, max_size=7),
    st.floats(0, 2),
)
def test_it_agrees_with_networkx(
    edges: list[tuple[int, int, float]], labels: list[int], resolution: float
) -> None:
    other = nx.MultiGraph()
    other.add_nodes_from(range(7))
    other.add_weighted_edges_from(edges)
    parts = [{node for node in range(7) if labels[node] == label} for label in set(labels)]
    expected = nx.community.modularity(other, parts, resolution=resolution)
    graph = graph_of(7, edges)
    assert modularity(graph, labels, resolution=resolution) == pytest.approx(expected, abs=1e-9)
