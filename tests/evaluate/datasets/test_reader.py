from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.evaluate.dataset import Dataset, Document, FileDataset, Haystack, Judgements, Question
from memorata.model.errors import DatasetError


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
