import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.rank import best_first
from memorata.rank.order import _PARTITION_FROM, first_of_each, reached


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
