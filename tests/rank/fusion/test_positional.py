import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import Fused, borda, isr, rrf, zscored_rrf

LEGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), max_size=5)
WEIGHTS = st.none() | st.lists(st.floats(0.01, 10) | st.just(0.0), min_size=5, max_size=5)


def usable(weights: list[float] | None, legs: list[list[str]]) -> list[float] | None:
    """Return one weight per leg, or None where they would sum to zero."""
    return weights[: len(legs)] if weights and (sum(weights[: len(legs)]) or not legs) else None


def votes(legs: list[list[str]], k: float, base: int) -> list[dict[str, float]]:
    return [{id_: 1 / (k + base + place) for place, id_ in enumerate(leg)} for leg in legs]


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


def first_seen(legs: list[list[str]]) -> list[str]:
    return list(dict.fromkeys(id_ for leg in legs for id_ in leg))


def test_the_worked_example() -> None:
    fused = rrf([["m1", "m3", "m2", "m5"], ["m2", "m1", "m4", "m3"]], k=60, rank_base=1)
    scores = as_dict(fused)
    assert fused.ids == ["m1", "m2", "m3", "m4", "m5"]
    assert scores["m1"] == 1 / 61 + 1 / 62 == pytest.approx(0.032522, abs=5e-7)
    assert scores["m2"] == 1 / 63 + 1 / 61 == pytest.approx(0.032266, abs=5e-7)
    # The specification prints 0.031754; 1/62 + 1/64 is 0.03175403.
    assert scores["m3"] == 1 / 62 + 1 / 64 == pytest.approx(0.031754, abs=5e-7)
    assert scores["m4"] == 1 / 63
    assert scores["m5"] == 1 / 64


def test_both_conventions_on_a_deep_pool() -> None:
    # "best" leads one leg; "both" is number 20 of either.
    one = ["best", *(f"x{n}" for n in range(18)), "both"]
    two = [*(f"y{n}" for n in range(19)), "both"]
    classic = as_dict(rrf([one, two]))
    assert (classic["best"], classic["both"]) == (1 / 61, 2 / (60 + 20))
    assert 2 / (60 + 20) > 1 / 60
    assert classic["both"] > classic["best"]
    steep = as_dict(rrf([one, two], k=5, rank_base=0))
    assert (steep["best"], steep["both"]) == (1 / 5, 2 / (5 + 19))
    assert steep["best"] > steep["both"]


@given(
    LEGS, WEIGHTS, st.sampled_from([0.5, 1.0, 5.0, 60.0]), st.integers(0, 1), st.none() | st.integers(0, 9)
)
def test_rrf_is_the_double_loop(
    legs: list[list[str]], weights: list[float] | None, k: float, base: int, limit: int | None
) -> None:
    scales = usable(weights, legs)
    expected = dict.fromkeys(first_seen(legs), 0.0)
    for leg, scale in zip(votes(legs, k, base), scales or [1.0] * len(legs), strict=True):
        for id_, vote in leg.items():
            expected[id_] += scale * vote
    fused = rrf(legs, weights=scales, k=k, rank_base=base, limit=limit)
    # The same additions in the same order: equal to the last bit, ties and their order included.
    assert list(as_dict(fused).items()) == sorted(expected.items(), key=lambda item: -item[1])[:limit]


def test_zscored_by_hand() -> None:
    # One leg over the union a, b: votes 1/61 and 0, whatever their size, are z-scores of 1 and -1.
    assert as_dict(zscored_rrf([["a"], ["b"]], weights=[0.6, 0.4])) == pytest.approx({"a": 0.2, "b": -0.2})
    # Found first by both of two: 1 + 1; not found at all by the first, last in the second: -1 - 1.
    assert as_dict(zscored_rrf([["a"], ["a", "b"]])) == pytest.approx({"a": 2.0, "b": -2.0})


@given(LEGS, WEIGHTS, st.sampled_from([1.0, 5.0, 60.0]), st.integers(0, 1))
def test_zscored_rrf_is_the_double_loop(
    legs: list[list[str]], weights: list[float] | None, k: float, base: int
) -> None:
    scales = usable(weights, legs)
    union = first_seen(legs)
    expected = dict.fromkeys(union, 0.0)
    for leg, scale in zip(votes(legs, k, base), scales or [1.0] * len(legs), strict=True):
        row = [leg.get(id_, 0.0) for id_ in union]
        if len(set(row)) > 1:
            mean, deviation = statistics.fmean(row), statistics.pstdev(row)
            for id_, vote in zip(union, row, strict=True):
                expected[id_] += scale * (vote - mean) / deviation
    fused = zscored_rrf(legs, weights=scales, k=k, rank_base=base)
    assert as_dict(fused) == pytest.approx(expected, abs=1e-8)
    keys = [(-score, union.index(id_)) for id_, score in as_dict(fused).items()]
    assert keys == sorted(keys)


