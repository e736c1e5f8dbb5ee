"""Bounded path search: the worked value, every limit, and an exhaustive search beside it.

Shortest paths, against networkx.
"""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_graph.adjacency import Adjacency
from memorata_graph.paths import find_paths, shortest_path

UAV_1, FLEET, BASE, UAV_2 = range(4)
FLEET_GRAPH = Adjacency.of(
    4,
    [UAV_1, FLEET, UAV_2],
    [FLEET, BASE, FLEET],
    types=[0, 1, 0],
    type_names=["belongs_to", "stationed_at"],
)
# 0 has three neighbours, each of which has three more of its own.
TREE = Adjacency.of(13, [(child - 1) // 3 for child in range(1, 13)], list(range(1, 13)))


def ticking(step: float) -> Callable[[], float]:
    """Return a clock that goes on by `step` whenever it is looked at."""
    ticks: Iterator[int] = iter(range(10**6))
    return lambda: next(ticks) * step


def test_the_worked_value_of_the_specification() -> None:
    found = find_paths(FLEET_GRAPH, UAV_1, depth=2)
    assert found.scores == {FLEET: 0.85, BASE: pytest.approx(0.7225), UAV_2: pytest.approx(0.7225)}
    assert [path.nodes for path in found.paths] == [(UAV_1, FLEET, BASE), (UAV_1, FLEET, UAV_2)]
    assert [path.score for path in found.paths] == [pytest.approx(0.7225)] * 2
    assert found.truncated is None


def test_a_path_says_how_it_went() -> None:
    first, second = find_paths(FLEET_GRAPH, UAV_1).paths[1].steps
    assert (first.node, first.type, first.forward, first.edge) == (FLEET, "belongs_to", True, 0)
    assert (second.node, second.type, second.forward, second.edge) == (UAV_2, "belongs_to", False, 2)


def test_directions_and_types_bound_the_search() -> None:
    assert set(find_paths(FLEET_GRAPH, UAV_1, direction="out").scores) == {FLEET, BASE}
    assert set(find_paths(FLEET_GRAPH, FLEET, direction="in").scores) == {UAV_1, UAV_2}
    assert set(find_paths(FLEET_GRAPH, UAV_1, types=["belongs_to"]).scores) == {FLEET, UAV_2}
    assert find_paths(FLEET_GRAPH, UAV_1, types=["stationed_at"]).paths == ()


def test_depth_first_ends_a_path_before_it_begins_the_next() -> None:
    fork = Adjacency.of(5, [0, 0, 1, 3], [1, 2, 3, 4])
    breadth = find_paths(fork, 0, depth=3, order="breadth")
    depth = find_paths(fork, 0, depth=3, order="depth")
    assert [path.nodes for path in breadth.paths] == [(0, 2), (0, 1, 3, 4)]
    assert [path.nodes for path in depth.paths] == [(0, 1, 3, 4), (0, 2)]
    assert breadth.scores == depth.scores


def test_depth_says_when_there_is_more() -> None:
    found = find_paths(TREE, 0, depth=1)
    assert set(found.scores) == {1, 2, 3}
    assert found.truncated == "depth"
    assert find_paths(TREE, 0, depth=2).truncated is None


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_no_more_paths_than_allowed(order: str) -> None:
    found = find_paths(TREE, 0, depth=2, paths=4, order=order)
    assert len(found.paths) == 4
    assert all(len(path.steps) == 2 for path in found.paths)
    assert found.truncated == "paths"
    assert find_paths(TREE, 0, depth=2, paths=9, order=order).truncated is None


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_no_more_nodes_than_allowed(order: str) -> None:
    found = find_paths(TREE, 0, depth=2, nodes=5, order=order)
    assert len(found.scores) == 5
    assert found.truncated == "nodes"
    assert find_paths(TREE, 0, depth=2, nodes=12, order=order).truncated is None


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_no_more_time_than_allowed(order: str) -> None:
    # The clock is looked at once to begin and then before each node: 3 of the 13 can be looked around from.
    found = find_paths(TREE, 0, depth=2, seconds=3.0, clock=ticking(1.0), order=order)
    assert found.truncated == "time"
    assert {1, 2, 3} <= set(found.scores)
    assert len(found.scores) < 12
    assert find_paths(TREE, 0, depth=2, seconds=30.0, clock=ticking(1.0), order=order).truncated is None
    assert find_paths(TREE, 0, seconds=0.0, clock=ticking(1.0), order=order).paths == ()


def test_the_heaviest_edges_come_first_and_of_parallel_ones_the_heaviest() -> None:
    graph = Adjacency.of(3, [0, 0, 0], [1, 2, 2], [2.0, 1.0, 3.0])
    found = find_paths(graph, 0, paths=1)
    assert [path.nodes for path in found.paths] == [(0, 2)]
    assert [step.edge for path in find_paths(graph, 0).paths for step in path.steps] == [2, 0]


def test_a_node_counts_by_its_nearest_path() -> None:
    triangle = Adjacency.of(3, [0, 1, 2], [1, 2, 0])
    found = find_paths(triangle, 0, depth=2, decay=0.5)
    assert found.scores == {1: 0.5, 2: 0.5}
    assert {path.nodes for path in found.paths} == {(0, 1, 2), (0, 2, 1)}
    assert find_paths(Adjacency.of(1, [0], [0]), 0).paths == ()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12, unique=True),
    st.integers(1, 4),
    st.sampled_from(["breadth", "depth"]),
)
def test_without_limits_every_path_that_cannot_go_on_is_found(
    edges: list[tuple[int, int]], depth: int, order: str
) -> None:
    graph = Adjacency.of(6, [source for source, _ in edges], [target for _, target in edges])
    found = find_paths(graph, 0, depth=depth, direction="out", order=order, paths=10**6, nodes=10**6)
    simple = set(exhaustive(edges, (0,), depth))
    assert {path.nodes for path in found.paths} == simple
    assert len(found.paths) == len(simple)
    other = nx.DiGraph(edges)
    other.add_node(0)
    near = nx.single_source_shortest_path_length(other, 0, cutoff=depth)
    assert found.scores == {node: pytest.approx(0.85**hops) for node, hops in near.items() if node != 0}
    beyond = {path for path in exhaustive(edges, (0,), depth + 1) if len(path) == depth + 2}
    assert found.truncated == ("depth" if beyond else None)


