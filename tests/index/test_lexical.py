import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.lexical import (
    LexicalQuery,
    Part,
    Sums,
    TermList,
    ceiling,
    contributions,
    impacts,
    saturated,
)
from memorata.rank.bm25 import BM25

Document = dict[str, int]

USUAL = BM25()

DOCUMENTS = st.lists(st.dictionaries(st.sampled_from("abcde"), st.integers(1, 4)), min_size=1, max_size=25)
QUERY = st.dictionaries(st.sampled_from("abcdex"), st.sampled_from([1.0, 2.0, 0.5]), min_size=1)


@dataclass(frozen=True)
class Counts:
    """The statistics of a list of documents, counted one by one."""

    documents: list[Document]

    @property
    def document_count(self) -> int:
        return len(self.documents)

    @property
    def average_length(self) -> float:
        lengths = [sum(document.values()) for document in self.documents if document]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def document_frequency(self, term: str) -> int:
        return sum(term in document for document in self.documents)


def parts_of(documents: list[Document], query: dict[str, float], scorer: BM25 = USUAL) -> list[Part]:
    lengths = np.array([sum(document.values()) for document in documents], np.float32)
    average = Counts(documents).average_length
    parts = []
    for term, weight in query.items():
        slots = [slot for slot, document in enumerate(documents) if term in document]
        if slots:
            found = TermList(
                np.array(slots, np.int32), np.array([documents[slot][term] for slot in slots], np.uint16)
            )
            (worth,) = saturated([found], [lengths], [average], scorer)
            parts.append(Part("content", term, worth, weight, lengths, average, len(slots)))
    return parts


def slow(documents: list[Document], query: dict[str, float], scorer: BM25) -> dict[int, float]:
    """The formula read off the page, document by document and term by term."""
    counts = Counts(documents)
    result: dict[int, float] = {}
    for slot, document in enumerate(documents):
        for term, weight in query.items():
            if term in document:
                df, tf = counts.document_frequency(term), document[term]
                idf = math.log((counts.document_count - df + 0.5) / (df + 0.5) + 1)
                relative = sum(document.values()) / counts.average_length
                norm = scorer.k1 * (1 - scorer.b + scorer.b * relative)
                added = weight * idf * tf * (scorer.k1 + 1) / (tf + norm)
                result[slot] = result.get(slot, 0.0) + added
    return result


@given(DOCUMENTS, QUERY, st.sampled_from([BM25(), BM25(0.9, 0.4), BM25(0, 0), BM25(1.2, 1)]))
def test_scores_are_those_of_the_slow_scorer(
    documents: list[Document], query: dict[str, float], scorer: BM25
) -> None:
    parts = parts_of(documents, query, scorer)
    wanted = slow(documents, query, scorer)
    if not parts:
        assert wanted == {}
        return
    slots, values = impacts(parts, len(documents))
    chosen, scores = Sums.of(slots, values, len(documents)).best(100, None)
    assert dict(zip(chosen.tolist(), scores.tolist(), strict=True)) == pytest.approx(wanted)
    assert chosen.tolist() == sorted(chosen.tolist(), key=lambda slot: (-scores[chosen == slot][0], slot))


@given(DOCUMENTS, QUERY, st.integers(1, 6), st.data())
def test_the_best_are_the_first_of_all_that_are_allowed_ties_by_slot(
    documents: list[Document], query: dict[str, float], limit: int, data: st.DataObject
) -> None:
    parts = parts_of(documents, query)
    if not parts:
        return
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=25, max_size=25)))[: len(documents)]
    slots, values = impacts(parts, len(documents))
    every, scores = Sums.of(slots, values, len(documents)).best(100, None)
    score = dict(zip(every.tolist(), scores.tolist(), strict=True))
    wanted = sorted((slot for slot in score if allowed[slot]), key=lambda slot: (-score[slot], slot))
    chosen, _ = Sums.of(slots, values, len(documents)).best(limit, allowed)
    assert chosen.tolist() == wanted[:limit]


@given(DOCUMENTS, QUERY, st.integers(0, 6), st.booleans())
def test_few_postings_in_a_large_namespace_are_scored_as_in_a_small_one(
    documents: list[Document], query: dict[str, float], limit: int, masked: bool
) -> None:
    parts = parts_of(documents, query)
    if not parts:
        return
    slots, values = impacts(parts, len(documents))
    allowed = np.arange(100_000) % 2 == 0 if masked else None
    few = Sums.of(slots, values, 100_000).best(limit, allowed)
    many = Sums.of(slots, values, len(documents)).best(
        limit, None if allowed is None else allowed[: len(documents)]
    )
    assert few[0].tolist() == many[0].tolist()
    assert few[1].tolist() == many[1].tolist()
    everybody = np.arange(len(documents))
    alike = [Sums.of(slots, values, room).at(everybody).tolist() for room in (100_000, len(documents))]
    assert alike[0] == alike[1]
    assert [bool(score) for score in alike[0]] == [slot in slots for slot in range(len(documents))]


