from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.assignment import Interleaved, Team, credit, preference, team_draft
from memorata.model.errors import InvalidArgument

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
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"first": ["a"], "second": ["b"], "length": 2, "seed": 1}
    with pytest.raises(InvalidArgument):
        team_draft(**good | changes)


@pytest.mark.parametrize("credits", [[2], [True], ["1"], [0.5]])
def test_what_is_no_credit_is_refused(credits: Any) -> None:
    with pytest.raises(InvalidArgument):
        preference(credits)
