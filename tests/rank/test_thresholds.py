import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import Gate, leg_gate, score_gate, similarity_gate

TENTHS = st.integers(-10, 10).map(lambda tenths: tenths / 10)
SURE = st.integers(0, 10).map(lambda tenths: tenths / 10)


def seen(gate: Gate) -> tuple[list[bool], int | None]:
    return gate.passed.tolist(), gate.best_rejected


def slow_best(scores: list[float], passed: list[bool]) -> int | None:
    """Return the first of the highest scores that did not pass."""
    best = None
    for item, score in enumerate(scores):
        if not passed[item] and (best is None or score > scores[best]):
            best = item
    return best


def test_a_score_of_exactly_the_threshold_passes() -> None:
    gate = score_gate([0.9, 0.5, 0.49, 0.3], 0.5)
    assert seen(gate) == ([True, True, False, False], 2)
    assert gate.reason == "score 0.49 is below 0.5"


def test_the_best_of_a_bad_lot_is_named_and_not_shown() -> None:
    gate = score_gate([0.1, 0.3, 0.3, 0.2], 0.5)
    assert seen(gate) == ([False] * 4, 1)
    assert gate.reason == "score 0.3 is below 0.5"


def test_when_all_pass_none_was_rejected() -> None:
    for gate in (
        score_gate([0.5, 0.9], 0.5),
        similarity_gate([0.75], [0.5]),
        leg_gate({"vector": [0.6], "text": [0.0]}, {"vector": 0.5, "text": 3.0}),
    ):
        assert gate.passed.all()
        assert (gate.best_rejected, gate.reason) == (None, "")


def test_nothing_to_gate() -> None:
    for gate in (score_gate([], 0.5), similarity_gate([], []), leg_gate({"vector": []}, {"vector": 0.5})):
        assert seen(gate) == ([], None)
        assert gate.reason == ""


@given(st.lists(TENTHS, max_size=8), TENTHS)
def test_score_gate_is_a_comparison_for_each(scores: list[float], least: float) -> None:
    passed = [score >= least for score in scores]
    gate = score_gate(scores, least)
    assert seen(gate) == (passed, slow_best(scores, passed))
    assert bool(gate.reason) == (not all(passed))


def test_both_similarity_and_confidence_must_do() -> None:
    gate = similarity_gate([0.8, 0.7, 0.9], [0.9, 0.9, 0.4])
    assert seen(gate) == ([True, False, False], 2)
    assert gate.reason == "confidence 0.4 is below 0.5"


@pytest.mark.parametrize(
    ("similarity", "confidence", "reason"),
    [
        (0.75, 0.50, ""),
        (0.74, 0.50, "similarity 0.74 is below 0.75"),
        (0.75, 0.49, "confidence 0.49 is below 0.5"),
        (-0.2, 0.1, "similarity -0.2 is below 0.75 and confidence 0.1 is below 0.5"),
    ],
)
def test_the_classic_thresholds_and_what_was_missed(
    similarity: float, confidence: float, reason: str
) -> None:
    gate = similarity_gate([similarity], [confidence])
    assert seen(gate) == ([not reason], None if not reason else 0)
    assert gate.reason == reason


@given(st.lists(st.tuples(TENTHS, SURE), max_size=8), TENTHS, SURE)
def test_similarity_gate_is_two_comparisons_for_each(
    items: list[tuple[float, float]], near: float, certain: float
) -> None:
    similar, sure = [s for s, _ in items], [c for _, c in items]
    passed = [s >= near and c >= certain for s, c in items]
    gate = similarity_gate(similar, sure, least_similarity=near, least_confidence=certain)
    best = slow_best(similar, passed)
    assert seen(gate) == (passed, best)
    if best is not None:
        assert ("similarity" in gate.reason, "confidence" in gate.reason) == (
            similar[best] < near,
            sure[best] < certain,
        )


def test_what_one_leg_rejects_may_enter_through_another() -> None:
    gate = leg_gate({"vector": [0.9, 0.2, 0.1], "text": [0.0, 7.0, 4.5]}, {"vector": 0.5, "text": 5.0})
    assert seen(gate) == ([True, True, False], 2)
    assert gate.reason == "vector 0.1 is below 0.5 and text 4.5 is below 5"


def test_the_best_rejected_came_closest_to_a_threshold() -> None:
    # Short by 0.25, 0.5 (its nearer leg: text) and 0.3.
    gate = leg_gate({"vector": [0.25, -0.4, 0.2], "text": [0.0, 4.5, 0.0]}, {"vector": 0.5, "text": 5.0})
    assert seen(gate) == ([False] * 3, 0)


def test_a_leg_without_a_threshold_lets_nothing_through_by_itself() -> None:
    gate = leg_gate({"vector": [0.4, 0.6], "graph": [99.0, 0.0]}, {"vector": 0.5})
    assert seen(gate) == ([False, True], 0)
    assert gate.reason == "vector 0.4 is below 0.5"


@given(st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), max_size=8), st.integers(-8, 8))
def test_leg_gate_asks_every_leg_for_each(items: list[tuple[int, int]], least: int) -> None:
    # Eighths, so that every shortfall is exact.
    first, second = [a / 8 for a, _ in items], [b / 8 for _, b in items]
    passed = [a >= least / 8 or b >= 0.25 for a, b in zip(first, second, strict=True)]
    shortfall = [-min(least / 8 - a, 0.25 - b) for a, b in zip(first, second, strict=True)]
    gate = leg_gate({"a": first, "b": second, "c": first}, {"a": least / 8, "b": 0.25})
    assert seen(gate) == (passed, slow_best(shortfall, passed))


def test_the_defaults_and_their_declarations() -> None:
    declared = {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(similarity_gate)}
    assert declared == {"least_similarity": (float, 0.75, -1, 1), "least_confidence": (float, 0.50, 0, 1)}


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"scores\[0\] must be a finite number"):
        score_gate([math.nan], 0.5)
    with pytest.raises(InvalidArgument, match="least must be a finite number"):
        score_gate([0.5], math.inf)
    with pytest.raises(InvalidArgument, match=r"similarity\[0\] must be a number from -1 to 1"):
        similarity_gate([1.5], [0.5])
    with pytest.raises(InvalidArgument, match="confidence must be as long as similarity"):
        similarity_gate([0.5], [])
    with pytest.raises(InvalidArgument, match="least_similarity must be a number from -1 to 1"):
        similarity_gate([0.5], [0.5], least_similarity=2)
    with pytest.raises(InvalidArgument, match="least_confidence must be a number from 0 to 1"):
        similarity_gate([0.5], [0.5], least_confidence=-0.1)


def test_legs_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="leg_scores must be at least one leg"):
        leg_gate({}, {"vector": 0.5})
    with pytest.raises(InvalidArgument, match="least must be at least one leg"):
        leg_gate({"vector": [0.5]}, {})
    with pytest.raises(InvalidArgument, match="least must be thresholds of the legs vector, got \\['txt'\\]"):
        leg_gate({"vector": [0.5]}, {"vector": 0.5, "txt": 1.0})
    with pytest.raises(InvalidArgument, match=r"\['text'\] must be as long as leg_scores\['vector'\]"):
        leg_gate({"vector": [0.5], "text": []}, {"vector": 0.5})
    with pytest.raises(InvalidArgument, match=r"least\['vector'\] must be a finite number"):
        leg_gate({"vector": [0.5]}, {"vector": math.nan})
