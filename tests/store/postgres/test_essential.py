"""Which lists are read in full: those without which nothing can be among the best."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.rank.bm25 import BM25
from memorata.store.postgres.essential import bound, telling


@given(st.integers(1, 100), st.integers(1, 100), st.integers(0, 50), st.integers(0, 50), st.floats(0.5, 60.0))
def test_nothing_adds_more_than_its_bound(
    frequency: int, length: int, more: int, less: int, average: float
) -> None:
    scorer = BM25(1.2, 0.75)
    room = scorer.k1 * (1 - scorer.b + scorer.b * length / average)
    added = 3.0 * frequency * (scorer.k1 + 1) / (frequency + room)
    assert bound(3.0, frequency + more, max(0, length - less), average, scorer) >= added - 1e-12


def test_short_questions_are_read_in_full() -> None:
    assert telling([5.0, 0.1], [40, 900], 10) == [True, True]
    assert telling([], [], 10) == []


def test_common_terms_are_looked_up_when_the_others_find_enough() -> None:
    assert telling([0.001, 6.0, 0.002, 5.0], [9_000, 20, 8_000, 30], 10) == [False, True, False, True]


def test_common_terms_that_add_up_are_read() -> None:
    assert telling([6.0, 1.4, 1.3], [100, 5_000, 5_000], 10) == [True, True, False]


@given(st.lists(st.tuples(st.floats(1e-6, 20), st.integers(1, 100_000)), max_size=8), st.integers(1, 100))
def test_what_is_not_read_adds_little(lists: list[tuple[float, int]], limit: int) -> None:
    bounds, sizes = [each for each, _ in lists], [size for _, size in lists]
    read = telling(bounds, sizes, limit)
    others = [each for each, is_read in zip(bounds, read, strict=True) if not is_read]
    if others:
        assert math.fsum(others) < max(bounds)
        assert min(each for each, is_read in zip(bounds, read, strict=True) if is_read) >= max(others)
        assert sum(size for size, is_read in zip(sizes, read, strict=True) if is_read) >= 2 * limit


@pytest.mark.parametrize("limit", [1, 100])
def test_a_term_everybody_has_is_all_there_is(limit: int) -> None:
    assert telling([0.0001], [100_000], limit) == [True]
