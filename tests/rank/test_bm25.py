"""BM25, of a text alone and with its neighbours as a window."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import BM25, inverse_document_frequency
from memorata.rank.bm25 import STEPS, ContextWindow, window_bm25


def test_idf_by_hand() -> None:
    # N = 30, df = 2: ln(28.5 / 2.5 + 1) = ln 12.4
    assert inverse_document_frequency(2, 30) == pytest.approx(math.log(12.4), abs=1e-15)
    assert inverse_document_frequency(1, 30) == pytest.approx(math.log(29.5 / 1.5 + 1), abs=1e-15)
    assert inverse_document_frequency(28, 30) == pytest.approx(math.log(2.5 / 28.5 + 1), abs=1e-15)


def test_a_term_no_text_has_tells_nothing() -> None:
    assert inverse_document_frequency(0, 30) == 0.0
    assert inverse_document_frequency(0, 0) == 0.0


@given(st.integers(1, 10_000), st.data())
def test_idf_is_positive_and_falls_as_the_term_spreads(total: int, data: st.DataObject) -> None:
    found = data.draw(st.integers(1, total))
    assert inverse_document_frequency(found, total) > 0
    if found > 1:
        assert inverse_document_frequency(found, total) < inverse_document_frequency(found - 1, total)


def test_a_term_cannot_be_in_more_texts_than_there_are() -> None:
    with pytest.raises(InvalidArgument, match="document_frequency must be at most the document count, 3"):
        inverse_document_frequency(4, 3)


def test_the_defaults_and_their_declarations() -> None:
    assert (BM25().k1, BM25().b) == (1.5, 0.75)
    declared = {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(BM25)}
    assert declared == {"k1": (float, 1.5, 0, 3), "b": (float, 0.75, 0, 1)}


def saturation(scorer: BM25, tf: list[float], lengths: list[float], average: float) -> list[float]:
    values: list[float] = scorer.saturation(np.array(tf, np.float64), np.array(lengths) / average).tolist()
    return values


def test_saturation_by_hand() -> None:
    # Average length 6: a text of 4 has the norm 1.5·(0.25 + 0.75·4/6) = 1.125, a text of 8 has 1.875.
    assert saturation(BM25(), [2, 1], [4, 8], 6) == pytest.approx([2 * 2.5 / 3.125, 2.5 / 2.875], rel=1e-15)
    assert saturation(BM25(), [], [], 6) == []


def test_k1_zero_ignores_repetition_and_b_zero_ignores_length() -> None:
    assert saturation(BM25(k1=0), [1, 9], [1, 90], 5) == [1.0, 1.0]
    short, long = saturation(BM25(b=0), [2, 2], [1, 90], 5)
    assert short == long == pytest.approx(2 * 2.5 / 3.5)


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0.1, 3), st.floats(0.01, 1))
def test_more_of_the_term_helps_and_more_of_the_rest_hurts(tf: int, length: int, k1: float, b: float) -> None:
    one, more = saturation(BM25(k1, b), [tf, tf + 1], [length, length], 7)
    short, long = saturation(BM25(k1, b), [tf, tf], [length, length + 1], 7)
    assert one < more < k1 + 1
    assert short > long


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0, 3), st.floats(0, 1))
def test_saturation_is_the_formula_read_off_the_page(tf: int, length: int, k1: float, b: float) -> None:
    expected = tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / 7))
    assert saturation(BM25(k1, b), [tf], [length], 7) == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize(("k1", "b", "named"), [(-0.1, 0.5, "k1"), (1.5, 1.1, "b"), (math.nan, 0.5, "k1")])
def test_parameters_are_checked(k1: float, b: float, named: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{named} must be"):
        BM25(k1, b)


FAR = np.inf
counts = st.integers(0, 9).map(float)


def window(
    tf: Any, lengths: Any, weights: Any, scales: Any, *, average_length: float, k1: float, b: float
) -> FloatArray:
    """Score windows given as (terms, 1 + neighbours, texts): the text comes first, then its neighbours."""
    frequencies, sizes = np.asarray(tf, np.float64), np.asarray(lengths, np.float64)
    others = [frequencies[:, neighbour] for neighbour in range(1, frequencies.shape[1])]
    own, around = sizes[0], sizes[1:]
    worth, scale = np.asarray(weights, np.float64), np.asarray(scales, np.float64)
    return window_bm25(frequencies[:, 0], others, own, around, worth, scale, average_length, k1, b)


def test_the_next_but_one_has_the_square_of_the_weight() -> None:
    weights = ContextWindow(before=0.7, after=0.3).weights(np.ones(1), np.zeros((4, 1)))
    np.testing.assert_allclose(weights[:, 0], [0.7, 0.49, 0.3, 0.09])
    assert STEPS == (-1, -2, 1, 2)


def test_a_long_text_leans_on_its_neighbours_less_and_a_short_one_fully() -> None:
    weights = ContextWindow(before=0.5, words=30).weights(np.array([5.0, 30.0, 60.0]), np.zeros((4, 3)))
    np.testing.assert_allclose(weights[0], [0.5, 0.5, 0.25])


def test_a_pause_of_the_half_life_halves_a_weight_and_nobody_weighs_nothing() -> None:
    pauses = np.array([[0.0, 1.0, 2.0, FAR]] * 4)
    weights = ContextWindow(before=0.8, hours=1.0).weights(np.ones(4), pauses)
    np.testing.assert_allclose(weights[0], [0.8, 0.4, 0.2, 0.0])


def test_a_word_said_in_two_turns_counts_less_than_two_words() -> None:
    same = window([[[1.0], [1.0]]], [[5.0], [5.0]], [[1.0]], [1.0], average_length=5.0, k1=1.0, b=0.0).sum()
    different = window(
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
    got = window(tf, lengths, np.zeros((0, 3)), [1.5, 0.5], average_length=7.0, k1=k1, b=b)
    for row, idf in enumerate((1.5, 0.5)):
        for text, (times, length) in enumerate(zip(tf[row, 0].tolist(), lengths[0].tolist(), strict=True)):
            norm = k1 * (1 - b + b * (length / 7.0))
            plain = times * (k1 + 1) / (times + norm) if times else 0.0
            assert got[row, text] == idf * plain


@given(
    arrays.arrays(np.float64, (2, 3, 4), elements=counts),
    arrays.arrays(np.float64, (3, 4), elements=st.integers(0, 40).map(float)),
    arrays.arrays(np.float64, (2, 4), elements=st.floats(0, 1)),
)
def test_it_is_what_a_loop_over_terms_and_texts_computes(
    tf: FloatArray, lengths: FloatArray, weights: FloatArray
) -> None:
    k1, b, average, scales = 0.9, 0.75, 11.0, [2.0, 0.3]
    got = window(tf, lengths, weights, scales, average_length=average, k1=k1, b=b)
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
        ContextWindow(**changed)
