import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.assignment import (
    Experiment,
    Interleaved,
    Team,
    Variant,
    credit,
    position,
    preference,
    team_draft,
)
from memorata.model.errors import InvalidArgument

EVEN = Experiment("meaning", [Variant("as it is", 0.5), Variant("more", 0.5, {"vector_weight": 0.6})])


PINNED = ["as it is", "as it is", "more", "as it is", "more", "more", "as it is", "more"]
ALICE = 0.08072225705521419


def test_the_same_user_is_always_in_the_same_variant() -> None:
    assert {EVEN.assigned("alice").name for _ in range(50)} == {EVEN.assigned("alice").name}
    # Written down, so that no release may move anybody.
    assert [EVEN.assigned(f"user{number}").name for number in range(8)] == PINNED
    assert position("meaning", "alice") == pytest.approx(ALICE, abs=1e-12)


@pytest.mark.parametrize("salt", ["0", "1", "12345"])
def test_another_process_says_the_same_whatever_salt_python_hashes_with(salt: str) -> None:
    code = "from memorata.learn.assignment import position; print(position('meaning', 'alice'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == position("meaning", "alice")


def test_users_are_divided_by_the_weights() -> None:
    uneven = Experiment("three", [Variant("a", 0.2), Variant("b", 0.5), Variant("c", 0.3)])
    counts = Counter(uneven.assigned(f"user{number}").name for number in range(20_000))
    assert [counts[name] / 20_000 for name in "abc"] == pytest.approx([0.2, 0.5, 0.3], abs=0.015)


def test_two_experiments_divide_people_independently() -> None:
    other = Experiment("other", EVEN.variants)
    both = Counter(
        (EVEN.assigned(user).name, other.assigned(user).name) for user in (f"u{n}" for n in range(8_000))
    )
    assert all(abs(count / 8_000 - 0.25) < 0.02 for count in both.values())
    assert len(both) == 4


def test_names_are_told_apart_where_they_meet() -> None:
    assert position("a", "bc") != position("ab", "c")
    assert position("1", "1:x") != position("11", ":x")
    assert position("meaning", "Алиса") != position("meaning", "")


def test_ten_tenths_are_one() -> None:
    tenths = Experiment("ten", [Variant(f"v{number}", 0.1) for number in range(10)])
    assert {tenths.assigned(f"u{number}").name for number in range(500)} == {f"v{n}" for n in range(10)}


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ([Variant("only", 1.0)], "at least two"),
        ([], "at least two"),
        ([Variant("a", 0.5), Variant("b", 0.4)], "sum to 1, got 0.9"),
        ([Variant("a", 0.7), Variant("b", 0.7)], "sum to 1"),
        ([Variant("a", 0.5), Variant("a", 0.5)], "names of their own"),
        ("ab", "list of variants"),
        (None, "list of variants"),
    ],
)
def test_an_experiment_that_cannot_be_is_refused(variants: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Experiment("broken", variants)


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"name": 5}, {"weight": 0}, {"weight": -1}, {"weight": float("nan")}, {"settings": [1]}],
)
def test_a_variant_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"name": "a", "weight": 0.5, "settings": {}}
    with pytest.raises(InvalidArgument):
        Variant(**good | changes)


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        Experiment("", EVEN.variants)
    with pytest.raises(InvalidArgument):
        EVEN.assigned(7)  # type: ignore[arg-type]


def test_weights_whose_sum_no_number_holds_are_refused_as_others() -> None:
    with pytest.raises(InvalidArgument, match="variants must be variants whose weights sum to 1, got inf"):
        Experiment("vast", [Variant("a", 1e308), Variant("b", 1e308)])


rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(rankings, rankings, st.integers(0, 10), st.integers(0, 50))
def test_the_list_has_each_item_once_from_the_top_of_both(
    first: list[str], second: list[str], length: int, seed: int
) -> None:
    shown = team_draft(first, second, length=length, seed=seed)
    assert len(set(shown.ids)) == len(shown.ids) == len(shown.teams)
    assert len(shown.ids) == min(length, len({*first, *second}))
    for ranking in (first, second):
        # What is shown of a ranking that is not in the other keeps its order.
        own = [
            item
            for item in shown.ids
            if item in ranking and item not in (second if ranking is first else first)
        ]
        assert own == [item for item in ranking if item in own]
    mine, theirs = shown.teams.count(Team.FIRST), shown.teams.count(Team.SECOND)
    assert abs(mine - theirs) <= 1
    for item, team in zip(shown.ids, shown.teams, strict=True):
        assert team is not Team.FIRST or item in first
        assert team is not Team.SECOND or item in second


def test_each_team_takes_its_best_that_is_left() -> None:
    drafts = {team_draft(["a", "b", "c"], ["a", "d", "b"], length=2, seed=seed).ids for seed in range(50)}
    # Whoever starts takes a; the other takes its second.
    assert drafts == {("a", "d"), ("a", "b")}


def test_the_same_seed_gives_the_same_list() -> None:
    once = team_draft(list("abcd"), list("dcba"), length=4, seed=7)
    assert once == team_draft(list("abcd"), list("dcba"), length=4, seed=7)
    assert len({team_draft(list("abcd"), list("dcba"), length=4, seed=seed) for seed in range(20)}) > 1


def test_equal_rankings_have_equal_chances_at_every_place() -> None:
    owners: Counter[tuple[int, Team]] = Counter()
    for seed in range(2_000):
        shown = team_draft(list("abcd"), list("abcd"), length=4, seed=seed)
        owners.update(enumerate(shown.teams))
    for place in range(4):
        assert owners[place, Team.FIRST] == pytest.approx(1_000, abs=100)


def test_what_had_no_rival_belongs_to_neither() -> None:
    shown = team_draft(["a", "b", "c"], [], length=3, seed=1)
    assert shown == Interleaved(("a", "b", "c"), (Team.NEITHER,) * 3)
    short = team_draft(["a", "x", "y", "z"], ["b"], length=4, seed=1)
    assert Counter(short.teams) == {Team.FIRST: 1, Team.SECOND: 1, Team.NEITHER: 2}
    assert team_draft([], [], length=5, seed=1).ids == ()


SHOWN = Interleaved(("a", "b", "c", "d"), (Team.FIRST, Team.SECOND, Team.SECOND, Team.NEITHER))


@pytest.mark.parametrize(
    ("clicked", "won"),
    [
        ([], 0),
        (["a"], 1),
        (["b"], -1),
        (["a", "b"], 0),
        (["a", "b", "c"], -1),
        (["d"], 0),
        (["a", "a", "b"], 0),
    ],
)
def test_a_click_is_a_point_for_the_team_that_picked_it(clicked: list[str], won: int) -> None:
    assert credit(SHOWN, clicked) == won


def test_a_click_on_what_was_not_shown_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="items that were shown, got 'z'"):
        credit(SHOWN, ["z"])


def test_ties_count_for_nobody() -> None:
    found = preference([1] * 8 + [-1] + [0] * 500)
    assert (found.wins, found.losses, found.ties) == (8, 1, 500)
    assert found.p == pytest.approx(20 / 512)
    assert found.always_valid_p > found.p
    assert preference([]).p == preference([]).always_valid_p == 1


@pytest.mark.parametrize(
    "changes",
    [{"first": ["a", "a"]}, {"second": "abc"}, {"first": [1]}, {"length": -1}, {"seed": -1}, {"seed": 1.5}],
)
def test_bad_arguments_of_a_draft(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"first": ["a"], "second": ["b"], "length": 2, "seed": 1}
    with pytest.raises(InvalidArgument):
        team_draft(**good | changes)


@pytest.mark.parametrize("credits", [[2], [True], ["1"], [0.5]])
def test_what_is_no_credit_is_refused(credits: Any) -> None:
    with pytest.raises(InvalidArgument):
        preference(credits)
