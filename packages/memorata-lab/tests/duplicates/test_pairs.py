"""Pairs that agree on a band, against the obvious double loop."""

import math
from collections import deque
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe.decisions import ROUNDING
from memorata.extend.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata_lab.duplicates import Method, method_for
from memorata_lab.duplicates.pairs import clusters, colliding_pairs, groups, near_pairs

NAN, INF = math.nan, math.inf
SMALL_NUMBERS = st.integers(-4, 4).map(float) | st.floats(-2, 2, width=32)
VECTORS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(SMALL_NUMBERS, min_size=width, max_size=width), max_size=9)
)


def cosine(u: Sequence[float], v: Sequence[float]) -> float | None:
    """Return the cosine from exact sums; None for a vector without a direction."""
    if not any(u) or not any(v):
        return None
    u, v = ([x / max(map(abs, w)) for x in w] for w in (u, v))
    dot = math.fsum(x * y for x, y in zip(u, v, strict=True))
    return dot / math.sqrt(math.fsum(x * x for x in u)) / math.sqrt(math.fsum(y * y for y in v))


def double_loop(vectors: Sequence[Sequence[float]], threshold: float) -> dict[tuple[int, int], float]:
    """Compare everything with everything, one pair at a time."""
    found = {}
    for i in range(len(vectors)):
        for j in range(i + 1, len(vectors)):
            c = cosine(vectors[i], vectors[j])
            if c is not None and c >= threshold - ROUNDING:
                found[i, j] = c
    return found


def test_pairs_by_hand() -> None:
    found = near_pairs([[1, 0], [3, 4], [0, 5], [2, 0], [-1, 0]], 0.6)
    assert found.positions().tolist() == [[0, 1], [0, 3], [1, 2], [1, 3]]
    assert found.cosine.tolist() == pytest.approx([0.6, 1.0, 0.8, 0.6], abs=1e-15)
    assert len(found) == 4


def test_the_default_is_the_cosine_of_duplicates() -> None:
    def at(c: float) -> list[float]:
        return [c, math.sqrt(1 - c * c)]

    assert near_pairs([[1, 0], at(0.92)]).positions().tolist() == [[0, 1]]
    assert near_pairs([[1, 0], at(0.9199)]).positions().tolist() == []


@given(VECTORS, st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 0.5, 0.6, 0.8, 1.0]), st.integers(1, 10))
@example([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]], -1.0, 2)
def test_it_finds_what_the_double_loop_finds(
    vectors: list[list[float]], threshold: float, block: int
) -> None:
    found = near_pairs(vectors, threshold, block=block)
    slow = double_loop(vectors, threshold)
    assert [(i, j) for i, j in found.positions().tolist()] == sorted(slow)
    assert found.cosine.tolist() == pytest.approx([slow[pair] for pair in sorted(slow)], abs=1e-14)


@given(VECTORS, st.floats(-1, 1), st.integers(1, 10))
def test_the_block_size_changes_nothing(vectors: list[list[float]], threshold: float, block: int) -> None:
    whole, cut = near_pairs(vectors, threshold), near_pairs(vectors, threshold, block=block)
    assert np.array_equal(whole.positions(), cut.positions())
    assert np.array_equal(whole.cosine, cut.cosine)


@pytest.mark.parametrize("width", [16, 384, 1024])
def test_pairs_at_the_threshold_are_decided_as_in_float64(width: int) -> None:
    # Pairs planted closer to the threshold than float32 can tell; half of them on the wrong side.
    random = np.random.default_rng(7)
    base = random.normal(size=(40, width))
    base /= np.linalg.norm(base, axis=1)[:, None]
    side = random.normal(size=(40, width))
    side -= (side * base).sum(axis=1)[:, None] * base
    side /= np.linalg.norm(side, axis=1)[:, None]
    wanted = 0.92 + np.where(np.arange(40) % 2, 1, -1) * 1e-8
    twin = wanted[:, None] * base + np.sqrt(1 - wanted**2)[:, None] * side
    single = (base.astype(np.float32) * twin.astype(np.float32)).sum(axis=1)
    assert len(np.flatnonzero((single >= np.float32(0.92)) != (wanted >= 0.92)))
    found = near_pairs(np.concatenate([base, twin]), 0.92, block=13)
    planted = {(int(i), int(i) + 40) for i in np.flatnonzero(wanted >= 0.92)}
    assert {(i, j) for i, j in found.positions().tolist() if j == i + 40} == planted


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-20, 1e20, 1e200, 1e307])
def test_the_length_of_a_vector_does_not_matter(scale: float) -> None:
    found = near_pairs([[3 * scale, 4 * scale], [3, 4], [-4, 3]], 0.99)
    assert found.positions().tolist() == [[0, 1]]
    assert found.cosine[0] == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-6), min_size=1, max_size=8))
def test_equal_vectors_pair_at_one_and_opposite_ones_at_minus_one(vector: list[float]) -> None:
    assert near_pairs([vector, vector], 1.0).positions().tolist() == [[0, 1]]
    opposite = near_pairs([vector, [-x for x in vector]], -1.0)
    assert opposite.cosine.tolist() == pytest.approx([-1.0])
    assert -1.0 <= opposite.cosine[0] <= near_pairs([vector, vector], 1.0).cosine[0] <= 1.0


@pytest.mark.parametrize(
    "vectors", [[], [[1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]], np.empty((3, 0)), np.empty((0, 4))]
)
def test_nothing_to_pair(vectors: list[list[float]]) -> None:
    found = near_pairs(vectors, -1.0)
    assert len(found) == 0
    assert found.positions().shape == (0, 2)
    assert found.cosine.shape == (0,)


