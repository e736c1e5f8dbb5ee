import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import BM25, inverse_document_frequency

WORDS = st.lists(st.sampled_from(["tea", "cup", "milk", "rain", "map", "sea"]), max_size=8)


@dataclass
class Counts:
    """Statistics written down by hand: the scorer asks for nothing else."""

    document_count: int = 0
    average_length: float = 0.0
    frequencies: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]]) -> "Counts":
        terms = {term for text in texts for term in text}
        return cls(
            len(texts),
            sum(map(len, texts)) / len(texts) if texts else 0.0,
            {term: sum(term in text for text in texts) for term in terms},
        )

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


def slow_score(
    query: Sequence[str], text: Sequence[str], texts: Sequence[Sequence[str]], k1: float, b: float
) -> float:
    """The formula read off the page, one occurrence of a query term at a time."""
    score = 0.0
    for term in query:
        df = sum(term in other for other in texts)
        tf = sum(word == term for word in text)
        if df and tf:
            idf = math.log((len(texts) - df + 0.5) / (df + 0.5) + 1)
            average = sum(len(other) for other in texts) / len(texts)
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(text) / average))
    return score


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


def test_term_scores_by_hand() -> None:
    # Average length 6: a text of 4 has the norm 1.5·(0.25 + 0.75·4/6) = 1.125, a text of 8 has 1.875.
    found = BM25().term_scores([2, 1], [4, 8], idf=1.0, average_length=6.0)
    assert found.tolist() == pytest.approx([2 * 2.5 / 3.125, 2.5 / 2.875], rel=1e-15)
    assert BM25().term_scores([2, 1], [4, 8], idf=3.0, average_length=6.0).tolist() == pytest.approx(
        (3 * found).tolist()
    )


def test_a_term_that_does_not_occur_adds_nothing() -> None:
    assert BM25().term_scores([0], [4], idf=2.0, average_length=4.0).tolist() == [0.0]
    assert BM25(k1=0).term_scores([0, 3], [4, 4], idf=2.0, average_length=4.0).tolist() == [0.0, 2.0]
    assert BM25().term_scores([], [], idf=2.0, average_length=4.0).tolist() == []


def test_k1_zero_ignores_repetition_and_b_zero_ignores_length() -> None:
    assert BM25(k1=0).term_scores([1, 9], [1, 90], idf=1.0, average_length=5.0).tolist() == [1.0, 1.0]
    short, long = BM25(b=0).term_scores([2, 2], [1, 90], idf=1.0, average_length=5.0)
    assert short == long == pytest.approx(2 * 2.5 / 3.5)


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0.1, 3), st.floats(0.01, 1))
def test_more_of_the_term_helps_and_more_of_the_rest_hurts(tf: int, length: int, k1: float, b: float) -> None:
    score = BM25(k1, b).term_scores
    one, more = score([tf, tf + 1], [length, length], idf=1.0, average_length=7.0)
    short, long = score([tf, tf], [length, length + 1], idf=1.0, average_length=7.0)
    assert one < more < k1 + 1
    assert short > long


@given(st.lists(WORDS, max_size=6), WORDS, WORDS, st.floats(0, 3), st.floats(0, 1))
def test_a_score_is_the_formula_read_off_the_page(
    texts: list[list[str]], text: list[str], query: list[str], k1: float, b: float
) -> None:
    expected = slow_score(query, text, texts, k1, b)
    assert BM25(k1, b).score(query, text, Counts.of(texts)) == pytest.approx(expected, rel=1e-12)


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_an_explanation_is_the_score_to_the_last_bit(texts: list[list[str]], query: list[str]) -> None:
    statistics = Counts.of(texts)
    for text in texts:
        why = BM25().explain(query, text, statistics)
        assert why.value == BM25().score(query, text, statistics)
        assert why.adds_up()
        if why.parts:
            assert why.value == reduce(add, (part.value for part in why.parts))
            assert [part.label for part in why.parts] == [t for t in dict.fromkeys(query) if t in text]


def test_an_explanation_names_the_counts() -> None:
    texts = [["green", "tea"], ["black", "tea", "milk"]]
    why = BM25().explain(["tea", "tea", "sugar", "milk"], texts[0], Counts.of(texts))
    assert (why.operation, why.label, len(why.parts)) == ("sum", "bm25", 1)
    assert why.parts[0].note == "2 in query, 1 in text, in 2 of 2 texts"


def test_a_term_asked_twice_counts_twice() -> None:
    texts = [["green", "tea"], ["black", "tea", "milk"]]
    once = BM25().score(["milk"], texts[1], Counts.of(texts))
    assert BM25().score(["milk", "milk"], texts[1], Counts.of(texts)) == 2 * once > 0


@pytest.mark.parametrize(
    ("query", "text", "texts"),
    [
        (["tea"], ["tea"], []),
        (["tea"], [], [["tea"]]),
        ([], ["tea"], [["tea"]]),
        (["coffee"], ["coffee"], [["tea"]]),
        (["tea"], [], [[], []]),
    ],
    ids=["no texts", "an empty text", "an empty query", "a term the texts do not have", "only empty texts"],
)
def test_nothing_shared_is_zero(query: list[str], text: list[str], texts: list[list[str]]) -> None:
    why = BM25().explain(query, text, Counts.of(texts))
    assert (why.value, why.parts, why.note) == (0.0, (), "no shared terms")


@pytest.mark.parametrize(("k1", "b", "named"), [(-0.1, 0.5, "k1"), (1.5, 1.1, "b"), (math.nan, 0.5, "k1")])
def test_parameters_are_checked(k1: float, b: float, named: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{named} must be"):
        BM25(k1, b)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="lengths must be as long as frequencies"):
        BM25().term_scores([1, 2], [1], idf=1.0, average_length=1.0)
    with pytest.raises(InvalidArgument, match="average_length must be a number above 0"):
        BM25().term_scores([1], [1], idf=1.0, average_length=0.0)
    with pytest.raises(InvalidArgument, match="query must be a list of strings"):
        BM25().score("tea", ["tea"], Counts.of([["tea"]]))
