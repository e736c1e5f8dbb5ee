import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import additive, multiplicative

PAIRS = st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), max_size=8)


def test_the_worked_values() -> None:
    assert multiplicative([0.95], [0.60]).scores.tolist() == pytest.approx([0.57], abs=1e-15)
    assert additive([0.95], [0.60]).scores.tolist() == pytest.approx([0.8275], abs=1e-15)


@given(PAIRS)
def test_multiplicative_is_the_product_to_the_last_bit(pairs: list[tuple[float, float]]) -> None:
    blend = multiplicative([s for s, _ in pairs], [c for _, c in pairs])
    assert blend.scores.tolist() == [s * c for s, c in pairs]
    for item, (similarity, confidence) in enumerate(pairs):
        why = blend.explain(item, "score")
        assert why.operation == "product"
        assert [(part.label, part.value) for part in why.parts] == [
            ("similarity", similarity),
            ("confidence", confidence),
        ]
        assert why.value == similarity * confidence
        assert why.adds_up()


@given(PAIRS, st.floats(0, 1))
def test_additive_is_the_weighted_sum_to_the_last_bit(pairs: list[tuple[float, float]], alpha: float) -> None:
    beta = 1 - alpha
    blend = additive([s for s, _ in pairs], [c for _, c in pairs], alpha=alpha, beta=beta)
    assert blend.scores.tolist() == [alpha * s + beta * c for s, c in pairs]
    for item, (similarity, confidence) in enumerate(pairs):
        why = blend.explain(item, "score")
        assert why.operation == "sum"
        assert [(part.label, part.value) for part in why.parts] == [
            ("similarity", alpha * similarity),
            ("confidence", beta * confidence),
        ]
        assert why.value == why.parts[0].value + why.parts[1].value
        assert why.adds_up()


def test_the_ends_of_alpha_are_one_signal_alone() -> None:
    assert additive([0.9, 0.1], [0.2, 0.7], alpha=1, beta=0).scores.tolist() == [0.9, 0.1]
    assert additive([0.9, 0.1], [0.2, 0.7], alpha=0, beta=1).scores.tolist() == [0.2, 0.7]


@pytest.mark.parametrize("beta", [0.35 + 9e-7, 0.35 - 9e-7])
def test_weights_may_miss_one_by_a_millionth(beta: float) -> None:
    assert additive([1.0], [1.0], beta=beta).scores.tolist() == pytest.approx([1.0], abs=1e-6)


@pytest.mark.parametrize("beta", [0.35 + 2e-6, 0.35 - 2e-6, 0.0, 1.0])
def test_weights_that_do_not_sum_to_one_are_refused(beta: float) -> None:
    with pytest.raises(InvalidArgument, match=r"beta must be 1 - alpha \(0.35\)"):
        additive([1.0], [1.0], beta=beta)


def test_no_memories_no_scores() -> None:
    assert multiplicative([], []).scores.tolist() == additive([], []).scores.tolist() == []


def test_the_defaults_and_their_declarations() -> None:
    declared = {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(additive)}
    assert declared == {"alpha": (float, 0.65, 0, 1), "beta": (float, 0.35, 0, 1)}
    assert parameters_of(multiplicative) == ()


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"similarity\[1\] must be a number from -1 to 1, got 1.5"):
        multiplicative([0.5, 1.5], [1, 1])
    with pytest.raises(InvalidArgument, match=r"confidence\[0\] must be a number from 0 to 1, got -0.5"):
        additive([0.5], [-0.5])
    with pytest.raises(InvalidArgument, match="confidence must be as long as similarity"):
        additive([0.5, 0.5], [0.5])
    with pytest.raises(InvalidArgument, match="alpha must be a number from 0 to 1"):
        additive([0.5], [0.5], alpha=1.5, beta=-0.5)
