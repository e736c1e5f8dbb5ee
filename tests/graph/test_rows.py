"""Compressed rows hold exactly the edges they were made of, whichever way they are read."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph.rows import Rows, in_order, sums

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
