import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.metrics import RiskCoverage, Roc, measure
from memorata_lab.evaluate.run_file import Answer, Run, RunHeader
from memorata_lab.evaluate.scores import (
    Abstention,
    Comparison,
    Counts,
    Latency,
    MeasureDifference,
    MeasureScore,
    Scores,
    compare,
    score,
)
from memorata_lab.evaluate.significance import Difference, Interval, draw_means, paired_bootstrap

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


HEADER_OF_RUNS = RunHeader(
    "tea", "9f", {"name": "bm25"}, "", "turn", "0.1.0", 0, datetime(2026, 5, 7, tzinfo=UTC)
)
QUESTIONS = [
    Question("q1", "?", "single", relevant={"a": 1}, relevant_sessions={"s": 1}),
    Question("q2", "?", "single", relevant={"b": 1}),
    Question("q3", "?", "single", relevant={"c": 1}),
    Question("q4", "?", "multi", relevant={"a": 1, "b": 1}),
    Question("no label", "?", "multi", relevant={"a": 0.0}),
    Question("no answer", "?", "single", answerable=False),
]


def answered(question: str, items: str = "", **more: Any) -> Answer:
    ranking = tuple((item, float(-place)) for place, item in enumerate(items))
    return Answer(question, ranking=ranking, **more)


def run(*answers: Answer, header: RunHeader = HEADER_OF_RUNS) -> Run:
    return Run(header, {each.question: each for each in answers})


GOOD = run(
    answered("q1", "abc", milliseconds=1.0, top=0.9),
    answered("q2", "ab", milliseconds=2.0, top=0.8),
    answered("q3", "ab", milliseconds=3.0, top=0.4),
    answered("q4", "axb", milliseconds=4.0, top=0.7),
    answered("no label", "a", milliseconds=5.0, top=0.1),
    answered("no answer", "ab", milliseconds=6.0, top=0.5, abstained=True),
)


def test_every_measured_question_has_a_value_and_their_mean_is_the_micro_mean() -> None:
    scores = score(GOOD, QUESTIONS, ["mrr", "all@2"], "turn")
    assert scores.values == {
        "mrr": {"q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": 1.0},
        "all@2": {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0},
    }
    assert scores.measures["mrr"].micro.mean == 2.5 / 4
    assert scores.measures["all@2"].micro.mean == 2 / 4


def test_kinds_have_means_of_their_own_and_count_the_same_in_the_macro_mean() -> None:
    scores = score(GOOD, QUESTIONS, ["mrr"], "turn")
    assert scores.kinds == {"multi": 1, "single": 3}
    assert {kind: interval.mean for kind, interval in scores.measures["mrr"].kinds.items()} == {
        "multi": 1.0,
        "single": 0.5,
    }
    assert scores.measures["mrr"].macro.mean == 0.75


def test_what_is_not_measured_is_counted() -> None:
    extra = run(*GOOD.answers.values(), answered("of another set", "a"))
    assert score(extra, QUESTIONS, ["mrr"], "turn").counts == Counts(
        questions=6, measured=4, unanswerable=1, unlabelled=1, missing=0, unknown=1, abstained=1
    )


