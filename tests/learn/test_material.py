"""What people said, and labelled questions, as something to learn from."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import numpy as np
import pytest

from memorata.engine import Engine, Recall
from memorata.engine.leasing import Held, Leasing
from memorata.engine.recipe import Recipe
from memorata.learn.material import Labelled, enough, from_feedback, from_labels
from memorata.model.errors import InvalidArgument, LeaseLost, MemoryNotFound, NotEnoughData
from memorata.store.sqlite.store import SqliteStore

Ask = Callable[..., None]


def test_feedback_says_what_was_relevant_and_what_not(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    material = from_feedback(engine)
    assert [each.query for each in material.recalls] == ["what of thingav?", "what of thingbv?"]
    assert [dict(material.gains[each.id]) for each in material.recalls] == [
        {"thingav": 1.0},
        {"thingbv": 1.0},
    ]
    assert [set(material.rejected[each.id]) for each in material.recalls] == [{"thingaw"}, {"thingbw"}]
    assert material.groups == ("what of thingav?", "what of thingbv?")


def test_the_last_word_counts_and_a_question_asked_twice_is_one_group(engine: Engine, ask: Ask) -> None:
    for value in ("down", "up"):
        found = engine.recall("what of thingav?")
        engine.feedback(found.id, "thingav", "thumbs", "down")
        engine.feedback(found.id, "thingav", "thumbs", value)
    material = from_feedback(engine)
    assert len(material.recalls) == 2
    assert len(material.questions) == 1
    ask(["thingav"])
    assert len(set(from_feedback(engine).groups)) == 1


def test_a_recipe_is_valued_question_by_question(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    material, base = from_feedback(engine), engine.recipe
    np.testing.assert_allclose(material.values(base, base), [1 / np.log2(3)] * 2)
    np.testing.assert_allclose(material.values(base.changed({"vector_weight": 0.2}), base), [1.0, 1.0])
    np.testing.assert_allclose(material.values(base, base, "mrr"), [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="one that needs no search; vector_pool does, and labels"):
        material.values(base.changed({"vector_pool": 5}), base)


def test_a_lease_is_renewed_with_every_question_that_something_is_tried_on(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    material, base, renewed = from_feedback(engine), engine.recipe, []
    held = Held(lambda: renewed.append(1), seconds=1e-9)
    expected = material.values(base, base)
    assert renewed == []
    np.testing.assert_array_equal(material.under(held).values(base, base), expected)
    assert len(renewed) == 2
    from_labels(engine, {"q1": Labelled("thingbv", {"thingbv": 1.0})}).with_more(material.under(held)).values(
        base, base
    )
    assert len(renewed) == 5


def test_work_that_another_has_taken_over_ends_at_the_next_question(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    short = Leasing(engine.store, lambda: engine.moment, seconds=1e-6)
    with short.hold("tune", "default") as held:
        material, later = from_feedback(engine).under(held), engine.moment + timedelta(seconds=1)
        assert engine.store.acquire("tune", "default", "another", 60, later) is not None
        with pytest.raises(LeaseLost):
            material.values(engine.recipe, engine.recipe)


def test_labelled_questions_are_asked_without_a_trace(engine: Engine) -> None:
    base = engine.recipe
    given = {
        "q1": Labelled("what of thingav?", {"thingav": 1.0}),
        "q2": Labelled("thingbv", {"thingbv": 0.0}),
    }
    material = from_labels(engine, given)
    assert engine.recalls() == []
    assert [each.id for each in material.recalls] == ["labelled:q1", "labelled:q2"]
    assert [each.id for each in material.questions] == ["labelled:q1"]
    assert "thingaw" in material.rejected["labelled:q1"]
    np.testing.assert_allclose(material.values(base, base), [1 / np.log2(3)])
    searched = material.values(base.changed({"vector_pool": 0}), base)
    np.testing.assert_allclose(searched, [1.0])
    assert engine.recalls() == []
    with pytest.raises(MemoryNotFound, match="no memory 'nobody'"):
        from_labels(engine, {"q": Labelled("?", {"nobody": 1.0})})


def test_as_much_is_asked_for_as_the_metric_looks_at(engine: Engine) -> None:
    material = from_labels(engine, {"q1": Labelled("what of thingav?", {"thingav": 1.0})})
    # How many are asked for says how many candidates there are.
    base = engine.recipe.changed({"vector_pool": 1, "lexical_pool": 0, "pool_per_hit": 2})
    asked: list[int] = []

    def recall(*arguments: object, limit: int = 10, **options: Any) -> Recall:
        asked.append(limit)
        return Engine.recall(engine, *arguments, limit=limit, **options)  # type: ignore[arg-type]

    engine.recall = recall  # type: ignore[method-assign]
    for metric in ("ndcg@10", "any@1", "recall@30", "mrr"):
        material.values(base, engine.recipe, metric)
    assert asked == [10, 10, 30, 100]


def test_both_together(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    labelled = from_labels(engine, {"q1": Labelled("what of thingbv?", {"thingbv": 1.0})})
    both = labelled.with_more(from_feedback(engine))
    assert len(both.questions) == 2
    with pytest.raises(NotEnoughData, match="2 questions with a relevant result are too few"):
        enough(both, 20)
    enough(both, 2)


def test_pairs_are_of_one_embedder_and_judged(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    pairs = from_feedback(engine).pairs("misleading")
    assert sorted(zip(pairs.similarity.round(3).tolist(), pairs.relevant.tolist(), strict=True)) == [
        (0.6, True), (0.6, True), (0.8, False), (0.8, False),
    ]  # fmt: skip
    assert pairs.confidence.tolist() == [1.0] * 4
    assert len(set(pairs.groups)) == 2
    assert from_feedback(engine).pairs("another").groups == ()


def test_reactions_outlive_their_recall_as_pairs(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    cast(SqliteStore, engine.store)._connection.execute("DELETE FROM recalls")
    material = from_feedback(engine)
    assert material.recalls == ()
    assert sorted(material.pairs("misleading").similarity.round(3).tolist()) == [0.6, 0.8]


def test_words_alone_make_no_pairs(engine: Engine) -> None:
    words = Recipe(name="words", vector_pool=0)
    found = engine.recall("what of thingav?", recipe=words)
    engine.feedback(found.id, "thingav", "click")
    assert from_feedback(engine).pairs("misleading").groups == ()
