import math
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument
from memorata_lab.evaluate.significance import mixture_difference
from memorata_lab.learn.ab_test import (
    Composite,
    Experiment,
    Observation,
    Totals,
    Variant,
    measured,
    position,
    recommend,
    worth_of,
)

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
    code = "from memorata_lab.learn.ab_test import position; print(position('meaning', 'alice'))"
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


def test_bad_arguments_of_an_assignment() -> None:
    with pytest.raises(InvalidArgument):
        Experiment("", EVEN.variants)
    with pytest.raises(InvalidArgument):
        EVEN.assigned(7)  # type: ignore[arg-type]


def test_weights_whose_sum_no_number_holds_are_refused_as_others() -> None:
    with pytest.raises(InvalidArgument, match="variants must be variants whose weights sum to 1, got inf"):
        Experiment("vast", [Variant("a", 1e308), Variant("b", 1e308)])


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


DAY = datetime(2026, 5, 7, tzinfo=UTC)
SEEN = [
    Observation("ann", DAY, 5, clicked=True, rating=5),
    Observation("ann", DAY, 3, clicked=True),
    Observation("bob", DAY, 0, rating=2),
    Observation("bob", DAY, 2),
]


def drawn_alike(users: int, seed: int, spread: float = 0.2) -> list[Observation]:
    """Users who differ, and whose own questions resemble each other."""
    random = np.random.default_rng(seed)
    seen = []
    for number in range(users):
        rate = float(np.clip(random.normal(0.5, spread), 0, 1))
        for _ in range(random.integers(1, 9)):
            clicked = bool(random.random() < rate)
            rating = int(random.integers(1, 6)) if random.random() < 0.3 else None
            results = 3 if clicked or random.random() < 0.9 else 0
            seen.append(Observation(f"u{number}", DAY, results, clicked, rating))
    return seen


def test_questions_are_added_up_by_user() -> None:
    totals = Totals.of(SEEN)
    assert totals.questions.tolist() == [2, 2]
    assert totals.clicked.tolist() == [2, 0]
    assert totals.empty.tolist() == [0, 1]
    assert totals.results.tolist() == [8, 2]
    assert totals.ratings.tolist() == [1, 1]
    assert totals.stars.tolist() == [5, 2]


def test_the_measures_and_their_composite_by_hand() -> None:
    found = measured(Totals.of(SEEN), Composite())
    assert (found.users, found.questions, found.ratings) == (2, 4, 2)
    assert (found.click_through, found.zero_results, found.mean_results) == (0.5, 0.25, 2.5)
    assert found.satisfaction == 3.5
    assert found.worth == pytest.approx(0.4 * 0.5 + 0.4 * 3.5 / 5 + 0.2 * 0.75)


def test_without_ratings_the_worth_is_not_known_unless_they_do_not_count() -> None:
    silent = Totals.of([Observation("ann", DAY, 1, clicked=True)])
    assert math.isnan(measured(silent, Composite()).worth)
    assert measured(silent, Composite(0.8, 0.0, 0.2)).worth == pytest.approx(1.0)
    nobody = measured(Totals.of([]), Composite())
    assert nobody.users == 0
    assert math.isnan(nobody.click_through)


def test_the_variance_is_that_of_drawing_other_users() -> None:
    totals = Totals.of(drawn_alike(150, seed=1))
    random = np.random.default_rng(2)
    worths = []
    for _ in range(600):
        picked = random.integers(0, totals.questions.size, totals.questions.size)
        again = Totals(*(getattr(totals, field.name)[picked] for field in fields(Totals)))
        worths.append(measured(again, Composite()).worth)
    worth, variance = worth_of(totals, Composite())
    assert float(worth) == pytest.approx(measured(totals, Composite()).worth)
    assert math.sqrt(float(variance)) == pytest.approx(float(np.std(worths)), rel=0.12)


def test_users_who_resemble_themselves_make_it_less_sure_than_their_questions_suggest() -> None:
    seen = drawn_alike(200, seed=3, spread=0.4)
    clicks = Composite(1.0, 0.0, 0.0)
    alone = [Observation(str(place), each.at, each.results, each.clicked) for place, each in enumerate(seen)]
    assert float(worth_of(Totals.of(seen), clicks)[1]) > 1.5 * float(worth_of(Totals.of(alone), clicks)[1])


def test_many_looks_at_once_are_each_of_them() -> None:
    parts = [Totals.of(drawn_alike(20, seed=seed)) for seed in (1, 2, 3)]
    names = ("questions", "clicked", "empty", "results", "ratings", "stars")
    together = Totals(*(np.stack([getattr(part, name) for part in parts]) for name in names))
    worths, variances = worth_of(together, Composite())
    for place, part in enumerate(parts):
        worth, variance = worth_of(part, Composite())
        assert (worths[place], variances[place]) == pytest.approx((float(worth), float(variance)))


def test_one_user_says_nothing_about_others() -> None:
    assert math.isnan(float(worth_of(Totals.of(SEEN[:2]), Composite())[1]))


@pytest.mark.parametrize(
    "changes",
    [
        {"rating": 7},
        {"rating": 0},
        {"rating": 3.5},
        {"results": -1},
        {"clicked": 1},
        {"results": 0, "clicked": True},
        {"at": datetime(2026, 5, 7)},
        {"user": None},
    ],
)
def test_what_cannot_have_happened_is_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"user": "ann", "at": DAY, "results": 3, "clicked": False, "rating": None}
    with pytest.raises(InvalidArgument):
        Observation(**good | changes)


@pytest.mark.parametrize("weights", [(0.5, 0.5, 0.5), (1.2, -0.2, 0.0), (0.0, 0.0, 0.0)])
def test_weights_of_the_composite_sum_to_one(weights: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidArgument):
        Composite(*weights)
