"""Tuning finds what feedback says, saves it with evidence, and refuses what does not win."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import RECIPES, Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes import Recipe
from memorata.engine.runtime import HeldLease
from memorata.model.errors import EmbedderError, InvalidArgument, MemorataError, NotEnoughData, WorkUnderWay
from memorata_lab.learn.training_set import LabelledQuery, TrainingSet, from_feedback, from_labels
from memorata_lab.learn.tuning import (
    ADAPTED,
    Tuned,
    adapt,
    adapt_training_set,
    grid_of,
    install,
    nearest_first,
    shrunken,
    tune_families,
    tune_recipe,
    tune_weights,
)

Ask = Callable[..., None]


@pytest.fixture
def training(engine: Engine, ask: Ask) -> TrainingSet:
    ask()
    return from_feedback(engine)


@pytest.mark.untraced
def test_the_grid_finds_the_weight_that_feedback_asks_for(engine: Engine, training: TrainingSet) -> None:
    found = tune_weights(training, engine.recipe)
    assert found.verdict.accepted
    # Words win as soon as meaning has less than 0.9 of the say; of equals the smallest change is taken.
    assert found.verdict.setting == {"vector_weight": 0.8}
    assert found.verdict.gain.mean == pytest.approx(1 - 1 / np.log2(3))
    assert found.questions == 40
    assert dict(found.scores[0][0]) == {"vector_weight": 0.9}
    assert found.evidence()["base"] == "plain"


@pytest.mark.untraced
def test_a_winner_is_saved_used_and_rolled_back(engine: Engine, training: TrainingSet) -> None:
    found = tune_weights(training, engine.recipe)
    saved = install(engine, found, "tuned", use=True)
    assert saved is not None
    assert saved.in_use
    assert saved.evidence["accepted"] is True
    assert engine.recall("what of thingav?").hits[0].memory.id == "thingav"
    engine.admin.recipes.rollback()
    assert engine.recall("what of thingav?").hits[0].memory.id == "thingaw"


def test_what_does_not_win_is_refused_with_the_numbers(engine: Engine, training: TrainingSet) -> None:
    better = engine.recipe.changed({"vector_weight": 0.5})
    found = tune_weights(training, better)
    assert not found.verdict.accepted
    assert found.verdict.reason == "no change: nothing that was tried is better than the current setting"
    assert install(engine, found, "tuned") is None
    assert engine.admin.recipes.list() == ()


def test_too_little_says_how_much_more(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv", "thingcv", "thingdv", "thingev"])
    expected = "5 questions with a relevant result are too few to learn from: at least 20 are needed, 15 more"
    for tune in (tune_weights, tune_families, tune_recipe):
        with pytest.raises(NotEnoughData, match=expected):
            tune(from_feedback(engine), engine.recipe)


@pytest.mark.untraced
def test_families_are_chosen_by_folds_within_folds(engine: Engine, training: TrainingSet) -> None:
    families = [engine.recipe, Recipe(name="ranks", fusion="rrf", vector_pool=20, lexical_pool=20)]
    found = tune_families(training, engine.recipe, families)
    assert found.verdict.accepted
    assert found.recipe.vector_weight < 0.9
    usual = tune_families(training, engine.recipe)
    assert usual.recipe.name == "plain"
    with pytest.raises(InvalidArgument, match="families"):
        tune_families(training, engine.recipe, [])


def test_what_reads_the_question_is_not_tried_where_the_log_has_none() -> None:
    recipe = RECIPES["azure"]
    with open_engine(
        ":memory:", embedder="lexical", recipe=recipe, config={"logging": Logging(queries=False)}
    ) as memory:
        things = [f"thing{number}" for number in range(20)]
        memory.remember_many([{"id": each, "content": f"A note about {each}."} for each in things])
        for each in things:
            memory.admin.feedback.record(memory.recall(f"what of {each}?").id, each, "click")
        found = tune_families(from_feedback(memory), recipe)
        assert found.verdict.reason.startswith("no change")
        with pytest.raises(InvalidArgument, match="one that needs no question"):
            tune_families(from_feedback(memory), recipe, [RECIPES["adaptive"]])


def test_labelled_questions_may_be_searched_anew(engine: Engine) -> None:
    things = [f"thing{first}{second}" for first in "abcde" for second in "vwxyz"]
    given = {thing: LabelledQuery(f"what of {thing}?", {thing: 1.0}) for thing in things}
    training = from_labels(engine, given)
    found = tune_weights(training, engine.recipe, {"vector_pool": [0, 20]})
    assert found.verdict.accepted
    assert found.verdict.setting == {"vector_pool": 0}


class Attentive:
    """A re-ranker that finds the thing the question is about."""

    name = "attentive"

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        (thing,) = [word.strip("?") for word in query.split() if word.startswith("thing")]
        return np.array([float(thing in text) for text in texts])


@pytest.mark.untraced
def test_what_is_compared_is_measured_in_one_way(engine: Engine) -> None:
    # With its re-ranker the recipe in use is as good as can be, which ranking the log again does not show.
    engine.reranker = Attentive()
    base = engine.recipe.changed({"rerank_depth": 5, "rerank_weight": 1.0})
    things = [f"thing{first}{second}" for first in "abcde" for second in "vwxyz"]
    given = {thing: LabelledQuery(f"what of {thing}?", {thing: 1.0}) for thing in things}
    training = from_labels(engine, given, recipe=base)
    np.testing.assert_array_equal(training.values(base, base), np.ones(25))
    tries = [
        tune_weights(training, base),
        tune_weights(training, base, {"vector_pool": [0, 20], "rerank_depth": [0, 5]}),
        tune_families(training, base, [engine.recipe.changed({"vector_weight": 0.2}), base]),
    ]
    for found in tries:
        assert not found.verdict.accepted
        assert found.verdict.reason.startswith("no change")


def test_a_service_that_is_away_teaches_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(text: str) -> None:
        raise EmbedderError("the service is away")

    given = {"q1": LabelledQuery("what of thingav?", {"thingav": 1.0})}
    training, base = from_labels(engine, given), engine.recipe
    assert engine.embedder is not None
    monkeypatch.setattr(engine.embedder, "embed_query", away)
    with pytest.raises(MemorataError, match=r"a question cannot be learnt from: .*away"):
        from_labels(engine, given)
    with pytest.raises(MemorataError, match=r"a question cannot be learnt from: .*away"):
        training.values(base.changed({"k1": 2.0}), base)
    words = base.changed({"vector_pool": 0})
    np.testing.assert_array_equal(training.values(words, base), [1.0])


@pytest.mark.untraced
def test_a_guided_search_over_declared_parameters(engine: Engine, training: TrainingSet) -> None:
    pytest.importorskip("optuna")
    found = tune_recipe(training, engine.recipe, ["vector_weight"], trials=8, folds=2)
    assert found.verdict.accepted
    assert found.recipe.vector_weight < 0.9
    with pytest.raises(InvalidArgument, match="parameters must be one of"):
        tune_recipe(training, engine.recipe, ["alpha"])
    with pytest.raises(InvalidArgument, match="ones that need no search; labelled questions alone"):
        tune_recipe(training, engine.recipe, ["k1"])


def test_a_grid_is_of_declared_parameters() -> None:
    assert len(grid_of({"vector_weight": [0.1, 0.2], "quality": ["none", "additive"]})) == 4
    impossible: list[dict[str, list[float]]] = [
        {}, {"vector_weight": []}, {"alpha": [1]}, {"vector_weight": [2.0]},
    ]  # fmt: skip
    for bad in impossible:
        with pytest.raises(InvalidArgument):
            grid_of(bad)
    with pytest.raises(InvalidArgument, match="at most 2,000 settings"):
        grid_of({"vector_weight": [0.5] * 50, "session_weight": [0.5] * 50})


def test_the_smallest_change_comes_first() -> None:
    base = Recipe(name="x", vector_weight=0.5, fusion="relative")
    ordered = nearest_first(grid_of({"fusion": ["rrf", "relative"], "vector_weight": [0.1, 0.6]}), base)
    assert [tuple(each.values()) for each in ordered] == [
        ("relative", 0.6), ("relative", 0.1), ("rrf", 0.6), ("rrf", 0.1),
    ]  # fmt: skip


ALL = 0.4
OWN = 0.8


@pytest.mark.untraced
def test_a_namespace_with_enough_feedback_gets_its_own(engine: Engine, ask: Ask) -> None:
    ask()
    engine.remember("A note about thingav.", namespace="acme/quiet")
    tried = adapt(engine, dry_run=True)
    assert isinstance(tried["default"], Tuned)
    assert engine.admin.recipes.get().name == "plain"
    found = adapt(engine)
    assert isinstance(found["acme/quiet"], NotEnoughData)
    assert "20 more than there are" in str(found["acme/quiet"])
    assert engine.admin.recipes.get().name == ADAPTED
    assert engine.admin.recipes.get(namespace="acme/quiet").name == "plain"


@pytest.mark.untraced
def test_its_lease_is_renewed_while_it_looks(
    engine: Engine, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = []
    monkeypatch.setattr(HeldLease, "renew", lambda held: renewed.append(held))
    ask()
    adapt(engine, dry_run=True)
    assert renewed == []
    adapt(engine)
    assert len(renewed) >= len(from_feedback(engine).questions)


@pytest.mark.untraced
def test_little_feedback_moves_little(engine: Engine, ask: Ask) -> None:
    ask()
    training = from_feedback(engine)
    near, far = (
        adapt_training_set(training, engine.recipe, strength=strength).recipe.vector_weight
        for strength in (1000.0, 0.0)
    )
    assert 0.8 < near < 0.9
    assert far == pytest.approx(0.0)  # the first of the shares that are equally good


@pytest.mark.untraced
def test_what_does_not_win_stays_off(engine: Engine, ask: Ask) -> None:
    ask()
    good = engine.recipe.changed({"vector_weight": 0.2})
    found = adapt_training_set(from_feedback(engine), good)
    assert not found.verdict.accepted


def test_a_namespace_that_another_worker_tunes_is_left_to_it(engine: Engine, ask: Ask) -> None:
    ask()
    engine.store.leases.acquire("tune", engine.namespace, "another server", 60, engine.now())
    found = adapt(engine, [engine.namespace])
    assert isinstance(found[engine.namespace], WorkUnderWay)
    assert engine.admin.recipes.list() == ()


@pytest.mark.untraced
def test_it_has_to_win_against_what_the_namespace_uses(engine: Engine, ask: Ask) -> None:
    ask()
    better = engine.recipe.changed({"vector_weight": 0.2, "session_weight": 0.1})
    engine.admin.recipes.save("ours", better)
    engine.admin.recipes.use("ours")
    found = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(found, Tuned)
    assert (found.verdict.accepted, found.base.name) == (False, "ours")
    assert found.verdict.reason == "no change: nothing that was tried is better than the current setting"
    assert engine.admin.recipes.get().name == "ours"
    # Where it wins, all else is as the namespace has it, and the share is drawn towards everybody's.
    worse = better.changed({"vector_weight": 1.0})
    engine.admin.recipes.save("ours", worse)
    won = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(won, Tuned)
    assert won.verdict.accepted
    assert won.recipe.session_weight == 0.1
    assert won.recipe.vector_weight == pytest.approx((40 * 0.0 + 50 * 0.9) / 90)
    assert engine.admin.recipes.get().name == ADAPTED


@pytest.mark.untraced
def test_looking_again_goes_on_from_where_it_is(engine: Engine, ask: Ask) -> None:
    ask()
    adapt(engine)
    once = engine.admin.recipes.get()
    again = adapt(engine)[engine.namespace]
    assert isinstance(again, Tuned)
    assert not again.verdict.accepted
    assert engine.admin.recipes.get() == once


def test_little_feedback_moves_little_and_much_moves_all_the_way() -> None:
    assert shrunken(OWN, 0, ALL) == ALL
    assert shrunken(OWN, 50, ALL) == pytest.approx(0.6)
    assert shrunken(OWN, 1_000_000, ALL) == pytest.approx(0.8, abs=1e-4)
    assert shrunken(OWN, 1, ALL, strength=0) == OWN


@given(st.integers(0, 1000), st.floats(0, 1000), st.floats(0, 1))
def test_the_weight_lies_between(count: int, strength: float, alpha: float) -> None:
    found = shrunken(alpha, count, ALL, strength=strength)
    assert shrunken(1 - alpha, count, 1 - ALL, strength=strength) == pytest.approx(1 - found)
    assert min(alpha, 0.4) - 1e-12 <= found <= max(alpha, 0.4) + 1e-12


@pytest.mark.parametrize(
    "changes",
    [
        {"own": math.nan},
        {"own": -1.0},
        {"own": [0.5]},
        {"questions": -1},
        {"questions": 1.5},
        {"strength": -1.0},
        {"towards": 1.5},
        {"towards": "much"},
    ],
)
def test_bad_arguments_of_shrunken(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"own": OWN, "questions": 5, "towards": ALL, "strength": 50}
    with pytest.raises(InvalidArgument):
        shrunken(**good | changes)
