"""Reading a text with its neighbours: BM25 over a window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.rank.bm25 import BM25
from memorata.rank.context import STEPS, Reading, window_bm25

FAR = np.inf
counts = st.integers(0, 9).map(float)


def test_the_next_but_one_has_the_square_of_the_weight() -> None:
    reading = Reading(before=0.7, after=0.3)
    np.testing.assert_allclose(reading.bases, [0.7, 0.49, 0.3, 0.09])
    assert STEPS == (-1, -2, 1, 2)


def test_a_long_text_leans_on_its_neighbours_less_and_a_short_one_fully() -> None:
    weights = Reading(before=0.5, words=30).weights([5, 30, 60], np.zeros((4, 3)))
    np.testing.assert_allclose(weights[0], [0.5, 0.5, 0.25])


def test_a_pause_of_the_half_life_halves_a_weight_and_nobody_weighs_nothing() -> None:
    pauses = np.array([[0.0, 1.0, 2.0, FAR]] * 4)
    weights = Reading(before=0.8, hours=1.0).weights([1, 1, 1, 1], pauses)
    np.testing.assert_allclose(weights[0], [0.8, 0.4, 0.2, 0.0])


def test_a_word_said_in_two_turns_counts_less_than_two_words() -> None:
    same = window_bm25(
        [[[1.0], [1.0]]], [[5.0], [5.0]], [[1.0]], [1.0], average_length=5.0, k1=1.0, b=0.0
    ).sum()
    different = window_bm25(
        [[[1.0], [0.0]], [[0.0], [1.0]]],
        [[5.0], [5.0]],
        [[1.0]],
        [1.0, 1.0],
        average_length=5.0,
        k1=1.0,
        b=0.0,
    ).sum()
    assert same == pytest.approx(4 / 3)
    assert different == pytest.approx(2.0)


@given(
    arrays.arrays(np.float64, (2, 1, 3), elements=counts),
    arrays.arrays(np.float64, (1, 3), elements=st.integers(1, 40).map(float)),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_without_neighbours_it_is_bm25_to_the_last_bit(
    tf: FloatArray, lengths: FloatArray, k1: float, b: float
) -> None:
    got = window_bm25(tf, lengths, np.zeros((0, 3)), [1.5, 0.5], average_length=7.0, k1=k1, b=b)
    scorer = BM25(k1, b)
    for row, idf in enumerate((1.5, 0.5)):
        plain = scorer.term_scores(tf[row, 0], lengths[0], idf=1.0, average_length=7.0)
        np.testing.assert_array_equal(got[row], idf * plain)


@given(
    arrays.arrays(np.float64, (2, 3, 4), elements=counts),
    arrays.arrays(np.float64, (3, 4), elements=st.integers(0, 40).map(float)),
    arrays.arrays(np.float64, (2, 4), elements=st.floats(0, 1)),
)
def test_it_is_what_a_loop_over_terms_and_texts_computes(
    tf: FloatArray, lengths: FloatArray, weights: FloatArray
) -> None:
    k1, b, average, scales = 0.9, 0.75, 11.0, [2.0, 0.3]
    got = window_bm25(tf, lengths, weights, scales, average_length=average, k1=k1, b=b)
    mean_window = 1 + sum(sum(column) for column in weights.T.tolist()) / 4
    for term in range(2):
        for text in range(4):
            x = tf[term, 0, text] + sum(weights[n, text] * tf[term, n + 1, text] for n in range(2))
            length = lengths[0, text] + sum(weights[n, text] * lengths[n + 1, text] for n in range(2))
            room = k1 * (1 - b + b * length / (average * mean_window))
            expected = scales[term] * x * (k1 + 1) / (x + room) if x else 0.0
            assert got[term, text] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"before": -0.1}, "before"),
        ({"after": 1.1}, "after"),
        ({"words": 0}, "words"),
        ({"hours": 0}, "hours"),
        ({"before": float("nan")}, "before"),
    ],
)
def test_a_reading_refuses_what_makes_no_sense(changed: dict[str, float], argument: str) -> None:
    with pytest.raises(InvalidArgument, match=argument):
        Reading(**changed)


def test_arrays_that_do_not_fit_are_refused() -> None:
    good = {"average_length": 1.0, "k1": 1.0, "b": 0.5}
    with pytest.raises(InvalidArgument, match="frequencies"):
        window_bm25([[[1.0]]], [[1.0, 2.0]], np.zeros((0, 1)), [1.0], **good)
    with pytest.raises(InvalidArgument, match="scales"):
        window_bm25([[[1.0]]], [[1.0]], np.zeros((0, 1)), [1.0, 2.0], **good)
    with pytest.raises(InvalidArgument, match="weights"):
        window_bm25([[[1.0], [1.0]]], [[1.0], [1.0]], [[-1.0]], [1.0], **good)
    with pytest.raises(InvalidArgument, match="average_length"):
        window_bm25([[[1.0]]], [[1.0]], np.zeros((0, 1)), [1.0], average_length=0.0, k1=1.0, b=0.5)
    with pytest.raises(InvalidArgument, match="pauses"):
        Reading().weights([1.0], np.full((4, 1), -1.0))
