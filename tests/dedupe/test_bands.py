import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe import Banding, bands_for, candidate_probability, lsh_threshold, miss_probability
from memorata.model.errors import InvalidArgument

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(("bands", "rows", "worked"), [(20, 5, 0.549), (16, 8, 0.707), (10, 10, 0.794)])
def test_the_threshold_of_well_known_bandings(bands: int, rows: int, worked: float) -> None:
    assert lsh_threshold(bands, rows) == pytest.approx(worked, abs=5e-4)


def test_the_threshold_at_the_ends() -> None:
    assert lsh_threshold(1, 7) == 1.0
    assert lsh_threshold(4, 1) == 0.25


def test_a_pair_at_that_threshold_is_missed_once_in_three() -> None:
    assert miss_probability(lsh_threshold(20, 5), 20, 5) == pytest.approx((1 - 1 / 20) ** 20)
    assert miss_probability(lsh_threshold(20, 5), 20, 5) == pytest.approx(0.358, abs=5e-4)


@pytest.mark.parametrize(
    ("similarity", "bands", "rows", "missed"),
    [
        (0.5, 1, 1, 0.5),
        (0.5, 2, 1, 0.25),
        (0.5, 1, 2, 0.75),
        (0.5, 2, 2, 0.5625),
        (0.0, 9, 9, 1.0),
        (1.0, 9, 9, 0.0),
        (0.8, 20, 5, 0.000356),
    ],
)
def test_misses_by_hand(similarity: float, bands: int, rows: int, missed: float) -> None:
    assert miss_probability(similarity, bands, rows) == pytest.approx(missed, abs=5e-7)
    assert candidate_probability(similarity, bands, rows) == pytest.approx(1 - missed, abs=5e-7)


@given(st.floats(0, 1), st.integers(1, 40), st.integers(1, 20))
def test_probabilities_agree_with_exact_fractions(similarity: float, bands: int, rows: int) -> None:
    missed = (1 - Fraction(similarity) ** rows) ** bands
    assert miss_probability(similarity, bands, rows) == pytest.approx(float(missed), rel=1e-9, abs=1e-12)
    assert candidate_probability(similarity, bands, rows) == pytest.approx(float(1 - missed), rel=1e-9)


def test_tiny_probabilities_of_a_candidate_are_not_lost() -> None:
    assert candidate_probability(0.01, 20, 10) == pytest.approx(20 * 1e-20, rel=1e-9)


def exhaustive(threshold: float, permutations: int, miss: float) -> Banding | None:
    """Try every banding; the longest rows win, then the fewest bands."""
    safe = [
        (rows, -bands)
        for rows in range(1, permutations + 1)
        for bands in range(1, permutations + 1)
        if bands * rows <= permutations and miss_probability(threshold, bands, rows) <= miss
    ]
    if not safe:
        return None
    rows, bands = max(safe)
    return Banding(-bands, rows)


@given(
    st.floats(0.01, 1) | st.sampled_from([0.5, 0.75, 0.9, 0.99, 1.0]),
    st.integers(1, 48),
    st.floats(1e-6, 0.99) | st.sampled_from([0.01, 0.1, 0.25, 0.5]),
)
@example(0.9, 2, 0.01)
@example(0.5, 2, 0.25)
@example(0.5, 1, 0.5)
def test_the_banding_is_that_of_an_exhaustive_search(
    threshold: float, permutations: int, miss: float
) -> None:
    best = exhaustive(threshold, permutations, miss)
    if best is None:
        with pytest.raises(InvalidArgument, match="permutations must be about"):
            bands_for(threshold, permutations, miss)
    else:
        assert bands_for(threshold, permutations, miss) == best


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 0.95])
def test_a_longer_row_would_miss_too_many(threshold: float) -> None:
    banding = bands_for(threshold, 128)
    assert banding.permutations <= 128
    assert miss_probability(threshold, banding.bands, banding.rows) <= 0.01
    assert miss_probability(threshold, banding.bands - 1, banding.rows) > 0.01
    assert miss_probability(threshold, 128 // (banding.rows + 1), banding.rows + 1) > 0.01


def test_identical_texts_need_one_band() -> None:
    assert bands_for(1.0, 128) == Banding(1, 128)


def test_too_few_permutations_say_how_many_would_do() -> None:
    # ln 0.01 / ln 0.9 = 43.7
    with pytest.raises(
        InvalidArgument, match=r"permutations must be about 44 or more .* similarity 0.1, got 16"
    ):
        bands_for(0.1, 16)
    assert bands_for(0.1, 44) == Banding(44, 1)


def test_a_hopeless_threshold_is_refused_in_words_too() -> None:
    with pytest.raises(InvalidArgument, match="permutations must be about"):
        bands_for(1e-300, 128)


BAD_COUNTS = [0, -1, 1.5, "20", None, True, NAN]
BAD_SIMILARITIES = [-0.1, 1.1, NAN, INF, "0.5", None, True]


@pytest.mark.parametrize("bad", BAD_COUNTS)
def test_bands_and_rows_are_whole_numbers_from_one(bad: int) -> None:
    for function in (miss_probability, candidate_probability):
        with pytest.raises(InvalidArgument, match="bands must be"):
            function(0.5, bad, 5)
        with pytest.raises(InvalidArgument, match="rows must be"):
            function(0.5, 20, bad)
    for pair in (lsh_threshold, Banding):
        with pytest.raises(InvalidArgument, match="bands must be"):
            pair(bad, 5)
        with pytest.raises(InvalidArgument, match="rows must be"):
            pair(20, bad)
    with pytest.raises(InvalidArgument, match="permutations must be"):
        bands_for(0.8, bad)


@pytest.mark.parametrize("bad", BAD_SIMILARITIES)
def test_similarities_are_probabilities(bad: float) -> None:
    for function in (miss_probability, candidate_probability):
        with pytest.raises(InvalidArgument, match="similarity must be"):
            function(bad, 20, 5)


@pytest.mark.parametrize("bad", [*BAD_SIMILARITIES, 0.0])
def test_the_threshold_lies_above_zero(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="threshold must be"):
        bands_for(bad, 128)


@pytest.mark.parametrize("bad", [*BAD_SIMILARITIES, 0.0, 1.0])
def test_the_accepted_miss_lies_between_zero_and_one(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="miss must be"):
        bands_for(0.8, 128, bad)
