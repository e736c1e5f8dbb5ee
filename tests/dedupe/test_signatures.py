"""Signatures agree as often as their owners resemble each other."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.dedupe.bands import Banding
from memorata.dedupe.shingles import character_shingles, jaccard
from memorata.dedupe.signatures import (
    ShingleSigner,
    agreement,
    band_keys,
    direction_keys,
    shingle_hashes,
)
from memorata.model.errors import InvalidArgument

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


@settings(max_examples=50)
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
