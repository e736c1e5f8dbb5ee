import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.features import SCALES, Features, reranked, rescored, scaled_columns, weight_vector
from memorata.model.errors import InvalidArgument

NAN = math.nan
LOGGED = Features("r1", ["a", "b", "c"], {"meaning": [0.9, 0.5, NAN], "words": [NAN, 2.0, 4.0]})


def scaled_slowly(column: list[float], scale: str) -> list[float]:
    known = [value for value in column if not math.isnan(value)]
    result = []
    for value in column:
        if math.isnan(value):
            result.append(0.0)
        elif scale == "none":
            result.append(value)
        elif scale == "max":
            result.append(value / max(known) if max(known) > 0 else 0.0)
        elif max(known) == min(known):
            result.append(1.0)
        else:
            result.append((value - min(known)) / (max(known) - min(known)))
    return result


def test_a_candidate_is_a_row_and_what_is_known_of_it_a_named_column() -> None:
    assert LOGGED.ids == ("a", "b", "c")
    assert LOGGED.names == ("meaning", "words")
    assert LOGGED.matrix.shape == (3, 2)
    assert LOGGED.column("words")[2] == 4.0
    assert LOGGED.group == "r1"
    assert Features("r1", [], {"meaning": []}, group="c7").group == "c7"


def test_scores_under_other_weights_by_hand() -> None:
    assert rescored(LOGGED, {"meaning": 0.4, "words": 0.6}).tolist() == pytest.approx([0.4, 0.0, 0.6])
    assert rescored(LOGGED, {"meaning": 1.0}, scale="none").tolist() == [0.9, 0.5, 0.0]
    assert rescored(LOGGED, {"words": 1.0}, scale="max").tolist() == [0.0, 0.5, 1.0]
    assert rescored(LOGGED, {}).tolist() == [0, 0, 0]


def test_ranking_again_searches_nothing_and_keeps_the_order_of_what_is_equal() -> None:
    assert reranked(LOGGED, {"words": 1.0}) == ("c", "a", "b")
    assert reranked(LOGGED, {}) == ("a", "b", "c")
    assert reranked(LOGGED, {"meaning": -1.0}, scale="none") == ("c", "b", "a")
    assert reranked(Features("r2", [], {"meaning": []}), {"meaning": 1.0}) == ()


column = st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(NAN)), max_size=6)


@given(st.lists(column, min_size=1, max_size=4), st.sampled_from(SCALES))
def test_scaling_many_questions_at_once_is_scaling_each(questions: list[list[float]], scale: str) -> None:
    bounds = np.cumsum([0, *map(len, questions)])
    table = np.array([value for question in questions for value in question], np.float64)[:, np.newaxis]
    expected = [value for question in questions for value in scaled_slowly(question, scale)]
    assert scaled_columns(table, bounds, scale).ravel().tolist() == pytest.approx(expected)


def test_a_weight_for_an_unknown_column_is_an_error_that_names_the_columns() -> None:
    with pytest.raises(InvalidArgument, match="one of 'meaning', 'words', got 'graph'"):
        rescored(LOGGED, {"graph": 1.0})
    assert weight_vector({}, ["a"]).tolist() == [0]


@pytest.mark.parametrize(
    "changes",
    [
        {"recall_id": 5},
        {"ids": "abc"},
        {"ids": ["a", "a", "b"]},
        {"ids": ["a"]},
        {"columns": {}},
        {"columns": [1.0]},
        {"columns": {"m": [1.0, 2.0]}},
        {"columns": {"m": [1.0, 2.0, math.inf]}},
        {"columns": {"m": ["a", "b", "c"]}},
        {"columns": {"m": [[1.0], [2.0], [3.0]]}},
        {"columns": {"m": [[1.0], [2.0, 3.0]]}},
        {"group": None},
    ],
)
def test_what_is_no_feature_vector_is_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"recall_id": "r", "ids": ["a", "b", "c"], "columns": {"m": [1.0, 2.0, NAN]}}
    with pytest.raises(InvalidArgument):
        Features(**good | changes)


@pytest.mark.parametrize("weights", [None, [0.5], {"meaning": NAN}, {"meaning": "1"}, {"meaning": True}])
def test_what_is_no_weighting_is_refused(weights: Any) -> None:
    with pytest.raises(InvalidArgument):
        rescored(LOGGED, weights)


def test_numbers_too_large_to_compute_with_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        rescored(LOGGED, {"meaning": 1e308, "words": 1e308}, scale="none")
    with pytest.raises(InvalidArgument):
        rescored(Features("r", ["a", "b"], {"m": [-1.7e308, 1.7e308]}), {"m": 1.0})
    with pytest.raises(InvalidArgument):
        rescored(LOGGED, {"meaning": 1.0}, scale="rank")
    with pytest.raises(InvalidArgument):
        LOGGED.column("graph")
