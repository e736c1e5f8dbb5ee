"""Label propagation, one level of it: nobody who is asked at the end wants another label."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph.label_propagation import UndirectedEdges, propagated_labels, run_starts

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 5)), max_size=20)


def edges_of(edges: list[tuple[int, int, int]]) -> UndirectedEdges:
    table = np.array(edges, dtype=np.intp).reshape(-1, 3)
    return UndirectedEdges.of(8, table[:, 0], table[:, 1], table[:, 2].astype(np.float64))


def test_runs_begin_where_numbers_change() -> None:
    assert run_starts(np.array([3, 3, 5])).tolist() == [0, 2]
    assert run_starts(np.array([], dtype=np.intp)).tolist() == []


def test_a_weave_joins_parallel_edges_of_both_directions() -> None:
    edges = edges_of([(0, 1, 1), (1, 0, 2), (2, 2, 1)])
    # 0 and 1 are tied by 3 of 4; the loop of 2 has both its ends there.
    assert edges.targets[edges.starts[0] : edges.starts[1]].tolist() == [0, 1]
    assert edges.weights[edges.starts[0] : edges.starts[1]].tolist() == [0.0, 0.75]
    assert edges.strengths[:4].tolist() == [0.75, 0.75, 0.5, 0.0]


@given(EDGES, st.integers(0, 3))
def test_plain_propagation_ends_when_every_node_has_a_heaviest_label(
    edges: list[tuple[int, int, int]], seed: int
) -> None:
    labels, rounds, converged = propagated_labels(edges_of(edges), 0.0, 100, seed)
    assert converged
    assert rounds <= 100
    for node in range(8):
        weights = dict.fromkeys(labels.tolist(), 0)
        for one, other, weight in edges:
            if one != other and node in (one, other):
                weights[int(labels[other if node == one else one])] += weight
        assert weights[int(labels[node])] == max(weights.values())


@given(EDGES, st.integers(0, 3))
def test_labels_never_cross_between_parts_that_are_not_connected(
    edges: list[tuple[int, int, int]], seed: int
) -> None:
    within = [(one, other, weight) for one, other, weight in edges if one // 4 == other // 4]
    labels, _, _ = propagated_labels(edges_of(within), 1.0, 100, seed)
    assert not set(labels[:4].tolist()) & set(labels[4:].tolist())


def test_the_same_seed_gives_the_same_labels() -> None:
    random = np.random.default_rng(7)
    edges = UndirectedEdges.of(200, random.integers(0, 200, 600), random.integers(0, 200, 600), np.ones(600))
    first, again = (propagated_labels(edges, 1.0, 100, 3)[0] for _ in range(2))
    assert first.tolist() == again.tolist()


def test_rounds_are_limited_and_it_says_so() -> None:
    random = np.random.default_rng(7)
    edges = UndirectedEdges.of(200, random.integers(0, 200, 600), random.integers(0, 200, 600), np.ones(600))
    _, rounds, converged = propagated_labels(edges, 1.0, 1, 0)
    assert (rounds, converged) == (1, False)
