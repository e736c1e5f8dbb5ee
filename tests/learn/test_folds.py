from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.folds import grouped_folds, nested_folds
from memorata.model.errors import InvalidArgument, NotEnoughData

many_groups = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40)


@given(many_groups, st.integers(2, 4), st.integers(0, 5))
def test_every_row_is_held_out_once_and_groups_stay_together(
    groups: list[str], count: int, seed: int
) -> None:
    if len(set(groups)) < count:
        with pytest.raises(NotEnoughData):
            grouped_folds(groups, count=count, seed=seed)
        return
    folds = grouped_folds(groups, count=count, seed=seed)
    assert len(folds) == count
    assert sorted(row for fold in folds for row in fold.held_out.tolist()) == list(range(len(groups)))
    for fold in folds:
        assert sorted([*fold.learnt.tolist(), *fold.held_out.tolist()]) == list(range(len(groups)))
        assert not {groups[row] for row in fold.learnt} & {groups[row] for row in fold.held_out}
        assert fold.held_out.size


def test_folds_are_of_about_the_same_size() -> None:
    groups = [f"q{row}" for row in range(103)]
    assert sorted(fold.held_out.size for fold in grouped_folds(groups)) == [20, 20, 21, 21, 21]
    uneven = ["big"] * 5 + ["a", "b", "c", "d", "e"]
    assert [fold.held_out.size for fold in grouped_folds(uneven, count=2)] == [5, 5]


def test_the_same_seed_gives_the_same_folds_and_another_seed_others() -> None:
    groups = [f"q{row}" for row in range(30)]

    def held(seed: int) -> list[list[int]]:
        return [fold.held_out.tolist() for fold in grouped_folds(groups, seed=seed)]

    assert held(1) == held(1)
    assert held(1) != held(2)


def test_inner_folds_divide_what_the_outer_one_learns_from() -> None:
    groups = [f"c{row % 12}" for row in range(60)]
    for fold in nested_folds(groups, count=3, inner=4):
        inside = [row for inner in fold.inner for row in inner.held_out.tolist()]
        assert sorted(inside) == fold.learnt.tolist()
        for inner in fold.inner:
            assert not set(inner.learnt.tolist()) & set(fold.held_out.tolist())
            assert not {groups[row] for row in inner.learnt} & {groups[row] for row in inner.held_out}


def test_too_few_groups_say_how_many_more() -> None:
    with pytest.raises(NotEnoughData, match=r"1 groups .* 4 more"):
        grouped_folds(["a"] * 50)
    with pytest.raises(NotEnoughData):
        nested_folds(["a", "b", "c"], count=3, inner=3)


@pytest.mark.parametrize(
    "changes",
    [{"groups": "abc"}, {"groups": [1, 2]}, {"count": 1}, {"count": 2.0}, {"seed": -1}, {"inner": 1}],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"groups": ["a", "b", "c", "d"], "count": 2, "inner": 2, "seed": 0}
    with pytest.raises(InvalidArgument):
        nested_folds(**good | changes)
