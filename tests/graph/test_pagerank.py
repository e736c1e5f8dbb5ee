"""PageRank, against closed forms, a loop, and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, pagerank

EDGES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.1, 10)),
    max_size=20,
    unique_by=lambda e: e[:2],
)


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Graph:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Graph.of(nodes, *ends, [weight for _, _, weight in edges])


def by_loops(nodes: int, edges: list[tuple[int, int, float]], damping: float, iterations: int) -> list[float]:
    """Return PageRank as its definition reads."""
    strength = [sum(weight for source, _, weight in edges if source == node) for node in range(nodes)]
    scores = [1 / nodes] * nodes
    for _ in range(iterations):
        dead = sum(score for score, out in zip(scores, strength, strict=True) if out == 0)
        fresh = [(1 - damping + damping * dead) / nodes] * nodes
        for source, target, weight in edges:
            fresh[target] += damping * scores[source] * weight / strength[source]
        scores = fresh
    return scores


def test_two_pages_that_point_at_a_third() -> None:
    # x = 0.15/3 + 0.85·z/3 for both, z = x + 2·0.85·x, and 2x + z = 1: x = 1/4.7, z = 2.7/4.7.
    found = pagerank(Graph.of(3, [0, 1], [2, 2]), tolerance=1e-12)
    np.testing.assert_allclose(found.scores, [1 / 4.7, 1 / 4.7, 2.7 / 4.7], atol=1e-12)


def test_a_ring_is_uniform_at_once() -> None:
    found = pagerank(Graph.of(4, [0, 1, 2, 3], [1, 2, 3, 0]))
    assert found.scores.tolist() == [0.25] * 4
    assert (found.iterations, found.converged) == (1, True)


def test_no_edges_is_uniform_and_no_nodes_is_nothing() -> None:
    assert pagerank(Graph.of(2, [], [])).scores.tolist() == [0.5, 0.5]
    empty = pagerank(Graph.of(0, [], []))
    assert (empty.scores.tolist(), empty.converged) == ([], True)


def test_converged_is_false_when_it_is_not() -> None:
    star = Graph.of(3, [0, 1, 2, 0], [1, 0, 0, 2])
    assert not pagerank(star, iterations=2).converged
    assert pagerank(star, iterations=2).iterations == 2
    # Without damping, all mass swings between the middle and the rest for ever.
    swinging = pagerank(star, damping=1.0)
    assert (swinging.iterations, swinging.converged) == (100, False)


def test_what_was_added_counts() -> None:
    grown = Graph.of(2, [0], [1]).extended(1, [2, 1], [1, 0])
    whole = Graph.of(3, [0, 2, 1], [1, 1, 0])
    np.testing.assert_allclose(pagerank(grown).scores, pagerank(whole).scores, atol=1e-15)


@given(EDGES, st.sampled_from([0.0, 0.5, 0.85]))
def test_it_is_the_definition(edges: list[tuple[int, int, float]], damping: float) -> None:
    graph = graph_of(7, edges)
    found = pagerank(graph, damping=damping, iterations=30, tolerance=1e-300)
    np.testing.assert_allclose(found.scores, by_loops(7, edges, damping, found.iterations), atol=1e-12)
    assert found.scores.sum() == pytest.approx(1.0, abs=1e-12)


@given(EDGES)
def test_it_agrees_with_networkx(edges: list[tuple[int, int, float]]) -> None:
    other = nx.DiGraph()
    other.add_nodes_from(range(7))
    other.add_weighted_edges_from(edges)
    expected = nx.pagerank(other, tol=1e-12, max_iter=1000)
    graph = graph_of(7, edges)
    found = pagerank(graph, tolerance=1e-12, iterations=1000)
    np.testing.assert_allclose(found.scores, [expected[node] for node in range(7)], atol=1e-9)
