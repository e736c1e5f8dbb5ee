"""A graph keeps every edge it is given, and grows without being built again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph
from memorata.model import InvalidArgument

EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), max_size=20)


def all_edges(graph: Graph) -> list[tuple[int, int, float, str, int]]:
    columns = [column.tolist() for column in graph.listed()]
    return sorted(
        (source, target, weight, graph.type_names[kind], number)
        for source, target, weight, kind, number in zip(*columns, strict=True)
    )


def around(graph: Graph, node: int, direction: str) -> list[tuple[int, float, int, bool]]:
    found = graph.around([node], direction)
    return sorted(
        zip(
            found.nodes.tolist(),
            found.weights.tolist(),
            found.numbers.tolist(),
            found.forward.tolist(),
            strict=True,
        )
    )


def test_parallel_edges_and_loops_are_kept_each_with_its_number() -> None:
    graph = Graph.of(2, [0, 0, 1], [1, 1, 1], [1.0, 2.0, 3.0], [0, 1, 0], ["knows", "pays"])
    assert graph.edges == 3
    assert all_edges(graph) == [(0, 1, 1.0, "knows", 0), (0, 1, 2.0, "pays", 1), (1, 1, 3.0, "knows", 2)]


def test_edges_are_found_by_direction_and_type() -> None:
    graph = Graph.of(3, [0, 2], [1, 1], types=[0, 1], type_names=["knows", "pays"])
    assert graph.around([1], "out").nodes.tolist() == []
    assert graph.around([1], "in").nodes.tolist() == [0, 2]
    assert graph.around([1], "in").forward.tolist() == [False, False]
    assert graph.around([1], "both", ["pays"]).nodes.tolist() == [2]
    assert graph.around([2, 0]).origin.tolist() == [0, 1]


@given(EDGES, EDGES, EDGES)
def test_a_graph_that_grew_is_the_graph_that_was_made_at_once(first: Any, second: Any, third: Any) -> None:
    grown = Graph.of(5, [s for s, _, _ in first], [t for _, t, _ in first], [float(w) for _, _, w in first])
    grown.around([0], "both")  # the rows that are turned around for one graph are handed on to the next
    for more in (second, third):
        ends = [end + 1 for end, _, _ in more], [end + 1 for _, end, _ in more]
        grown = grown.extended(1, *ends, [float(w) for _, _, w in more])
    edges = first + [(s + 1, t + 1, w) for s, t, w in second + third]
    whole = Graph.of(7, [s for s, _, _ in edges], [t for _, t, _ in edges], [float(w) for _, _, w in edges])
    assert (grown.nodes, grown.edges, grown.next_edge) == (whole.nodes, whole.edges, whole.next_edge)
    assert all_edges(grown) == all_edges(whole) == all_edges(grown.compact())
    for node in range(7):
        for direction in ("out", "in", "both"):
            assert around(grown, node, direction) == around(whole, node, direction)


def test_a_few_edges_go_into_a_tail_and_many_are_merged() -> None:
    base = Graph.of(3, [0] * 5, [1] * 5)
    small = base.extended(0, [1], [2])
    assert small.base is base.base
    assert small.tail is not None
    merged = small.extended(0, [2] * 2000, [0] * 2000)
    assert merged.tail is None
    assert merged.edges == 2006
    assert base.edges == 5


def test_an_empty_graph_can_grow() -> None:
    graph = Graph.of(0, [], []).extended(2, [0], [1])
    assert graph.around([0]).nodes.tolist() == [1]
    assert Graph.of(1, [], []).extended(1).around([1], "both").nodes.tolist() == []


def test_new_types_come_after_the_old() -> None:
    graph = Graph.of(2, [0], [1], type_names=["knows"])
    grown = graph.extended(0, [1], [0], types=[1], type_names=["knows", "pays"])
    assert all_edges(grown) == [(0, 1, 1.0, "knows", 0), (1, 0, 1.0, "pays", 1)]
    with pytest.raises(InvalidArgument, match="type_names must be a list that begins with"):
        graph.extended(0, [1], [0], type_names=["pays"])


def test_edges_that_no_longer_hold_go_and_the_others_keep_their_numbers() -> None:
    graph = Graph.of(3, [0, 1, 2], [1, 2, 0]).extended(0, [0], [2]).without([1])
    assert [number for *_, number in all_edges(graph)] == [0, 3, 2]
    assert graph.extended(0, [1], [1]).around([1]).numbers.tolist() == [4]
    assert graph.nodes == 3


def test_undirected_has_every_edge_both_ways_and_loops_once() -> None:
    graph = Graph.of(3, [0, 1, 2], [1, 0, 2], [1.0, 2.0, 5.0]).undirected()
    assert sorted(graph.around([0]).weights.tolist()) == [1.0, 2.0]
    assert sorted(graph.around([1]).numbers.tolist()) == [0, 1]
    assert graph.around([2]).weights.tolist() == [5.0]


def test_the_callers_arrays_stay_the_callers() -> None:
    weights = np.array([1.0])
    graph = Graph.of(2, [0], [1], weights)
    weights[0] = 7.0
    assert graph.around([0]).weights.tolist() == [1.0]


@pytest.mark.parametrize(
    "bad",
    [
        {"nodes": 2**40},
        {"sources": [0, 1]},
        {"weights": [0.0]},
        {"weights": [-1.0]},
        {"weights": [float("nan")]},
        {"type_names": ["a", "a"]},
        {"type_names": []},
        {"type_names": [str(number) for number in range(40_000)]},
    ],
)
def test_what_is_no_graph_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Graph.of(**dict[str, Any]({"nodes": 2, "sources": [0], "targets": [1]} | bad))


def test_weights_beyond_float64_are_refused_and_so_are_nodes_beyond_counting() -> None:
    with pytest.raises(InvalidArgument, match="weights with a finite sum"):
        Graph.of(2, [0, 0], [1, 1], [1.7e308, 1.7e308])
    with pytest.raises(InvalidArgument, match="more"):
        Graph.of(2, [], []).extended(2**31)


def test_zeros_are_used_again_once_they_are_cleared_and_large_enough() -> None:
    graph = Graph.of(3, [0], [1])
    zeros = graph.zeros()
    zeros[[0, 2]] = 7.0
    graph.give_back(zeros, np.array([0]), np.array([2, 2]))
    again = graph.extended(1).zeros()
    assert again is zeros
    assert again.size >= 4
    assert not again.any()
    graph.give_back(again)
    assert graph.extended(10_000).zeros().size >= 10_003
