"""Compressed rows hold exactly the edges they were made of, whichever way they are read."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph.rows import Rows, distinct_nodes, in_order, node, sums, type_numbers, whole_numbers
from memorata.model import InvalidArgument

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), max_size=30)


def rows_of(edges: list[tuple[int, int, int]], count: int | None) -> Rows:
    table = np.array(edges, dtype=np.intp).reshape(-1, 3)
    return Rows.of(
        table[:, 0].copy(),
        table[:, 1].copy(),
        table[:, 2].astype(np.float64),
        np.zeros(len(edges), dtype=np.int16),
        np.arange(len(edges)),
        count=count,
    )


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


@given(EDGES, st.lists(st.integers(0, 6), max_size=10))
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


@given(EDGES)
def test_turned_rows_are_the_edges_backwards(edges: list[tuple[int, int, int]]) -> None:
    turned = rows_of(edges, 7).turned(7)
    back = sorted(zip(turned.sources().tolist(), turned.targets.tolist(), turned.edges.tolist(), strict=True))
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
        node("start", 0, 0)


@pytest.mark.parametrize("bad", [-1, 3, 1.0, True, "1", None])
def test_one_node_is_a_whole_number_below_the_count(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="start must be one of the 3 nodes"):
        node("start", bad, 3)


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
