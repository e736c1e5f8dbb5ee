"""Soft-lexical matches against a slow oracle."""

from __future__ import annotations

import numpy as np
import pytest

from memorata.rank.soft_lexical import length_factors, soft_matches, token_weights


def oracle(query: list[int], texts: list[list[int]], rows: np.ndarray, cut: float) -> list[list[float]]:
    """Compare every token with every other, one at a time."""
    result = []
    for text in texts:
        row = []
        for token in query:
            best = 0.0
            for other in text:
                cosine = float(rows[token] @ rows[other])
                if cosine >= cut:
                    best = max(best, cosine**1.5)
            row.append(best)
        result.append(row)
    return result


@pytest.mark.parametrize("seed", range(5))
def test_matches_are_those_of_the_oracle(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(40, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[3] = 0
    texts = [random.integers(0, 40, size).tolist() for size in (0, 3, 1, 0, 7, 0)]
    query = random.integers(0, 40, 5)
    tokens = np.array([token for text in texts for token in text], np.intp)
    sizes = np.array([len(text) for text in texts])
    found = soft_matches(query, tokens, sizes, rows, cut=0.25)
    np.testing.assert_allclose(found, oracle(query.tolist(), texts, rows, 0.25), atol=1e-5)


def test_nothing_meets_nothing() -> None:
    rows = np.eye(3, dtype=np.float32)
    none = np.zeros(0, np.intp)
    assert soft_matches(none, np.array([1]), np.array([1]), rows).shape == (1, 0)
    assert not soft_matches(np.array([1]), none, np.array([0, 0]), rows).any()


def test_the_same_token_is_met_in_full_and_a_far_one_not_at_all() -> None:
    rows = np.array([[1, 0], [0.1, 0.995]], np.float32)
    assert soft_matches(np.array([0]), np.array([0, 1]), np.array([1, 1]), rows).tolist() == [[1.0], [0.0]]


def test_long_texts_count_less_and_short_ones_in_full() -> None:
    factors = length_factors(np.array([1, 64, 65, 512]))
    assert factors[:2].tolist() == [1.0, 1.0]
    assert 1 > factors[2] > factors[3] > 0.5


def test_weights_of_a_table_without_rows() -> None:
    assert token_weights(np.zeros(3)).tolist() == [0, 0, 0]
