import asyncio
import pickle
from inspect import signature
from typing import Annotated

import pytest

import memorata
from memorata.aio import AsyncEngine
from memorata.learn.experiments import Experiments
from memorata.model import Declared, Parameter, parameters_of
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import both_given, formerly

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


@formerly("text", "question")
def ask(user: str, question: str, *, limit: int = 10) -> tuple[str, str, int]:
    return user, question, limit


def test_either_name_will_do() -> None:
    expected = ("anna", "who", 3)
    assert ask("anna", "who", limit=3) == expected
    assert ask("anna", question="who", limit=3) == expected
    assert ask("anna", text="who", limit=3) == expected  # type: ignore[call-arg]


def test_both_names_are_an_error_even_if_they_agree() -> None:
    for args, kwargs in ((("anna", "who"), {"text": "who"}), (("anna",), {"question": "who", "text": "who"})):
        with pytest.raises(InvalidArgument, match="text must be left out where question is given"):
            ask(*args, **kwargs)  # type: ignore[arg-type]


def test_other_mistakes_are_python_s_own() -> None:
    with pytest.raises(TypeError, match="question"):
        ask("anna")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="txet"):
        ask("anna", txet="who")  # type: ignore[call-arg]


def test_the_signature_shows_the_new_name() -> None:
    for verb in (ask, memorata.Engine.recall, AsyncEngine.recall, Experiments.recall):
        assert "question" in signature(verb).parameters
        assert "text" not in signature(verb).parameters


def test_the_error_survives_a_process_boundary() -> None:
    error = both_given("text", "question", "who")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_recall_still_understands_text() -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("Anna prefers green tea")
        (hit,) = memory.recall(text="green tea")  # type: ignore[call-arg]
        assert hit.memory.content == "Anna prefers green tea"
        assert len(asyncio.run(AsyncEngine(memory).recall(text="green tea"))) == 1  # type: ignore[call-arg]
        with pytest.raises(InvalidArgument, match="question must be a string, got 5"):
            memory.recall(text=5)  # type: ignore[call-arg]
