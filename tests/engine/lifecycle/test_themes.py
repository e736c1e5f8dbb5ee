"""Memories about one thing are put together, by meaning, by names, and without chaining."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.engine.lifecycle.consolidation import themes


def found(
    vectors: list[list[float]], names: list[str], threshold: float = 0.5, least: int = 2
) -> list[list[int]]:
    rows = np.array(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    listed = [frozenset(each.split()) for each in names]
    return [group.tolist() for group in themes(units, listed, threshold, least)]


def test_meaning_puts_together_and_small_groups_are_left_out() -> None:
    vectors = [[1.0, 0.0], [0.9, 0.1], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    assert found(vectors, [""] * 5) == [[0, 1, 2], [3, 4]]
    assert found(vectors, [""] * 5, least=3) == [[0, 1, 2]]


def test_a_rare_name_puts_together_what_has_no_vector() -> None:
    assert found([[0, 0]] * 6, ["anna", "anna", "", "", "bo", ""]) == [[0, 1]]


def test_a_name_that_most_have_says_nothing() -> None:
    assert found([[0, 0]] * 4, ["anna", "anna", "anna", ""]) == []


def test_two_subjects_with_one_memory_between_them_stay_two() -> None:
    left, right = [[1, 0.05 * n, 0] for n in range(5)], [[0, 0.05 * n, 1] for n in range(5)]
    groups = found([*left, [1, 0, 1], *right], [""] * 11)
    assert sorted(len(group) for group in groups) == [5, 6]


def test_nothing_at_all() -> None:
    assert themes(np.zeros((0, 3), np.float32), [], 0.5, 2) == []
    assert found([[0, 0], [0, 0]], ["", ""]) == []


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 60), st.integers(0, 5))
def test_groups_are_disjoint_and_large_enough(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    groups = themes(rows, [frozenset()] * count, 0.3, 3)
    members = [each for group in groups for each in group.tolist()]
    assert len(members) == len(set(members))
    assert all(group.size >= 3 for group in groups)
