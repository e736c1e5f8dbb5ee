"""Communities: the obvious ones are found, levels nest, and what is reported is true."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, Level, communities, modularity
from memorata.graph.communities import renumbered
from memorata.model import InvalidArgument

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.1, 5)), max_size=40)


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Graph:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Graph.of(nodes, *ends, [weight for _, _, weight in edges])


def cliques(count: int, size: int) -> Graph:
    """Return `count` cliques of `size` nodes, in a ring, each tied to the next by one edge."""
    nodes = np.arange(count * size)
    one, other = np.triu_indices(count * size, 1)
    same = one // size == other // size
    bridges = nodes[size - 1 :: size]
    sources = np.concatenate([one[same], bridges])
    targets = np.concatenate([other[same], (bridges + 1) % (count * size)])
    return Graph.of(count * size, sources, targets)


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
    finest, middle, coarsest = communities(Graph.of(27, one, other, weights))
    assert finest.labels.tolist() == [node // 3 for node in range(27)]
    assert middle.labels.tolist() == [node // 9 for node in range(27)]
    # Joining two of the groups would lower the modularity, so the third level is the second.
    assert coarsest.labels.tolist() == middle.labels.tolist()


def test_plain_propagation_floods_where_the_constrained_does_not() -> None:
    # A dense graph with two camps: a tie in the own camp is twice as strong as one to the other.
    one, other = np.triu_indices(40, 1)
    weights = np.where(one // 20 == other // 20, 2.0, 1.0)
    graph = Graph.of(40, one, other, weights)
    plain = communities(graph, levels=3, resolution=0)[-1]
    held = communities(graph, levels=3)[-1]
    assert plain.count == 1
    assert held.labels.tolist() == [0] * 20 + [1] * 20


def test_direction_does_not_matter() -> None:
    graph = cliques(4, 5)
    sources, targets, weights, _, _ = graph.listed()
    back = Graph.of(graph.nodes, targets, sources, weights)
    assert communities(back)[0].labels.tolist() == communities(graph)[0].labels.tolist()


def test_nodes_without_edges_are_alone() -> None:
    assert communities(Graph.of(3, [], []))[-1].labels.tolist() == [0, 1, 2]
    empty = communities(Graph.of(0, [], []))
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