def test_float32_vectors_are_welcome_and_stay_as_they_are() -> None:
    vectors = np.array([[3, 4], [6, 8]], dtype=np.float32)
    assert near_pairs(vectors, 1.0).positions().tolist() == [[0, 1]]
    assert vectors.tolist() == [[3, 4], [6, 8]]


def test_many_equal_vectors_are_all_pairs() -> None:
    found = near_pairs(np.ones((300, 4)), 1.0, block=64)
    assert len(found) == 300 * 299 // 2
    assert (found.first < found.second).all()


@pytest.mark.parametrize(
    ("vectors", "named"),
    [
        ([[1.0, NAN], [1.0, 2.0]], r"vectors\[0\]"),
        ([[1.0, 2.0], [INF, 2.0]], r"vectors\[1\]"),
        ([[1.0, 2.0], [1.0]], "vectors"),
        ([1.0, 2.0], "vectors"),
        ([["a", "b"]], "vectors"),
        ("vectors", "vectors"),
        (None, "vectors"),
    ],
)
def test_vectors_are_rows_of_finite_numbers(vectors: list[list[float]], named: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{named} must be"):
        near_pairs(vectors)


@pytest.mark.parametrize("threshold", [1.01, -1.01, NAN, INF, "0.9", None, True])
def test_a_threshold_is_a_cosine(threshold: float) -> None:
    with pytest.raises(InvalidArgument, match="threshold must be"):
        near_pairs([[1.0]], threshold)


@pytest.mark.parametrize("block", [0, -1, 1.5, None, "8"])
def test_a_block_is_a_whole_number_from_one(block: int) -> None:
    with pytest.raises(InvalidArgument, match="block must be"):
        near_pairs([[1.0]], block=block)


def slow(bands: list[list[int]]) -> list[list[int]]:
    count = len(bands[0]) if bands else 0
    return [[a, b] for a, b in combinations(range(count), 2) if any(band[a] == band[b] for band in bands)]


@given(
    st.integers(0, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), max_size=4)
    )
)
def test_all_pairs_of_small_buckets_are_found_once(bands: list[list[int]]) -> None:
    assert colliding_pairs(np.array(band, np.uint64) for band in bands).tolist() == slow(bands)


def test_a_large_bucket_gives_only_neighbours() -> None:
    pairs = colliding_pairs([np.zeros(1_000, np.uint64)], largest=3)
    assert len(pairs) == 999 + 998 + 997
    assert (pairs[:, 1] - pairs[:, 0]).max() == 3


def test_beyond_the_largest_bucket_fewer_neighbours_may_do() -> None:
    keys = np.array([1] * 100 + [2] * 4 + [3], np.uint64)
    pairs = colliding_pairs([keys], largest=4, beyond=1)
    assert len(pairs) == 99 + 6
    assert pairs[99:].tolist() == [[100, 101], [100, 102], [100, 103], [101, 102], [101, 103], [102, 103]]
    assert (
        colliding_pairs([keys], largest=4, beyond=4).tolist() == colliding_pairs([keys], largest=4).tolist()
    )
    for bad in (0, 5, True, 1.5):
        with pytest.raises(InvalidArgument, match="beyond"):
            colliding_pairs([keys], largest=4, beyond=bad)  # type: ignore[arg-type]


def test_many_bands_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorata_lab.duplicates.pairs._MAX_PENDING_PAIRS", 10)
    bands = [np.array([1, 1, 2, 2, 2], np.uint64)] * 5
    assert colliding_pairs(bands).tolist() == [[0, 1], [2, 3], [2, 4], [3, 4]]


@pytest.mark.parametrize(
    "bands",
    [
        [[1, 2]],
        [np.array([1, 2])],
        [np.zeros((2, 2), np.uint64)],
        [np.zeros(2, np.uint64), np.zeros(3, np.uint64)],
    ],
)
def test_bad_bands_are_refused(bands: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match="bands"):
        colliding_pairs(bands)
    with pytest.raises(InvalidArgument, match="largest"):
        colliding_pairs([], largest=1)


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


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 10_000])
def test_small_stores_compare_all_pairs(count: int) -> None:
    assert method_for(count) is Method.MATRIX


@pytest.mark.parametrize("count", [10_001, 100_000, 10_000_000])
def test_large_stores_compare_candidates(count: int) -> None:
    assert method_for(count) is Method.LSH


def test_the_caller_can_force_a_method_by_name_or_value() -> None:
    assert method_for(5, "lsh") is Method.LSH
    assert method_for(10**6, Method.MATRIX) is Method.MATRIX


def test_the_limit_moves_and_declares_itself() -> None:
    assert method_for(5, matrix_limit=4) is Method.LSH
    assert method_for(5, matrix_limit=5) is Method.MATRIX
    assert [parameter.name for parameter in parameters_of(method_for)] == ["matrix_limit"]


@pytest.mark.parametrize("count", [-1, 1.5, None, "10", True, float("nan")])
def test_methods_a_count_is_a_whole_number(count: int) -> None:
    with pytest.raises(InvalidArgument, match="count must be"):
        method_for(count)
    with pytest.raises(InvalidArgument, match="matrix_limit must be"):
        method_for(1, matrix_limit=count)


@pytest.mark.parametrize("force", ["dbscan", "", "LSH", 1, True])
def test_an_unknown_method_is_refused(force: str) -> None:
    with pytest.raises(InvalidArgument, match="force must be one of 'matrix', 'lsh'"):
        method_for(10, force)
