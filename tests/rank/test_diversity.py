import math
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import pytest
import pyversity
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import adaptive_mmr, adaptive_trade, best_first, group_coverage, mmr

Vectors: TypeAlias = list[list[float]]

SMALL = st.integers(-3, 3).map(float) | st.floats(-2, 2, width=16)
ITEMS: st.SearchStrategy[tuple[list[float], Vectors]] = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(st.floats(-5, 5), st.lists(SMALL, min_size=width, max_size=width)), max_size=9
    ).map(lambda items: ([r for r, _ in items], [v for _, v in items]))
)
AXES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=10)
"""Relevance in eighths and the axis a vector lies on: every cosine is exactly 0 or 1."""
DYADIC = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def cosine(u: Sequence[float], v: Sequence[float]) -> float:
    if not any(u) or not any(v):
        return 0.0
    u, v = ([x / max(map(abs, w)) for x in w] for w in (u, v))
    dot = math.fsum(x * y for x, y in zip(u, v, strict=True))
    return dot / math.sqrt(math.fsum(x * x for x in u)) / math.sqrt(math.fsum(y * y for y in v))


def scaled(relevance: Sequence[float]) -> list[float]:
    low, high = min(relevance, default=0.0), max(relevance, default=0.0)
    return [(r - low) / (high - low) if high > low else 1.0 for r in relevance]


def worth(item: int, chosen: list[int], related: list[float], vectors: Vectors, trade: float) -> float:
    """What an item is worth beside those chosen; with none chosen, relevance alone decides."""
    if not chosen:
        return related[item]
    nearest = max(cosine(vectors[item], vectors[other]) for other in chosen)
    return trade * related[item] - (1 - trade) * nearest


def greedy(relevance: Sequence[float], vectors: Vectors, trade: float, limit: int) -> list[int]:
    """Look at everything again for every choice."""
    related, chosen = scaled(relevance), list[int]()
    while len(chosen) < min(limit, len(related)):
        left = [item for item in range(len(related)) if item not in chosen]
        chosen.append(max(left, key=lambda item: worth(item, chosen, related, vectors, trade)))
    return chosen


def slow_coverage(groups: Sequence[Hashable], per_group: int, within: int) -> list[int]:
    """Walk down the list and take what its group still has room for, then everything else."""
    first, taken = list[int](), list[Hashable]()
    for item, group in enumerate(groups):
        if len(first) < within and taken.count(group) < per_group:
            first.append(item)
            taken.append(group)
    return first + [item for item in range(len(groups)) if item not in first]


def test_mmr_by_hand() -> None:
    # Relevance becomes 1, 0.75, 0. Beside item 0: its near copy has 0.375 - 0.5, the other 0 - 0.
    assert mmr([0.9, 0.8, 0.5], [[1, 0], [1, 0.01], [0, 1]], trade=0.5, limit=2).tolist() == [0, 2]
    # At 0.7 the copy has 0.525 - 0.3, and the other 0.
    assert mmr([0.9, 0.8, 0.5], [[1, 0], [1, 0.01], [0, 1]], limit=2).tolist() == [0, 1]


def test_resembling_what_was_not_selected_is_no_fault() -> None:
    # Items 0 to 2 are near copies. Against all candidates each would be worth 0.5·rel - 0.5 at the most,
    # and the weak item 3, which resembles nothing, would come before the best.
    copies = [[1.0, 0, 0], [1, 0.01, 0], [1, 0, 0.01]]
    assert mmr([1.0, 0.9, 0.8, 0.4, 0.0], [*copies, [0, 1, 0], [1, 1, 0]], trade=0.5)[0] == 0
    # Items 1 and 2 are copies of one another and unlike item 0: one of them is next, not the weaker item 3.
    order = mmr([1.0, 0.8, 0.8, 0.4, 0.0], [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], trade=0.5)
    assert order.tolist() == [0, 1, 3, 2, 4]


