import statistics
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import NORMALISERS, best_first, max_scaled, min_max, rank_based, z_score
from memorata.rank.scores import _PARTITION_FROM, first_of_each, reached


def sorted_by_hand(scores: list[float], limit: int | None) -> list[int]:
    """Python's sort is stable: equal scores stay in input order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])[:limit]


def test_best_first_with_ties_in_input_order() -> None:
    assert best_first([0.2, 0.9, 0.2, 0.5, 0.9]).tolist() == [1, 4, 3, 0, 2]
    assert best_first([0.2, 0.9, 0.2, 0.5, 0.9], limit=4).tolist() == [1, 4, 3, 0]


@pytest.mark.parametrize(
    ("scores", "limit", "order"),
    [
        ([], None, []),
        ([], 3, []),
        ([7.0], None, [0]),
        ([7.0], 0, []),
        ([1.0, 1.0, 1.0], None, [0, 1, 2]),
        ([1.0, 1.0, 1.0], 2, [0, 1]),
        ([0.0, -0.0], None, [0, 1]),
        ([1.0, 2.0], 99, [1, 0]),
    ],
)
def test_edges(scores: list[float], limit: int | None, order: list[int]) -> None:
    assert best_first(scores, limit).tolist() == order


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 3).map(float), max_size=30),
    st.none() | st.integers(0, 35),
)
def test_it_is_the_stable_sort(scores: list[float], limit: int | None) -> None:
    assert best_first(scores, limit).tolist() == sorted_by_hand(scores, limit)


@given(st.integers(0, 2**32 - 1), st.integers(0, _PARTITION_FROM + 60), st.integers(1, 40))
def test_large_pools_are_selected_before_they_are_sorted(seed: int, limit: int, levels: int) -> None:
    # Few distinct levels put many ties across the border of the selection.
    pool = np.random.default_rng(seed).integers(0, levels, _PARTITION_FROM + 50).astype(float).tolist()
    assert best_first(pool, limit).tolist() == sorted_by_hand(pool, limit)


@given(st.lists(st.integers(-3, 3), max_size=30))
def test_first_of_each_is_the_loop(values: list[int]) -> None:
    expected = [position for position, value in enumerate(values) if value not in values[:position]]
    assert first_of_each(np.array(values, np.int64)).tolist() == expected


@given(st.lists(st.integers(-9, 9).map(float), max_size=400), st.integers(1, 12))
def test_at_least_as_many_reach_it_as_are_asked_for(scores: list[float], limit: int) -> None:
    array = np.array(scores)
    bound = reached(array, limit)
    assert np.count_nonzero(array >= bound) >= min(limit, array.size)
    assert bound <= max(sorted(scores, reverse=True)[limit - 1 :], default=np.inf)


SCORES = st.lists(st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float), max_size=20)


def test_min_max_by_hand() -> None:
    assert min_max([2.0, 4.0, 3.0]).tolist() == [0.0, 1.0, 0.5]
    assert min_max([-1.0, 0.0, 3.0]).tolist() == [0.0, 0.25, 1.0]


def test_z_score_by_hand() -> None:
    # Mean 5, population deviation 2.
    expected = [-1.5, -0.5, -0.5, -0.5, 0, 0, 1, 2]
    assert z_score([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).tolist() == pytest.approx(expected, abs=1e-15)


def test_max_scaled_by_hand() -> None:
    assert max_scaled([8.0, 2.0, 0.0]).tolist() == [1.0, 0.25, 0.0]
    # The maximum is floored at 1e-9, so that scores of nothing stay nothing.
    assert max_scaled([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert max_scaled([1e-12]).tolist() == pytest.approx([1e-3])
    assert max_scaled([-2e-9, -1e-9]).tolist() == pytest.approx([-2.0, -1.0])


def test_rank_based_by_hand() -> None:
    assert rank_based([0.1, 9.0, 0.5, 0.1]).tolist() == [0.5, 1.0, 0.75, 0.25]


@pytest.mark.parametrize(
    ("normalise", "one", "equal"),
    [
        (min_max, [1.0], [1.0, 1.0, 1.0]),
        (z_score, [0.0], [0.0, 0.0, 0.0]),
        (max_scaled, [1.0], [1.0, 1.0, 1.0]),
        (rank_based, [1.0], [1.0, 2 / 3, 1 / 3]),
        (NORMALISERS["none"], [0.1], [0.1, 0.1, 0.1]),
    ],
)
def test_none_one_and_all_equal(
    normalise: Callable[[list[float]], np.ndarray], one: list[float], equal: list[float]
) -> None:
    assert normalise([]).tolist() == []
    assert normalise([0.1]).tolist() == one
    assert normalise([0.1] * 3).tolist() == equal


@given(SCORES)
def test_min_max_is_the_formula(scores: list[float]) -> None:
    if len(set(scores)) < 2:
        expected = [1.0] * len(scores)
    else:
        low, high = min(scores), max(scores)
        expected = [(score - low) / (high - low) for score in scores]
    assert min_max(scores).tolist() == pytest.approx(expected, abs=1e-12)


@given(SCORES)
def test_z_score_is_the_formula(scores: list[float]) -> None:
    if len(set(scores)) < 2:
        assert z_score(scores).tolist() == [0.0] * len(scores)
        return
    # Exact rational sums; floats too close for a double's mean to tell apart are another test.
    mean, deviation = statistics.fmean(scores), statistics.pstdev(scores)
    if deviation > 1e-6 * max(map(abs, scores)):
        expected = [(score - mean) / deviation for score in scores]
        assert z_score(scores).tolist() == pytest.approx(expected, abs=1e-8)


@given(SCORES)
def test_rank_based_is_the_formula(scores: list[float]) -> None:
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    expected = [1 - order.index(index) / len(scores) for index in range(len(scores))]
    assert rank_based(scores).tolist() == pytest.approx(expected, abs=1e-12)


@given(st.sampled_from(sorted(NORMALISERS)), SCORES)
def test_every_normaliser_keeps_the_order(name: str, scores: list[float]) -> None:
    result = NORMALISERS[name](scores).tolist()
    assert len(result) == len(scores)
    for one, low in zip(result, scores, strict=True):
        for other, high in zip(result, scores, strict=True):
            assert one <= other or low >= high


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=10))
def test_the_ranges_hold_for_every_float(scores: list[float]) -> None:
    scaled = min_max(scores)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    assert not scores or scaled.max() == 1.0
    assert np.abs(z_score(scores)).max(initial=0.0) <= len(scores) ** 0.5 + 1e-9


def test_ends_that_are_too_far_apart_to_subtract() -> None:
    assert min_max([-1.7e308, 0.0, 1.7e308]).tolist() == [0.0, 0.5, 1.0]
    assert z_score([-1.7e308, 1.7e308]).tolist() == [-1.0, 1.0]


def test_scores_that_differ_in_the_last_bit_alone() -> None:
    assert min_max([1.0, 1.0 + 2**-52]).tolist() == [0.0, 1.0]
    assert z_score([0.1 + 0.2, 0.3]).tolist() == pytest.approx([1.0, -1.0])
    # Equal scores have no deviation, although the mean of three 0.1 is not 0.1 in floats.
    assert z_score([0.1, 0.1, 0.1]).tolist() == [0.0, 0.0, 0.0]


def test_scores_far_below_a_maximum_of_nothing_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"scores must be small enough .*got \[-1e\+308\]"):
        max_scaled([-1e308])


@pytest.mark.parametrize("name", sorted(NORMALISERS))
def test_the_input_is_neither_changed_nor_handed_out(name: str) -> None:
    scores = np.array([3.0, 1.0])
    result = NORMALISERS[name](scores)
    result[0] = 99.0
    assert scores.tolist() == [3.0, 1.0]
    empty = np.zeros(0)
    assert NORMALISERS[name](empty) is not empty
