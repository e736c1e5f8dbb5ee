"""What was missed, in words and in numbers."""

import pytest

from memorata.engine.recall.result import Measure, MissedThreshold


@pytest.mark.parametrize(
    ("measure", "value", "least", "words"),
    [
        ("similarity", 0.3, 0.6, "similarity 0.300 is below 0.600"),
        ("similarity", None, 0.6, "its similarity is not known"),
        ("lexical", 0.04, 0.05, "its words are 4.0% of the best possible match, below 5.0%"),
        ("lexical", 0.0, 0.05, "it shares no word with the question"),
        ("confidence", 0.5, 0.65, "confidence 0.50 is below 0.65"),
    ],
)
def test_it_is_said_in_words_and_in_numbers(
    measure: Measure, value: float | None, least: float, words: str
) -> None:
    missed = MissedThreshold(measure, value, least)
    assert str(missed) == words
    assert missed.as_dict() == {"measure": measure, "value": value, "least": least}
