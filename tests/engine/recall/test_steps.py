from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pytest

from memorata.engine import Recipe
from memorata.engine.recall.query import RecallContext
from memorata.engine.recall.ranking import (
    reranked,
    with_confidence,
    with_quality,
    with_session,
    with_speaker,
    with_temporal,
)
from memorata.model import Explanation, Period
from memorata.model.errors import EmbedderError, MissingExtra

Make = Callable[..., RecallContext]
SCORES = np.array([0.8, 0.4])
ITEMS = [
    {"content": "sure", "confidence": 0.5, "id": "a"},
    {"content": "surer", "confidence": 1.0, "id": "b"},
]
SLOTS = np.array([0, 1])


def leaf(position: int) -> Explanation:
    return Explanation.leaf("relevance", float(SCORES[position]))


def negative(position: int) -> Explanation:
    return Explanation.leaf("relevance", [-0.5, 0.5][position])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"confidence": "none"}, [0.8, 0.4]),
        ({"confidence": "multiplicative"}, [0.4, 0.4]),
        ({"confidence": "additive"}, [0.65 * 0.8 + 0.35 * 0.5, 0.65 * 0.4 + 0.35]),
        ({"confidence": "additive", "weighting": "confidence"}, [0.35 * 0.8 + 0.65 * 0.5, 0.35 * 0.4 + 0.65]),
        ({"confidence": "additive", "weighting": "query"}, [0.55 * 0.8 + 0.45 * 0.5, 0.55 * 0.4 + 0.45]),
    ],
)
def test_confidence_by_hand(context: Make, changes: dict[str, str], expected: list[float]) -> None:
    asked = context(ITEMS, "Explain why it happened")
    records = asked.view.records(SLOTS)
    scores, explain = with_confidence(Recipe(name="x", **changes), asked, records, SCORES, leaf)  # type: ignore[arg-type]
    assert scores.tolist() == pytest.approx(expected)
    assert [explain(position).value for position in (0, 1)] == scores.tolist()


@pytest.mark.parametrize("form", ["additive", "multiplicative"])
def test_quality_divides_by_the_best_and_explains_it(context: Make, form: str) -> None:
    asked = context(ITEMS, "sure")
    recipe = Recipe(name="x", quality=form, quality_weight=0.2)
    scores, explain = with_quality(recipe, asked, asked.view.records(SLOTS), SCORES, leaf)
    # Qualities differ by confidence alone: 0.5 and 1.
    expected = {"additive": [0.8 + 0.2 * 0.5, 0.8 * 0.5 + 0.2], "multiplicative": [0.8 + 0.1, 0.5]}
    assert scores.tolist() == pytest.approx(expected[form])
    for position in (0, 1):
        assert explain(position).value == scores[position]
        assert "relative to the best" in str(explain(position))


def test_scores_below_zero_are_brought_up_first(context: Make) -> None:
    asked = context(ITEMS, "sure")
    recipe = Recipe(name="x", quality="multiplicative")
    scores, explain = with_quality(recipe, asked, asked.view.records(SLOTS), np.array([-0.5, 0.5]), negative)
    assert scores.tolist() == [0.0, 1.0]
    assert "min-max of -0.5000 between -0.5000 and 0.5000" in str(explain(0))


def test_quality_of_a_set_without_relevance(context: Make) -> None:
    asked = context(ITEMS, "sure")
    recipe = Recipe(name="x", quality="additive", quality_weight=0.2)
    scores, explain = with_quality(recipe, asked, asked.view.records(SLOTS), np.zeros(2), leaf)
    assert scores.tolist() == pytest.approx([0.1, 0.2])
    assert explain(1).value == scores[1]


@pytest.mark.parametrize(("form", "expected"), [("additive", [1.2, 0.8]), ("multiplicative", [1.12, 0.56])])
def test_time_joins_in_only_when_a_period_is_known(context: Make, form: str, expected: list[float]) -> None:
    recipe = Recipe(name="x", temporal=form)
    asked = context(ITEMS, "sure")
    records = asked.view.records(SLOTS)
    assert with_temporal(recipe, asked, records, SCORES, leaf) == (SCORES, leaf)
    today = context(ITEMS, "sure", period=Period.around(asked.now, timedelta(days=1)))
    scores, explain = with_temporal(recipe, today, records, SCORES, leaf)
    assert scores.tolist() == pytest.approx(expected)
    assert explain(0).value == scores[0]


class Opinion:
    name = "opinion"

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([10.0 if text == "surer" else 0.0 for text in texts])


def test_a_reranker_is_blended_by_its_weight(context: Make) -> None:
    asked = context(ITEMS, "sure", reranker=Opinion())
    recipe = Recipe(name="x", rerank_depth=10, rerank_weight=0.4)
    scores, explain = reranked(recipe, asked, SLOTS, SCORES, leaf)
    assert scores.tolist() == pytest.approx([0.6, 0.6 * 0.5 + 0.4])
    assert explain(1).value == scores[1]


