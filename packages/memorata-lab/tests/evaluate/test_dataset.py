"""The beginning of a data set: whole haystacks, fewer questions."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.dataset import (
    GRANULARITIES,
    Dataset,
    Document,
    FileDataset,
    FirstQuestions,
    Haystack,
    Judgements,
    Question,
    gains_of,
    opaque,
    read_labels,
    write_labels,
)


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


class Counting:
    """Three haystacks, of which one is dropped; counts how often it is read."""

    passes = 0

    def __call__(self, dropped: Counter[str]) -> Iterator[Haystack]:
        self.passes += 1
        for name in ("a", "b"):
            yield Haystack(name, (), (Question(name, "?"),))
        dropped["no evidence"] += 1


def repeating(dropped: Counter[str]) -> Iterator[Haystack]:
    """Two questions of one id."""
    for name in ("a", "b"):
        yield Haystack(name, (), (Question("q1", "?"),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "set_s.json.gz"
    path.write_text("x")
    return path


def test_its_name_has_the_format_the_file_and_the_options(path: Path) -> None:
    named = FileDataset("kind", path, {"f": path}, repeating, turns="all", n=1)
    assert named.name == "kind/set_s (turns=all, n=1)"
    assert FileDataset("kind", path, {"f": path}, repeating).name == "kind/set_s"


def test_counts_are_right_whether_or_not_it_has_been_read_and_cost_no_second_pass(path: Path) -> None:
    reading = Counting()
    reader = FileDataset("kind", path, {"f": path}, reading)
    assert (len(reader), dict(reader.dropped), reading.passes) == (2, {"no evidence": 1}, 1)
    reading = Counting()
    reader = FileDataset("kind", path, {"f": path}, reading)
    assert [haystack.id for haystack in reader.haystacks()] == ["a", "b"]
    assert (len(reader), dict(reader.dropped), reading.passes) == (2, {"no evidence": 1}, 1)


def test_reading_only_the_beginning_does_not_spoil_the_counts(path: Path) -> None:
    reading = Counting()
    reader = FileDataset("kind", path, {"f": path}, reading)
    next(reader.haystacks())
    assert (len(reader), dict(reader.dropped)) == (2, {"no evidence": 1})
    assert [haystack.id for haystack in reader.haystacks()] == ["a", "b"]
    assert dict(reader.dropped) == {"no evidence": 1}


def test_two_questions_of_one_id_are_an_error(path: Path) -> None:
    with pytest.raises(DatasetError, match="two questions have the id 'q1'"):
        len(FileDataset("kind", path, {"f": path}, repeating))


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="nowhere: no such file"):
        FileDataset("kind", tmp_path, {"f": tmp_path / "nowhere"}, repeating)


def test_it_is_a_dataset(path: Path) -> None:
    dataset: Dataset = FileDataset("kind", path, {"f": path}, repeating)
    assert len(dataset.sha256) == 64
    assert dataset.sha256 == dataset.sha256


FILE = Path("test.tsv")
DOCUMENTS = {
    "one": Document("d-1", "x", session="s-1"),
    "two": Document("d-2", "y", session="s-1"),
    "three": Document("d-3", "z"),
}


def judged(*triples: tuple[str, str, float]) -> Judgements:
    judgements = Judgements()
    for line, (query, document, gain) in enumerate(triples, 1):
        judgements.add(FILE, line, query, document, gain)
    return judgements


def test_a_question_gets_gains_by_document_and_the_best_of_each_session() -> None:
    judgements = judged(("q", "one", 1.0), ("q", "two", 2.0), ("q", "three", 3.0))
    (question,) = judgements.label([Question("q", "?")], DOCUMENTS, Counter())
    assert question.relevant == {"d-1": 1.0, "d-2": 2.0, "d-3": 3.0}
    assert question.relevant_sessions == {"s-1": 2.0}


def test_no_gain_and_missing_documents_are_no_labels_and_such_questions_are_dropped() -> None:
    judgements = judged(("q", "one", 0.0), ("q", "two", -1.0), ("q", "gone", 1.0), ("r", "one", 1.0))
    dropped: Counter[str] = Counter()
    labelled = list(judgements.label([Question("q", "?"), Question("r", "?")], DOCUMENTS, dropped))
    assert [question.id for question in labelled] == ["r"]
    assert dropped == {"no relevant document": 1}
    assert judgements.queries() == {"q", "r"}


def test_a_question_that_cannot_be_answered_needs_no_label() -> None:
    asked = Question("q", "?", answerable=False)
    assert list(judged(("q", "one", 1.0)).label([asked], DOCUMENTS, Counter())) == [asked]


def test_a_pair_may_be_judged_twice_but_not_differently() -> None:
    with pytest.raises(
        DatasetError, match=r"test\.tsv, line 3: query 'q' and document 'one' are judged 2, and 1 before"
    ):
        judged(("q", "one", 1.0), ("q", "one", 1.0), ("q", "one", 2.0))
