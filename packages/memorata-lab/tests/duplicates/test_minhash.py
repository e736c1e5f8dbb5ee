"""Signatures agree as often as their owners resemble each other."""

import math
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.extend.errors import InvalidArgument
from memorata_lab.duplicates import bands_for, lsh_threshold
from memorata_lab.duplicates.minhash import (
    Banding,
    ShingleSigner,
    agreement,
    band_keys,
    character_shingles,
    direction_keys,
    jaccard,
    miss_probability,
    shingle_hashes,
)

SETS = st.frozensets(st.sampled_from("abcdef"))


def test_characters() -> None:
    assert character_shingles("abcd") == {"abc", "bcd"}
    assert character_shingles("abcd", 1) == {"a", "b", "c", "d"}
    assert character_shingles("aaaa", 2) == {"aa"}
    assert character_shingles("a b", 2) == {"a ", " b"}


@pytest.mark.parametrize("text", ["a", "ab", "\x00", "\ud800", "👍"])
def test_a_short_text_is_its_own_shingle(text: str) -> None:
    assert character_shingles(text) == {text}


def test_a_text_of_just_the_size_is_its_own_shingle() -> None:
    assert character_shingles("abc") == {"abc"}


def test_nothing_has_no_shingles() -> None:
    assert character_shingles("") == frozenset()


@given(st.text(), st.integers(1, 6))
def test_characters_are_all_windows_of_the_size(text: str, size: int) -> None:
    slow = set()
    for start in range(len(text)):
        window = text[start : start + size]
        if len(window) == size:
            slow.add(window)
    if 0 < len(text) < size:
        slow.add(text)
    assert character_shingles(text, size) == slow


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("abc", "abc", 1.0),
        ("abc", "xyz", 0.0),
        ("abc", "bcd", 0.5),
        ("a", "abcd", 0.25),
        ("", "abc", 0.0),
        ("", "", 1.0),
    ],
)
def test_jaccard_by_hand(a: str, b: str, expected: float) -> None:
    assert jaccard(frozenset(a), frozenset(b)) == expected


@given(SETS, SETS)
def test_jaccard_counts_members_one_by_one(a: frozenset[str], b: frozenset[str]) -> None:
    either = [letter for letter in "abcdef" if letter in a or letter in b]
    both = [letter for letter in either if letter in a and letter in b]
    assert jaccard(a, b) == (len(both) / len(either) if either else 1.0)
    assert jaccard(a, b) == jaccard(b, a)


def test_jaccard_takes_any_kind_of_set() -> None:
    assert jaccard({"a": 1}.keys(), {"a", "b"}) == 0.5


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", None, True])
def test_a_size_is_a_whole_number_from_one(size: int) -> None:
    with pytest.raises(InvalidArgument, match="size must be a whole number of at least 1"):
        character_shingles("some text", size)


@pytest.mark.parametrize("text", [None, 1, b"text", ["text"]])
def test_only_text_has_shingles(text: str) -> None:
    with pytest.raises(InvalidArgument, match="text must be a string"):
        character_shingles(text)


@pytest.mark.parametrize("value", ["abc", ["a"], None, 1.0])
def test_jaccard_compares_sets_only(value: AbstractSet[str]) -> None:
    with pytest.raises(InvalidArgument, match="a must be a set of shingles"):
        jaccard(value, {"a"})
    with pytest.raises(InvalidArgument, match="b must be a set of shingles"):
        jaccard({"a"}, value)


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


@given(st.floats(0, 1), st.integers(1, 40), st.integers(1, 20))
def test_probabilities_agree_with_exact_fractions(similarity: float, bands: int, rows: int) -> None:
    missed = (1 - Fraction(similarity) ** rows) ** bands
    assert miss_probability(similarity, bands, rows) == pytest.approx(float(missed), rel=1e-9, abs=1e-12)


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
    with pytest.raises(InvalidArgument, match="bands must be"):
        miss_probability(0.5, bad, 5)
    with pytest.raises(InvalidArgument, match="rows must be"):
        miss_probability(0.5, 20, bad)
    for pair in (lsh_threshold, Banding):
        with pytest.raises(InvalidArgument, match="bands must be"):
            pair(bad, 5)
        with pytest.raises(InvalidArgument, match="rows must be"):
            pair(20, bad)
    with pytest.raises(InvalidArgument, match="permutations must be"):
        bands_for(0.8, bad)


@pytest.mark.parametrize("bad", BAD_SIMILARITIES)
def test_similarities_are_probabilities(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="similarity must be"):
        miss_probability(bad, 20, 5)


