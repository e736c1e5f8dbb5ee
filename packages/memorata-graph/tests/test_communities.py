"""Communities: the obvious ones are found, levels nest, and what is reported is true.

Modularity, by hand and against networkx.

The Leiden algorithm, through a library.
"""

import sys
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.model.checks import IntArray
from memorata.model.errors import MissingExtra
from memorata_graph.adjacency import Adjacency
from memorata_graph.communities import (
    Level,
    UndirectedEdges,
    communities,
    leiden,
    propagated_labels,
    renumbered,
    run_starts,
)
from memorata_graph.communities import modularity as modularity_of

SMALL_EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 5)), max_size=20)


def edges_of(edges: list[tuple[int, int, int]]) -> UndirectedEdges:
    table = np.array(edges, dtype=np.intp).reshape(-1, 3)
    return UndirectedEdges.of(8, table[:, 0], table[:, 1], table[:, 2].astype(np.float64))


def test_runs_begin_where_numbers_change() -> None:
    assert run_starts(np.array([3, 3, 5])).tolist() == [0, 2]
    assert run_starts(np.array([], dtype=np.intp)).tolist() == []


def test_a_weave_joins_parallel_edges_of_both_directions() -> None:
    edges = edges_of([(0, 1, 1), (1, 0, 2), (2, 2, 1)])
    # 0 and 1 are tied by 3 of 4; the loop of 2 has both its ends there.
    assert edges.targets[edges.starts[0] : edges.starts[1]].tolist() == [0, 1]
    assert edges.weights[edges.starts[0] : edges.starts[1]].tolist() == [0.0, 0.75]
    assert edges.strengths[:4].tolist() == [0.75, 0.75, 0.5, 0.0]


@given(SMALL_EDGES, st.integers(0, 3))
def test_plain_propagation_ends_when_every_node_has_a_heaviest_label(
    edges: list[tuple[int, int, int]], seed: int
) -> None:
    labels, rounds, converged = propagated_labels(edges_of(edges), 0.0, 100, seed)
    assert converged
    assert rounds <= 100
    for node in range(8):
        weights = dict.fromkeys(labels.tolist(), 0)
        for one, other, weight in edges:
            if one != other and node in (one, other):
                weights[int(labels[other if node == one else one])] += weight
        assert weights[int(labels[node])] == max(weights.values())


@given(SMALL_EDGES, st.integers(0, 3))
def test_labels_never_cross_between_parts_that_are_not_connected(
    edges: list[tuple[int, int, int]], seed: int
) -> None:
    within = [(one, other, weight) for one, other, weight in edges if one // 4 == other // 4]
    labels, _, _ = propagated_labels(edges_of(within), 1.0, 100, seed)
    assert not set(labels[:4].tolist()) & set(labels[4:].tolist())


def test_the_same_seed_gives_the_same_labels() -> None:
    random = np.random.default_rng(7)
    edges = UndirectedEdges.of(200, random.integers(0, 200, 600), random.integers(0, 200, 600), np.ones(600))
    first, again = (propagated_labels(edges, 1.0, 100, 3)[0] for _ in range(2))
    assert first.tolist() == again.tolist()


def test_rounds_are_limited_and_it_says_so() -> None:
    random = np.random.default_rng(7)
    edges = UndirectedEdges.of(200, random.integers(0, 200, 600), random.integers(0, 200, 600), np.ones(600))
    _, rounds, converged = propagated_labels(edges, 1.0, 1, 0)
    assert (rounds, converged) == (1, False)


EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.1, 5)), max_size=40)


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Adjacency:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Adjacency.of(nodes, *ends, [weight for _, _, weight in edges])


def cliques(count: int, size: int) -> Adjacency:
    """Return `count` cliques of `size` nodes, in a ring, each tied to the next by one edge."""
    nodes = np.arange(count * size)
    one, other = np.triu_indices(count * size, 1)
    same = one // size == other // size
    bridges = nodes[size - 1 :: size]
    sources = np.concatenate([one[same], bridges])
    targets = np.concatenate([other[same], (bridges + 1) % (count * size)])
    return Adjacency.of(count * size, sources, targets)


