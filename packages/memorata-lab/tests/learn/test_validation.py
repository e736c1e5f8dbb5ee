import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.extend.json import plain
from memorata.model.errors import InvalidArgument, NotEnoughData
from memorata_lab.evaluate.significance import Difference
from memorata_lab.learn.validation import (
    Fold,
    FoldResult,
    Verdict,
    grouped_folds,
    judge,
    nested_folds,
    same_setting,
)

GROUPS = [f"q{number}" for number in range(40)]
FOLDS = grouped_folds(GROUPS, count=2)
NOW = np.full(40, 0.5)


def verdict(held_out: float, learnt: float, spread: float = 0.0, **options: Any) -> Any:
    """A setting that gains so much on what is held out and where it was chosen, more or less."""
    values = []
    for fold in FOLDS:
        value = NOW.copy()
        value[fold.learnt] += learnt
        value[fold.held_out] += held_out + spread * np.where(np.arange(fold.held_out.size) % 2, 1, -1)
        values.append(value)
    everywhere = NOW + learnt + spread * np.where(np.arange(40) % 2, 1, -1)
    arguments: dict[str, Any] = {"tried": np.stack([NOW, everywhere]), "picked": 1} | options
    return judge({"w": 1.0}, [{"w": 1.0}] * 2, values, NOW, FOLDS, GROUPS, **arguments)


def test_a_setting_that_wins_held_out_is_accepted_with_its_numbers() -> None:
    found = verdict(0.10, 0.12, spread=0.05)
    assert found.accepted
    assert found.gain.mean == pytest.approx(0.10)
    assert 0 < found.gain.low < 0.10 < found.gain.high
    assert found.learnt_gain == pytest.approx(0.12)
    assert [(fold.questions, round(fold.held_out_gain, 3)) for fold in found.folds] == [(20, 0.1), (20, 0.1)]
    assert found.reason.startswith("better: +0.1000 on held-out questions (95% interval +0.0")


@pytest.mark.parametrize(
    ("held_out", "learnt", "spread", "word"),
    [
        (0.00, 0.00, 0.0, "no change"),
        (-0.05, 0.10, 0.02, "overfit"),
        (-0.05, -0.01, 0.02, "worse"),
        (0.02, 0.03, 0.50, "not proven"),
        (0.02, 0.10, 0.01, "overfit: only"),
    ],
)
def test_everything_else_is_refused_with_the_numbers(
    held_out: float, learnt: float, spread: float, word: str
) -> None:
    found = verdict(held_out, learnt, spread)
    assert not found.accepted
    assert found.reason.startswith(word)
    if word != "no change":
        assert f"{held_out:+.4f}" in found.reason


def test_what_the_best_of_many_would_reach_by_chance_is_refused() -> None:
    random = np.random.default_rng(1)
    many = NOW + random.normal(0.0, 0.1, (500, 40))
    best = int(many.mean(axis=1).argmax())
    found = verdict(0.05, 0.06, 0.01, tried=many, picked=best)
    assert not found.accepted
    assert found.overfitting > 0.025
    assert found.reason.startswith("not significant: +0.0500")
    assert "the best of 500 settings" in found.reason


def test_a_verdict_can_be_kept_as_evidence() -> None:
    kept = json.loads(json.dumps(verdict(0.10, 0.12, spread=0.05).as_dict()))
    assert kept["accepted"] is True
    assert kept["gain"]["mean"] == pytest.approx(0.10)
    assert [fold["setting"] for fold in kept["folds"]] == [{"w": 1.0}] * 2


def test_how_much_may_be_lost_can_be_said() -> None:
    assert verdict(0.02, 0.10, 0.01, kept=0.1).accepted


def test_each_group_counts_the_same_however_many_questions_it_has() -> None:
    groups = ["long"] * 21 + [f"q{number}" for number in range(19)]
    folds = grouped_folds(groups, count=2)
    value = np.full(40, 0.5)
    value[:21] += 0.5
    found = judge({}, [{}] * 2, [value] * 2, NOW, folds, groups, tried=value[np.newaxis], picked=0)
    assert found.gain.mean == pytest.approx(0.5 / 20)
    assert not found.accepted


def test_too_few_groups_say_how_many_more() -> None:
    groups = ["a", "b"] * 20
    with pytest.raises(NotEnoughData, match=r"2 groups of questions .* 18 more"):
        judge(
            {},
            [{}] * 2,
            [NOW] * 2,
            NOW,
            grouped_folds(groups, count=2),
            groups,
            tried=NOW[np.newaxis],
            picked=0,
        )


def test_settings_are_the_same_if_they_differ_in_what_is_zero() -> None:
    assert same_setting({"a": 1.0, "b": 0.0}, {"a": 1.0})
    assert not same_setting({"a": 1.0}, {"b": 1.0})


@pytest.mark.parametrize(
    "changes",
    [
        {"current": [0.5]},
        {"values": [[0.5] * 40]},
        {"values": [[0.5] * 3] * 2},
        {"folds": [FOLDS[0], FOLDS[0]]},
        {"groups": ["a"]},
        {"kept": 2.0},
        {"tried": [[0.5]]},
        {"picked": 1},
        {"picked": -1},
        {"folds": [Fold(np.arange(40), np.arange(0))] * 2},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "setting": {},
        "chosen": [{}, {}],
        "values": [NOW, NOW],
        "current": NOW,
        "folds": FOLDS,
        "groups": GROUPS,
        "tried": [NOW],
        "picked": 0,
    }
    with pytest.raises(InvalidArgument):
        judge(**good | changes)


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


def test_too_few_groups_say_how_many_more_of_folds() -> None:
    with pytest.raises(NotEnoughData, match=r"1 groups .* 4 more"):
        grouped_folds(["a"] * 50)
    with pytest.raises(NotEnoughData):
        nested_folds(["a", "b", "c"], count=3, inner=3)


@pytest.mark.parametrize(
    "changes",
    [{"groups": "abc"}, {"groups": [1, 2]}, {"count": 1}, {"count": 2.0}, {"seed": -1}, {"inner": 1}],
)
def test_bad_arguments_of_folds(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"groups": ["a", "b", "c", "d"], "count": 2, "inner": 2, "seed": 0}
    with pytest.raises(InvalidArgument):
        nested_folds(**good | changes)


def test_a_verdict_holds_nothing_that_json_cannot() -> None:
    gain = Difference(0.1, float("-inf"), float("inf"), float("nan"))
    verdict = Verdict(False, "why", {"a": 1}, gain, 0.2, 0.5, (FoldResult({"a": 1}, 0.1, 0.2, 8),))
    found = plain(verdict.as_dict())
    assert found["gain"] == {"mean": 0.1, "low": None, "high": None, "p": None}
    assert found["folds"][0]["questions"] == 8
