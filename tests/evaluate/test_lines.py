from pathlib import Path

import pytest

from memorata.evaluate.lines import numbered_lines
from memorata.model.errors import DatasetError


def test_lines_have_their_numbers_and_blank_ones_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"one\r\n\n  \t\nfour\nfive")
    assert list(numbered_lines(path)) == [(1, "one"), (4, "four"), (5, "five")]


def test_a_byte_order_mark_is_not_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert list(numbered_lines(path)) == [(1, "one"), (2, "two")]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("a\u2028b\x85c\x0bd\n", encoding="utf-8")
    assert list(numbered_lines(path)) == [(1, "a\u2028b\x85c\x0bd")]


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"one\ntw\xff\n")
    with pytest.raises(DatasetError, match=r"qrels\.txt, line 2: not UTF-8: invalid start byte at byte 2"):
        list(numbered_lines(path))


@pytest.mark.parametrize("name", ["none.txt", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=r"cannot be read: (No such file|Is a directory)") as caught:
        list(numbered_lines(tmp_path / name))
    assert caught.value.line is None