@pytest.mark.parametrize("seed", range(5))
def test_cliques_in_a_ring_are_found(seed: int) -> None:
    finest, *_ = communities(cliques(8, 6), seed=seed)
    assert finest.labels.tolist() == [node // 6 for node in range(48)]
    assert finest.converged
    assert finest.count == 8
    assert [members.tolist() for members in finest.members()][1] == list(range(6, 12))


def test_three_levels_from_small_to_large() -> None:
    # Nine triangles in three groups of three; ties within a triangle 9, in a group 2, between groups 0.1.
    one, other = np.triu_indices(27, 1)
    weights = np.where(one // 3 == other // 3, 9.0, np.where(one // 9 == other // 9, 2.0, 0.1))
    finest, middle, coarsest = communities(Adjacency.of(27, one, other, weights))
    assert finest.labels.tolist() == [node // 3 for node in range(27)]
    assert middle.labels.tolist() == [node // 9 for node in range(27)]
    # Joining two of the groups would lower the modularity, so the third level is the second.
    assert coarsest.labels.tolist() == middle.labels.tolist()


def test_plain_propagation_floods_where_the_constrained_does_not() -> None:
    # A dense graph with two camps: a tie in the own camp is twice as strong as one to the other.
    one, other = np.triu_indices(40, 1)
    weights = np.where(one // 20 == other // 20, 2.0, 1.0)
    graph = Adjacency.of(40, one, other, weights)
    plain = communities(graph, levels=3, resolution=0)[-1]
    held = communities(graph, levels=3)[-1]
    assert plain.count == 1
    assert held.labels.tolist() == [0] * 20 + [1] * 20


def test_direction_does_not_matter() -> None:
    graph = cliques(4, 5)
    back = Adjacency.of(graph.nodes, graph.targets, graph.sources, graph.weights)
    assert communities(back)[0].labels.tolist() == communities(graph)[0].labels.tolist()


def test_nodes_without_edges_are_alone() -> None:
    assert communities(Adjacency.of(3, [], []))[-1].labels.tolist() == [0, 1, 2]
    empty = communities(Adjacency.of(0, [], []))
    assert [(level.count, level.modularity, level.members()) for level in empty] == [(0, 0.0, ())] * 3


@given(EDGES, st.integers(0, 5), st.sampled_from([0.0, 1.0]))
def test_levels_nest_and_modularity_is_what_it_says(
    edges: list[tuple[int, int, float]], seed: int, resolution: float
) -> None:
    graph = graph_of(12, edges)
    levels = communities(graph, seed=seed, resolution=resolution)
    assert len(levels) == 3
    for level in levels:
        assert level.modularity == pytest.approx(modularity(graph, level.labels, resolution=resolution))
        assert level.labels.tolist() == renumbered(level.labels).tolist()
        assert sorted(node for part in level.members() for node in part.tolist()) == list(range(12))
    for below, above in pairwise(levels):
        for members in below.members():
            assert len(set(above.labels[members].tolist())) == 1
    again = communities(graph, seed=seed, resolution=resolution)
    assert [level.labels.tolist() for level in again] == [level.labels.tolist() for level in levels]


def test_communities_are_numbered_by_their_first_nodes() -> None:
    assert renumbered(np.array([7, 3, 7, 9, 3])).tolist() == [0, 1, 0, 2, 1]


def test_a_level_is_a_partition() -> None:
    level = Level(np.array([0, 1, 0]), 0.1, 2, True)
    assert level.count == 2
    assert [part.tolist() for part in level.members()] == [[0, 2], [1]]


@pytest.mark.parametrize(
    "bad", [{"levels": 0}, {"levels": 21}, {"rounds": 0}, {"rounds": 10**9}, {"seed": -1}, {"resolution": -1}]
)
def test_bad_arguments_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        communities(cliques(2, 3), **bad)


# Two triangles and a bridge.
BARBELL = Adjacency.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])


def modularity(graph: Adjacency, labels: Sequence[int] | IntArray, resolution: float = 1.0) -> float:
    return modularity_of((graph.sources, graph.targets, graph.weights), np.array(labels, np.intp), resolution)


def test_two_triangles() -> None:
    # Each: 3 of 7 edges inside, 7 of 14 ends.
    assert modularity(BARBELL, [0, 0, 0, 1, 1, 1]) == pytest.approx(2 * (3 / 7 - 1 / 4))
    assert modularity(BARBELL, [0] * 6) == pytest.approx(0.0)
    assert modularity(BARBELL, [0, 0, 0, 1, 1, 1], resolution=0) == pytest.approx(6 / 7)
    assert modularity(BARBELL, range(6)) == pytest.approx(-(4 * 4 + 2 * 9) / 14**2)


def test_without_edges_it_is_zero() -> None:
    assert modularity(Adjacency.of(2, [], []), [0, 1]) == 0.0
    assert modularity(Adjacency.of(0, [], []), []) == 0.0


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


LEIDEN_BARBELL = Adjacency.of(7, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])


def test_two_triangles_and_a_node_without_edges() -> None:
    pytest.importorskip("graspologic_native")
    found = leiden(LEIDEN_BARBELL)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert found.modularity == pytest.approx(modularity(LEIDEN_BARBELL, found.labels))


def test_it_is_at_least_as_modular_as_label_propagation() -> None:
    pytest.importorskip("graspologic_native")
    random = np.random.default_rng(5)
    camp = np.repeat(np.arange(10), 20)
    one, other = np.triu_indices(200, 1)
    tied = random.random(one.size) < np.where(camp[one] == camp[other], 0.4, 0.03)
    graph = Adjacency.of(200, one[tied], other[tied])
    found = leiden(graph)
    assert found.modularity >= communities(graph)[-1].modularity - 0.01
    assert leiden(graph).labels.tolist() == found.labels.tolist()


def test_without_edges_everybody_is_alone() -> None:
    pytest.importorskip("graspologic_native")
    assert leiden(Adjacency.of(2, [], [])).labels.tolist() == [0, 1]
    assert leiden(Adjacency.of(2, [0], [0])).labels.tolist() == [0, 1]
    assert leiden(Adjacency.of(0, [], [])).count == 0


def test_when_the_library_is_missing_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    with pytest.raises(MissingExtra, match=r"pip install \. 'packages/memorata-graph\[leiden\]'"):
        leiden(LEIDEN_BARBELL)


@pytest.mark.parametrize(
    "bad", [{"resolution": 0}, {"iterations": 0}, {"iterations": 1001}, {"seed": -1}, {"seed": 2**63}]
)
def test_leiden_bad_arguments_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        leiden(LEIDEN_BARBELL, **bad)
