"""The beginning of a data set: whole haystacks, fewer questions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.evaluate.dataset import (
    GRANULARITIES,
    Document,
    FirstQuestions,
    Haystack,
    Question,
    gains_of,
    opaque,
    read_labels,
    write_labels,
)
from memorata.model.errors import DatasetError, InvalidArgument


def test_an_opaque_id_is_stable_and_tells_nothing_of_what_it_stands_for() -> None:
    assert opaque("session", "q1", "answer_1") == opaque("session", "q1", "answer_1")
    assert "answer" not in opaque("session", "q1", "answer_1")


def test_different_things_have_different_ids_even_when_their_parts_join_to_the_same_text() -> None:
    assert opaque("turn", "ab", "c") != opaque("turn", "a", "bc")
    assert opaque("turn", "a") != opaque("session", "a")


QUESTION = Question("q1", "Tea?", relevant={"t-1": 2.0, "t-2": 1.0}, relevant_sessions={"s-1": 1.0})


def test_a_question_has_labels_for_turns_and_for_sessions() -> None:
    assert GRANULARITIES == ("turn", "session")
    assert gains_of(QUESTION, "turn") == {"t-1": 2.0, "t-2": 1.0}
    assert gains_of(QUESTION, "session") == {"s-1": 1.0}


def test_there_is_no_other_granularity() -> None:
    with pytest.raises(InvalidArgument, match="granularity must be one of 'turn', 'session', got 'week'"):
        gains_of(QUESTION, "week")


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
    limited = FirstQuestions(Made(), limit)
    stacks = list(limited.haystacks())
    assert [[question.id for question in stack.questions] for stack in stacks] == asked
    assert all(len(stack.documents) == 2 for stack in stacks)
    assert len(limited) == len(asked)


def test_no_more_is_read_than_needed() -> None:
    whole = Made()
    list(FirstQuestions(whole, 2).haystacks())
    assert whole.read == 1


def test_it_says_that_it_is_not_the_whole() -> None:
    limited = FirstQuestions(Made(), 2)
    assert (limited.name, limited.sha256) == ("made up, first 2 questions", "01")
    assert limited.dropped == {"no evidence": 2}


def test_at_least_one_question_is_needed() -> None:
    with pytest.raises(InvalidArgument, match="questions must be a whole number of at least 1"):
        FirstQuestions(Made(), 0)


ASKED = (
    Question("q1", "Which tea?", "food", None, {"d1": 2.0}, {"s1": 1.0}),
    Question("q2", "Где чай?", answerable=False),
)


def test_what_is_written_is_read_again_without_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED)
    assert read_labels(path) == (
        Question("q1", "", "food", None, {"d1": 2.0}, {"s1": 1.0}),
        Question("q2", "", answerable=False),
    )
    assert "tea" not in path.read_text("utf-8")


def test_writing_again_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED)
    write_labels(path, ASKED[:1])
    assert [question.id for question in read_labels(path)] == ["q1"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: must be an object with question, kind"),
        ('{"question": "q"}', "line 2: must be an object with question, kind"),
        (
            '{"question": "q", "kind": "", "answerable": 1, "relevant": {}, "relevant_sessions": {}}',
            "line 2: answerable must be True or False",
        ),
        (
            '{"question": "q", "kind": "", "answerable": true, "relevant": [], "relevant_sessions": {}}',
            "line 2: relevant must be an object",
        ),
        (
            '{"question": "q", "kind": "", "answerable": true, "relevant": {"d": NaN}, '
            '"relevant_sessions": {}}',
            "line 2: relevant\\['d'\\] must be a finite number",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED[:1])
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(DatasetError, match=reason):
        read_labels(path)
