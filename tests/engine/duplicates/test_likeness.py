"""Like pairs: both methods, keys that keep texts apart, and crowds in which everything is alike."""

import numpy as np
import pytest

from memorata.dedupe.minhash import ShingleSigner
from memorata.dedupe.pairs import Method
from memorata.engine.duplicate_search import Candidates, Likeness, joined, most_alike
from memorata.index.codes import Floats


def quiet(what: str, done: int, total: int) -> None:
    """Listen to nothing."""


def crowd(count: int) -> list[Floats | None]:
    rows = np.random.default_rng(5).normal(0, 0.02, (count, 16)) + np.eye(16)[0]
    return [np.asarray(row / np.linalg.norm(row), np.float32)[None] for row in rows]


@pytest.mark.parametrize("method", list(Method))
def test_only_pairs_of_one_key_are_alike(method: Method) -> None:
    texts = ["green tea in the morning"] * 4
    keys = np.array([0, 1, 0, 1], np.uint64)
    for vectors in (crowd(4), [None] * 4):
        found = Likeness(0.92, ShingleSigner()).find(texts, vectors, method, quiet, keys)
        assert found.pairs.tolist() == [[0, 2], [1, 3]]


@pytest.mark.untraced
def test_in_a_crowd_the_pairs_grow_with_the_number_and_not_with_its_square() -> None:
    looked = Likeness(0.92, ShingleSigner())
    counts = [
        len(looked.find([f"tea {n}" for n in range(size)], crowd(size), Method.LSH, quiet).pairs)
        for size in (300, 600)
    ]
    # 140 bands of directions and 33 of letters, and one neighbour in each at most in large buckets.
    assert counts[1] < 600 * (140 + 33 + 32)
    assert counts[1] < 600 * 599 / 2 / 2


def test_a_sample_tells_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorata.engine.duplicate_search._MAX_NEAR_PAIRS", 1_000)
    looked, same = Likeness(0.92, ShingleSigner()), np.zeros(60, np.uint64)
    assert looked.crowded(crowd(60), same)
    assert not looked.crowded(crowd(60), np.arange(60, dtype=np.uint64))
    assert not looked.crowded([None] * 60, same)


def test_of_very_many_pairs_each_memory_keeps_those_most_like_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2]], np.intp)
    found = Candidates(pairs, np.array([0.93, 0.99, 0.95, np.nan]))
    assert most_alike(found) is found
    monkeypatch.setattr("memorata.engine.duplicate_search._MAX_PAIRS", 3)
    monkeypatch.setattr("memorata.engine.duplicate_search._MAX_PAIRS_PER_MEMORY", 2)
    assert most_alike(found).pairs.tolist() == [[0, 2], [0, 3], [1, 2]]


def test_pairs_found_twice_are_one() -> None:
    one = Candidates(np.array([[1, 2], [0, 3]], np.intp), np.array([0.95, 0.93]))
    both = joined(one, Candidates(np.array([[0, 3]], np.intp), np.array([0.93])))
    assert (both.pairs.tolist(), both.cosines.tolist()) == ([[0, 3], [1, 2]], [0.93, 0.95])


@pytest.mark.parametrize("method", list(Method))
def test_the_comparison_tells_how_far_it_is(method: Method) -> None:
    told: list[tuple[int, int]] = []
    Likeness(0.92, ShingleSigner()).find(
        ["tea", "teas"], crowd(2), method, lambda what, done, total: told.append((done, total))
    )
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1]
