"""Experiments in the database: stable variants, honest looks, two ways to compare."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.log import Logging
from memorata.model.errors import ExperimentNotFound, InvalidArgument
from memorata_lab.learn.ab_test import Variant
from memorata_lab.learn.experiments import (
    Experiments,
    Interleaved,
    Team,
    credit,
    preference,
    team_draft,
    winning_recipe,
)

TWO = (Variant("as it is", 0.5), Variant("words", 0.5, {"vector_weight": 0.1}))


def test_an_experiment_is_kept_and_found(engine: Engine) -> None:
    made = Experiments(engine).create("share", TWO, least_users=2, least_days=1)
    assert (made.recipe, made.method, made.stopped) == (engine.recipe, "split", None)
    assert Experiments(engine).list() == (made,) == (Experiments(engine).get("share"),)
    assert Experiments(engine).list(namespace="acme/bob") == ()
    with pytest.raises(ExperimentNotFound, match=r"no experiment 'shear' in namespace .*; there is 'share'"):
        Experiments(engine).get("shear")


@pytest.mark.parametrize(
    ("variants", "options", "expected"),
    [
        (TWO[:1], {}, "at least two variants"),
        ((TWO[0], Variant("b", 0.6)), {}, "weights sum to 1"),
        ((TWO[0], Variant("b", 0.5, {"alpha": 1})), {}, "parameter must be one of"),
        ((TWO[0], Variant("b", 0.5, {"vector_weight": 2})), {}, "vector_weight must be"),
        (TWO, {"method": "guess"}, "method must be one of"),
        (TWO, {"base": "nothing"}, "recipe must be one of"),
        (TWO, {"least_users": 1}, "least_users"),
        ((TWO[0], Variant("b", 0.25), Variant("c", 0.25)), {"method": "interleave"}, "exactly two variants"),
    ],
)
def test_what_cannot_be_an_experiment_is_refused(
    engine: Engine, variants: tuple[Variant, ...], options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidArgument, match=expected):
        Experiments(engine).create("share", variants, **options)
    assert Experiments(engine).list() == ()


def test_users_stay_in_their_variant_and_see_it(engine: Engine) -> None:
    Experiments(engine).create("share", TWO)
    variants = {user: Experiments(engine).assign("share", user).name for user in map(str, range(9))}
    assert set(variants.values()) == {"as it is", "words"}
    for user, variant in variants.items():
        found = Experiments(engine).recall("share", user, "what of thingav?", limit=3)
        assert found.hits[0].memory.id == ("thingav" if variant == "words" else "thingaw")
        assert Experiments(engine).assign("share", user).name == variant


def asked_by_many(engine: Engine, clock: Any, users: int = 60, days: int = 3) -> None:
    """Let people ask; they click on what they asked for where it comes first, and one in seven otherwise."""
    for number in range(users):
        clock.wait(days=days / users)
        found = Experiments(engine).recall("share", f"user{number}", "what of thingav?", limit=3)
        if (found.hits[0].memory.id == "thingav") != (number % 7 == 0):
            engine.admin.feedback.record(found.id, "thingav", "click")


def test_a_clear_difference_names_a_winner_once_there_is_enough(engine: Engine, clock: Any) -> None:
    Experiments(engine).create("share", TWO, least_users=20, least_days=2)
    assert Experiments(engine).status("share").reason.startswith("no decision yet: 'as it is' has 0 users")
    asked_by_many(engine, clock, users=10)
    early = Experiments(engine).status("share")
    assert early.winner is None
    assert "more are needed" in early.reason
    assert winning_recipe(early) is None
    asked_by_many(engine, clock)
    found = Experiments(engine).status("share")
    assert found.winner == "words", found.reason
    assert found.recommendation is not None
    assert found.recommendation.measures["words"].click_through > 0.7
    assert found.recommendation.measures["as it is"].zero_results == 0.0
    recipe = winning_recipe(found)
    assert recipe is not None
    assert recipe.vector_weight == 0.1


def test_ratings_count_where_there_are_any(engine: Engine, clock: Any) -> None:
    Experiments(engine).create("share", TWO, least_users=2, least_days=1)
    for number in range(8):
        found = Experiments(engine).recall("share", f"user{number}", "what of thingav?", limit=3)
        engine.admin.feedback.record(found.id, found.hits[0].memory.id, "rating", 4)
    measures = Experiments(engine).status("share").recommendation
    assert measures is not None
    assert {each.satisfaction for each in measures.measures.values()} == {4.0}


def test_lists_of_two_rankings_find_it_with_fewer_questions(engine: Engine, clock: Any) -> None:
    Experiments(engine).create("mixed", TWO, method="interleave", least_days=1)
    first = Experiments(engine).status("mixed")
    assert (first.winner, first.recommendation) == (None, None)
    assert "20 more that are no tie are needed" in first.reason
    for number in range(40):
        found = Experiments(engine).recall("mixed", f"user{number}", "what of thingav?", limit=1)
        assert len(found.hits) == 1
        if found.hits[0].memory.id == "thingav":
            engine.admin.feedback.record(found.id, "thingav", "click")
    status = Experiments(engine).status("mixed")
    assert status.preference is not None
    assert status.preference.wins == 0
    assert status.preference.losses > 5
    assert status.preference.ties + status.preference.losses == 40
    for number in range(60):
        found = Experiments(engine).recall("mixed", f"user{number}", "what of thingbv?", limit=1)
        if found.hits[0].memory.id == "thingbv":
            engine.admin.feedback.record(found.id, "thingbv", "click")
    assert Experiments(engine).status("mixed").winner == "words"


def test_one_list_is_one_recall(engine: Engine) -> None:
    shut = Variant("shut", 0.5, {"least_similarity": 0.99, "least_match": 1.0})
    Experiments(engine).create("gate", [shut, Variant("open", 0.5)], method="interleave")
    alone = engine.recall("what of thingav?", recipe=dict(shut.settings))
    assert alone.rejected is not None
    found = Experiments(engine).recall("gate", "ann", "what of thingav?", limit=3)
    # What the second found is shown, so nothing was turned away; and the log knows of one question.
    assert [hit.memory.id for hit in found] == ["thingaw", "thingav"]
    assert found.rejected is None
    assert [each.id for each in engine.admin.feedback.recalls()] == [found.id, alone.id]
    for hit in found:
        engine.admin.feedback.record(found.id, hit.memory.id, "click")
    none = Variant("shut too", 0.5, dict(shut.settings))
    Experiments(engine).create("shut", [shut, none], method="interleave")
    nothing = Experiments(engine).recall("shut", "ann", "what of thingav?", limit=3)
    assert (len(nothing.hits), nothing.rejected is None) == (0, False)


@pytest.mark.parametrize("method", ["split", "interleave"])
def test_nobody_changes_what_a_variant_does(engine: Engine, method: str) -> None:
    Experiments(engine).create("share", TWO, method=method)
    for option in ({"recipe": "fast"}, {"recipe": {"vector_weight": 0.3}}):
        with pytest.raises(InvalidArgument, match="must be left out: the experiment sets it"):
            Experiments(engine).recall("share", "ann", "what of thingav?", **option)
    assert Experiments(engine).recall("share", "ann", "what of thingav?", recipe=None).hits
    assert len(engine.store.exposures.list("default", "share")) == 0  # they wait to be written with the log
    engine.recall_log.flush()
    assert len(engine.store.exposures.list("default", "share")) == 1


def test_a_stopped_experiment_takes_nobody_in(engine: Engine) -> None:
    Experiments(engine).create("share", TWO)
    status = Experiments(engine).stop("share")
    assert status.running.stopped == engine.now()
    assert Experiments(engine).get("share").stopped == engine.now()
    with pytest.raises(InvalidArgument, match="an experiment that runs"):
        Experiments(engine).recall("share", "ann", "what of thingav?")
    with pytest.raises(InvalidArgument, match="an experiment that runs"):
        Experiments(engine).stop("share")
    with pytest.raises(InvalidArgument, match="a new name"):
        Experiments(engine).create("share", TWO)


def test_a_running_name_is_taken(engine: Engine) -> None:
    Experiments(engine).create("share", TWO)
    with pytest.raises(InvalidArgument, match="stop it first"):
        Experiments(engine).create("share", TWO)


def test_of_those_who_take_a_name_at_once_one_gets_it(tmp_path: Path) -> None:
    path, waiting = tmp_path / "memories.db", Barrier(3)
    open_engine(path, embedder="lexical", config={"durable": False}).close()

    def begin(number: int) -> str | None:
        with open_engine(path, embedder="lexical", config={"durable": False}) as engine:
            mine = [Variant(f"a{number}", 0.5), Variant(f"b{number}", 0.5)]
            waiting.wait()
            try:
                return Experiments(engine).create("share", mine).experiment.variants[0].name
            except InvalidArgument:
                return None

    with ThreadPoolExecutor(3) as people:
        (made,) = [name for name in people.map(begin, range(3)) if name is not None]
    with open_engine(path, embedder="lexical") as engine:
        assert Experiments(engine).get("share").experiment.variants[0].name == made


def test_without_a_log_there_is_no_experiment() -> None:
    with open_engine(":memory:", embedder="lexical", config={"logging": Logging(recalls=False)}) as engine:
        Experiments(engine).create("share", TWO)
        with pytest.raises(InvalidArgument, match="an experiment needs the log"):
            Experiments(engine).recall("share", "ann", "tea")


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
