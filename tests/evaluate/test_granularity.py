import pytest

from memorata.evaluate.collection import Question
from memorata.evaluate.granularity import GRANULARITIES, gains_of
from memorata.model import InvalidArgument

QUESTION = Question("q1", "Tea?", relevant={"t-1": 2.0, "t-2": 1.0}, relevant_sessions={"s-1": 1.0})


def test_a_question_has_labels_for_turns_and_for_sessions() -> None:
    assert GRANULARITIES == ("turn", "session")
    assert gains_of(QUESTION, "turn") == {"t-1": 2.0, "t-2": 1.0}
    assert gains_of(QUESTION, "session") == {"s-1": 1.0}


def test_there_is_no_other_granularity() -> None:
    with pytest.raises(InvalidArgument, match="granularity must be one of 'turn', 'session', got 'week'"):
        gains_of(QUESTION, "week")
