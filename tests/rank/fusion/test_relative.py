import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import (
    NORMALISERS,
    Fused,
    Leg,
    aligned_fusion,
    comb_mnz,
    comb_sum,
    min_max,
    relative_score_fusion,
    z_score,
)

SCORES = st.floats(-1e3, 1e3) | st.integers(0, 3).map(float)
LEGS = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), SCORES), max_size=5)
WEIGHTS = st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5)


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


def scaled(leg: dict[str, float]) -> dict[str, float]:
    if len(set(leg.values())) < 2:
        return dict.fromkeys(leg, 1.0)
    low, high = min(leg.values()), max(leg.values())
    return {id_: (score - low) / (high - low) for id_, score in leg.items()}


def test_alpha_a_half_by_hand() -> None:
    # Vector: a 1, b 0.5, c 0. Text: b 1, d 0.
    legs = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}]
    assert as_dict(relative_score_fusion(legs)) == {"b": 0.75, "a": 0.5, "c": 0.0, "d": 0.0}


def test_alpha_is_the_first_of_two_weights() -> None:
    legs = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}]
    alpha = 0.7
    fused = relative_score_fusion(legs, weights=[alpha, 1 - alpha])
    assert as_dict(fused) == pytest.approx({"a": 0.7, "b": 0.65, "c": 0.0, "d": 0.0})


def test_only_the_ratio_of_the_weights_counts() -> None:
    legs = [{"a": 3.0, "b": 1.0}, {"b": 4.0, "c": 0.0}]
    one, other = (as_dict(relative_score_fusion(legs, weights=weights)) for weights in ([0.7, 0.3], [7, 3]))
    assert one == pytest.approx(other)


@given(LEGS, WEIGHTS)
def test_it_is_the_double_loop(legs: list[dict[str, float]], weights: list[float] | None) -> None:
    scales = weights[: len(legs)] if weights else None
    shares = (
        [scale / sum(scales) for scale in scales] if scales else [1 / len(legs)] * len(legs) if legs else []
    )
    ranked = [sorted(leg, key=lambda id_, leg=leg: -leg[id_]) for leg in legs]  # type: ignore[misc]
    expected = dict.fromkeys((id_ for ids in ranked for id_ in ids), 0.0)
    for leg, share in zip(map(scaled, legs), shares, strict=True):
        for id_, score in leg.items():
            expected[id_] += share * score
    fused = relative_score_fusion(legs, weights=scales)
    assert as_dict(fused) == pytest.approx(expected, abs=1e-12)
    seen = list(expected)
    keys = [(-score, seen.index(id_)) for id_, score in as_dict(fused).items()]
    assert keys == sorted(keys)
    assert ((fused.scores >= 0) & (fused.scores <= 1 + 1e-12)).all()


def test_ties_keep_the_order_first_seen() -> None:
    fused = relative_score_fusion([Leg(["c", "b", "a"], [1, 1, 1]), Leg(["a", "b", "c"], [2, 2, 2])])
    assert fused.ids == ["c", "b", "a"]
    assert fused.scores.tolist() == [1.0, 1.0, 1.0]


def test_one_leg_is_its_min_max_and_one_item_is_1() -> None:
    assert as_dict(relative_score_fusion([{"a": 5.0, "b": 3.0, "c": 1.0}])) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert as_dict(relative_score_fusion([{"a": -7.0}])) == {"a": 1.0}
    assert relative_score_fusion([]).ids == []


@pytest.mark.parametrize(
    ("legs", "options", "argument"),
    [
        ([["a"], ["b"]], {}, "legs[0]"),
        ([{"a": 1.0}], {"weights": [-1.0]}, "weights[0]"),
        ([{"a": 1.0}], {"weights": [0.0]}, "weights"),
        ([{"a": 1.0}], {"weights": [1.0, 2.0]}, "weights"),
        ([{"a": 1.0}], {"limit": 1.5}, "limit"),
        ([{"a": float("inf")}], {}, "legs[0][0]"),
    ],
)
def test_bad_input_is_refused(legs: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        relative_score_fusion(legs, **options)
    assert caught.value.argument == argument


def test_a_known_floor_keeps_the_last_of_a_short_list_by_hand() -> None:
    # BM25 starts at 0: 4.9 of 5.0 is nearly the best, not nothing.
    legs = [{"a": 5.0, "b": 4.9}]
    assert as_dict(relative_score_fusion(legs)) == {"a": 1.0, "b": 0.0}
    assert as_dict(relative_score_fusion(legs, floors=[0.0])) == pytest.approx({"a": 1.0, "b": 0.98})


@given(LEGS, st.floats(0, 100))
def test_a_floor_is_an_item_that_nobody_found(legs: list[dict[str, float]], below: float) -> None:
    floors = [min(leg.values(), default=0.0) - below for leg in legs]
    lowered = [leg | {f"floor {number}": floors[number]} for number, leg in enumerate(legs)]
    expected = {id_: score for id_, score in as_dict(relative_score_fusion(lowered)).items() if len(id_) == 1}
    held = [leg for leg in legs if leg]
    if len(held) == len(legs):
        fused = relative_score_fusion(legs, floors=floors)
        assert as_dict(fused) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("floors", "argument"),
    [([6.0], "floors[0]"), ([float("nan")], "floors[0]"), ([0.0, 0.0], "floors"), ([], "floors")],
)
def test_a_floor_above_the_leg_is_refused(floors: list[float], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        relative_score_fusion([{"a": 5.0, "b": 5.5}], floors=floors)
    assert caught.value.argument == argument


def test_a_known_ceiling_keeps_a_weak_best_weak_by_hand() -> None:
    # The best text matches a quarter of what was asked for.
    legs = [{"a": 2.5, "b": 1.0}]
    fused = relative_score_fusion(legs, floors=[0.0], ceilings=[10.0])
    assert as_dict(fused) == pytest.approx({"a": 0.25, "b": 0.1})
    with pytest.raises(InvalidArgument, match=r"ceilings\[0\] must be at least .* maximum, 2.5, got 2"):
        relative_score_fusion(legs, ceilings=[2.0])


ALIGNED_SCORES = st.integers(-50, 50).map(float) | st.floats(-10, 10).map(lambda score: round(score, 3))
TWO = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 12.0, "d": 2.0}]


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