@given(ITEMS, st.floats(0, 1), st.integers(0, 12))
def test_every_choice_is_the_best_that_was_left(
    items: tuple[list[float], Vectors], trade: float, limit: int
) -> None:
    relevance, vectors = items
    order, related = mmr(relevance, vectors, trade=trade, limit=limit).tolist(), scaled(relevance)
    assert len(order) == len(set(order)) == min(limit, len(relevance))
    for step, picked in enumerate(order):
        values = {
            item: worth(item, order[:step], related, vectors, trade)
            for item in range(len(related))
            if item not in order[:step]
        }
        assert values[picked] >= max(values.values()) - 1e-9


@given(AXES, DYADIC, st.integers(0, 12), st.sampled_from([np.float32, np.float64]))
def test_it_is_the_greedy_order_with_ties_to_the_earlier(
    items: list[tuple[int, int]], trade: float, limit: int, kind: type[np.floating]
) -> None:
    # Eight eighths and zero are always there, so that the min-max changes nothing and every sum is exact.
    items = [*items, (8, 0), (0, 1)]
    relevance = [eighths / 8 for eighths, _ in items]
    vectors = [[float(axis == column) for column in range(4)] for _, axis in items]
    order = mmr(relevance, np.array(vectors, kind), trade=trade, limit=limit)
    assert order.tolist() == greedy(relevance, vectors, trade, limit)


@pytest.mark.parametrize("trade", [0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_selects_as_pyversity_does(trade: float, seed: int) -> None:
    # Pyversity takes the scores as they are and counts negative cosines as none: the scores here go from 0
    # to 1 and no component is negative, so neither makes a difference.
    random = np.random.default_rng(seed)
    vectors = random.random((60, 5)) ** 3
    relevance = random.permutation(np.linspace(0, 1, 60))
    theirs = pyversity.diversify(
        embeddings=vectors, scores=relevance, k=20, strategy=pyversity.Strategy.MMR, diversity=1 - trade
    )
    assert mmr(relevance, vectors, trade=trade, limit=20).tolist() == theirs.indices.tolist()
    assert (
        mmr(relevance, vectors.astype(np.float32), trade=trade, limit=20).tolist() == theirs.indices.tolist()
    )


@given(st.lists(st.integers(-50, 50), max_size=12), st.integers(0, 14))
def test_a_trade_of_one_is_the_relevance_order(relevance: list[int], limit: int) -> None:
    alike = [[1.0, 1.0]] * len(relevance)
    order = mmr(relevance, alike, trade=1, limit=limit).tolist()
    assert order == best_first(relevance, limit).tolist()


def test_a_trade_of_zero_starts_with_the_most_relevant_and_then_only_looks_for_difference() -> None:
    vectors = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [-1.0, 0.0]]
    assert mmr([0.1, 0.9, 0.5, 0.0], vectors, trade=0).tolist() == [1, 3, 2, 0]


def test_no_more_items_than_the_limit_all_come_back_in_mmr_order() -> None:
    relevance, vectors = [0.9, 0.8, 0.5], [[1.0, 0.0], [1.0, 0.01], [0.0, 1.0]]
    for limit in (3, 4, 100):
        assert mmr(relevance, vectors, trade=0.5, limit=limit).tolist() == [0, 2, 1]


@given(ITEMS, DYADIC)
def test_a_smaller_limit_is_the_beginning_of_a_larger_one(
    items: tuple[list[float], Vectors], trade: float
) -> None:
    whole = mmr(*items, trade=trade, limit=len(items[0])).tolist()
    for limit in range(len(whole) + 1):
        assert mmr(*items, trade=trade, limit=limit).tolist() == whole[:limit]


def test_ties_go_to_the_earlier_item() -> None:
    assert mmr([1.0] * 4, [[1.0, 0.0]] * 4).tolist() == [0, 1, 2, 3]
    assert mmr([1.0] * 4, [[1, 0], [1, 0], [0, 1], [0, 1]]).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_vector_of_zeros_resembles_nothing(kind: type[np.floating]) -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 0], [0, 0]], kind)
    assert mmr([1.0, 0.9, 0.8, 0.0], vectors, trade=0.5).tolist() == [0, 2, 3, 1]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1e-40, 1e-25, 1e-10, 1.0, 1e15, 1e30])
def test_the_length_of_a_vector_does_not_matter(kind: type[np.floating], length: float) -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]]) * length
    assert mmr([3, 2, 1], vectors.astype(kind), trade=0.1).tolist() == [0, 2, 1]


