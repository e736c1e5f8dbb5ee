"""Seed weights as ALGORITHMS.md section 8 has them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import seed_weights
from memorata.model import InvalidArgument


def test_the_three_parts_are_mixed() -> None:
    # 0.5·0.8 + 0.3·0.4 + 0.2·ln 4/ln 8 = 0.52 + 0.2·2/3, and 0.5·0.2 + 0.3·0.6 + 0.2·1 = 0.48.
    first, second = 0.52 + 0.2 * 2 / 3, 0.48
    found = seed_weights([0.8, 0.2], [0.4, 0.6], [3, 7])
    np.testing.assert_allclose(found, [first / (first + second), second / (first + second)])


@pytest.mark.parametrize(("degrees", "parts"), [([1, 0], [0.2, 0.0]), ([0, 0], [0.0, 0.0])])
def test_where_no_degree_is_above_one_an_edge_is_all_or_nothing(
    degrees: list[int], parts: list[float]
) -> None:
    raw = np.array(parts) + 0.5 * np.array([0.4, 0.4])
    np.testing.assert_allclose(seed_weights([0.4, 0.4], [0, 0], degrees), raw / raw.sum())


def test_all_zero_falls_back_to_uniform_and_nothing_to_nothing() -> None:
    assert seed_weights([0, 0], [0, 0], [0, 0]).tolist() == [0.5, 0.5]
    assert seed_weights([-1, -1], [-1, 0], [0, 0]).tolist() == [0.5, 0.5]
    assert seed_weights([], [], []).tolist() == []


def test_what_points_away_from_the_question_seeds_nothing() -> None:
    assert seed_weights([-0.9, 0.5], [-0.1, 0.5], [1, 1]).tolist() == [0.0, 1.0]


def test_the_weights_of_the_parts_cannot_all_be_zero() -> None:
    with pytest.raises(InvalidArgument, match="entity_weight"):
        seed_weights([0.5], [0.5], [1], entity_weight=0, memory_weight=0, degree_weight=0)


COSINES = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


@given(COSINES, COSINES, st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_they_are_a_distribution_and_the_formula(
    entity: list[float], memory: list[float], degrees: list[int]
) -> None:
    found = seed_weights(entity, memory, degrees)
    most = max(degrees)
    raw = []
    for cosine, mean, degree in zip(entity, memory, degrees, strict=True):
        tied = math.log(1 + degree) / math.log(1 + most) if most > 1 else float(degree > 0)
        raw.append(max(0.0, 0.5 * cosine + 0.3 * mean + 0.2 * tied))
    expected = [value / sum(raw) for value in raw] if sum(raw) > 0 else [1 / 3] * 3
    np.testing.assert_allclose(found, expected, atol=1e-9)