@given(st.lists(ALIGNED_SCORES, max_size=12))
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
    near, far = (as_dict(aligned_fusion(TWO, coverage="leg", full_leg=full)) for full in (5, 2**62))
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


COMB_SCORES = st.integers(-20, 20).map(float) | st.floats(-10, 10).map(lambda score: round(score, 3))


def normalised(leg: dict[str, float], name: str) -> dict[str, float]:
    values = list(leg.values())
    if not values or name == "none":
        return leg
    low, high, equal = min(values), max(values), len(set(values)) == 1
    if name == "min_max":
        return {id_: 1.0 if equal else (score - low) / (high - low) for id_, score in leg.items()}
    if name == "max_scaled":
        return {id_: score / max(high, 1e-9) for id_, score in leg.items()}
    if name == "z_score":
        mean, deviation = statistics.fmean(values), statistics.pstdev(values)
        return {id_: 0.0 if equal else (score - mean) / deviation for id_, score in leg.items()}
    best_first = sorted(leg, key=lambda id_: -leg[id_])
    return {id_: 1 - rank / len(leg) for rank, id_ in enumerate(best_first)}


def test_sums_by_hand() -> None:
    legs = [{"a": 3.0, "b": 1.0}, {"b": 4.0}, {"c": 2.0, "b": 1.0}]
    assert as_dict(comb_sum(legs, normaliser="none")) == {"b": 6.0, "a": 3.0, "c": 2.0}
    # min-max: a 1, b 0 | b 1 | c 1, b 0. The tie is in the order first seen.
    assert list(as_dict(comb_sum(legs)).items()) == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


def test_agreement_multiplies() -> None:
    legs = [{"a": 3.0, "b": 1.0}, {"b": 4.0}, {"c": 2.0, "b": 1.0}]
    assert as_dict(comb_mnz(legs, normaliser="none")) == {"b": 18.0, "a": 3.0, "c": 2.0}
    assert as_dict(comb_mnz(legs)) == {"b": 3.0, "a": 1.0, "c": 1.0}


def test_weights_by_hand() -> None:
    legs = [{"a": 3.0}, {"a": 4.0, "b": 5.0}]
    assert as_dict(comb_sum(legs, weights=[2, 0.5], normaliser="none")) == {"a": 8.0, "b": 2.5}
    assert as_dict(comb_mnz(legs, weights=[2, 0.5], normaliser="none")) == {"a": 16.0, "b": 2.5}


@given(LEGS, WEIGHTS, st.sampled_from(sorted(NORMALISERS)))
def test_both_are_the_double_loop(
    legs: list[dict[str, float]], weights: list[float] | None, name: str
) -> None:
    scales = weights[: len(legs)] if weights else None
    ranked = [sorted(leg, key=lambda id_, leg=leg: -leg[id_]) for leg in legs]  # type: ignore[misc]
    seen = list(dict.fromkeys(id_ for ids in ranked for id_ in ids))
    sums = dict.fromkeys(seen, 0.0)
    for leg, scale in zip(legs, scales or [1.0] * len(legs), strict=True):
        for id_, score in normalised(leg, name).items():
            sums[id_] += scale * score
    largest = max((abs(value) for value in sums.values()), default=0.0)
    for fuse, expected in (
        (comb_sum, sums),
        (comb_mnz, {id_: total * sum(id_ in leg for leg in legs) for id_, total in sums.items()}),
    ):
        fused = fuse(legs, weights=scales, normaliser=name)
        assert as_dict(fused) == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1.0, largest))
        keys = [(-score, seen.index(id_)) for id_, score in as_dict(fused).items()]
        assert keys == sorted(keys)


def test_no_legs_and_one_item() -> None:
    for fuse in (comb_sum, comb_mnz):
        assert fuse([]).ids == []
        assert fuse([{}, {}]).ids == []
        assert as_dict(fuse([{"a": -3.0}])) == {"a": 1.0}


@pytest.mark.parametrize("fuse", [comb_sum, comb_mnz])
@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"normaliser": "minmax"}, "normaliser"),
        ({"normaliser": None}, "normaliser"),
        ({"weights": [-1]}, "weights[0]"),
        ({"weights": [0]}, "weights"),
        ({"weights": []}, "weights"),
        ({"limit": "all"}, "limit"),
    ],
)
def test_comb_bad_options_are_refused(fuse: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        fuse([{"a": 1.0}], **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("fuse", [comb_sum, comb_mnz])
def test_scores_too_large_to_add_are_refused(fuse: Any) -> None:
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([{"a": 1.7e308}, {"a": 1.7e308}], normaliser="none")
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([{"a": 1e300}], weights=[1e300], normaliser="none")