def test_ties_go_by_slot_whatever_the_order_of_the_terms() -> None:
    documents = [{"b": 1}, {"b": 1}, {"a": 1}, {"a": 1}]
    for query in ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}):
        parts = parts_of(documents, query)
        slots, values = impacts(parts, 4)
        assert Sums.of(slots, values, 4).best(1, None)[0].tolist() == [0]


@given(DOCUMENTS, QUERY)
def test_contributions_add_up_to_the_score_to_the_last_bit(
    documents: list[Document], query: dict[str, float]
) -> None:
    parts = parts_of(documents, query)
    if not parts:
        return
    slots, values = impacts(parts, len(documents))
    chosen, scores = Sums.of(slots, values, len(documents)).best(100, None)
    found = contributions(parts, len(documents), chosen)
    assert found.scores.tolist() == scores.tolist()
    assert found.names == tuple(f"{part.term} in content" for part in parts)


def test_a_worked_example() -> None:
    # Two of three texts have "tea"; this one has it twice in 4 words, where 4 are the average.
    documents = [{"tea": 2, "milk": 2}, {"tea": 1, "cup": 3}, {"cup": 4}]
    parts = parts_of(documents, {"tea": 1.0}, BM25(1.2, 0.75))
    _, values = impacts(parts, 3)
    idf = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    assert values[0] == pytest.approx(idf * 2 * 2.2 / (2 + 1.2))
    known = LexicalQuery({"tea": 1}, {"content": 1.0})
    assert ceiling(known, parts, 3) == pytest.approx(idf)
    # A word nobody said counts as the rarest there could be.
    half_known = LexicalQuery({"tea": 1, "zebra": 1}, {"content": 1.0})
    assert ceiling(half_known, parts, 3) == pytest.approx(idf + math.log(3.5 / 0.5 + 1))
    # What is not asked of the content is not missed there.
    apart = LexicalQuery(
        {"tea": 1, "zebra": 1}, {"content": 1.0, "speaker": 1.0}, also={"content": {"tea": 1}}
    )
    assert ceiling(apart, parts, 3) == pytest.approx(idf)


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
QUERIES = [
    ["tea"],
    ["green", "tea"],
    ["the", "ferry", "island"],
    ["tea", "tea", "bees"],
    ["old", "school", "zeppelin"],
    ["apples", "monday", "on", "the"],
]
TEXT = st.lists(st.sampled_from(["tea", "cup", "milk", "rain", "map", "sea"]), min_size=1, max_size=8)


def peer(texts: Sequence[Sequence[str]], method: str, k1: float, b: float) -> Any:
    """`bm25s` calls the parts of the formula by the systems that chose them. Ours is its ``atire`` term part,
    which has the factor (k1 + 1), with its ``lucene`` idf, which is never negative; its plain ``lucene``
    leaves the factor out, so that all its scores are ours divided by (k1 + 1).
    """
    retriever = bm25s.BM25(k1=k1, b=b, method=method, idf_method="lucene", dtype="float64", backend="numpy")
    retriever.index([list(text) for text in texts], show_progress=False)
    return retriever


def scores_of(texts: Sequence[Sequence[str]], query: Sequence[str], scorer: BM25) -> list[float]:
    documents = [dict(Counter(text)) for text in texts]
    parts = parts_of(documents, {term: float(times) for term, times in Counter(query).items()}, scorer)
    if not parts:
        return [0.0] * len(texts)
    sums = Sums.of(*impacts(parts, len(texts)), len(texts))
    scores: list[float] = sums.at(np.arange(len(texts))).tolist()
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (1.2, 0.75), (0.9, 0.4), (2.0, 0.0), (1.0, 1.0)])
def test_scores_are_those_of_bm25s(k1: float, b: float) -> None:
    with_factor, without = peer(DIARY, "atire", k1, b), peer(DIARY, "lucene", k1, b)
    for query in QUERIES:
        scores = np.array(scores_of(DIARY, query, BM25(k1, b)))
        assert scores.max() > 0
        np.testing.assert_allclose(scores, with_factor.get_scores(query), rtol=1e-12)
        np.testing.assert_allclose(scores / (k1 + 1), without.get_scores(query), rtol=1e-12)


@given(st.lists(TEXT, min_size=1, max_size=8), TEXT)
def test_any_texts_score_as_in_bm25s(texts: list[list[str]], query: list[str]) -> None:
    terms = {term for text in texts for term in text}
    expected = (
        peer(texts, "atire", 1.5, 0.75).get_scores(query)
        if terms.intersection(query)
        else np.zeros(len(texts))
    )
    np.testing.assert_allclose(scores_of(texts, query, BM25(1.5, 0.75)), expected, rtol=1e-12)
