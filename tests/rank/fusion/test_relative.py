from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import Fused, Leg, relative_score_fusion

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
