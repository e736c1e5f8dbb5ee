import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.recall.result import tokens, within_budget
from memorata.model import InvalidArgument


def test_a_token_is_four_bytes_rounded_up() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "чай")] == [0, 1, 1, 2, 2]


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(0, 60))
def test_the_first_that_fit_and_no_more(texts: list[str], budget: int) -> None:
    count = within_budget(texts, budget)
    assert sum(map(tokens, texts[:count])) <= budget
    if count < len(texts):
        assert sum(map(tokens, texts[: count + 1])) > budget


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="budget must be a whole number of at least 0, got -1"):
        within_budget(["x"], -1)