def test_opposites_are_even_better_than_strangers() -> None:
    assert mmr([1.0, 0.5, 0.5], [[1, 0], [0, 1], [-1, 0]], trade=0.5).tolist() == [0, 2, 1]


def test_nothing_to_select_and_selecting_nothing() -> None:
    assert mmr([], []).tolist() == []
    assert mmr([], np.zeros((0, 3), np.float32)).tolist() == []
    assert mmr([1.0], [[1.0]], limit=0).tolist() == []
    assert mmr([1.0], [[1.0]]).tolist() == [0]
    assert adaptive_mmr([], []).tolist() == []


def test_ten_are_selected_unless_said_otherwise() -> None:
    relevance, vectors = list(range(12)), np.eye(12)
    assert len(mmr(relevance, vectors)) == len(adaptive_mmr(relevance, vectors)) == 10


def test_the_input_is_not_written_to() -> None:
    relevance, vectors = np.array([1.0, 0.0]), np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    mmr(relevance, vectors)
    assert (relevance.tolist(), vectors.tolist()) == ([1.0, 0.0], [[3.0, 4.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("relevance", "gap", "trade"),
    [
        ([1.0, 0.0, 0.0], 2 / 3, 0.8),
        ([1.0, 1.0, 0.0], 1 / 3, 0.8),
        ([0.9, 0.9, 0.9, 0.0], 0.225, 0.7),
        ([0.9, 0.9, 0.9, 0.2], 0.175, 0.6),
        ([0.78, 0.75, 0.73, 0.71], 0.0375, 0.5),
        ([1.0] * 7 + [0.0], 1 / 8, 0.6),
        ([1.0] * 15 + [0.0], 0.0, 0.5),
        ([3.0, 3.0], 0.0, 0.5),
        ([3.0], 0.0, 0.5),
        ([], 0.0, 0.5),
    ],
)
def test_adaptive_trade_by_hand(relevance: list[float], gap: float, trade: float) -> None:
    best = sorted(relevance, reverse=True)[:10]
    assert (max(best) - sum(best) / len(best) if best else 0.0) == pytest.approx(gap)
    assert adaptive_trade(relevance) == trade


@pytest.mark.parametrize(("edge", "below", "above"), [(0.3, 0.7, 0.8), (0.2, 0.6, 0.7), (0.1, 0.5, 0.6)])
def test_the_edges_of_adaptive_trade(edge: float, below: float, above: float) -> None:
    # One 1 and nine times x: the gap is 0.9 · (1 - x). What comes after the first ten does not count.
    for gap, trade in ((edge - 1e-9, below), (edge + 1e-9, above)):
        assert adaptive_trade([1.0] + [1 - gap / 0.9] * 9 + [0.0] * 50) == trade


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_adaptive_trade_is_the_table(relevance: list[float]) -> None:
    best = sorted(relevance, reverse=True)[:10]
    gap = best[0] - math.fsum(best) / len(best)
    table = [
        0.8 if g > 0.3 else 0.7 if g > 0.2 else 0.6 if g > 0.1 else 0.5 for g in (gap - 1e-9, gap + 1e-9)
    ]
    assert adaptive_trade(relevance) in table


@given(ITEMS, st.integers(0, 12))
def test_adaptive_mmr_is_mmr_at_the_adaptive_trade(items: tuple[list[float], Vectors], limit: int) -> None:
    expected = mmr(*items, trade=adaptive_trade(items[0]), limit=limit)
    assert adaptive_mmr(*items, limit=limit).tolist() == expected.tolist()


def test_group_coverage_by_hand() -> None:
    sessions = ["s1", "s1", "s1", "s2", "s3"]
    assert group_coverage(sessions, per_group=1, within=3).tolist() == [0, 3, 4, 1, 2]
    assert group_coverage(sessions, per_group=2, within=3).tolist() == [0, 1, 3, 2, 4]
    # Beyond the first places the order is the one it was.
    assert group_coverage(sessions, per_group=1, within=2).tolist() == [0, 3, 1, 2, 4]
    # One session only: the best of those moved fill the first places.
    assert group_coverage(["s1"] * 4, per_group=1, within=3).tolist() == [0, 1, 2, 3]


@given(st.lists(st.sampled_from("abcd"), max_size=14), st.integers(1, 4), st.integers(1, 12))
def test_group_coverage_is_a_walk_down_the_list(groups: list[str], per_group: int, within: int) -> None:
    found = group_coverage(groups, per_group=per_group, within=within).tolist()
    assert found == slow_coverage(groups, per_group, within)
    assert sorted(found) == list(range(len(groups)))
    room = sum(min(per_group, groups.count(group)) for group in set(groups))
    first = [groups[item] for item in found[: min(within, room)]]
    assert all(first.count(group) <= per_group for group in set(first))


def test_groups_that_can_be_gone_through_once_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="groups must be a list"):
        group_coverage(iter(["s1", "s2"]))  # type: ignore[arg-type]


def test_groups_are_anything_hashable() -> None:
    mixed: list[Hashable] = [None, ("a", 1), None, 7, ("a", 1)]
    assert group_coverage(mixed, per_group=1).tolist() == [0, 1, 3, 2, 4]
    assert group_coverage(np.array([5, 5, 6]), per_group=1).tolist() == [0, 2, 1]
    assert group_coverage([]).tolist() == []


def test_the_defaults_and_their_declarations() -> None:
    assert [(p.name, p.type, p.default, p.low, p.high) for p in parameters_of(mmr)] == [
        ("trade", float, 0.7, 0, 1)
    ]
    assert [(p.name, p.type, p.default, p.low, p.high) for p in parameters_of(group_coverage)] == [
        ("per_group", int, 2, 1, 10),
        ("within", int, 10, 1, 50),
    ]
    assert group_coverage(["a"] * 3 + ["b"] * 9).tolist() == [0, 1, 3, 4, 2, *range(5, 12)]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_vectors_are_checked_at_either_precision(kind: type[np.floating]) -> None:
    with pytest.raises(InvalidArgument, match=r"vectors\[1\] must be a vector of finite numbers"):
        mmr([1.0, 2.0], np.array([[1, 0], [math.nan, 0]], kind))
    with pytest.raises(InvalidArgument, match=r"vectors\[0\] must be a vector of finite numbers"):
        mmr([1.0, 2.0], np.array([[1, math.inf], [1, 0]], kind))
    with pytest.raises(InvalidArgument, match="vectors must be as long as relevance"):
        mmr([1.0, 2.0], np.array([[1, 0]], kind))
    with pytest.raises(InvalidArgument, match="vectors must be a list of vectors of one length"):
        mmr([1.0, 2.0], np.array([1, 0], kind))


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"trade must be a number from 0 to 1, got 1\.5"):
        mmr([1.0], [[1.0]], trade=1.5)
    with pytest.raises(InvalidArgument, match="limit must be a whole number of at least 0"):
        mmr([1.0], [[1.0]], limit=-1)
    with pytest.raises(InvalidArgument, match=r"relevance\[0\] must be a finite number"):
        adaptive_mmr([math.nan], [[1.0]])
    with pytest.raises(InvalidArgument, match="per_group must be a whole number of at least 1"):
        group_coverage(["a"], per_group=0)
    with pytest.raises(InvalidArgument, match="within must be a whole number of at least 1"):
        group_coverage(["a"], within=0)
    with pytest.raises(InvalidArgument, match="groups must be a list with the group of each item"):
        group_coverage("abc")
    with pytest.raises(InvalidArgument, match="groups must be a list of hashable groups"):
        group_coverage([["a"], ["b"]])  # type: ignore[list-item]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("trade", [0.0, 0.3, 0.7, 0.95, 1.0])
def test_leaving_the_hopeless_out_of_a_large_pool_changes_nothing(trade: float, seed: int) -> None:
    # From 500 items on, candidates that can no longer win are dropped; no winner may be among them.
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(700, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    relevance = random.random(700) ** (1 + seed)
    related = (relevance - relevance.min()) / (relevance.max() - relevance.min())
    chosen = [int(related.argmax())]
    while len(chosen) < 12:
        value = trade * related - (1 - trade) * (vectors @ vectors[chosen].T).max(axis=1)
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
    assert mmr(relevance, vectors, trade=trade, limit=12).tolist() == chosen
