from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.agreement import agreement, rank_biased_overlap
from memorata.model.errors import InvalidArgument

rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def overlap_slowly(first: list[str], second: list[str], persistence: float) -> float:
    """Depth by depth, with sets."""
    total = weights = 0.0
    for depth in range(1, max(len(first), len(second)) + 1):
        one, other = set(first[:depth]), set(second[:depth])
        total += persistence ** (depth - 1) * 2 * len(one & other) / (len(one) + len(other))
        weights += persistence ** (depth - 1)
    return total / weights if weights else 1.0


@given(rankings, rankings, st.floats(0.05, 0.99))
def test_the_overlap_is_what_counting_depth_by_depth_gives(
    first: list[str], second: list[str], p: float
) -> None:
    found = rank_biased_overlap(first, second, persistence=p)
    assert found == pytest.approx(overlap_slowly(first, second, p))
    assert found == pytest.approx(rank_biased_overlap(second, first, persistence=p))
    assert -1e-12 <= found <= 1 + 1e-12


@given(rankings)
def test_a_ranking_agrees_with_itself(ranking: list[str]) -> None:
    assert rank_biased_overlap(ranking, ranking) == pytest.approx(1)


def test_the_top_counts_most() -> None:
    base = ["a", "b", "c", "d"]
    assert rank_biased_overlap(base, ["b", "a", "c", "d"]) < rank_biased_overlap(base, ["a", "b", "d", "c"])
    assert rank_biased_overlap([], ["a"]) == 0


def test_agreement_is_the_mean_over_pairs() -> None:
    found = agreement([["a", "b"], ["a", "b"], ["c", "d"]], depth=2)
    assert found.confidence == pytest.approx(1 / 3)
    assert found.pairs.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert found.support == pytest.approx({"a": 2 / 3, "b": 2 / 3, "c": 1 / 3, "d": 1 / 3})
    assert list(found.support) == ["a", "b", "c", "d"]


def test_a_caller_can_require_agreement() -> None:
    found = agreement([["a", "b", "c"], ["a", "c", "b"], ["a", "d", "e"]], depth=2)
    assert found.agreed(1.0) == ("a",)
    assert found.agreed(0.3) == ("a", "b", "c", "d")


def test_only_the_first_few_are_looked_at() -> None:
    assert agreement([["a", "b"], ["a", "c"]], depth=1).confidence == 1


def test_nothing_found_each_time_is_agreement_too() -> None:
    found = agreement([[], []])
    assert (found.confidence, dict(found.support)) == (1.0, {})


@pytest.mark.parametrize(
    "changes",
    [
        {"rankings": [["a"]]},
        {"rankings": "ab"},
        {"rankings": [["a", "a"], ["b"]]},
        {"rankings": [["a"], [5]]},
        {"depth": 0},
        {"persistence": 0},
        {"persistence": 1},
        {"persistence": float("nan")},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"rankings": [["a"], ["b"]], "depth": 2, "persistence": 0.9}
    with pytest.raises(InvalidArgument):
        agreement(**good | changes)


def test_a_share_that_cannot_be_required() -> None:
    with pytest.raises(InvalidArgument):
        agreement([["a"], ["b"]]).agreed(2)
