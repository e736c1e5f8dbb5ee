"""What people said, and labelled questions, as something to learn from."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from memorata.engine import Engine, RecallResult
from memorata.engine import open as open_engine
from memorata.engine.recipes import Recipe
from memorata.engine.runtime import HeldLease, Leases
from memorata.model.errors import DatasetError, InvalidArgument, LeaseLost, MemoryNotFound, NotEnoughData
from memorata.model.hit import Feedback, Signal
from memorata.store.dialects import SqliteStore
from memorata_lab.learn.training_set import (
    LabelledQuery,
    from_feedback,
    from_labels,
    labelled_training_set,
    relevance,
)
from memorata_lab.learn.validation import QUESTIONS, require_groups

Ask = Callable[..., None]


def test_feedback_says_what_was_relevant_and_what_not(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    training = from_feedback(engine)
    assert [each.query for each in training.recalls] == ["what of thingav?", "what of thingbv?"]
    assert [dict(training.gains[each.id]) for each in training.recalls] == [
        {"thingav": 1.0},
        {"thingbv": 1.0},
    ]
    assert [set(training.rejected[each.id]) for each in training.recalls] == [{"thingaw"}, {"thingbw"}]
    assert training.groups == ("what of thingav?", "what of thingbv?")


def test_the_last_word_counts_and_a_question_asked_twice_is_one_group(engine: Engine, ask: Ask) -> None:
    for value in ("down", "up"):
        found = engine.recall("what of thingav?")
        engine.admin.feedback.record(found.id, "thingav", "thumbs", "down")
        engine.admin.feedback.record(found.id, "thingav", "thumbs", value)
    training = from_feedback(engine)
    assert len(training.recalls) == 2
    assert len(training.questions) == 1
    ask(["thingav"])
    assert len(set(from_feedback(engine).groups)) == 1


def test_a_recipe_is_valued_question_by_question(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    training, base = from_feedback(engine), engine.recipe
    np.testing.assert_allclose(training.values(base, base), [1 / np.log2(3)] * 2)
    np.testing.assert_allclose(training.values(base.changed({"vector_weight": 0.2}), base), [1.0, 1.0])
    np.testing.assert_allclose(training.values(base, base, "mrr"), [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="one that needs no search; vector_pool does, and labels"):
        training.values(base.changed({"vector_pool": 5}), base)


def test_a_lease_is_renewed_with_every_question_that_something_is_tried_on(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    training, base, renewed = from_feedback(engine), engine.recipe, []
    held = HeldLease(lambda: renewed.append(1), seconds=1e-9)
    expected = training.values(base, base)
    assert renewed == []
    np.testing.assert_array_equal(training.under(held).values(base, base), expected)
    assert len(renewed) == 2
    from_labels(engine, {"q1": LabelledQuery("thingbv", {"thingbv": 1.0})}).with_more(
        training.under(held)
    ).values(base, base)
    assert len(renewed) == 5


def test_work_that_another_has_taken_over_ends_at_the_next_question(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    short = Leases(engine.store, lambda: engine.now(), seconds=1e-6)
    with short.hold("tune", "default") as held:
        training, later = from_feedback(engine).under(held), engine.now() + timedelta(seconds=1)
        assert engine.store.leases.acquire("tune", "default", "another", 60, later) is not None
        with pytest.raises(LeaseLost):
            training.values(engine.recipe, engine.recipe)


def test_labelled_questions_are_asked_without_a_trace(engine: Engine) -> None:
    base = engine.recipe
    given = {
        "q1": LabelledQuery("what of thingav?", {"thingav": 1.0}),
        "q2": LabelledQuery("thingbv", {"thingbv": 0.0}),
    }
    training = from_labels(engine, given)
    assert engine.admin.feedback.recalls() == []
    assert [each.id for each in training.recalls] == ["labelled:q1", "labelled:q2"]
    assert [each.id for each in training.questions] == ["labelled:q1"]
    assert "thingaw" in training.rejected["labelled:q1"]
    np.testing.assert_allclose(training.values(base, base), [1 / np.log2(3)])
    searched = training.values(base.changed({"vector_pool": 0}), base)
    np.testing.assert_allclose(searched, [1.0])
    assert engine.admin.feedback.recalls() == []
    with pytest.raises(MemoryNotFound, match="no memory 'nobody'"):
        from_labels(engine, {"q": LabelledQuery("?", {"nobody": 1.0})})


def test_as_much_is_asked_for_as_the_metric_looks_at(engine: Engine) -> None:
    training = from_labels(engine, {"q1": LabelledQuery("what of thingav?", {"thingav": 1.0})})
    # How many are asked for says how many candidates there are.
    base = engine.recipe.changed({"vector_pool": 1, "lexical_pool": 0, "pool_per_hit": 2})
    asked: list[int] = []

    def recall(*arguments: object, limit: int = 10, **options: Any) -> RecallResult:
        asked.append(limit)
        return Engine.recall(engine, *arguments, limit=limit, **options)  # type: ignore[arg-type]

    engine.recall = recall  # type: ignore[method-assign]
    for metric in ("ndcg@10", "any@1", "recall@30", "mrr"):
        training.values(base, engine.recipe, metric)
    assert asked == [10, 10, 30, 100]


def test_both_together(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    labelled = from_labels(engine, {"q1": LabelledQuery("what of thingbv?", {"thingbv": 1.0})})
    both = labelled.with_more(from_feedback(engine))
    assert len(both.questions) == 2
    with pytest.raises(NotEnoughData, match="2 questions with a relevant result are too few"):
        require_groups(both.groups, name=QUESTIONS)
    require_groups(both.groups, 2)


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
    cast("SqliteStore", engine.store)._connection.execute("DELETE FROM recalls")
    training = from_feedback(engine)
    assert training.recalls == ()
    assert sorted(training.pairs("misleading").similarity.round(3).tolist()) == [0.6, 0.8]


def test_words_alone_make_no_pairs(engine: Engine) -> None:
    words = Recipe(name="words", vector_pool=0)
    found = engine.recall("what of thingav?", recipe=words)
    engine.admin.feedback.record(found.id, "thingav", "click")
    assert from_feedback(engine).pairs("misleading").groups == ()


NOON = datetime(2026, 5, 7, 12, tzinfo=UTC)


def said(signal: Signal, *, hours: int = 0, rating: int | None = None) -> Feedback:
    return Feedback("r", "m", signal, NOON + timedelta(hours=hours), rating=rating)


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (Signal.THUMBS_UP, True),
        (Signal.RELEVANT, True),
        (Signal.CLICK, True),
        (Signal.THUMBS_DOWN, False),
        (Signal.IRRELEVANT, False),
    ],
)
def test_what_each_signal_says(signal: Signal, expected: bool) -> None:
    assert relevance([said(signal)]) is expected


@pytest.mark.parametrize(("rating", "expected"), [(1, False), (2, False), (3, None), (4, True), (5, True)])
def test_what_each_rating_says(rating: int, expected: bool | None) -> None:
    assert relevance([said(Signal.RATING, rating=rating)]) is expected


def test_nothing_said_says_nothing() -> None:
    assert relevance([]) is None


def test_the_latest_opinion_counts_in_whatever_order_they_come() -> None:
    both = [said(Signal.THUMBS_UP), said(Signal.THUMBS_DOWN, hours=1)]
    assert relevance(both) is False
    assert relevance(both[::-1]) is False


def test_a_click_never_outvotes_an_opinion_nor_does_a_three() -> None:
    assert relevance([said(Signal.IRRELEVANT), said(Signal.CLICK, hours=1)]) is False
    assert relevance([said(Signal.CLICK), said(Signal.RATING, hours=1, rating=3)]) is True


QUERY = {"query": {"id": "q1", "text": "what of thingav?"}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_judged_documents_are_memories_of_the_database(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "thingav", "gain": 2}})
    with labelled_training_set(engine, path) as training:
        (question,) = training.questions
        assert question.query == "what of thingav?"
        assert dict(training.gains[question.id]) == {"thingav": 2.0}


def test_documents_of_the_file_are_asked_apart(engine: Engine, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"document": {"id": "d1", "text": "All about thingav."}},
        {"document": {"id": "d2", "text": "All about thingbv."}},
        QUERY,
        {"qrel": {"query": "q1", "document": "d1"}},
    )
    with labelled_training_set(engine, path) as training:
        (question,) = training.questions
        assert len(question.ids) == 2
        assert dict(training.gains[question.id]) == {"m1": 1.0}
    assert engine.store.namespaces() == {"default": 40}


def test_a_question_is_asked_when_the_file_says_and_only_if_it_has_an_answer(
    engine: Engine, tmp_path: Path
) -> None:
    moment = datetime(2024, 3, 1, 9, tzinfo=UTC)
    lines = [
        {"query": {"id": "q1", "text": "what of thingav?", "when": moment.isoformat()}},
        {"query": {"id": "q2", "text": "what of thingbv?", "answerable": False}},
        {"qrel": {"query": "q1", "document": "thingav"}},
    ]
    with labelled_training_set(engine, written(tmp_path, *lines)) as training:
        assert [(each.id, each.at) for each in training.recalls] == [("labelled:q1", moment)]
    document = {"document": {"id": "thingav", "text": "All about thingav."}}
    with labelled_training_set(engine, written(tmp_path, document, *lines)) as training:
        assert [(each.id, each.at) for each in training.recalls] == [("labelled:q1", moment)]


def test_documents_are_read_as_the_database_reads(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"document": {"id": "d1", "text": "The dogs."}},
        {"query": {"id": "q1", "text": "dog"}},
        {"qrel": {"query": "q1", "document": "d1"}},
    )
    for name, found in (("snowball", 1), ("plain", 0)):
        with (
            open_engine(":memory:", embedder=None, recipe="bm25", config={"analyser": name}) as engine,
            labelled_training_set(engine, path) as training,
        ):
            assert [len(each.ids) for each in training.recalls] == [found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"other": 1}], "has neither 'document' nor 'query' nor 'qrel'"),
        ([QUERY, QUERY], "is the second query with the id 'q1'"),
        (
            [{"qrel": {"query": "q9", "document": "thingav"}}],
            "judges the query 'q9', which is not in the file",
        ),
        (
            [QUERY, *({"qrel": {"query": "q1", "document": "thingav", "gain": gain}} for gain in (1, 2))],
            "query 'q1' and document 'thingav' are judged 2, and 1 before",
        ),
        (
            [QUERY, {"qrel": {"query": "q1", "document": "thingav", "gain": float("nan")}}],
            "line 2: record 2: qrel.gain must be a finite number, got nan",
        ),
        ([{"query": {"id": "q1", "text": "tea?", "when": "soon"}}], "query.when must be a date"),
    ],
)
def test_a_line_that_cannot_be_is_named(
    engine: Engine, tmp_path: Path, lines: list[Any], expected: str
) -> None:
    with (
        pytest.raises(DatasetError, match=expected),
        labelled_training_set(engine, written(tmp_path, *lines)),
    ):
        pass


def test_missing_files_and_memories_are_named(engine: Engine, tmp_path: Path) -> None:
    with (
        pytest.raises(DatasetError, match="no such file"),
        labelled_training_set(engine, tmp_path / "none.jsonl"),
    ):
        pass
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "nobody"}})
    with pytest.raises(MemoryNotFound, match="nobody"), labelled_training_set(engine, path):
        pass
