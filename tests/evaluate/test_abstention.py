from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.evaluate.abstention import RiskCoverage, Roc, auroc, risk_coverage, roc
from memorata.model import InvalidArgument

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
