import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe import ROUNDING, near_pairs
from memorata.model.errors import InvalidArgument

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
