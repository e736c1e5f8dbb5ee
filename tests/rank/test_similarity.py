import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import cosine, cosines, max_similarity, unit_rows

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(FLOATS, min_size=width, max_size=width), min_size=1, max_size=6)
)


def by_the_formula(a: list[float], b: list[float]) -> float:
    """Return a·b / (|a|·|b|) from exact sums, of vectors first scaled by their largest components."""
    if not any(a) or not any(b):
        return 0.0
    a, b = ([x / max(map(abs, v)) for x in v] for v in (a, b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 0], [1, 0], 1.0),
        ([1, 0], [0, 1], 0.0),
        ([1, 0], [-3, 0], -1.0),
        ([3, 4], [4, 3], 0.96),
        ([], [], 0.0),
        ([0, 0], [1, 2], 0.0),
        ([1e-300, 1e-300], [1e300, 1e300], 1.0),
        ([5e-324], [1.7e308], 1.0),
    ],
)
def test_cosines_by_hand(a: list[float], b: list[float], expected: float) -> None:
    assert cosine(a, b) == pytest.approx(expected, abs=1e-15)


@given(MATRICES)
def test_the_batch_is_the_formula_row_by_row(rows: list[list[float]]) -> None:
    query = rows[0]
    expected = [by_the_formula(row, query) for row in rows]
    assert cosines(rows, query).tolist() == pytest.approx(expected, abs=1e-12)
    assert [cosine(row, query) for row in rows] == pytest.approx(expected, abs=1e-12)
    assert max_similarity(query, rows) == pytest.approx(max(expected), abs=1e-12)
    assert np.abs(cosines(rows, query)).max() <= 1.0


@given(MATRICES)
def test_unit_rows_have_length_1_and_their_product_is_the_cosine(rows: list[list[float]]) -> None:
    unit = unit_rows(rows)
    for given_, scaled in zip(rows, unit.tolist(), strict=True):
        assert math.hypot(*scaled) == pytest.approx(1.0 if any(given_) else 0.0, abs=1e-12)
    assert cosines(unit, unit[0], normalised=True).tolist() == pytest.approx(
        cosines(rows, rows[0]).tolist(), abs=1e-12
    )


def test_float32_vectors_of_length_1_stay_within_the_range() -> None:
    rows = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for row in unit[:20]:
        products = cosines(unit, row, normalised=True)
        assert products.dtype == np.float64
        assert np.abs(products).max() <= 1.0


def test_vectors_that_are_not_of_length_1_are_noticed() -> None:
    with pytest.raises(InvalidArgument, match="normalised must be False, because not all vectors"):
        cosines([[3.0, 4.0]], [1.0, 1.0], normalised=True)
    with pytest.raises(InvalidArgument, match="normalised must be False"):
        cosines([[1e200, -1e200]], [1e200, 1e200], normalised=True)


def test_nothing_to_compare_with() -> None:
    assert max_similarity([1.0, 0.0], []) == 0.0
    assert cosines([], [1.0, 0.0]).tolist() == []
    assert cosines(np.zeros((0, 2)), [1.0, 0.0]).tolist() == []
    assert cosines([[], []], []).tolist() == [0.0, 0.0]
    assert unit_rows([]).shape == (0, 0)
    assert unit_rows([[], []]).shape == (2, 0)


def test_different_dimensions_raise() -> None:
    with pytest.raises(InvalidArgument, match=r"b must be as long as a \(2 items\), got 3 items"):
        cosine([1, 0], [1, 0, 0])
    with pytest.raises(InvalidArgument, match="query must be of the vectors' dimension 2, got dimension 3"):
        cosines([[1, 0]], [1, 0, 0])
    with pytest.raises(InvalidArgument, match="query must be of the vectors' dimension 0, got dimension 1"):
        cosines([[], []], [1.0])


def test_the_input_is_not_changed() -> None:
    rows = np.array([[3.0, 4.0]])
    unit_rows(rows)
    cosines(rows, rows[0])
    assert rows.tolist() == [[3.0, 4.0]]
