from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.evaluate.collection import Dataset, Haystack, Question
from memorata.evaluate.datasets.reader import Reader
from memorata.model.errors import DatasetError


class Counting(Reader):
    """Three haystacks, of which one is dropped; counts how often it is read."""

    passes = 0

    def _read(self, dropped: Counter[str]) -> Iterator[Haystack]:
        self.passes += 1
        for name in ("a", "b"):
            yield Haystack(name, (), (Question(name, "?"),))
        dropped["no evidence"] += 1


class Repeating(Reader):
    """Two questions of one id."""

    def _read(self, dropped: Counter[str]) -> Iterator[Haystack]:
        for name in ("a", "b"):
            yield Haystack(name, (), (Question("q1", "?"),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "set_s.json.gz"
    path.write_text("x")
    return path


def test_its_name_has_the_format_the_file_and_the_options(path: Path) -> None:
    assert Counting("kind", path, {"f": path}, turns="all", n=1).name == "kind/set_s (turns=all, n=1)"
    assert Counting("kind", path, {"f": path}).name == "kind/set_s"


def test_counts_are_right_whether_or_not_it_has_been_read_and_cost_no_second_pass(path: Path) -> None:
    reader = Counting("kind", path, {"f": path})
    assert (len(reader), dict(reader.dropped), reader.passes) == (2, {"no evidence": 1}, 1)
    reader = Counting("kind", path, {"f": path})
    assert [haystack.id for haystack in reader.haystacks()] == ["a", "b"]
    assert (len(reader), dict(reader.dropped), reader.passes) == (2, {"no evidence": 1}, 1)


def test_reading_only_the_beginning_does_not_spoil_the_counts(path: Path) -> None:
    reader = Counting("kind", path, {"f": path})
    next(reader.haystacks())
    assert (len(reader), dict(reader.dropped)) == (2, {"no evidence": 1})
    assert [haystack.id for haystack in reader.haystacks()] == ["a", "b"]
    assert dict(reader.dropped) == {"no evidence": 1}


def test_two_questions_of_one_id_are_an_error(path: Path) -> None:
    with pytest.raises(DatasetError, match="two questions have the id 'q1'"):
        len(Repeating("kind", path, {"f": path}))


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="nowhere: no such file"):
        Counting("kind", tmp_path, {"f": tmp_path / "nowhere"})


def test_it_is_a_dataset(path: Path) -> None:
    dataset: Dataset = Counting("kind", path, {"f": path})
    assert len(dataset.sha256) == 64
    assert dataset.sha256 == dataset.sha256
