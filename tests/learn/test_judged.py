import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.evaluate.metrics import ndcg
from memorata.learn.features import Features, reranked
from memorata.learn.judged import Judged
from memorata.model.errors import InvalidArgument


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Features], dict[str, dict[str, float]]]:
    logged, gains = [], {}
    for number in range(draw(st.integers(1, 4))):
        ids = [f"m{place}" for place in range(draw(st.integers(0, 6)))]
        halves = st.lists(st.integers(0, 4).map(lambda each: each / 2), min_size=len(ids), max_size=len(ids))
        name = f"r{number}"
        logged.append(Features(name, ids, {"meaning": draw(halves), "words": draw(halves)}))
        judged = st.sampled_from(["m0", "m1", "m2", "m9"])
        gains[name] = draw(st.dictionaries(judged, st.sampled_from([0.0, 1.0, 2.0]), max_size=3))
    return logged, gains


@given(logs(), st.integers(1, 5), st.floats(0, 1))
def test_ndcg_is_that_of_the_metrics_question_by_question(
    log: tuple[list[Features], dict[str, dict[str, float]]], k: int, alpha: float
) -> None:
    logged, gains = log
    weights = {"meaning": alpha, "words": 1 - alpha}
    judged = Judged.of(logged, gains)
    expected = [
        ndcg(reranked(each, weights), gains[each.recall_id], k)
        for each in logged
        if any(gain > 0 for gain in gains[each.recall_id].values())
    ]
    assert judged.ndcg(weights, k=k).tolist() == pytest.approx(expected)
    assert judged.left_out == len(logged) - len(expected)


def test_questions_without_a_relevant_item_are_left_out_and_counted() -> None:
    logged = [Features(name, ["a"], {"m": [1.0]}, group="c") for name in ("r1", "r2", "r3")]
    judged = Judged.of(logged, {"r1": {"a": 1}, "r2": {"a": 0}})
    assert (judged.questions, judged.groups, judged.left_out) == (("r1",), ("c",), 2)


def test_columns_may_come_in_any_order_but_must_be_the_same() -> None:
    first = Features("r1", ["a", "b"], {"x": [1.0, 0.0], "y": [0.0, 1.0]})
    turned = Features("r2", ["a", "b"], {"y": [0.0, 1.0], "x": [1.0, 0.0]})
    judged = Judged.of([first, turned], {"r1": {"a": 1}, "r2": {"a": 1}})
    assert judged.ndcg({"x": 1.0}).tolist() == [1, 1]
    with pytest.raises(InvalidArgument, match="columns"):
        Judged.of([first, Features("r3", ["a"], {"x": [1.0]})], {})


def test_an_item_the_legs_did_not_find_counts_in_the_best_there_could_be() -> None:
    judged = Judged.of([Features("r", ["a"], {"m": [1.0]})], {"r": {"a": 1, "missed": 1}})
    assert judged.ndcg({"m": 1.0})[0] == pytest.approx(1 / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("gains", [None, {"r": [1]}, {"r": {"a": math.nan}}, {"r": {"a": "1"}}])
def test_what_are_no_gains_is_refused(gains: Any) -> None:
    with pytest.raises(InvalidArgument):
        Judged.of([Features("r", ["a"], {"m": [1.0]})], gains)


def test_bad_arguments() -> None:
    one = Features("r", ["a"], {"m": [1.0]})
    with pytest.raises(InvalidArgument, match="did not occur before"):
        Judged.of([one, one], {})
    judged = Judged.of([one], {"r": {"a": 1}})
    with pytest.raises(InvalidArgument):
        judged.ndcg({"m": 1.0}, k=0)
    with pytest.raises(InvalidArgument):
        judged.ndcg_of(np.array([1.0, 2.0]))
    assert Judged.of([], {}).questions == ()
