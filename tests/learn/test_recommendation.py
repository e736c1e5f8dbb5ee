from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memorata.learn.assignment import Experiment, Variant
from memorata.learn.hypothesis import mixture_difference
from memorata.learn.recommendation import Composite, Observation, Totals, recommend, worth_of
from memorata.model.errors import InvalidArgument

START = datetime(2026, 5, 1, tzinfo=UTC)
TWO = Experiment("meaning", [Variant("old", 0.5), Variant("new", 0.5)])
THREE = Experiment("more", [Variant("old", 0.4), Variant("new", 0.3), Variant("newer", 0.3)])


def drawn(users: int, rate: float, *, days: int = 10, seed: int = 0, rated: bool = True) -> list[Observation]:
    random = np.random.default_rng(seed)
    seen = []
    for number in range(users):
        for day in range(days):
            clicked = bool(random.random() < rate)
            rating = 4 if rated and random.random() < 0.5 else 3 if rated else None
            seen.append(
                Observation(f"u{seed}.{number}.{rate}", START + timedelta(days=day), 5, clicked, rating)
            )
    return seen


def test_a_clear_difference_is_called_with_its_interval() -> None:
    seen = {"old": drawn(150, 0.3, seed=1), "new": drawn(150, 0.6, seed=2)}
    found = recommend(TWO, seen)
    assert found.winner == "new"
    assert found.days == 10
    assert found.reason.startswith("winner: 'new' is worth +0.1")
    assert found.measures["new"].click_through == pytest.approx(0.6, abs=0.03)
    (comparison,) = found.comparisons
    assert comparison.other == "old"
    assert comparison.worth.low > 0
    assert comparison.click_through.mean == pytest.approx(0.3, abs=0.05)
    assert comparison.zero_results.mean == 0
    assert comparison.satisfaction is not None


def test_the_deciding_interval_is_that_of_the_composite_over_users() -> None:
    seen = {"old": drawn(120, 0.45, seed=3), "new": drawn(120, 0.5, seed=4)}
    found = recommend(TWO, seen)
    leader = "new" if found.measures["new"].worth > found.measures["old"].worth else "old"
    other = "old" if leader == "new" else "new"
    (ours, spread), (theirs, other_spread) = (
        worth_of(Totals.of(seen[name]), Composite()) for name in (leader, other)
    )
    expected = mixture_difference(float(ours - theirs), float(spread + other_spread), scale=0.05)
    assert found.comparisons[0].worth == expected


def test_the_same_twice_is_no_decision() -> None:
    found = recommend(TWO, {"old": drawn(150, 0.5, seed=5), "new": drawn(150, 0.5, seed=6)})
    assert found.winner is None
    assert found.reason.startswith("no decision yet")
    assert "which chance may do" in found.reason


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({}, "'old' has 0 users, 100 more"),
        ({"old": drawn(150, 0.1), "new": drawn(40, 0.9)}, "'new' has 40 users, 60 more"),
        ({"old": drawn(150, 0.1, days=3), "new": drawn(150, 0.9, days=3)}, "for 3 days, 4 more"),
        ({"old": drawn(150, 0.1, rated=False), "new": drawn(150, 0.9)}, "'old' has no rating"),
    ],
)
def test_too_little_is_no_decision_and_says_what_is_missing(seen: Any, said: str) -> None:
    found = recommend(TWO, seen)
    assert found.winner is None
    assert said in found.reason


def test_without_ratings_the_composite_may_leave_them_out() -> None:
    seen = {"old": drawn(150, 0.3, seed=1, rated=False), "new": drawn(150, 0.6, seed=2, rated=False)}
    found = recommend(TWO, seen, composite=Composite(0.7, 0.0, 0.3))
    assert found.winner == "new"
    assert found.comparisons[0].satisfaction is None


def test_of_three_the_winner_beats_both_by_stricter_intervals() -> None:
    seen = {"old": drawn(150, 0.3, seed=1), "new": drawn(150, 0.6, seed=2), "newer": drawn(150, 0.6, seed=3)}
    tied = recommend(THREE, seen)
    assert tied.winner is None
    assert "97.5% interval" in tied.reason
    seen["newer"] = drawn(150, 0.9, seed=3)
    assert recommend(THREE, seen).winner == "newer"


def test_users_divided_otherwise_than_declared_are_no_ground_for_a_decision() -> None:
    found = recommend(TWO, {"old": drawn(300, 0.3, seed=1), "new": drawn(150, 0.9, seed=2)})
    assert found.winner is None
    assert "'old' has 300 of 450 users where its weight gives it 225" in found.reason


def test_a_user_who_has_seen_both_is_an_error() -> None:
    both = drawn(150, 0.3, seed=1)
    with pytest.raises(InvalidArgument, match="users who have not seen 'old' too"):
        recommend(TWO, {"old": both, "new": both[-10:]})


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument, match="one of 'old', 'new'"):
        recommend(TWO, {"other": []})
    with pytest.raises(InvalidArgument):
        recommend(TWO, [])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        recommend(TWO, {}, least_users=1)
    with pytest.raises(InvalidArgument):
        recommend(TWO, {}, least_days=0)
    with pytest.raises(InvalidArgument):
        recommend(TWO, {"old": drawn(150, 0.3), "new": drawn(150, 0.3, seed=1)}, effect=0)
