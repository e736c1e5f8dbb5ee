"""PageRank, against closed forms, a loop, and networkx.

Personalised PageRank: exact against networkx, and the local push within its bound of the exact.

Seed weights as ALGORITHMS.md section 8 has them.
"""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.model.checks import FloatArray
from memorata_graph.adjacency import Adjacency
from memorata_graph.pagerank import local_push, pagerank, personalised_pagerank, seed_weights

EDGES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.1, 10)),
    max_size=20,
    unique_by=lambda e: e[:2],
)


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Adjacency:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Adjacency.of(nodes, *ends, [weight for _, _, weight in edges])


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
    found = pagerank(Adjacency.of(3, [0, 1], [2, 2]), tolerance=1e-12)
    np.testing.assert_allclose(found.scores, [1 / 4.7, 1 / 4.7, 2.7 / 4.7], atol=1e-12)


def test_a_ring_is_uniform_at_once() -> None:
    found = pagerank(Adjacency.of(4, [0, 1, 2, 3], [1, 2, 3, 0]))
    assert found.scores.tolist() == [0.25] * 4
    assert (found.iterations, found.converged) == (1, True)


def test_no_edges_is_uniform_and_no_nodes_is_nothing() -> None:
    assert pagerank(Adjacency.of(2, [], [])).scores.tolist() == [0.5, 0.5]
    empty = pagerank(Adjacency.of(0, [], []))
    assert (empty.scores.tolist(), empty.converged) == ([], True)


def test_converged_is_false_when_it_is_not() -> None:
    star = Adjacency.of(3, [0, 1, 2, 0], [1, 0, 0, 2])
    assert not pagerank(star, iterations=2).converged
    assert pagerank(star, iterations=2).iterations == 2
    # Without damping, all mass swings between the middle and the rest for ever.
    swinging = pagerank(star, damping=1.0)
    assert (swinging.iterations, swinging.converged) == (100, False)


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


SEEDS = st.dictionaries(st.integers(0, 6), st.floats(0.1, 5), min_size=1)


def exact(graph: Adjacency, seeds: dict[int, float], damping: float = 0.85) -> FloatArray:
    found = personalised_pagerank(
        graph, list(seeds), list(seeds.values()), damping=damping, iterations=1000, tolerance=1e-12
    )
    return found.scores


def test_two_nodes_that_point_at_each_other() -> None:
    # x = 0.15 + 0.85·y and y = 0.85·x: x = 1/1.85.
    graph = Adjacency.of(2, [0, 1], [1, 0])
    np.testing.assert_allclose(exact(graph, {0: 1.0}), [1 / 1.85, 0.85 / 1.85], atol=1e-12)


def test_one_push_by_hand() -> None:
    # 1 is more than ε: 0.15 stay, 0.85 go on. 0.85 is not more than ε · 1 and stays where it is.
    near = local_push(Adjacency.of(2, [0, 1], [1, 0]), [0], epsilon=0.9)
    assert near.nodes.tolist() == [0]
    assert near.scores.tolist() == pytest.approx([0.15])
    assert near.residual == pytest.approx(0.85)


def test_a_dead_end_goes_back_to_the_seeds_in_both() -> None:
    graph = Adjacency.of(3, [0], [1])
    # x = 0.15 + 0.85·y, y = 0.85·x, again.
    np.testing.assert_allclose(exact(graph, {0: 1.0}), [1 / 1.85, 0.85 / 1.85, 0], atol=1e-12)
    near = local_push(graph, [0], epsilon=1e-9)
    np.testing.assert_allclose(near.scores, [1 / 1.85, 0.85 / 1.85], atol=1e-8)
    alone = local_push(graph, [2])
    assert alone.nodes.tolist() == [2]
    assert alone.scores[0] == pytest.approx(1.0, abs=1e-4)


def test_seeds_weigh_by_their_weights_and_equally_without() -> None:
    graph = Adjacency.of(3, [], [])
    np.testing.assert_allclose(exact(graph, {0: 3.0, 2: 1.0}), [0.75, 0, 0.25])
    np.testing.assert_allclose(personalised_pagerank(graph, [0, 2]).scores, [0.5, 0, 0.5])


