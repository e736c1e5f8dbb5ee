"""A graph keeps every edge it is given, and grows without being built again."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_graph.adjacency import Adjacency, EdgeList, Rows, in_order, sums, type_numbers, whole_numbers
from memorata_graph.pagerank import distinct_nodes
from memorata_graph.paths import checked_node

EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), max_size=20)


def all_edges(graph: Adjacency) -> list[tuple[int, int, float, str, int]]:
    columns = [column.tolist() for column in graph.listed()]
    return sorted(
        (source, target, weight, graph.type_names[kind], number)
        for source, target, weight, kind, number in zip(*columns, strict=True)
    )


def around(graph: Adjacency, node: int, direction: str) -> list[tuple[int, float, int, bool]]:
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
    graph = Adjacency.of(2, [0, 0, 1], [1, 1, 1], [1.0, 2.0, 3.0], [0, 1, 0], ["knows", "pays"])
    assert graph.edges == 3
    assert all_edges(graph) == [(0, 1, 1.0, "knows", 0), (0, 1, 2.0, "pays", 1), (1, 1, 3.0, "knows", 2)]


def test_edges_are_found_by_direction_and_type() -> None:
    graph = Adjacency.of(3, [0, 2], [1, 1], types=[0, 1], type_names=["knows", "pays"])
    assert graph.around([1], "out").nodes.tolist() == []
    assert graph.around([1], "in").nodes.tolist() == [0, 2]
    assert graph.around([1], "in").forward.tolist() == [False, False]
    assert graph.around([1], "both", ["pays"]).nodes.tolist() == [2]
    assert graph.around([2, 0]).origin.tolist() == [0, 1]


@given(EDGES, EDGES, EDGES)
def test_a_graph_that_grew_is_the_graph_that_was_made_at_once(first: Any, second: Any, third: Any) -> None:
    grown = Adjacency.of(
        5, [s for s, _, _ in first], [t for _, t, _ in first], [float(w) for _, _, w in first]
    )
    grown.around([0], "both")  # the rows that are turned around for one graph are handed on to the next
    for more in (second, third):
        ends = [end + 1 for end, _, _ in more], [end + 1 for _, end, _ in more]
        grown = grown.extended(1, *ends, [float(w) for _, _, w in more])
    edges = first + [(s + 1, t + 1, w) for s, t, w in second + third]
    whole = Adjacency.of(
        7, [s for s, _, _ in edges], [t for _, t, _ in edges], [float(w) for _, _, w in edges]
    )
    assert (grown.nodes, grown.edges, grown.next_edge) == (whole.nodes, whole.edges, whole.next_edge)
    assert all_edges(grown) == all_edges(whole) == all_edges(grown.compact())
    for node in range(7):
        for direction in ("out", "in", "both"):
            assert around(grown, node, direction) == around(whole, node, direction)


def test_a_few_edges_go_into_a_tail_and_many_are_merged() -> None:
    base = Adjacency.of(3, [0] * 5, [1] * 5)
    small = base.extended(0, [1], [2])
    assert small.base is base.base
    assert small.tail is not None
    merged = small.extended(0, [2] * 2000, [0] * 2000)
    assert merged.tail is None
    assert merged.edges == 2006
    assert base.edges == 5


def test_an_empty_graph_can_grow() -> None:
    graph = Adjacency.of(0, [], []).extended(2, [0], [1])
    assert graph.around([0]).nodes.tolist() == [1]
    assert Adjacency.of(1, [], []).extended(1).around([1], "both").nodes.tolist() == []


def test_new_types_come_after_the_old() -> None:
    graph = Adjacency.of(2, [0], [1], type_names=["knows"])
    grown = graph.extended(0, [1], [0], types=[1], type_names=["knows", "pays"])
    assert all_edges(grown) == [(0, 1, 1.0, "knows", 0), (1, 0, 1.0, "pays", 1)]
    with pytest.raises(InvalidArgument, match="type_names must be a list that begins with"):
        graph.extended(0, [1], [0], type_names=["pays"])


def test_edges_that_no_longer_hold_go_and_the_others_keep_their_numbers() -> None:
    graph = Adjacency.of(3, [0, 1, 2], [1, 2, 0]).extended(0, [0], [2]).without([1])
    assert [number for *_, number in all_edges(graph)] == [0, 3, 2]
    assert graph.extended(0, [1], [1]).around([1]).numbers.tolist() == [4]
    assert graph.nodes == 3


def test_undirected_has_every_edge_both_ways_and_loops_once() -> None:
    graph = Adjacency.of(3, [0, 1, 2], [1, 0, 2], [1.0, 2.0, 5.0]).undirected()
    assert sorted(graph.around([0]).weights.tolist()) == [1.0, 2.0]
    assert sorted(graph.around([1]).numbers.tolist()) == [0, 1]
    assert graph.around([2]).weights.tolist() == [5.0]


def test_the_callers_arrays_stay_the_callers() -> None:
    weights = np.array([1.0])
    graph = Adjacency.of(2, [0], [1], weights)
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
        Adjacency.of(**dict[str, Any]({"nodes": 2, "sources": [0], "targets": [1]} | bad))


def test_weights_beyond_float64_are_refused_and_so_are_nodes_beyond_counting() -> None:
    with pytest.raises(InvalidArgument, match="weights with a finite sum"):
        Adjacency.of(2, [0, 0], [1, 1], [1.7e308, 1.7e308])
    with pytest.raises(InvalidArgument, match="more"):
        Adjacency.of(2, [], []).extended(2**31)


def test_zeros_are_used_again_once_they_are_cleared_and_large_enough() -> None:
    graph = Adjacency.of(3, [0], [1])
    zeros = graph.zeros()
    zeros[[0, 2]] = 7.0
    graph.give_back(zeros, np.array([0]), np.array([2, 2]))
    again = graph.extended(1).zeros()
    assert again is zeros
    assert again.size >= 4
    assert not again.any()
    graph.give_back(again)
    assert graph.extended(10_000).zeros().size >= 10_003


ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), max_size=30)


def rows_of(edges: list[tuple[int, int, int]], count: int | None) -> Rows:
    table = np.array(edges, dtype=np.intp).reshape(-1, 3)
    weights, types = table[:, 2].astype(np.float64), np.zeros(len(edges), dtype=np.int16)
    columns = EdgeList(table[:, 0].copy(), table[:, 1].copy(), weights, types, np.arange(len(edges)))
    return Rows.of(columns, count=count)


def test_sums_add_at_places_and_nothing_makes_floats_too() -> None:
    assert sums(np.array([1, 1]), np.array([0.5, 0.25]), 3).tolist() == [0.0, 0.75, 0.0]
    nothing = sums(np.array([], dtype=np.intp), np.array([]), 2)
    assert nothing.tolist() == [0.0, 0.0]
    assert nothing.dtype == np.float64


@given(st.lists(st.integers(0, 5)))
def test_in_order_is_a_stable_sort_packed_or_not(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.intp)
    expected = sorted(range(len(keys)), key=lambda position: keys[position])
    for bound in (6, 2**62):
        ordered, positions = in_order(array, bound)
        assert positions.tolist() == expected
        assert ordered.tolist() == sorted(keys)


@given(ROWS, st.lists(st.integers(0, 6), max_size=10))
def test_rows_give_each_node_its_edges_in_their_order(
    edges: list[tuple[int, int, int]], nodes: list[int]
) -> None:
    expected = defaultdict(list)
    for number, (source, _, _) in enumerate(edges):
        expected[source].append(number)
    asked = np.array(nodes, dtype=np.intp)
    kinds = [rows_of(edges, 7)] + ([rows_of(edges, None)] if edges else [])
    for rows in kinds:
        degrees, at = rows.edges_of(asked)
        assert degrees.tolist() == [len(expected[node]) for node in nodes]
        assert rows.edges[at].tolist() == [number for node in nodes for number in expected[node]]
        strengths = [sum(edges[number][2] for number in expected[node]) for node in nodes]
        assert rows.strengths_of(asked).tolist() == strengths
        assert rows.total == sum(weight for _, _, weight in edges)


@given(ROWS)
def test_turned_rows_are_the_edges_backwards(edges: list[tuple[int, int, int]]) -> None:
    turned = rows_of(edges, 7).turned()
    back = sorted(
        zip(turned.listed().sources.tolist(), turned.targets.tolist(), turned.edges.tolist(), strict=True)
    )
    assert back == sorted((target, source, number) for number, (source, target, _) in enumerate(edges))


def test_a_node_newer_than_the_rows_has_no_edges_in_them() -> None:
    rows = rows_of([(0, 1, 1)], 2)
    degrees, at = rows.edges_of(np.array([5, 0, 9]))
    assert degrees.tolist() == [0, 1, 0]
    assert at.tolist() == [0]
    assert rows.strengths_of(np.array([5, 0])).tolist() == [0.0, 1.0]


def test_nobody_can_write_into_rows() -> None:
    rows = rows_of([(0, 1, 1)], 2)
    assert not any(
        array.flags.writeable for array in (rows.starts, rows.targets, rows.weights, rows.types, rows.edges)
    )


def test_whole_numbers_come_back_as_an_array() -> None:
    assert whole_numbers("nodes", (2, 0), 3, "nodes").tolist() == [2, 0]
    assert whole_numbers("nodes", [], 0, "nodes").dtype == np.intp
    assert whole_numbers("nodes", np.array([1], dtype=np.uint8), 3, "nodes").dtype == np.intp


@pytest.mark.parametrize(
    "bad", [[3], [-1], [0.0], [True], ["a"], "01", b"01", [[0]], [[0], [0, 1]], None, 2, [None], [2**70]]
)
def test_what_is_no_node_is_refused(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="nodes"):
        whole_numbers("nodes", bad, 3, "nodes")


def test_an_empty_graph_has_no_node_to_name() -> None:
    with pytest.raises(InvalidArgument, match=r"start must be nothing, for there are no nodes, got 0"):
        checked_node("start", 0, 0)


@pytest.mark.parametrize("bad", [-1, 3, 1.0, True, "1", None])
def test_one_node_is_a_whole_number_below_the_count(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="start must be one of the 3 nodes"):
        checked_node("start", bad, 3)


def test_a_node_named_twice_is_refused() -> None:
    assert distinct_nodes("seeds", [2, 0], 3).tolist() == [2, 0]
    with pytest.raises(InvalidArgument, match=r"seeds must be nodes that are named once each, got 2"):
        distinct_nodes("seeds", [2, 0, 2], 3)


def test_types_are_found_by_name() -> None:
    assert type_numbers("types", None, ["a"]) is None
    found = type_numbers("types", ["b", "a"], ["a", "b"])
    assert found is not None
    assert found.tolist() == [1, 0]
    with pytest.raises(InvalidArgument, match=r"types\[0\] must be one of 'a', 'b', got 'c'"):
        type_numbers("types", ["c"], ["a", "b"])
