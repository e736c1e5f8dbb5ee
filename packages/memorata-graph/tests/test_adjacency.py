"""A graph keeps every edge it is given, and finds those around a node."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_graph.adjacency import Adjacency, sums

Edge = tuple[int, int, float]
EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.5, 9)), max_size=20)


def graph_of(edges: list[Edge]) -> Adjacency:
    return Adjacency.of(5, [s for s, _, _ in edges], [t for _, t, _ in edges], [w for _, _, w in edges])


def listed(graph: Adjacency) -> Counter[tuple[int, int, float, int]]:
    columns = (graph.sources, graph.targets, graph.weights, graph.numbers)
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def test_parallel_edges_and_loops_are_kept_each_with_its_number() -> None:
    graph = Adjacency.of(2, [1, 0, 0], [1, 1, 1], [3.0, 1.0, 2.0], [0, 0, 1], ["knows", "pays"])
    assert graph.edges == 3
    assert listed(graph) == Counter([(0, 1, 1.0, 1), (0, 1, 2.0, 2), (1, 1, 3.0, 0)])
    assert [graph.type_names[kind] for kind in graph.types] == ["knows", "pays", "knows"]


def test_edges_are_found_by_direction_and_type() -> None:
    graph = Adjacency.of(3, [0, 2], [1, 1], types=[0, 1], type_names=["knows", "pays"])
    assert graph.around([1], "out").nodes.tolist() == []
    assert graph.around([1], "in").nodes.tolist() == [0, 2]
    assert graph.around([1], "in").forward.tolist() == [False, False]
    assert graph.around([1], "both", ["pays"]).nodes.tolist() == [2]
    assert graph.around([2, 0]).origin.tolist() == [0, 1]


@given(EDGES, st.lists(st.integers(0, 4), max_size=6), st.sampled_from(["out", "in", "both"]))
def test_what_is_around_nodes_is_what_a_loop_over_all_edges_finds(
    edges: list[Edge], nodes: list[int], direction: str
) -> None:
    found = graph_of(edges).around(nodes, direction)
    expected = [
        (place, ends[1 - at], weight, number, at == 0)
        for place, node in enumerate(nodes)
        for number, (*ends, weight) in enumerate(edges)
        for at in (0, 1)
        if ends[at] == node and direction in ("both", ("out", "in")[at])
    ]
    columns = (found.origin, found.nodes, found.weights, found.numbers, found.forward)
    assert Counter(zip(*(column.tolist() for column in columns), strict=True)) == Counter(expected)


@given(EDGES)
def test_both_ways_every_edge_is_there_twice_and_a_loop_once(edges: list[Edge]) -> None:
    back = [(t, s, w, number) for number, (s, t, w) in enumerate(edges) if s != t]
    forth = [(s, t, w, number) for number, (s, t, w) in enumerate(edges)]
    both = graph_of(edges).both_ways
    assert listed(both) == Counter([*forth, *back])
    assert both.strengths.tolist() == sums(both.sources, both.weights, 5).tolist()


def test_nothing_has_nothing_around() -> None:
    empty = Adjacency.of(0, [], [])
    assert (empty.edges, empty.starts.tolist(), empty.strengths.tolist()) == (0, [0], [])
    assert Adjacency.of(1, [], []).around([0], "both").nodes.size == 0
    assert sums(np.zeros(0, np.intp), np.zeros(0), 2).tolist() == [0.0, 0.0]


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"types\[0\] must be"):
        Adjacency.of(2, [0], [1], type_names=["knows"]).around([0], "out", ["pays"])