@given(EDGES, SEEDS)
def test_the_exact_one_agrees_with_networkx(
    edges: list[tuple[int, int, float]], seeds: dict[int, float]
) -> None:
    other = nx.DiGraph()
    other.add_nodes_from(range(7))
    other.add_weighted_edges_from(edges)
    expected = nx.pagerank(other, personalization=seeds, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(
        exact(graph_of(7, edges), seeds), [expected[node] for node in range(7)], atol=1e-9
    )


@given(EDGES, SEEDS, st.sampled_from([1e-1, 1e-3, 1e-6]), st.sampled_from([0.5, 0.85]))
def test_the_push_lacks_exactly_its_residual_on_any_graph(
    edges: list[tuple[int, int, float]], seeds: dict[int, float], epsilon: float, damping: float
) -> None:
    graph = graph_of(7, edges)
    near = local_push(graph, list(seeds), list(seeds.values()), epsilon=epsilon, damping=damping)
    lacking = exact(graph, seeds, damping)
    lacking[near.nodes] -= near.scores
    assert lacking.min() >= -1e-9
    assert lacking.sum() == pytest.approx(near.residual, abs=1e-9)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(EDGES, SEEDS, st.sampled_from([1e-1, 1e-2, 1e-4]))
def test_each_score_is_within_the_bound_where_edges_go_both_ways(
    edges: list[tuple[int, int, float]], seeds: dict[int, float], epsilon: float
) -> None:
    graph = graph_of(7, edges).both_ways
    # From a seed without edges one goes back to all seeds, and no edge leads the other way.
    assume(all(graph.around([seed]).nodes.size for seed in seeds))
    near = local_push(graph, list(seeds), list(seeds.values()), epsilon=epsilon)
    lacking = exact(graph, seeds)
    lacking[near.nodes] -= near.scores
    units = np.bincount(graph.sources, graph.weights, 7) / graph.weights.mean()
    assert (lacking <= epsilon * units + 1e-9).all()


def test_the_push_stays_near_the_seed() -> None:
    # A ring of a million: only the nodes within reach of 1e-5 are ever looked at.
    count = 1_000_000
    ring = np.arange(count)
    near = local_push(Adjacency.of(count, ring, (ring + 1) % count), [500_000])
    assert near.nodes[0] == 500_000
    assert near.nodes.size < 80


def test_seeds_must_be_there_and_weigh_something() -> None:
    graph = Adjacency.of(2, [0], [1])
    for seeds, weights in (
        ([], None),
        ([0, 0], None),
        ([2], None),
        ([0], [0.0]),
        ([0], [-1.0]),
        ([0], [1, 2]),
    ):
        for function in (local_push, personalised_pagerank):
            with pytest.raises(InvalidArgument):
                function(graph, seeds, weights)


def test_the_three_parts_are_mixed() -> None:
    # 0.5·0.8 + 0.3·0.4 + 0.2·ln 4/ln 8 = 0.52 + 0.2·2/3, and 0.5·0.2 + 0.3·0.6 + 0.2·1 = 0.48.
    first, second = 0.52 + 0.2 * 2 / 3, 0.48
    found = seed_weights([0.8, 0.2], [0.4, 0.6], [3, 7])
    np.testing.assert_allclose(found, [first / (first + second), second / (first + second)])


@pytest.mark.parametrize(("degrees", "parts"), [([1, 0], [0.2, 0.0]), ([0, 0], [0.0, 0.0])])
def test_where_no_degree_is_above_one_an_edge_is_all_or_nothing(
    degrees: list[int], parts: list[float]
) -> None:
    raw = np.array(parts) + 0.5 * np.array([0.4, 0.4])
    np.testing.assert_allclose(seed_weights([0.4, 0.4], [0, 0], degrees), raw / raw.sum())


def test_all_zero_falls_back_to_uniform_and_nothing_to_nothing() -> None:
    assert seed_weights([0, 0], [0, 0], [0, 0]).tolist() == [0.5, 0.5]
    assert seed_weights([-1, -1], [-1, 0], [0, 0]).tolist() == [0.5, 0.5]
    assert seed_weights([], [], []).tolist() == []


def test_what_points_away_from_the_question_seeds_nothing() -> None:
    assert seed_weights([-0.9, 0.5], [-0.1, 0.5], [1, 1]).tolist() == [0.0, 1.0]


def test_the_weights_of_the_parts_cannot_all_be_zero() -> None:
    with pytest.raises(InvalidArgument, match="entity_weight"):
        seed_weights([0.5], [0.5], [1], entity_weight=0, memory_weight=0, degree_weight=0)


COSINES = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


@given(COSINES, COSINES, st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_they_are_a_distribution_and_the_formula(
    entity: list[float], memory: list[float], degrees: list[int]
) -> None:
    found = seed_weights(entity, memory, degrees)
    most = max(degrees)
    raw = []
    for cosine, mean, degree in zip(entity, memory, degrees, strict=True):
        tied = math.log(1 + degree) / math.log(1 + most) if most > 1 else float(degree > 0)
        raw.append(max(0.0, 0.5 * cosine + 0.3 * mean + 0.2 * tied))
    expected = [value / sum(raw) for value in raw] if sum(raw) > 0 else [1 / 3] * 3
    np.testing.assert_allclose(found, expected, atol=1e-9)
