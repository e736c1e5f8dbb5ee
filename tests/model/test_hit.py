import json
from datetime import UTC, datetime
from functools import reduce
from operator import add, mul, truediv
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import Explanation, Feedback, Hit, InvalidArgument, Memory, Signal

FOLDS: dict[str, Any] = {"sum": add, "product": mul, "ratio": truediv, "max": max}
NUMBERS = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6)


def leaf(value: float) -> Explanation:
    return Explanation.leaf("x", value)


def test_a_score_by_hand() -> None:
    legs = Explanation.of("sum", "legs", [leaf(0.5), leaf(0.25)])
    score = Explanation.of("product", "score", [legs, leaf(0.5)], note="after blending")
    assert score.value == 0.375
    assert score.adds_up()
    assert [node.value for node in score.walk()] == [0.375, 0.75, 0.5, 0.25, 0.5]
    assert str(score) == (
        "0.375 score (after blending) = product of\n  0.75 legs = sum of\n    0.5 x\n    0.25 x\n  0.5 x"
    )


@pytest.mark.parametrize(
    ("operation", "values", "result"),
    [("sum", [1, 2, 3], 6), ("product", [2, 3, 4], 24), ("ratio", [12, 3, 2], 2), ("max", [1, 5, 3], 5)],
)
def test_parts_are_folded_from_left_to_right(operation: Any, values: list[float], result: float) -> None:
    assert Explanation.of(operation, "x", [leaf(value) for value in values]).value == result


@given(st.sampled_from(["sum", "product", "max"]), st.lists(NUMBERS, min_size=1, max_size=6))
def test_the_value_is_the_fold_of_its_parts_to_the_last_bit(operation: Any, values: list[float]) -> None:
    node = Explanation.of(operation, "x", [leaf(value) for value in values])
    assert node.value == reduce(FOLDS[operation], values)
    assert node.adds_up()


def test_a_value_that_its_parts_do_not_make_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"value of 'x' must be the sum of its parts \(0\.3000"):
        Explanation("x", 0.3, "sum", (leaf(0.1), leaf(0.2)))
    assert Explanation("x", 0.1 + 0.2, "sum", (leaf(0.1), leaf(0.2))).adds_up()


