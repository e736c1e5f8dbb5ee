from collections import deque
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe import clusters, groups, near_pairs
from memorata.model.errors import InvalidArgument

GRAPHS = st.integers(1, 30).flatmap(
    lambda count: st.tuples(
        st.just(count), st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=40)
    )
)


def breadth_first(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Walk from each unlabelled item, smallest first, to all that can be reached."""
    labels = [-1] * count
    for start in range(count):
        if labels[start] == -1:
            queue = deque([start])
            while queue:
                item = queue.popleft()
                labels[item] = start
                near = {b for a, b in pairs if a == item} | {a for a, b in pairs if b == item}
                queue.extend(other for other in near if labels[other] == -1)
    return labels


def test_clusters_by_hand() -> None:
    assert clusters(5, [(0, 1), (3, 4)]).tolist() == [0, 0, 2, 3, 3]
    assert clusters(5, [(4, 0), (3, 4), (3, 1)]).tolist() == [0, 0, 2, 0, 0]


def test_without_pairs_everyone_is_alone() -> None:
    assert clusters(3, []).tolist() == [0, 1, 2]
    assert clusters(0, []).tolist() == []
    assert clusters(2, np.empty((0, 2), dtype=np.intp)).tolist() == [0, 1]


def test_repeats_directions_and_selves_do_not_matter() -> None:
    assert clusters(3, [(2, 1), (1, 2), (1, 2), (0, 0)]).tolist() == [0, 1, 1]


@given(GRAPHS)
def test_it_agrees_with_a_walk(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, pairs = graph
    assert clusters(count, pairs).tolist() == breadth_first(count, pairs)


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(
    graph: tuple[int, list[tuple[int, int]]], random: Random
) -> None:
    count, pairs = graph
    shuffled = [(b, a) for a, b in pairs]
    random.shuffle(shuffled)
    assert clusters(count, shuffled).tolist() == clusters(count, pairs).tolist()


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_a_long_chain_is_one_cluster(order: str) -> None:
    count = 50_000
    chain = np.arange(count)
    if order == "backwards":
        chain = chain[::-1].copy()
    elif order == "shuffled":
        np.random.default_rng(3).shuffle(chain)
    assert not clusters(count, np.stack([chain[:-1], chain[1:]], axis=1)).any()


def test_pairs_stay_as_they_were() -> None:
    pairs = np.array([[1, 2], [0, 1]])
    clusters(3, pairs)
    assert pairs.tolist() == [[1, 2], [0, 1]]


def test_near_vectors_become_clusters() -> None:
    vectors = [[1, 0], [0, 1], [2, 0], [0, 3], [-1, 0], [4, 0]]
    labels = clusters(len(vectors), near_pairs(vectors, 0.9).positions())
    assert groups(labels) == ((0, 2, 5), (1, 3))


def test_groups_leave_out_the_small_ones() -> None:
    labels = [0, 1, 1, 3, 0, 1]
    assert groups(labels) == ((0, 4), (1, 2, 5))
    assert groups(labels, 1) == ((0, 4), (1, 2, 5), (3,))
    assert groups(labels, 3) == ((1, 2, 5),)
    assert groups([]) == ()


@given(st.lists(st.integers(0, 5)), st.integers(1, 3))
def test_groups_gather_equal_labels(labels: list[int], smallest: int) -> None:
    slow = {label: [i for i, other in enumerate(labels) if other == label] for label in labels}
    assert groups(labels, smallest) == tuple(
        sorted(tuple(members) for members in slow.values() if len(members) >= smallest)
    )


@pytest.mark.parametrize("count", [-1, 2.0, "3", None, True])
def test_a_count_is_a_whole_number(count: int) -> None:
    with pytest.raises(InvalidArgument, match="count must be a whole number of at least 0"):
        clusters(count, [])


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        ([(0, 3)], r"pairs\[0\] must be positions from 0 and below 3, got \[0, 3\]"),
        ([(0, 1), (-1, 2)], r"pairs\[1\] must be positions from 0 and below 3, got \[-1, 2\]"),
        ([(0, 1, 2)], "pairs must be"),
        ([(0, 1), (2,)], "pairs must be"),
        ([0, 1], "pairs must be"),
        ([(0.0, 1.0)], "pairs must be"),
        ([("0", "1")], "pairs must be"),
        ([(True, False)], "pairs must be"),
        ([()], "pairs must be"),
        (np.empty((0, 3)), "pairs must be"),
        (None, "pairs must be"),
        ("01", "pairs must be"),
        (5, "pairs must be"),
    ],
)
def test_pairs_are_two_positions_each(pairs: list[tuple[int, int]], named: str) -> None:
    with pytest.raises(InvalidArgument, match=named):
        clusters(3, pairs)


def test_no_items_have_no_pairs() -> None:
    with pytest.raises(InvalidArgument, match=r"pairs\[0\] must be"):
        clusters(0, [(0, 0)])


@pytest.mark.parametrize("labels", [[[0, 1]], [0.5], "01", None, [[0], [1, 2]]])
def test_labels_are_whole_numbers(labels: list[int]) -> None:
    with pytest.raises(InvalidArgument, match="labels must be"):
        groups(labels)


@pytest.mark.parametrize("smallest", [0, -1, 1.5, None])
def test_the_smallest_group_has_a_member(smallest: int) -> None:
    with pytest.raises(InvalidArgument, match="smallest must be"):
        groups([0], smallest)
