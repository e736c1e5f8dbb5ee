import gzip
import hashlib
from pathlib import Path

import pytest

from memorata.model.errors import DatasetError
from memorata_lab.evaluate.files import numbered_lines, opened, sha256_of


def test_a_gzip_is_known_by_its_first_bytes_and_not_by_its_name(tmp_path: Path) -> None:
    packed, plain = tmp_path / "packed.json", tmp_path / "plain.gz"
    packed.write_bytes(gzip.compress(b"tea"))
    plain.write_bytes(b"tea")
    for path in (packed, plain):
        with opened(path) as stream:
            assert stream.read() == b"tea"


def test_a_gzip_that_is_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.json.gz"
    path.write_bytes(gzip.compress(b"tea\n" * 10_000)[:-12])
    with pytest.raises(DatasetError, match=r"cut\.json\.gz: the gzip file is cut short: fetch it again"):
        list(numbered_lines(path))


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.json.gz"
    whole = bytearray(gzip.compress(bytes(range(256)) * 40))
    whole[-5] ^= 0xFF
    path.write_bytes(whole)
    with (
        pytest.raises(DatasetError, match=r"bad\.json\.gz: the gzip file is damaged"),
        opened(path) as stream,
    ):
        stream.read()


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        list(numbered_lines(tmp_path))
    with pytest.raises(DatasetError, match="cannot be read"):
        sha256_of({"folder": tmp_path})


def test_lines_are_numbered_as_an_editor_numbers_them(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("\ufeffone\r\n \n\ntwo\tfour\n".encode())
    assert list(numbered_lines(path)) == [(1, "one"), (4, "two\tfour")]


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes("one\ntwo\ncafé".encode("latin-1"))
    with pytest.raises(DatasetError, match="latin, line 3: not UTF-8 text"):
        list(numbered_lines(path))


def test_the_hash_of_one_file_is_that_of_its_bytes_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"tea"))
    assert sha256_of({"packed": path}) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_hash_of_several_is_that_of_their_hashes_by_name_in_whatever_order(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("b", "a")}
    for name, path in files.items():
        path.write_text(name)
    lines = [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in ("a", "b")]
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert sha256_of(files) == sha256_of(dict(reversed(files.items()))) == expected


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


def test_a_line_that_is_not_utf_8_is_named_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"one\ntw\xff\n")
    with pytest.raises(
        DatasetError, match=r"qrels\.txt, line 2: not UTF-8 text: invalid start byte at byte 2"
    ):
        list(numbered_lines(path))


@pytest.mark.parametrize("name", ["none.txt", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=r"cannot be read \((No such file|Is a directory)") as caught:
        list(numbered_lines(tmp_path / name))
    assert caught.value.line is None