def test_scores_are_not_looked_at() -> None:
    assert as_dict(rrf([{"a": 9.0, "b": 1.0}])) == as_dict(rrf([["a", "b"]]))


def test_one_weight_may_be_zero() -> None:
    assert as_dict(rrf([["a"], ["b"]], weights=[0, 1])) == {"b": 1 / 61, "a": 0.0}


def test_k_may_be_zero_only_if_ranks_start_at_1() -> None:
    assert as_dict(rrf([["a", "b"]], k=0)) == {"a": 1.0, "b": 0.5}
    for k in (0, 5e-324):
        with pytest.raises(InvalidArgument, match="k must be above 0 when the first rank is 0"):
            rrf([["a"]], k=k, rank_base=0)


@pytest.mark.parametrize("fuse", [rrf, zscored_rrf])
@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"k": -1}, "k"),
        ({"k": float("nan")}, "k"),
        ({"k": "60"}, "k"),
        ({"rank_base": 2}, "rank_base"),
        ({"rank_base": -1}, "rank_base"),
        ({"rank_base": 0.5}, "rank_base"),
        ({"weights": [1.0]}, "weights"),
        ({"weights": [0.0, 0.0]}, "weights"),
        ({"weights": [1.0, -1.0]}, "weights[1]"),
        ({"limit": -1}, "limit"),
    ],
)
def test_bad_options_are_refused(fuse: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        fuse([["a"], ["b"]], **options)
    assert caught.value.argument == argument


def test_weights_too_large_to_compute_with_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        rrf([["a"]], weights=[1.7e308], k=0.5, rank_base=0)
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        zscored_rrf([["a"], ["b", "c", "d"]], weights=[1.7e308, 1.0])


POSITIONAL_WEIGHTS = st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5)


def test_borda_by_hand() -> None:
    # A union of 4: the first of a leg gets 4 points, the second 3, the third 2; what it missed gets none.
    legs = [["a", "b", "c"], ["b", "d"]]
    assert list(as_dict(borda(legs)).items()) == [("b", 7.0), ("a", 4.0), ("d", 3.0), ("c", 2.0)]
    assert as_dict(borda(legs, weights=[1, 0.5])) == {"b": 5.0, "a": 4.0, "c": 2.0, "d": 1.5}


def test_isr_by_hand() -> None:
    # b: found by two, 2·(1/4 + 1/1); d: found by one, at rank 2.
    legs = [["a", "b", "c"], ["b", "d"]]
    assert as_dict(isr(legs)) == pytest.approx({"b": 2.5, "a": 1.0, "d": 0.25, "c": 1 / 9})
    assert as_dict(isr(legs, weights=[2, 1])) == pytest.approx({"b": 3.0, "a": 2.0, "d": 0.25, "c": 2 / 9})


@given(LEGS, POSITIONAL_WEIGHTS)
def test_both_are_the_double_loop(legs: list[list[str]], weights: list[float] | None) -> None:
    scales = weights[: len(legs)] if weights else None
    seen = list(dict.fromkeys(id_ for leg in legs for id_ in leg))
    points, votes = dict.fromkeys(seen, 0.0), dict.fromkeys(seen, 0.0)
    for leg, scale in zip(legs, scales or [1.0] * len(legs), strict=True):
        for rank, id_ in enumerate(leg, 1):
            points[id_] += scale * (len(seen) + 1 - rank)
            votes[id_] += scale / rank**2 * sum(id_ in other for other in legs)
    for fuse, expected in ((borda, points), (isr, votes)):
        fused = fuse(legs, weights=scales)
        assert as_dict(fused) == pytest.approx(expected, rel=1e-12)
        keys = [(-score, seen.index(id_)) for id_, score in as_dict(fused).items()]
        assert keys == sorted(keys)


def test_ties_keep_the_order_first_seen() -> None:
    for fuse in (borda, isr):
        assert fuse([["b", "a"], ["a", "b"]]).ids == ["b", "a"]


def test_no_legs_and_one_item() -> None:
    for fuse in (borda, isr):
        assert fuse([]).ids == []
        assert fuse([[]]).ids == []
        assert as_dict(fuse([["a"]])) == {"a": 1.0}


@pytest.mark.parametrize("fuse", [borda, isr])
@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"weights": [1]}, "weights"),
        ({"weights": [0, 0]}, "weights"),
        ({"weights": [1, float("inf")]}, "weights[1]"),
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
    ],
)
def test_positional_bad_options_are_refused(fuse: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        fuse([["a"], ["b"]], **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("fuse", [borda, isr])
def test_positional_weights_too_large_to_compute_with_are_refused(fuse: Any) -> None:
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([["a", "b"], ["a"]], weights=[1.7e308, 1e300])