@pytest.mark.parametrize(
    "failure", [EmbedderError("its file is gone"), MissingExtra("A neural model", "onnxruntime")]
)
def test_a_reranker_that_fails_leaves_everything_as_it_was(context: Make, failure: Exception) -> None:
    class Failing(Opinion):
        def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
            raise failure

    asked = context(ITEMS, "sure", reranker=Failing())
    recipe = Recipe(name="x", rerank_depth=10, rerank_weight=0.4)
    assert reranked(recipe, asked, SLOTS, SCORES, leaf) == (SCORES, leaf)
    assert asked.failures == [f"the re-ranker failed, so nothing was re-ranked: {failure}"]


def test_a_reranker_reads_no_more_than_its_depth(context: Make) -> None:
    asked = context(ITEMS, "sure", reranker=Opinion())
    scores, _ = reranked(Recipe(name="x", rerank_depth=1, rerank_weight=0.4), asked, SLOTS, SCORES, leaf)
    # It reads only the first, whose min-max alone is 1.
    assert scores.tolist() == pytest.approx([1.0, 0.3])


TALK = [
    {"content": "tea", "source": {"speaker": "Anna", "session": "s"}},
    {"content": "coffee", "source": {"speaker": "assistant", "session": "s"}},
]


def test_a_session_speaks_for_its_memories_by_hand(context: Make) -> None:
    asked = context(TALK, "x")
    records = asked.view.records(SLOTS)
    scores, explain = with_session(Recipe(name="x", session_weight=0.5), asked, records, SCORES, leaf)
    # The three best of the session are 0.8, 0.4 and nobody.
    assert scores.tolist() == pytest.approx([0.8 + 0.5 * 0.4, 0.4 + 0.5 * 0.4])
    assert explain(1).value == scores[1]
    assert [part.label for part in explain(1).parts] == ["relevance", "its session"]
    same, _ = with_session(Recipe(name="x"), asked, records, SCORES, leaf)
    assert same is SCORES


def test_a_turn_is_lifted_towards_a_better_one_beside_it(context: Make) -> None:
    asked = context(TALK, "x")
    records = asked.view.records(SLOTS).copy()
    recipe = Recipe(name="x", session_weight=0.5, neighbour_weight=0.5)
    without, explain = with_session(recipe, asked, records, SCORES, leaf)
    assert [part.label for part in explain(1).parts] == ["relevance", "its session"]
    records["position"] = [1, 2]
    scores, explain = with_session(recipe, asked, records, SCORES, leaf)
    assert scores.tolist() == pytest.approx([without[0], without[1] + 0.5 * 0.4])
    assert [part.label for part in explain(1).parts] == ["relevance", "its session", "a better neighbour"]
    assert explain(1).value == scores[1]
    records["position"] = [1, 4]
    assert with_session(recipe, asked, records, SCORES, leaf)[0].tolist() == without.tolist()


def test_a_note_among_turns_belongs_to_their_talk(context: Make) -> None:
    note = {"content": "They enter.", "source": {"session": "s"}}
    asked = context([TALK[0], note], "x")
    recipe = Recipe(name="x", session_weight=0.5)
    scores, _ = with_session(recipe, asked, asked.view.records(SLOTS), SCORES, leaf)
    assert scores.tolist() == pytest.approx([0.8 + 0.5 * 0.4, 0.4 + 0.5 * 0.4])


def test_what_has_no_session_is_not_explained_by_one(context: Make) -> None:
    asked = context([TALK[0], {"content": "coffee"}], "x")
    records = asked.view.records(SLOTS)
    scores, explain = with_session(Recipe(name="x", session_weight=0.5), asked, records, SCORES, leaf)
    # Each speaks alone, for a session that lacks two or for itself: a sixth more for both.
    assert scores.tolist() == pytest.approx([0.8 * 7 / 6, 0.4 * 7 / 6])
    with_one, without = explain(0), explain(1)
    assert [with_one.label, *(part.label for part in with_one.parts)] == [
        "with session",
        "relevance",
        "its session",
    ]
    assert [without.label, *(part.label for part in without.parts)] == [
        "without session",
        "relevance",
        "on its own",
    ]
    assert (with_one.value, without.value) == tuple(scores)
    assert without.adds_up()


def test_old_talks_with_an_assistant_count_less_for_who_goes_on_with_one(context: Make) -> None:
    asked = context(TALK, "x")
    records = asked.view.records(SLOTS).copy()
    records["session"] = [40, 10]
    recipe = Recipe(name="x", continued_weight=0.5)
    assert with_speaker(recipe, asked, records, SCORES, leaf)[0] is SCORES
    scores, explain = with_speaker(recipe, replace(asked, continues=True), records, SCORES, leaf)
    # Thirty sessions later a talk has half of its newness.
    assert scores.tolist() == [SCORES[0], SCORES[1] * 0.75]
    assert explain(1).value == scores[1]
    assert explain(1).parts[1].label == "newer conversations"
    records["role"] = 0
    assert with_speaker(recipe, replace(asked, continues=True), records, SCORES, leaf)[0] is SCORES


def test_what_an_assistant_said_is_held_back_by_hand(context: Make) -> None:
    asked = context(TALK, "x")
    records = asked.view.records(SLOTS)
    scores, explain = with_speaker(Recipe(name="x", machine_weight=0.5), asked, records, SCORES, leaf)
    assert scores.tolist() == [0.8, 0.2]
    assert explain(1).value == scores[1]
    same, _ = with_speaker(Recipe(name="x"), asked, records, SCORES, leaf)
    assert same is SCORES
