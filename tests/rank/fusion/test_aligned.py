from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import Fused, aligned_fusion, min_max, z_score

SCORES = st.integers(-50, 50).map(float) | st.floats(-10, 10).map(lambda score: round(score, 3))
LEGS = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), SCORES), max_size=5)
WEIGHTS = st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5)
TWO = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}]


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


def slow(
    legs: list[dict[str, float]], weights: list[float] | None, coverage: str, factor: float, full: int
) -> dict[str, float]:
    """Return the published form: z-score, then min-max, then the weighted sum, one id at a time."""
    default = [0.7, 0.3] if len(legs) == 2 else [1 / len(legs)] * len(legs) if legs else []
    scales = weights or default
    scaled = [dict(zip(leg, min_max(z_score(list(leg.values()))).tolist(), strict=True)) for leg in legs]
    filled = [leg for leg in scaled if leg]
    if len(filled) == 1:
        return filled[0]
    if coverage == "leg":
        thin = [scale * min(len(leg) / full, 1) for scale, leg in zip(scales, legs, strict=True)]
        scales = [scale / sum(thin) * sum(scales) for scale in thin] if sum(thin) else thin
    result: dict[str, float] = {}
    for leg, scale in zip(scaled, scales, strict=True):
        for id_, score in leg.items():
            single = sum(id_ in other for other in legs) == 1
            share = scale * factor if coverage == "item" and single else scale
            result[id_] = result.get(id_, 0.0) + share * score
    return result


def test_without_coverage_by_hand() -> None:
    # Vector: a 1, b 0.5, c 0. Text: b 1, d 0. b = 0.7·0.5 + 0.3·1.
    assert as_dict(aligned_fusion(TWO)) == pytest.approx({"a": 0.7, "b": 0.65, "c": 0.0, "d": 0.0})


def test_item_coverage_by_hand() -> None:
    # a is found by one leg: 0.7·0.8·1; b by both, and keeps its 0.65.
    fused = aligned_fusion(TWO, coverage="item")
    assert as_dict(fused) == pytest.approx({"b": 0.65, "a": 0.56, "c": 0.0, "d": 0.0})
    assert as_dict(aligned_fusion(TWO, coverage="item", single_leg_factor=1.0)) == pytest.approx(
        as_dict(aligned_fusion(TWO))
    )


def test_leg_coverage_by_hand() -> None:
    # 3 and 2 results of 5: weights 0.7·0.6 = 0.42 and 0.3·0.4 = 0.12, scaled to 7/9 and 2/9.
    fused = aligned_fusion(TWO, coverage="leg")
    assert as_dict(fused) == pytest.approx({"a": 7 / 9, "b": 7 / 18 + 2 / 9, "c": 0.0, "d": 0.0})
    # Two results are full: the weights stay what they were.
    assert as_dict(aligned_fusion(TWO, coverage="leg", full_leg=2)) == pytest.approx(
        as_dict(aligned_fusion(TWO))
    )


@given(LEGS, WEIGHTS, st.sampled_from(["none", "item", "leg"]), st.floats(0, 1), st.integers(1, 9))
def test_it_is_the_published_form_one_id_at_a_time(
    legs: list[dict[str, float]], weights: list[float] | None, coverage: str, factor: float, full: int
) -> None:
    scales = weights[: len(legs)] if weights else None
    fused = aligned_fusion(legs, weights=scales, coverage=coverage, single_leg_factor=factor, full_leg=full)
    assert as_dict(fused) == pytest.approx(slow(legs, scales, coverage, factor, full), abs=1e-9)
    ranked = [sorted(leg, key=lambda id_, leg=leg: -leg[id_]) for leg in legs]  # type: ignore[misc]
    seen = list(dict.fromkeys(id_ for ids in ranked for id_ in ids))
    keys = [(-score, seen.index(id_)) for id_, score in as_dict(fused).items()]
    assert keys == sorted(keys)


@given(st.lists(SCORES, max_size=12))
def test_a_z_score_before_a_min_max_changes_nothing(scores: list[float]) -> None:
    np.testing.assert_allclose(min_max(z_score(scores)), min_max(scores), atol=1e-9)


@pytest.mark.parametrize("coverage", ["none", "item", "leg"])
@pytest.mark.parametrize(
    "legs",
    [
        [{"a": 9.0, "b": 5.0, "c": 1.0}, {}],
        [{}, {"a": 9.0, "b": 5.0, "c": 1.0}],
        [{}, {"a": 9.0, "b": 5.0, "c": 1.0}, {}],
        [{"a": 9.0, "b": 5.0, "c": 1.0}],
    ],
)
def test_a_single_leg_with_results_is_its_min_max(legs: list[dict[str, float]], coverage: str) -> None:
    assert as_dict(aligned_fusion(legs, coverage=coverage)) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_default_weights_of_other_numbers_of_legs_are_equal_and_sum_to_1() -> None:
    assert as_dict(aligned_fusion([{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])) == pytest.approx({"a": 1.0})
    assert as_dict(aligned_fusion([{"a": 1.0}, {"a": 2.0}])) == {"a": 1.0}
    assert aligned_fusion([]).ids == []
    assert aligned_fusion([{}, {}]).ids == []


def test_leg_coverage_when_all_weight_is_on_empty_legs() -> None:
    legs = [{"a": 2.0, "b": 1.0}, {"a": 1.0}, {}]
    assert as_dict(aligned_fusion(legs, weights=[0, 0, 1], coverage="leg")) == {"a": 0.0, "b": 0.0}


def test_a_full_leg_may_be_far_away() -> None:
    near, far = (as_dict(aligned_fusion(TWO, coverage="leg", full_leg=full)) for full in (5, 10**30))
    assert far == pytest.approx(near)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"coverage": "items"}, "coverage"),
        ({"coverage": None}, "coverage"),
        ({"single_leg_factor": 1.2}, "single_leg_factor"),
        ({"single_leg_factor": float("nan")}, "single_leg_factor"),
        ({"full_leg": 0}, "full_leg"),
        ({"full_leg": 2.5}, "full_leg"),
        ({"weights": [0.7]}, "weights"),
        ({"weights": [0, 0]}, "weights"),
        ({"weights": [0.7, -0.3]}, "weights[1]"),
        ({"limit": -1}, "limit"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        aligned_fusion(TWO, **options)
    assert caught.value.argument == argument


def test_it_needs_scores() -> None:
    with pytest.raises(InvalidArgument, match=r"legs\[0\] must be a leg with scores"):
        aligned_fusion([["a", "b"], ["b"]])
