"""Checked against `bm25s` and against the scorer of one text.

`bm25s` calls the parts of the formula by the systems that chose them. Ours is its ``atire`` term part, which
has the factor (k1 + 1), with its ``lucene`` idf, which is never negative; its plain ``lucene`` leaves the
factor out, so that all its scores are ours divided by (k1 + 1).
"""

from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.rank import BM25, Postings

WORDS = st.lists(st.sampled_from(["tea", "cup", "milk", "rain", "map", "sea"]), max_size=8)
TEXTS = st.lists(WORDS, max_size=8)

DIARY = [
    text.split()
    for text in (
        "the kettle broke on monday and we drank cold tea",
        "anna likes green tea and green apples",
        "the ferry to the island leaves at nine",
        "we missed the ferry and drank tea on the quay",
        "ben keeps bees behind the old school",
        "the old school has a new roof and the bees do not mind",
        "tea tea tea",
        "anna and ben met on the island in may",
        "a letter from the island came on monday",
        "apples",
    )
]
QUESTIONS = [
    ["tea"],
    ["green", "tea"],
    ["the", "ferry", "island"],
    ["tea", "tea", "bees"],
    ["old", "school", "zeppelin"],
    ["apples", "monday", "on", "the"],
]


def peer(texts: Sequence[Sequence[str]], method: str, k1: float, b: float) -> Any:
    retriever = bm25s.BM25(k1=k1, b=b, method=method, idf_method="lucene", dtype="float64", backend="numpy")
    retriever.index([list(text) for text in texts], show_progress=False)
    return retriever


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (1.2, 0.75), (0.9, 0.4), (2.0, 0.0), (1.0, 1.0)])
def test_scores_are_those_of_bm25s(k1: float, b: float) -> None:
    ours = Postings(DIARY, BM25(k1, b))
    with_factor, without = peer(DIARY, "atire", k1, b), peer(DIARY, "lucene", k1, b)
    for question in QUESTIONS:
        scores = ours.scores(question)
        assert scores.max() > 0
        np.testing.assert_allclose(scores, with_factor.get_scores(question), rtol=1e-12)
        np.testing.assert_allclose(scores / (k1 + 1), without.get_scores(question), rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(TEXTS.filter(lambda texts: any(texts)), WORDS.filter(bool))
def test_any_texts_score_as_in_bm25s(texts: list[list[str]], query: list[str]) -> None:
    known = {term for text in texts for term in text}
    expected = (
        peer(texts, "atire", 1.5, 0.75).get_scores(query)
        if known.intersection(query)
        else np.zeros(len(texts))
    )
    np.testing.assert_allclose(Postings(texts).scores(query), expected, rtol=1e-12)


@given(TEXTS, WORDS, st.floats(0, 3), st.floats(0, 1))
@example([["tea"], []], ["tea", "tea", "tea"], 0.0, 1.0)
def test_scores_are_those_of_the_scorer_of_one_text(
    texts: list[list[str]], query: list[str], k1: float, b: float
) -> None:
    scorer = BM25(k1, b)
    postings = Postings(texts, scorer)
    expected = [scorer.score(query, text, postings) for text in texts]
    assert postings.scores(query).tolist() == pytest.approx(expected, rel=1e-12)


@given(TEXTS)
def test_the_statistics_are_the_counts(texts: list[list[str]]) -> None:
    postings = Postings(texts)
    assert postings.document_count == len(texts)
    assert postings.average_length == (sum(map(len, texts)) / len(texts) if texts else 0.0)
    assert postings.lengths.tolist() == [len(text) for text in texts]
    for term in ("tea", "cup", "milk", "rain", "map", "sea", "never"):
        assert postings.document_frequency(term) == sum(term in text for text in texts)


@given(TEXTS, WORDS, st.integers(0, 10))
def test_search_returns_the_best_texts_that_share_a_term(
    texts: list[list[str]], query: list[str], limit: int
) -> None:
    postings = Postings(texts)
    rows, scores = postings.search(query, limit)
    every = postings.scores(query).tolist()
    sharing = [row for row, text in enumerate(texts) if set(text) & set(query)]
    assert rows.tolist() == sorted(sharing, key=lambda row: -every[row])[:limit]
    assert scores.tolist() == [every[row] for row in rows]


def test_search_by_hand() -> None:
    postings = Postings([["tea", "milk"], ["rain"], ["tea", "milk"], ["tea", "tea"]])
    assert postings.search(["tea"])[0].tolist() == [3, 0, 2]
    assert postings.search(["tea"], limit=2)[0].tolist() == [3, 0]
    assert postings.search(["tea"], limit=0)[0].tolist() == []
    assert postings.search(["snow"])[0].tolist() == []


def test_search_returns_ten_by_default_and_keeps_ties_in_order_in_a_large_collection() -> None:
    rows, scores = Postings([["rain"], ["tea"]] * 1_000).search(["tea"])
    assert rows.tolist() == list(range(1, 21, 2))
    assert len(set(scores.tolist())) == 1


def test_the_default_scorer_is_the_default_bm25() -> None:
    assert Postings([]).scorer == BM25()


def test_no_texts_and_empty_texts() -> None:
    nothing = Postings([])
    assert (nothing.document_count, nothing.average_length, nothing.document_frequency("tea")) == (0, 0.0, 0)
    assert nothing.scores(["tea"]).tolist() == []
    blank = Postings([[], []])
    assert (blank.document_count, blank.average_length) == (2, 0.0)
    assert blank.scores(["tea"]).tolist() == [0.0, 0.0]
    assert Postings([["tea"], []]).scores([]).tolist() == [0.0, 0.0]


def test_a_text_is_a_list_of_tokens() -> None:
    with pytest.raises(InvalidArgument, match="documents must be a list of token lists"):
        Postings("green tea")
    with pytest.raises(InvalidArgument, match=r"documents\[1\] must be a list of strings, got 'green tea'"):
        Postings([["tea"], "green tea"])
    with pytest.raises(InvalidArgument, match="query must be a list of strings"):
        Postings([["tea"]]).scores("tea")
    with pytest.raises(InvalidArgument, match="limit must be a whole number of at least 0"):
        Postings([["tea"]]).search(["tea"], limit=-1)


def test_frequent_terms_of_a_large_collection_score_as_those_of_a_small_one() -> None:
    # From 2,000 texts on, frequent terms are kept as whole arrays.
    random = np.random.default_rng(3)
    texts = [
        [word for word, chance in (("often", 0.9), ("half", 0.5), ("rare", 0.01)) if random.random() < chance]
        + ["filler"] * int(random.integers(0, 5))
        for _ in range(2_500)
    ]
    postings, query = Postings(texts), ["rare", "often", "half", "often"]
    scores = postings.scores(query)
    for row in range(0, 2_500, 97):
        assert scores[row] == pytest.approx(BM25().score(query, texts[row], postings), rel=1e-12)
