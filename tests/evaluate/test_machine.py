"""What a run cost its machine, kept beside it."""

from pathlib import Path

import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.evaluate.machine import (
    TIMED,
    embedding_times,
    machine,
    machine_path,
    read_machine,
    write_machine,
)
from memorata.model.errors import DatasetError


def test_percentiles_are_of_the_times_given() -> None:
    found = machine([float(number) for number in range(1, 102)])
    assert (found.embedding_p50, found.embedding_p95) == (51.0, 96.0)
    assert machine().embedding_p50 is None


def test_memory_is_more_than_an_interpreter_needs() -> None:
    peak = machine().peak_megabytes
    assert peak is None or 10 < peak < 1e6


def test_a_few_different_questions_are_timed() -> None:
    times = embedding_times(LexicalEmbedder(), ["a", "a", "", *map(str, range(100))])
    assert len(times) == TIMED
    assert min(times) > 0
    assert embedding_times(LexicalEmbedder(), []) == []


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = tmp_path / "set.bm25.jsonl"
    assert read_machine(run) is None
    found = machine([1.0])
    write_machine(run, found)
    assert read_machine(run) == found


@pytest.mark.parametrize("text", ["", "[]", '{"python": "3"}', '{"speed": 1}'])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, text: str) -> None:
    run = tmp_path / "set.bm25.jsonl"
    machine_path(run).write_text(text)
    with pytest.raises(DatasetError, match="not the machine of a run"):
        read_machine(run)
