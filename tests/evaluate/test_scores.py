import json
from dataclasses import replace
from datetime import UTC, datetime

from memorata.evaluate.abstention import RiskCoverage, Roc
from memorata.evaluate.run_file import RunHeader
from memorata.evaluate.scores import (
    Abstention,
    Comparison,
    Counts,
    Latency,
    MeasureDifference,
    MeasureScore,
    Scores,
)
from memorata.evaluate.significance import Difference, Interval

HEADER = RunHeader("tea", "9f", {"name": "bm25"}, "", "turn", "0.1.0", 0, datetime(2026, 5, 7, tzinfo=UTC))
HALF = Interval(0.5, 0.25, 0.75)
SCORES = Scores(
    header=HEADER,
    counts=Counts(questions=4, measured=3, unanswerable=1, unlabelled=0, missing=0, unknown=0, abstained=1),
    kind_of={"q1": "two", "q2": "one", "q3": "two"},
    values={"mrr": {"q1": 1.0, "q2": 0.5, "q3": 0.0}},
    measures={"mrr": MeasureScore(HALF, HALF, {"one": HALF, "two": HALF})},
    latency=Latency(4, 2.0, 1.5, 4.0, 4.5),
    abstention=Abstention(
        3, 1, 0, 1, 0.75, RiskCoverage((0.5, 1.0), (0.0, 0.25), 0.125), Roc((0.0, 1.0), (0.0, 1.0))
    ),
)


def test_kinds_are_counted_by_name() -> None:
    assert list(SCORES.kinds.items()) == [("one", 1), ("two", 2)]


def test_scores_are_ready_for_json() -> None:
    data = json.loads(json.dumps(SCORES.as_dict(), allow_nan=False))
    half = {"mean": 0.5, "low": 0.25, "high": 0.75}
    assert data["run"] == HEADER.as_dict()
    assert data["counts"]["measured"] == 3
    assert data["kinds"] == {"one": 1, "two": 2}
    assert data["measures"]["mrr"] == {"micro": half, "macro": half, "kinds": {"one": half, "two": half}}
    assert data["latency"] == {"count": 4, "mean": 2.0, "p50": 1.5, "p95": 4.0, "p99": 4.5}
    assert data["abstention"]["auroc"] == 0.75
    assert data["abstention"]["risk_coverage"] == {"coverage": [0.5, 1.0], "risk": [0.0, 0.25], "area": 0.125}


def test_the_values_of_single_questions_are_there_if_asked_for() -> None:
    assert "values" not in SCORES.as_dict()
    assert SCORES.as_dict(values=True)["values"] == {"mrr": {"q1": 1.0, "q2": 0.5, "q3": 0.0}}


def test_what_was_not_measured_is_null() -> None:
    data = replace(SCORES, latency=None, abstention=None).as_dict()
    assert (data["latency"], data["abstention"]) == (None, None)


def test_a_comparison_is_ready_for_json() -> None:
    difference = Difference(0.5, 0.25, 0.75, 0.125)
    compared = Comparison(HEADER, HEADER, 3, {"mrr": MeasureDifference(difference, difference, {})})
    data = json.loads(json.dumps(compared.as_dict(), allow_nan=False))
    numbers = {"mean": 0.5, "low": 0.25, "high": 0.75, "p": 0.125}
    assert data["measures"]["mrr"] == {"micro": numbers, "macro": numbers, "kinds": {}}
    assert (data["ours"], data["baseline"], data["questions"]) == (HEADER.as_dict(), HEADER.as_dict(), 3)
