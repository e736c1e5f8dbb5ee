"""Pairs that agree on a band, against the obvious double loop."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.collisions import colliding_pairs
from memorata.model.errors import InvalidArgument


def slow(bands: list[list[int]]) -> list[list[int]]:
    count = len(bands[0]) if bands else 0
    return [[a, b] for a, b in combinations(range(count), 2) if any(band[a] == band[b] for band in bands)]


@given(
    st.integers(0, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), max_size=4)
    )
)
def test_all_pairs_of_small_buckets_are_found_once(bands: list[list[int]]) -> None:
    assert colliding_pairs(np.array(band, np.uint64) for band in bands).tolist() == slow(bands)


def test_a_large_bucket_gives_only_neighbours() -> None:
    pairs = colliding_pairs([np.zeros(1_000, np.uint64)], largest=3)
    assert len(pairs) == 999 + 998 + 997
    assert (pairs[:, 1] - pairs[:, 0]).max() == 3


def test_beyond_the_largest_bucket_fewer_neighbours_may_do() -> None:
    keys = np.array([1] * 100 + [2] * 4 + [3], np.uint64)
    pairs = colliding_pairs([keys], largest=4, beyond=1)
    assert len(pairs) == 99 + 6
    assert pairs[99:].tolist() == [[100, 101], [100, 102], [100, 103], [101, 102], [101, 103], [102, 103]]
    assert (
        colliding_pairs([keys], largest=4, beyond=4).tolist() == colliding_pairs([keys], largest=4).tolist()
    )
    for bad in (0, 5, True, 1.5):
        with pytest.raises(InvalidArgument, match="beyond"):
            colliding_pairs([keys], largest=4, beyond=bad)  # type: ignore[arg-type]


def test_many_bands_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorata.dedupe.collisions._KEPT", 10)
    bands = [np.array([1, 1, 2, 2, 2], np.uint64)] * 5
    assert colliding_pairs(bands).tolist() == [[0, 1], [2, 3], [2, 4], [3, 4]]


@pytest.mark.parametrize(
    "bands",
    [
        [[1, 2]],
        [np.array([1, 2])],
        [np.zeros((2, 2), np.uint64)],
        [np.zeros(2, np.uint64), np.zeros(3, np.uint64)],
    ],
)
def test_bad_bands_are_refused(bands: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match="bands"):
        colliding_pairs(bands)
    with pytest.raises(InvalidArgument, match="largest"):
        colliding_pairs([], largest=1)
