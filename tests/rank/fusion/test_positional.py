from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import Fused, borda, isr

LEGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), max_size=5)
WEIGHTS = st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5)


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


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


@given(LEGS, WEIGHTS)
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
def test_bad_options_are_refused(fuse: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        fuse([["a"], ["b"]], **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("fuse", [borda, isr])
def test_weights_too_large_to_compute_with_are_refused(fuse: Any) -> None:
    with pytest.raises(InvalidArgument, match="legs must be items whose weighted scores"):
        fuse([["a", "b"], ["a"]], weights=[1.7e308, 1e300])
