from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from memorata.evaluate.metrics import (
    average_precision,
    measure,
    ndcg,
    precision,
    recall_all,
    recall_any,
    recall_fraction,
    reciprocal_rank,
)
from memorata.model import InvalidArgument

RANKING = ["x", "a", "y", "b", "z"]
RELEVANT = {"a": 1, "b": 1, "c": 1}
"""Found at ranks 2 and 4; c is not found."""
ALL = [recall_any, recall_all, recall_fraction, precision, reciprocal_rank, ndcg, average_precision]
TREC = {
    "any": "success",
    "recall": "recall",
    "precision": "P",
    "ndcg": "ndcg_cut",
    "map": "map_cut",
}

rankings = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=12)
judgements = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 4), min_size=1).filter(
    lambda gains: max(gains.values()) > 0
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("any@1", 0),
        ("any@2", 1),
        ("all@5", 0),
        ("recall@3", 1 / 3),
        ("recall@4", 2 / 3),
        ("precision@2", 1 / 2),
        ("precision@5", 2 / 5),
        ("precision@10", 2 / 10),
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("map", (1 / 2 + 2 / 4) / 3),
        ("map@3", (1 / 2) / 3),
        ("ndcg@5", (1 / log2(3) + 1 / log2(5)) / (1 / log2(2) + 1 / log2(3) + 1 / log2(4))),
        ("ndcg@2", (1 / log2(3)) / (1 / log2(2) + 1 / log2(3))),
    ],
)
def test_values_that_can_be_checked_by_hand(name: str, expected: float) -> None:
    assert measure(name)(RANKING, RELEVANT) == pytest.approx(expected)


def test_all_of_the_relevant_items_must_be_there_for_strict_recall() -> None:
    assert recall_all(["c", "x", "b", "a"], RELEVANT, 4) == 1
    assert recall_all(["c", "x", "b", "a"], RELEVANT, 3) == 0


def test_gains_are_linear_and_the_ideal_is_made_of_all_judged_items() -> None:
    gains = {"a": 3, "b": 1, "never found": 2}
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg(["b", "a"], gains, 10) == pytest.approx((1 / log2(2) + 3 / log2(3)) / ideal)


def test_what_is_judged_0_or_less_is_not_relevant() -> None:
    assert recall_all(["a"], {"a": 1, "b": 0, "c": -1}, 1) == 1
    assert ndcg(["b", "a"], {"a": 1, "b": -1}, 2) == pytest.approx(1 / log2(3))


@pytest.mark.parametrize("name", ["any@5", "all@5", "recall@5", "precision@5", "mrr", "ndcg@5", "map"])
def test_an_empty_ranking_is_worth_nothing(name: str) -> None:
    assert measure(name)([], RELEVANT) == 0


@given(rankings.filter(bool), judgements, st.integers(1, 14))
def test_everything_is_what_trec_eval_says(ranking: list[str], gains: dict[str, int], k: int) -> None:
    names = {f"{theirs}_{k}" for theirs in TREC.values()} | {"recip_rank", "map"}
    scores = {item: float(len(ranking) - place) for place, item in enumerate(ranking)}
    theirs = pytrec_eval.RelevanceEvaluator({"q": gains}, names).evaluate({"q": scores})["q"]
    for ours, their in TREC.items():
        assert measure(f"{ours}@{k}")(ranking, gains) == pytest.approx(theirs[f"{their}_{k}"], abs=1e-9)
    assert measure("mrr")(ranking, gains) == pytest.approx(theirs["recip_rank"], abs=1e-9)
    assert measure("map")(ranking, gains) == pytest.approx(theirs["map"], abs=1e-9)


@given(rankings, judgements, st.integers(1, 14))
def test_cut_offs_of_reciprocal_rank_and_strict_recall_are_those_of_the_ranking_cut_short(
    ranking: list[str], gains: dict[str, int], k: int
) -> None:
    relevant = {item for item, gain in gains.items() if gain > 0}
    assert reciprocal_rank(ranking, gains, k) == reciprocal_rank(ranking[:k], gains)
    assert average_precision(ranking, gains, k) == average_precision(ranking[:k], gains)
    assert recall_all(ranking, gains, k) == (relevant <= set(ranking[:k]))


@given(rankings, st.dictionaries(st.sampled_from("abc"), st.floats(1e-320, 1.7e308), min_size=1))
def test_any_finite_gains_give_a_value_from_0_to_1(ranking: list[str], gains: dict[str, float]) -> None:
    for name in ("any@3", "all@3", "recall@3", "precision@3", "mrr", "ndcg@3", "map"):
        assert 0 <= measure(name)(ranking, gains) <= 1 + 1e-12


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "argument"),
    [
        (["a", "b", "a"], {"a": 1}, 1, "ranking[2]"),
        (["a", 5], {"a": 1}, 1, "ranking[1]"),
        ("ab", {"a": 1}, 1, "ranking"),
        (None, {"a": 1}, 1, "ranking"),
        (["a"], {}, 1, "relevant"),
        (["a"], {"a": 0}, 1, "relevant"),
        (["a"], ["a"], 1, "relevant"),
        (["a"], {"a": float("nan")}, 1, "relevant['a']"),
        (["a"], {"a": float("inf")}, 1, "relevant['a']"),
        (["a"], {"a": True}, 1, "relevant['a']"),
        (["a"], {"a": 1}, 0, "k"),
        (["a"], {"a": 1}, 1.0, "k"),
        (["a"], {"a": 1}, True, "k"),
    ],
)
def test_bad_input_is_named(
    metric: Callable[..., float], ranking: Any, relevant: Any, k: Any, argument: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        metric(ranking, relevant, k)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "name",
    [
        *("", "any", "ndcg", "any@", "any@0", "any@05", "any@-1", "any@1.5", "ANY@5", " any@5", "any@5\n"),
        *("f1@5", "mrr@", "recall@ 5", "any@٣", "any@" + "9" * 5000, None, 5),
    ],
)
def test_a_name_that_is_no_measure_is_refused_with_those_that_are(name: Any) -> None:
    with pytest.raises(
        InvalidArgument, match="measure must be any, all, recall, precision, ndcg, mrr or map"
    ):
        measure(name)


def test_a_measure_takes_a_ranking_and_gains() -> None:
    named: Callable[[Sequence[str], Mapping[str, float]], float] = measure("ndcg@10")
    assert named(("a",), {"a": 2}) == 1
