from functools import reduce
from operator import add, mul
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import Explanation, InvalidArgument
from memorata.rank import Combination

PARTS = st.tuples(st.integers(1, 4), st.integers(0, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.floats(-1e3, 1e3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows).reshape(shape))
)
OPERATIONS: Any = st.sampled_from(["sum", "product"])


def two(operation: Literal["sum", "product"] = "sum") -> Combination:
    return Combination.of(operation, ["vector", "text"], np.array([[0.5, 0.1], [0.25, 0.3]]))


def test_parts_add_or_multiply_up() -> None:
    assert two().scores.tolist() == [0.75, 0.4]
    assert two("product").scores.tolist() == [0.125, 0.03]


@given(OPERATIONS, PARTS)
def test_every_score_explains_itself_to_the_last_bit(operation: Any, parts: Any) -> None:
    made = Combination.of(operation, [f"part {row}" for row in range(len(parts))], parts)
    fold = add if operation == "sum" else mul
    for item, score in enumerate(made.scores.tolist()):
        assert score == reduce(fold, parts[:, item].tolist())
        why = made.explain(item, "score", note="as asked")
        assert (why.value, why.operation, why.note) == (score, operation, "as asked")
        assert [part.value for part in why.parts] == parts[:, item].tolist()
        assert why.adds_up()


def test_taking_items_takes_their_parts_along() -> None:
    taken = two().take(np.array([1, 0, 1]))
    assert taken.scores.tolist() == [0.4, 0.75, 0.4]
    assert taken.parts.tolist() == [[0.1, 0.5, 0.1], [0.3, 0.25, 0.3]]
    assert taken.explain(1, "score") == two().explain(0, "score")


def test_a_part_may_be_explained_further() -> None:
    bm25 = Explanation.of("sum", "bm25", [Explanation.leaf("green", 0.125), Explanation.leaf("tea", 0.125)])
    why = two().explain(0, "score", {"text": bm25})
    assert why.parts == (Explanation.leaf("vector", 0.5), bm25)
    assert why.adds_up()
    with pytest.raises(InvalidArgument, match=r"detail\['text'\] must be exactly the part .*, got 0\.26"):
        two().explain(0, "score", {"text": Explanation.leaf("bm25", 0.26)})


def test_later_changes_of_the_parts_do_not_reach_the_scores() -> None:
    parts = np.array([[1.0, 2.0]])
    made = Combination.of("sum", ["only"], parts)
    parts[0, 0] = 9.0
    assert made.scores.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (("max", ["a"], np.ones((1, 1))), "operation"),
        (("sum", [], np.ones((0, 3))), "parts"),
        (("sum", ["a", "b"], np.ones((1, 3))), "names"),
        (("sum", "ab", np.ones((2, 3))), "names"),
        (("sum", ["a"], np.ones(3)), "parts"),
        (("sum", ["a"], [[float("nan")]]), "parts[0]"),
        (("sum", ["base", "text"], [[1.0, 1.7e308], [1.0, 1.7e308]]), "base and text"),
        (("product", ["base", "text"], [[1e200], [1e200]]), "base and text"),
    ],
)
def test_bad_parts_are_refused(arguments: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Combination.of(*arguments)
    assert caught.value.argument == argument


@pytest.mark.parametrize("item", [-1, 2, 0.0, None])
def test_only_items_that_exist_are_explained(item: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        two().explain(item, "score")
    assert caught.value.argument == "item"