@pytest.mark.parametrize("bad", [*BAD_SIMILARITIES, 0.0])
def test_the_threshold_lies_above_zero(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="threshold must be"):
        bands_for(bad, 128)


@pytest.mark.parametrize("bad", [*BAD_SIMILARITIES, 0.0, 1.0])
def test_the_accepted_miss_lies_between_zero_and_one(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="miss must be"):
        bands_for(0.8, 128, bad)


TEXTS = ["green tea and milk in the morning", "green tea and milk in the evening", "coffee", "", "hi", "hi!"]


def test_signatures_estimate_the_jaccard_index() -> None:
    rows = ShingleSigner().sign(TEXTS, 4_096)
    for a, one in enumerate(TEXTS):
        for b, other in enumerate(TEXTS):
            exact = jaccard(character_shingles(one), character_shingles(other))
            # Four standard deviations of a share of 4,096.
            assert abs((rows[a] == rows[b]).mean() - exact) <= 4 * 0.5 / 64


def test_a_row_does_not_depend_on_its_company() -> None:
    many = [*TEXTS, *(f"text number {number} " * 50 for number in range(300))]
    together = ShingleSigner().sign(many, 16)
    for place, text in enumerate(many[:20]):
        assert np.array_equal(ShingleSigner().sign([text], 16)[0], together[place])
    assert ShingleSigner().sign([], 4).shape == (0, 4)


def test_another_seed_is_another_order() -> None:
    one, other = ShingleSigner(seed=1).sign(TEXTS[:1], 64), ShingleSigner(seed=2).sign(TEXTS[:1], 64)
    assert (one == other).sum() < 4
    with pytest.raises(InvalidArgument, match="seed"):
        ShingleSigner(seed=2**64).sign(TEXTS, 4)


@given(st.lists(st.text(max_size=12), max_size=6), st.integers(1, 5))
def test_the_hashes_are_those_of_the_shingles(texts: list[str], size: int) -> None:
    hashes, firsts, owners = shingle_hashes(texts, size)
    bounds = [*firsts.tolist(), len(hashes)]
    assert owners.tolist() == [place for place, text in enumerate(texts) if text]
    found = {
        texts[owner]: set(hashes[start:end].tolist())
        for owner, start, end in zip(owners.tolist(), bounds, bounds[1:], strict=False)
    }
    for one, ones in found.items():
        assert len(ones) == len(character_shingles(one, size))
        for other, others in found.items():
            assert len(ones & others) == len(character_shingles(one, size) & character_shingles(other, size))


def test_bands_agree_where_all_their_rows_do() -> None:
    rows = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [2, 1, 3, 4]], np.uint32)
    first, second = band_keys(rows, Banding(2, 2))
    assert (first[0] == first[1], first[0] == first[2]) == (True, False)
    assert (second[0] == second[1], second[0] == second[2]) == (False, True)


def test_vectors_agree_on_planes_as_their_angle_says() -> None:
    angle = 0.5
    vectors = [[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]]
    keys = np.array([band.tolist() for band in direction_keys(vectors, Banding(4_000, 1))])
    assert abs((keys[:, 0] == keys[:, 1]).mean() - agreement(np.cos(angle))) < 4 * 0.5 / np.sqrt(4_000)


def test_a_banding_of_many_planes_is_one_number() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8))
    for rows in (1, 7, 8, 9, 33, 64):
        for keys in direction_keys(np.concatenate([vectors, vectors]), Banding(3, rows)):
            assert np.array_equal(keys[:50], keys[50:])
            assert len(set(keys.tolist())) <= 2**rows


@pytest.mark.parametrize(
    "call",
    [
        lambda: direction_keys([[1.0]], Banding(1, 65)),
        lambda: direction_keys([[1.0]], (1, 2)),  # type: ignore[arg-type]
        lambda: direction_keys([[float("nan")]], Banding(1, 1)),
        lambda: band_keys(np.zeros((2, 3), np.uint32), Banding(2, 2)),
        lambda: band_keys(np.zeros((2, 4)), Banding(2, 2)),  # type: ignore[arg-type]
        lambda: band_keys([[1, 2]], Banding(1, 2)),  # type: ignore[arg-type]
        lambda: band_keys(np.zeros((2, 4), np.uint32), 2),  # type: ignore[arg-type]
        lambda: ShingleSigner(0),
        lambda: ShingleSigner().sign("tea", 4),
        lambda: ShingleSigner().sign(["tea"], 0),
        lambda: shingle_hashes([5], 3),  # type: ignore[list-item]
        lambda: agreement(1.1),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgument):
        call()