def test_a_tree_that_was_tampered_with_does_not_add_up() -> None:
    inner = Explanation.of("sum", "x", [leaf(1), leaf(2)])
    outer = Explanation.of("max", "y", [leaf(9), inner])
    object.__setattr__(inner.parts[0], "value", 5.0)
    assert not inner.adds_up()
    assert not outer.adds_up()
    assert outer.value == 9


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: Explanation.leaf("x", float("nan")), "value"),
        (lambda: Explanation.leaf(5, 1.0), "label"),  # type: ignore[arg-type]
        (lambda: Explanation.leaf("x", 1.0, note=None), "note"),  # type: ignore[arg-type]
        (lambda: Explanation("x", 1.0, "sum"), "parts"),
        (lambda: Explanation("x", 1.0, "value", (leaf(1.0),)), "parts"),
        (lambda: Explanation("x", 1.0, "sum", ("y",)), "parts"),  # type: ignore[arg-type]
        (lambda: Explanation("x", 1.0, "sum", 5), "parts"),  # type: ignore[arg-type]
        (lambda: Explanation("x", 1.0, "mean", (leaf(1.0),)), "operation"),  # type: ignore[arg-type]
        (lambda: Explanation.of("sum", "x", []), "parts"),
        (lambda: Explanation.of("value", "x", [leaf(1.0)]), "operation"),
        (lambda: Explanation.of("sum", "x", [leaf(1.7e308), leaf(1.7e308)]), "value"),
        (lambda: Explanation.of("ratio", "x", [leaf(1.0), leaf(0.0)]), "value"),
        (lambda: Explanation("x", 0.0, "ratio", (leaf(1.0), leaf(0.0))), "value"),
    ],
)
def test_a_bad_explanation_is_refused(make: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert caught.value.argument.startswith(argument)


def test_as_plain_data_for_json() -> None:
    node = Explanation.of("sum", "legs", [Explanation.leaf("vector", 0.5, "rank 1"), leaf(0.25)])
    assert json.loads(json.dumps(node.as_dict())) == {
        "label": "legs",
        "value": 0.75,
        "operation": "sum",
        "parts": [{"label": "vector", "value": 0.5, "note": "rank 1"}, {"label": "x", "value": 0.25}],
    }


def test_parts_given_as_a_list_are_kept_as_a_tuple() -> None:
    node = Explanation("x", 1.0, "sum", [leaf(1.0)])  # type: ignore[arg-type]
    assert node.parts == (leaf(1.0),)
    assert hash(node) == hash(Explanation.of("sum", "x", [leaf(1.0)]))


TEA = Memory(id="m1", content="I prefer tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))


def test_a_hit_explains_its_score_when_asked() -> None:
    why = Explanation.of("sum", "fused", [Explanation.leaf("vector", 0.5), Explanation.leaf("text", 0.25)])
    asked = []

    def explain() -> Explanation:
        asked.append(True)
        return why

    hit = Hit(TEA, 0.75, explain)
    assert not asked
    assert hit.explanation is why
    assert asked == [True]


def test_an_explanation_of_another_score_is_never_shown() -> None:
    with pytest.raises(
        InvalidArgument, match=r"explanation must be of the score it explains, 0\.5, got 0\.75"
    ):
        _ = Hit(TEA, 0.5, lambda: Explanation.leaf("x", 0.75)).explanation


def test_a_hit_needs_a_memory_and_a_score() -> None:
    with pytest.raises(InvalidArgument, match="memory must be a Memory, got 'tea'"):
        Hit("tea", 0.5, lambda: Explanation.leaf("x", 0.5))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="score must be a finite number, got nan"):
        Hit(TEA, float("nan"), lambda: Explanation.leaf("x", 0.5))


def test_the_id_and_the_text_of_the_memory_are_a_word_away() -> None:
    hit = Hit(TEA, 0.5, lambda: Explanation.leaf("x", 0.5))
    assert (hit.id, hit.content) == ("m1", "I prefer tea.")


DAY = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("signal", [signal for signal in Signal if signal is not Signal.RATING])
def test_a_signal_speaks_for_itself(signal: Signal) -> None:
    assert Feedback("r1", "m1", signal, DAY).rating is None
    with pytest.raises(InvalidArgument, match=f"rating must be None for a {signal.value}, got 3"):
        Feedback("r1", "m1", signal, DAY, rating=3)


def test_a_rating_runs_from_1_to_5() -> None:
    assert [Feedback("r1", "m1", Signal.RATING, DAY, rating=stars).rating for stars in (1, 5)] == [1, 5]


@pytest.mark.parametrize("rating", [None, 0, 6, 2.5, True, "4"])
def test_any_other_rating_is_refused(rating: Any) -> None:
    with pytest.raises(InvalidArgument, match="rating must be a whole number from 1 to 5"):
        Feedback("r1", "m1", Signal.RATING, DAY, rating=rating)


def test_a_signal_may_be_given_by_name() -> None:
    assert Feedback("r1", "m1", "click", DAY).signal is Signal.CLICK  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"recall_id": 1}, "recall_id"),
        ({"memory_id": "m 1"}, "memory_id"),
        ({"signal": "clap"}, "signal"),
        ({"given_at": datetime(2026, 5, 7)}, "given_at"),
    ],
)
def test_a_bad_feedback_is_refused(changes: dict[str, Any], argument: str) -> None:
    values: dict[str, Any] = {"recall_id": "r1", "memory_id": "m1", "signal": Signal.CLICK, "given_at": DAY}
    with pytest.raises(InvalidArgument) as caught:
        Feedback(**values | changes)
    assert caught.value.argument == argument
