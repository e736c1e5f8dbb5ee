import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import BM25, inverse_document_frequency


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
