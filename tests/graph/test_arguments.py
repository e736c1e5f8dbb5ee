"""Nodes, types and directions are checked in one place."""

import numpy as np
import pytest

from memorata.graph.arguments import distinct_nodes, node, type_numbers, whole_numbers
from memorata.model import InvalidArgument


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
