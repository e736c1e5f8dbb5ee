"""The beginning of a data set: whole haystacks, fewer questions."""

from collections.abc import Iterator

import pytest

from memorata.evaluate.collection import Document, Haystack, Question
from memorata.evaluate.limited import Limited
from memorata.model.errors import InvalidArgument


class Made:
    name, sha256 = "made up", "01"
    dropped = {"no evidence": 2}  # noqa: RUF012 - a data set in few lines
    read = 0

    def haystacks(self) -> Iterator[Haystack]:
        for number in range(3):
            self.read += 1
            questions = tuple(Question(f"q{number}{each}", "?") for each in range(2))
            yield Haystack(f"h{number}", (Document("d1", "x"), Document("d2", "y")), questions)

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("limit", "asked"),
    [
        (1, [["q00"]]),
        (2, [["q00", "q01"]]),
        (3, [["q00", "q01"], ["q10"]]),
        (9, [["q00", "q01"], ["q10", "q11"], ["q20", "q21"]]),
    ],
)
def test_the_first_questions_are_asked_of_whole_haystacks(limit: int, asked: list[list[str]]) -> None:
    limited = Limited(Made(), limit)
    stacks = list(limited.haystacks())
    assert [[question.id for question in stack.questions] for stack in stacks] == asked
    assert all(len(stack.documents) == 2 for stack in stacks)
    assert len(limited) == len(asked)


def test_no_more_is_read_than_needed() -> None:
    whole = Made()
    list(Limited(whole, 2).haystacks())
    assert whole.read == 1


def test_it_says_that_it_is_not_the_whole() -> None:
    limited = Limited(Made(), 2)
    assert (limited.name, limited.sha256) == ("made up, first 2 questions", "01")
    assert limited.dropped == {"no evidence": 2}


def test_at_least_one_question_is_needed() -> None:
    with pytest.raises(InvalidArgument, match="questions must be a whole number of at least 1"):
        Limited(Made(), 0)
