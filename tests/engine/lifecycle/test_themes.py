"""Memories about one thing are put together, by meaning, by names, and without chaining."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.consolidation import MIN_COHESION, linked, themes


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


def test_a_chain_of_subjects_is_no_theme() -> None:
    """Each is near the next, the first has nothing to do with the last."""
    turns = np.linspace(0, np.pi, 20)
    groups = found([[float(np.cos(turn)), float(np.sin(turn))] for turn in turns], [""] * 20)
    assert max(map(len, groups)) <= 10


def test_a_model_that_finds_everything_alike_makes_no_theme_of_everything() -> None:
    """All cosines are about 0.8, far above the threshold; four memories are nearer to each other."""
    rng = np.random.default_rng(7)
    rows = np.hstack([np.full((60, 1), 2.0), rng.normal(size=(60, 200)) / np.sqrt(200)])
    rows[:4, 1:] = rows[0, 1:] + rng.normal(size=(4, 200)) / np.sqrt(20_000)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    groups = themes(rows.astype(np.float32), [frozenset()] * 60, 0.5, 3)
    assert [group.tolist() for group in groups] == [[0, 1, 2, 3]]


def test_a_name_and_a_little_likeness_are_enough_and_each_alone_is_not() -> None:
    # Cosines of 0.66 tie by (0.66 - 0.5) / 0.5 = 0.32, a name that 3 of 8 share by 0.6 · 5 / 8 = 0.375.
    alike = np.full((8, 8), 0.0)
    alike[:3, :3] = 0.66
    np.fill_diagonal(alike, 1.0)
    vectors = np.linalg.cholesky(alike).astype(np.float32)
    shared = [frozenset({"anna"})] * 3 + [frozenset[str]()] * 5
    assert [group.tolist() for group in themes(vectors, shared, 0.5, 3)] == [[0, 1, 2]]
    assert themes(vectors, [frozenset()] * 8, 0.5, 3) == []
    assert themes(np.eye(8, dtype=np.float32), shared, 0.5, 3) == []
    assert MIN_COHESION == 0.4


@given(st.integers(1, 25), st.integers(0, 1000), st.floats(0.1, 0.9))
def test_chains_of_neighbours_find_what_trying_every_pair_finds(count: int, seed: int, least: float) -> None:
    drawn = np.random.default_rng(seed).random((count, count), np.float32)
    ties = np.maximum(drawn, drawn.T)
    groups = [[position] for position in range(count)]
    while len(groups) > 1:
        means = {
            (one, other): float(ties[np.ix_(groups[one], groups[other])].mean())
            for one in range(len(groups))
            for other in range(one)
        }
        (one, other), best = max(means.items(), key=lambda each: each[1])
        if best < least:
            break
        groups[other] += groups.pop(one)
    assert sorted(map(sorted, linked(ties, least))) == sorted(map(sorted, groups))


def test_nothing_at_all() -> None:
    assert themes(np.zeros((0, 3), np.float32), [], 0.5, 2) == []
    assert found([[0, 0], [0, 0]], ["", ""]) == []


@given(st.integers(2, 60), st.integers(0, 5))
def test_groups_are_disjoint_and_large_enough(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    groups = themes(rows, [frozenset()] * count, 0.3, 3)
    members = [each for group in groups for each in group.tolist()]
    assert len(members) == len(set(members))
    assert all(group.size >= 3 for group in groups)
