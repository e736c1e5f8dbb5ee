import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.rank import Postings, keywords, tf_idf

WORDS = st.lists(st.sampled_from(["tea", "cup", "milk", "rain", "map", "sea"]), max_size=8)


def slow_keywords(tokens: list[str], texts: list[list[str]]) -> dict[str, float]:
    """Score each word by counting everything anew."""
    found = {}
    for term in tokens:
        spread = sum(term in text for text in texts)
        found[term] = tokens.count(term) / len(tokens) * math.log(len(texts) / spread) if spread else 0.0
    return found


def test_by_hand() -> None:
    # 2 of 10 words, in 5 of 100 texts: 0.2 · ln 20
    assert tf_idf(2, 10, 5, 100) == 0.2 * math.log(20)


@pytest.mark.parametrize("counts", [(0, 10, 5, 100), (2, 10, 0, 100), (0, 0, 0, 0), (3, 10, 7, 7)])
def test_what_is_not_there_or_is_everywhere_is_no_keyword(counts: tuple[int, int, int, int]) -> None:
    assert tf_idf(*counts) == 0.0


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((11, 10, 5, 100), "frequency must be at most the length, 10, got 11"),
        ((2, 10, 101, 100), "document_frequency must be at most the document count, 100, got 101"),
        ((-1, 10, 5, 100), "frequency must be a whole number of at least 0"),
    ],
)
def test_counts_that_cannot_be(counts: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        tf_idf(*counts)


def test_keywords_by_hand() -> None:
    texts = [["tea", "cup", "tea"], ["tea", "milk"], ["milk", "cup"], ["bread"]]
    found = keywords(texts[0], Postings(texts))
    assert found == [("tea", 2 / 3 * math.log(2)), ("cup", 1 / 3 * math.log(2))]


@given(WORDS, st.lists(WORDS, max_size=6), st.integers(0, 7))
def test_keywords_are_the_best_by_counting(tokens: list[str], texts: list[list[str]], limit: int) -> None:
    # Python's sort is stable and the dictionary keeps first appearances, so ties are by first appearance.
    expected = sorted(slow_keywords(tokens, texts).items(), key=lambda pair: -pair[1])[:limit]
    found = keywords(tokens, Postings(texts), limit)
    assert [term for term, _ in found] == [term for term, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-12)


def test_ties_are_by_first_appearance_and_ten_come_back() -> None:
    words = list("zyxwvutsrqpo")
    assert [term for term, _ in keywords(words, Postings([words, ["a"]]))] == words[:10]


def test_nothing_has_no_keywords() -> None:
    assert keywords([], Postings([["tea"]])) == []


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="limit must be a whole number of at least 0"):
        keywords(["tea"], Postings([["tea"]]), -1)
    with pytest.raises(InvalidArgument, match="tokens must be a list of strings"):
        keywords("tea", Postings([["tea"]]))
