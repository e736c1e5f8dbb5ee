"""Shortest paths, against networkx."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, shortest_path
from memorata.model import InvalidArgument


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Graph:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Graph.of(nodes, *ends, [weight for _, _, weight in edges])


def test_strong_ties_are_short() -> None:
    graph = Graph.of(3, [0, 1, 0], [1, 2, 2], [4.0, 4.0, 1.0])
    near = shortest_path(graph, 0, 2)
    assert near is not None
    assert (near.nodes, near.cost) == ((0, 1, 2), 0.5)
    assert [step.edge for step in near.steps] == [0, 1]
    direct = shortest_path(graph, 0, 2, cost="weight")
    assert direct is not None
    assert (direct.nodes, direct.cost) == ((0, 2), 1.0)


def test_of_parallel_edges_the_cheapest_is_walked() -> None:
    graph = Graph.of(2, [0, 0], [1, 1], [2.0, 5.0])
    strong, light = shortest_path(graph, 0, 1), shortest_path(graph, 0, 1, cost="weight")
    assert strong is not None
    assert light is not None
    assert (strong.cost, strong.steps[0].edge) == (0.2, 1)
    assert (light.cost, light.steps[0].edge) == (2.0, 0)


def test_to_itself_nothing_is_walked_and_to_the_unreachable_nothing_leads() -> None:
    graph = Graph.of(3, [0], [1])
    here = shortest_path(graph, 2, 2)
    assert here is not None
    assert (here.nodes, here.cost) == ((2,), 0.0)
    assert shortest_path(graph, 0, 2) is None
    assert shortest_path(graph, 1, 0, direction="out") is None
    back = shortest_path(graph, 1, 0)
    assert back is not None
    assert not back.steps[0].forward


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.1, 10)),
        max_size=25,
        unique_by=lambda e: e[:2],
    ),
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from(["inverse", "weight", "unit"]),
)
def test_the_cost_is_that_of_networkx_and_of_the_steps(
    edges: list[tuple[int, int, float]], start: int, goal: int, cost: str
) -> None:
    def price(weight: float) -> float:
        return {"inverse": 1 / weight, "weight": weight, "unit": 1.0}[cost]

    graph = graph_of(7, edges)
    other = nx.DiGraph()
    other.add_nodes_from(range(7))
    other.add_weighted_edges_from((source, target, price(weight)) for source, target, weight in edges)
    found = shortest_path(graph, start, goal, cost=cost, direction="out")
    if found is None:
        assert not nx.has_path(other, start, goal)
    else:
        assert found.cost == pytest.approx(nx.dijkstra_path_length(other, start, goal))
        assert found.cost == pytest.approx(sum(price(step.weight) for step in found.steps))
        assert (found.nodes[0], found.nodes[-1]) == (start, goal)


def test_what_costs_more_than_can_be_counted_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="cost must be a cost that float64 can hold"):
        shortest_path(Graph.of(2, [0], [1], [5e-324]), 0, 1)
    for bad in ({"start": 9}, {"goal": -1}, {"cost": "price"}, {"direction": "up"}, {"types": ["x"]}):
        with pytest.raises(InvalidArgument):
            shortest_path(**{"graph": Graph.of(2, [0], [1]), "start": 0, "goal": 1} | bad)  # type: ignore[arg-type]
