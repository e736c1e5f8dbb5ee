"""Everything within a few edges, nearest first."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, neighbourhood

CHAIN = Graph.of(5, [0, 1, 2, 3], [1, 2, 3, 4], types=[0, 1, 0, 0], type_names=["next", "cites"])


def test_hops_count_from_the_nearest_seed() -> None:
    found = neighbourhood(CHAIN, [0, 4], hops=1)
    assert found.nodes.tolist() == [0, 4, 1, 3]
    assert found.hops.tolist() == [0, 0, 1, 1]
    assert not found.truncated


def test_directions_and_types_bound_the_walk() -> None:
    assert neighbourhood(CHAIN, [2], hops=9, direction="out").nodes.tolist() == [2, 3, 4]
    assert neighbourhood(CHAIN, [2], hops=9, direction="in").nodes.tolist() == [2, 1, 0]
    assert neighbourhood(CHAIN, [0], hops=9, types=["next"]).nodes.tolist() == [0, 1]
    assert neighbourhood(CHAIN, [0], hops=9, types=[]).nodes.tolist() == [0]


def test_the_limit_keeps_the_nearest_and_of_them_the_heaviest() -> None:
    star = Graph.of(4, [0, 0, 0, 0], [1, 2, 3, 3], [2.0, 3.0, 1.5, 1.0])
    found = neighbourhood(star, [0], hops=2, limit=3)
    assert found.nodes.tolist() == [0, 2, 3]
    assert found.truncated
    exact = neighbourhood(star, [0], hops=2, limit=4)
    assert exact.nodes.tolist() == [0, 2, 3, 1]
    assert not exact.truncated
    none = neighbourhood(star, [0, 1], hops=2, limit=0)
    assert none.nodes.tolist() == []
    assert none.truncated


def test_nothing_is_around_no_seeds() -> None:
    assert neighbourhood(CHAIN, []).nodes.tolist() == []
    assert neighbourhood(CHAIN, [3], hops=0).nodes.tolist() == [3]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25),
    st.integers(0, 9),
    st.integers(0, 4),
)
def test_it_is_breadth_first_search(edges: list[tuple[int, int]], seed: int, hops: int) -> None:
    graph = Graph.of(10, [source for source, _ in edges], [target for _, target in edges])
    other = nx.DiGraph(edges)
    other.add_nodes_from(range(10))
    found = neighbourhood(graph, [seed], hops, direction="out")
    expected = nx.single_source_shortest_path_length(other, seed, cutoff=hops)
    assert dict(zip(found.nodes.tolist(), found.hops.tolist(), strict=True)) == dict(expected)
    assert found.hops.tolist() == sorted(found.hops.tolist())
