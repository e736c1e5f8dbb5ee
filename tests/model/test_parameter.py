import pickle
from typing import Annotated

from memorata.model import Declared, Parameter, parameters_of
from memorata.model.parameter import both_given

Strength = Annotated[float, "another tool's note", Declared("How much.", 0, 1)]


def scored(
    score: float,
    *,
    strength: Strength = 0.4,
    plain: int = 3,
    form: Annotated[str, Declared("Which form.", choices=("sum", "product"))] = "sum",
) -> float:
    return score * strength * plain if form == "sum" else score


def test_declared_parameters_come_back_in_the_order_of_the_signature() -> None:
    assert parameters_of(scored) == (
        Parameter("strength", float, 0.4, "How much.", 0, 1, ()),
        Parameter("form", str, "sum", "Which form.", None, None, ("sum", "product")),
    )


def test_a_function_that_declares_nothing_has_none() -> None:
    def plain(score: float, unannotated=1) -> float:  # type: ignore[no-untyped-def] # noqa: ANN001
        return score

    assert parameters_of(plain) == ()


def test_the_error_survives_a_process_boundary() -> None:
    error = both_given("text", "question", "who")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
