from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_lab.evaluate.metrics import (
    RiskCoverage,
    Roc,
    auroc,
    average_precision,
    measure,
    ndcg,
    precision,
    recall_all,
    recall_any,
    recall_fraction,
    reciprocal_rank,
    risk_coverage,
    roc,
)

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


# Few different values, so that ties are common.
scores = st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.5, 0.5000000001, 2.0]), min_size=1, max_size=12)
judged = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 2.0]), st.booleans()), min_size=1, max_size=12)


def auroc_by_pairs(answerable: list[float], unanswerable: list[float]) -> float:
    wins = sum((a > u) + (a == u) / 2 for a in answerable for u in unanswerable)
    return wins / (len(answerable) * len(unanswerable))


def risk_of_thresholds(pairs: list[tuple[float, bool]]) -> list[tuple[float, float]]:
    """Coverage and risk for each threshold, by going through all questions each time."""
    points = []
    for threshold in sorted({confidence for confidence, _ in pairs}, reverse=True):
        answered = [correct for confidence, correct in pairs if confidence >= threshold]
        points.append((len(answered) / len(pairs), answered.count(False) / len(answered)))
    return points


def test_auroc_of_a_perfect_a_worst_and_a_blind_score() -> None:
    assert auroc([0.8, 0.9], [0.1, 0.7]) == 1
    assert auroc([0.1], [0.2, 0.3]) == 0
    assert auroc([0.5, 0.5], [0.5]) == 0.5


@given(scores, scores)
def test_auroc_is_the_share_of_pairs_in_order(answerable: list[float], unanswerable: list[float]) -> None:
    assert auroc(answerable, unanswerable) == pytest.approx(auroc_by_pairs(answerable, unanswerable))


def test_a_perfect_score_goes_up_before_it_goes_right() -> None:
    assert roc([0.8, 0.9], [0.1]) == Roc((0.0, 0.0, 0.0, 1.0), (0.0, 0.5, 1.0, 1.0))
    assert roc([0.5], [0.5]) == Roc((0.0, 1.0), (0.0, 1.0))


@given(scores, scores)
def test_the_area_under_the_roc_curve_is_the_auroc(
    answerable: list[float], unanswerable: list[float]
) -> None:
    found = roc(answerable, unanswerable)
    for threshold, alarms, hits in zip(
        sorted({*answerable, *unanswerable}, reverse=True),
        found.false_alarms[1:],
        found.hits[1:],
        strict=True,
    ):
        assert alarms == sum(score >= threshold for score in unanswerable) / len(unanswerable)
        assert hits == sum(score >= threshold for score in answerable) / len(answerable)
    points = list(zip(found.false_alarms, found.hits, strict=True))
    area = sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(points))
    assert area == pytest.approx(auroc(answerable, unanswerable))
    assert (points[0], points[-1]) == ((0.0, 0.0), (1.0, 1.0))


@given(scores, scores)
def test_auroc_depends_on_the_order_only_and_turns_around(a: list[float], u: list[float]) -> None:
    assert auroc([3 * x**3 + x for x in a], [3 * x**3 + x for x in u]) == auroc(a, u)
    assert auroc(u, a) == pytest.approx(1 - auroc(a, u))


def test_answering_everything_risks_what_is_wrong_overall() -> None:
    found = risk_coverage([0.9, 0.8, 0.3, 0.2], [True, False, True, False])
    assert found.coverage == (0.25, 0.5, 0.75, 1.0)
    assert found.risk == pytest.approx((0, 1 / 2, 1 / 3, 1 / 2))
    assert found.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_no_threshold_parts_equal_confidences() -> None:
    assert risk_coverage([0.4] * 4, [True, False, True, True]) == RiskCoverage((1.0,), (0.25,), 0.25)


def test_a_memory_that_is_never_wrong_risks_nothing() -> None:
    assert risk_coverage([0.4, 0.6], [True, True]).area == 0


@given(judged)
def test_the_curve_is_that_of_trying_every_threshold(pairs: list[tuple[float, bool]]) -> None:
    found = risk_coverage([confidence for confidence, _ in pairs], [correct for _, correct in pairs])
    points = risk_of_thresholds(pairs)
    assert found.coverage == pytest.approx([coverage for coverage, _ in points])
    assert found.risk == pytest.approx([risk for _, risk in points])
    # The area, question by question: each adds the risk of the threshold at which it is first answered.
    risk_at = dict(
        zip(sorted({c for c, _ in pairs}, reverse=True), (risk for _, risk in points), strict=True)
    )
    assert found.area == pytest.approx(sum(risk_at[c] for c, _ in pairs) / len(pairs))


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "named"),
    [
        ([], [1], "scores_answerable"),
        ([1], [], "scores_unanswerable"),
        ([float("nan")], [1], "scores_answerable[0]"),
        ([1], [0, float("inf")], "scores_unanswerable[1]"),
        (["a"], [1], "scores_answerable"),
    ],
)
@pytest.mark.parametrize("curve", [auroc, roc])
def test_both_name_bad_input(curve: Any, answerable: Any, unanswerable: Any, named: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        curve(answerable, unanswerable)
    assert caught.value.argument == named


@pytest.mark.parametrize(
    ("confidences", "correct", "named"),
    [
        ([], [], "confidences"),
        ([0.5], [True, False], "correct"),
        ([0.5], [1], "correct"),
        ([float("nan")], [True], "confidences[0]"),
    ],
)
def test_risk_coverage_names_bad_input(confidences: Any, correct: Any, named: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        risk_coverage(confidences, correct)
    assert caught.value.argument == named