def test_a_question_that_the_run_does_not_have_got_an_empty_ranking() -> None:
    scores = score(run(answered("q1", "a")), QUESTIONS, ["mrr"], "turn")
    assert scores.values["mrr"] == {"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.0}
    assert scores.counts.missing == 5


def test_sessions_are_measured_by_the_labels_of_sessions() -> None:
    sessions = run(answered("q1", "ts"), header=replace(HEADER_OF_RUNS, granularity="session"))
    scores = score(sessions, QUESTIONS, ["mrr"], "session")
    assert scores.values["mrr"] == {"q1": 0.5}
    assert scores.counts.unlabelled == 4


def test_intervals_are_those_of_the_bootstrap() -> None:
    found = score(GOOD, QUESTIONS, ["mrr", "any@1"], "turn", samples=500, seed=3, level=0.8).measures["any@1"]
    assert found.micro == draw_means([[1], [0], [0], [1]], samples=500, seed=3).intervals(0.8)[0]
    assert found.kinds["multi"] == draw_means([[1]], samples=500).intervals()[0]
    assert found.macro.low < found.macro.mean < found.macro.high


def test_kinds_of_equal_size_are_not_drawn_alike() -> None:
    questions = [
        Question(f"{kind}{n}", "?", kind, relevant={"a": 1}) for kind in ("one", "two") for n in range(40)
    ]
    half = run(*(answered(each.id, "a" if int(each.id[3:]) % 2 else "") for each in questions))
    found = score(half, questions, ["any@1"], "turn", samples=2000).measures["any@1"]
    # Two independent kinds of 40 vary as 80 questions do; two that moved together would by √2 more.
    width = found.macro.high - found.macro.low
    assert width == pytest.approx(found.micro.high - found.micro.low, rel=0.15)


def test_latency_is_over_all_questions_that_took_a_known_time() -> None:
    # The percentiles lie between two questions: 95 % of the way from the first to the last is 4.75 steps.
    assert score(GOOD, QUESTIONS, ["mrr"], "turn").latency == Latency(6, 3.5, 3.5, 5.75, 5.95)
    assert score(run(answered("q1", "a")), QUESTIONS, ["mrr"], "turn").latency is None


def test_abstention_is_measured_where_there_is_something_to_abstain_from() -> None:
    found = score(GOOD, QUESTIONS, ["mrr"], "turn").abstention
    assert found is not None
    assert (found.answerable, found.unanswerable) == (4, 1)
    assert (found.abstained_answerable, found.abstained_unanswerable) == (0, 1)
    # 0.5 is below the tops of q1, q2 and q4, and above that of q3.
    assert found.auroc == 3 / 4
    # By falling top: q1 right, q2 right, q4 right, the one without an answer wrong, q3 wrong.
    assert found.risk_coverage.coverage == pytest.approx((0.2, 0.4, 0.6, 0.8, 1.0))
    assert found.risk_coverage.risk == pytest.approx((0, 0, 0, 1 / 4, 2 / 5))
    assert score(GOOD, QUESTIONS[:5], ["mrr"], "turn").abstention is None


def test_having_found_nothing_is_the_least_confidence_of_all() -> None:
    nothing = run(answered("q1", "a", top=-5.0), answered("no answer"), answered("q2"))
    found = score(nothing, QUESTIONS, ["mrr"], "turn").abstention
    assert found is not None
    assert (found.answerable, found.unanswerable) == (2, 1)
    assert found.auroc == (1 + 0.5) / 2


POOR = run(
    *(answered(name, items) for name, items in [("q1", "xa"), ("q2", "b"), ("q3", "x"), ("q4", "xyz")])
)


def score_file(some: Run, measures: Sequence[str] = ("mrr",)) -> Any:
    return score(some, QUESTIONS, measures, "turn")


def test_a_comparison_is_the_paired_bootstrap_of_every_common_measure() -> None:
    found = compare(
        score_file(GOOD, ["mrr", "any@1"]), score_file(POOR, ["map", "any@1", "mrr"]), samples=300, seed=5
    )
    assert list(found.measures) == ["mrr", "any@1"]
    ours, baseline = [1.0, 0.5, 0.0, 1.0], [0.5, 1.0, 0.0, 0.0]
    assert found.measures["mrr"].micro == paired_bootstrap(ours, baseline, samples=300, seed=5)
    assert found.measures["mrr"].kinds["single"].mean == 0
    assert found.measures["mrr"].kinds["multi"].mean == 1
    assert found.measures["mrr"].macro.mean == 0.5
    assert found.questions == 4


def test_a_comparison_pairs_by_question_in_whatever_order_they_were_scored() -> None:
    ours, baseline = score(GOOD, QUESTIONS, ["mrr"], "turn"), score(POOR, QUESTIONS[::-1], ["mrr"], "turn")
    assert compare(ours, baseline) == compare(ours, score_file(POOR))


def test_runs_that_cannot_be_compared_are_refused() -> None:
    other = run(*POOR.answers.values(), header=replace(HEADER_OF_RUNS, sha256="00"))
    with pytest.raises(InvalidArgument, match="baseline must be a run with the sha256 of ours"):
        compare(score_file(GOOD), score_file(other))
    with pytest.raises(InvalidArgument, match=r"same questions as ours.*got 'q4'"):
        compare(score_file(GOOD), score(POOR, QUESTIONS[:3], ["mrr"], "turn"))
    with pytest.raises(InvalidArgument, match=r"scored by one of our measures, mrr, got \['map'\]"):
        compare(score_file(GOOD), score_file(POOR, ["map"]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"measures": []}, "measures must be at least one measure"),
        ({"measures": "mrr"}, "measures must be a list of strings"),
        ({"measures": ["mrr", "f1"]}, "measure must be any, all"),
        ({"granularity": "session"}, r"granularity must be that of the run \('turn'\), got 'session'"),
        ({"questions": []}, "run must be one with an answer to at least one of the questions, got 'tea'"),
        ({"questions": [Question("q9", "?")]}, "run must be one with an answer"),
        ({"questions": QUESTIONS[4:]}, "questions must be at least one with a relevant turn, got 2"),
        (
            {"questions": [QUESTIONS[0]] * 2},
            "questions must be questions with an id of their own each, got 'q1'",
        ),
        ({"samples": 0}, "samples must be"),
        ({"level": 2}, "level must be"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], reason: str) -> None:
    good: dict[str, Any] = {"run": GOOD, "questions": QUESTIONS, "measures": ["mrr"], "granularity": "turn"}
    with pytest.raises(InvalidArgument, match=reason):
        score(**good | change)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["one", "two", ""]),
            st.booleans(),
            st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
            st.lists(st.sampled_from("abcd"), unique=True),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_means_are_those_of_going_through_the_questions_one_by_one(rows: list[Any]) -> None:
    questions = [
        Question(str(n), "?", kind, relevant=gains, answerable=answerable)
        for n, (kind, answerable, gains, _) in enumerate(rows)
    ]
    answers = run(*(answered(str(n), "".join(row[3])) for n, row in enumerate(rows)))
    values: dict[str, list[float]] = {}
    for kind, answerable, gains, ranking in rows:
        if answerable and any(gains.values()):
            values.setdefault(kind, []).append(measure("ndcg@2")(ranking, gains))
    if not values:
        with pytest.raises(InvalidArgument, match="at least one with a relevant turn"):
            score(answers, questions, ["ndcg@2"], "turn")
        return
    scores = score(answers, questions, ["mrr", "ndcg@2"], "turn", samples=20)
    found = scores.measures["ndcg@2"]
    assert found.micro.mean == pytest.approx(fmean(value for group in values.values() for value in group))
    assert found.macro.mean == pytest.approx(fmean(map(fmean, values.values())))
    assert scores.kinds == {kind: len(values[kind]) for kind in sorted(values)}
    assert np.isfinite([found.micro.low, found.micro.high, found.macro.low, found.macro.high]).all()