def exhaustive(edges: list[tuple[int, int]], path: tuple[int, ...], depth: int) -> Iterator[tuple[int, ...]]:
    """Yield the paths that go on from `path` as far as they can."""
    longer = [(*path, target) for source, target in edges if source == path[-1] and target not in path]
    if depth and longer:
        for each in longer:
            yield from exhaustive(edges, each, depth - 1)
    elif len(path) > 1:
        yield path


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=15),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from(["breadth", "depth"]),
)
def test_limits_hold_and_say_so(
    edges: list[tuple[int, int]], depth: int, nodes: int, paths: int, order: str
) -> None:
    graph = Adjacency.of(6, [source for source, _ in edges], [target for _, target in edges])
    limited = find_paths(graph, 0, depth=depth, nodes=nodes, paths=paths, order=order)
    free = find_paths(graph, 0, depth=depth, nodes=10**6, paths=10**6, order=order)
    assert len(limited.paths) <= paths
    assert len(limited.scores) <= nodes
    if limited.truncated in (None, "depth"):
        assert (limited.paths, limited.truncated) == (free.paths, free.truncated)
    else:
        assert len(free.paths) > paths or len(free.scores) > nodes


@pytest.mark.parametrize(
    "bad",
    [
        {"depth": 10**9},
        {"depth": 0},
        {"nodes": 0},
        {"paths": 0},
        {"decay": 0.0},
        {"decay": 1.1},
        {"seconds": -1.0, "clock": ticking(1)},
        {"direction": "up"},
        {"order": "random"},
        {"types": ["owns"]},
    ],
)
def test_bad_limits_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        find_paths(**dict[str, Any]({"graph": FLEET_GRAPH, "start": 0} | bad))


def test_equally_heavy_edges_are_in_an_order_of_their_own_whatever_that_of_the_graph() -> None:
    ends, kinds = [(0, 1), (0, 2), (3, 0), (0, 3), (0, 3)], [0, 0, 0, 1, 0]
    weights = [1.0, 1.0, 1.0, 1.0, 2.0]

    def walked(order: list[int], names: tuple[str, str]) -> list[tuple[int, str, bool]]:
        sources, targets = zip(*(ends[at] for at in order), strict=True)
        types = [names.index(("a", "b")[kinds[at]]) for at in order]
        graph = Adjacency.of(4, sources, targets, [weights[at] for at in order], types, names)
        found = find_paths(graph, 0, depth=1)
        return [(step.node, step.type, step.forward) for path in found.paths for step in path.steps]

    # The heaviest first, then the lowest node, of one node the types by name, and forwards first.
    expected = [(3, "a", True), (1, "a", True), (2, "a", True), (3, "a", False), (3, "b", True)]
    assert walked([0, 1, 2, 3, 4], ("a", "b")) == walked([4, 3, 2, 1, 0], ("b", "a")) == expected


def graph_of(nodes: int, edges: list[tuple[int, int, float]]) -> Adjacency:
    ends = [source for source, _, _ in edges], [target for _, target, _ in edges]
    return Adjacency.of(nodes, *ends, [weight for _, _, weight in edges])


def test_strong_ties_are_short() -> None:
    graph = Adjacency.of(3, [0, 1, 0], [1, 2, 2], [4.0, 4.0, 1.0])
    near = shortest_path(graph, 0, 2)
    assert near is not None
    assert (near.nodes, near.cost) == ((0, 1, 2), 0.5)
    assert [step.edge for step in near.steps] == [0, 1]


def test_of_parallel_edges_the_strongest_is_walked() -> None:
    strong = shortest_path(Adjacency.of(2, [0, 0], [1, 1], [2.0, 5.0]), 0, 1)
    assert strong is not None
    assert (strong.cost, strong.steps[0].edge) == (0.2, 1)


def test_to_itself_nothing_is_walked_and_to_the_unreachable_nothing_leads() -> None:
    graph = Adjacency.of(3, [0], [1])
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
)
def test_the_cost_is_that_of_networkx_and_of_the_steps(
    edges: list[tuple[int, int, float]], start: int, goal: int
) -> None:
    graph = graph_of(7, edges)
    other = nx.DiGraph()
    other.add_nodes_from(range(7))
    other.add_weighted_edges_from((source, target, 1 / weight) for source, target, weight in edges)
    found = shortest_path(graph, start, goal, direction="out")
    if found is None:
        assert not nx.has_path(other, start, goal)
    else:
        assert found.cost == pytest.approx(nx.dijkstra_path_length(other, start, goal))
        assert found.cost == pytest.approx(sum(1 / step.weight for step in found.steps))
        assert (found.nodes[0], found.nodes[-1]) == (start, goal)
