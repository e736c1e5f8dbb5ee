import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import NORMALISERS, Fused, comb_mnz, comb_sum

SCORES = st.integers(-20, 20).map(float) | st.floats(-10, 10).map(lambda score: round(score, 3))
LEGS = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), SCORES), max_size=5)
WEIGHTS = st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5)


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


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
def test_bad_options_are_refused(fuse: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        fuse([{"a": 1.0}], **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("fuse", [comb_sum, comb_mnz])
def test_scores_too_large_to_add_are_refused(fuse: Any) -> None:
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([{"a": 1.7e308}, {"a": 1.7e308}], normaliser="none")
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([{"a": 1e300}], weights=[1e300], normaliser="none")
