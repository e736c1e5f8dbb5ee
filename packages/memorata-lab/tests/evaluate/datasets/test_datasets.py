from pathlib import Path

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.datasets import READERS, open_dataset


def test_every_format_has_a_reader() -> None:
    assert list(READERS) == ["longmemeval", "locomo", "multihop", "beir", "smart", "facts", "jsonl"]


def test_a_data_set_is_opened_by_the_name_of_its_format_with_its_options(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text("I run.\tWho runs?\n")
    dataset = open_dataset("facts", str(path))
    assert (dataset.name, len(dataset)) == ("facts/facts", 1)
    assert open_dataset("longmemeval", path, turns="user").name == "longmemeval/facts (turns=user)"


def test_an_unknown_format_or_option_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"name must be one of 'longmemeval', 'locomo', .*got 'squad'"):
        open_dataset("squad", tmp_path)
    with pytest.raises(
        InvalidArgument, match=r"turns must be an option of facts \(it has none\), got 'user'"
    ):
        open_dataset("facts", tmp_path, turns="user")
    with pytest.raises(InvalidArgument, match="path must be a path, got 7"):
        open_dataset("facts", 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", READERS)
def test_a_path_where_nothing_is_gives_a_clear_error_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match="nowhere"):
        open_dataset(name, tmp_path / "nowhere")
