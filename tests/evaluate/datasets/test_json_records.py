import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.evaluate.datasets import json_records as module
from memorata.evaluate.datasets.json_records import json_records
from memorata.model.errors import DatasetError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(path: Path) -> list[Any]:
    return [record.value for record in json_records(path)]


@given(
    records=st.lists(st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), min_size=1, max_size=6),
    indent=st.none() | st.integers(0, 2),
    escaped=st.booleans(),
    block=st.integers(1, 40),
)
def test_a_window_of_any_size_reads_what_reading_the_whole_does(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[dict[str, Any]],
    indent: int | None,
    escaped: bool,
    block: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "window.json"
    text = json.dumps(records, indent=indent, ensure_ascii=escaped)
    path.write_bytes(text.encode(errors="replace"))
    whole = json.loads(path.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        assert read(path) == whole


def test_json_lines_and_arrays_plain_and_compressed_are_the_same_records(tmp_path: Path) -> None:
    records = [{"id": 1, "text": "чай"}, {"id": 2, "text": "a\nb"}]
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()
    array = json.dumps(records).encode()
    for number, data in enumerate(
        [lines, array, gzip.compress(lines), gzip.compress(array), b"\xef\xbb\xbf " + array]
    ):
        path = tmp_path / str(number)
        path.write_bytes(data)
        assert read(path) == records


def test_a_record_knows_its_line_and_its_number(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_text('[\n {"a":\n 1},\n\n {"a": 2}\n]\n')
    assert [(record.number, record.line) for record in json_records(path)] == [(1, 2), (2, 5)]
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [(record.number, record.line) for record in json_records(path)] == [(1, 1), (2, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "set.json: holds no records"),
        ("[]", "set.json: holds no records"),
        ('{"a": 1}\n{"a": 2}\n{"a": 3\n', "set.json, line 3: expected a JSON record, got '{\"a\": 3'"),
        (
            '[\n{"a": 1},\n{"a": oops}\n]',
            "set.json, line 3: record 2 is not JSON: Expecting value, got 'oops",
        ),
        ('[{"a": 1},\n{"a": "cut', "set.json, line 2: record 2 is not JSON: Unterminated string"),
        (
            '[{"a": 1},\n{"a": ',
            "set.json, line 2: record 2 is not JSON: Expecting value, got the end of the file",
        ),
        (
            '[{"a": 1}\n{"a": 2}]',
            "set.json, line 2: expected a comma or the end of the list after record 1, got '{'",
        ),
        (
            '[{"a": 1}',
            "set.json, line 1: expected a comma or the end of the list after record 1, got the end of",
        ),
        ('[{"a": 1}]\n]', "set.json, line 2: expected nothing after the list, got ']'"),
        ("[" + "[" * 100_000, "set.json, line 1: record 1 is not JSON"),
        ('[{"a": ' + "1" * 5_000 + "}]", "set.json, line 1: record 1 is not JSON that can be read"),
    ],
)
def test_what_is_not_json_is_an_error_at_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "set.json"
    path.write_text(text)
    with pytest.raises(DatasetError) as raised:
        read(path)
    assert str(raised.value).startswith(f"{tmp_path}/{message}")


def test_bytes_that_are_not_utf_8_are_an_error_at_their_line(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(b'[{"a": 1},\n{"a": "caf\xe9"}]')
    with pytest.raises(DatasetError, match=r"set\.json, line 2: not UTF-8 text"):
        read(path)


def test_an_error_early_in_a_long_file_is_reported_without_reading_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", 64)
    path = tmp_path / "cut.json.gz"
    # The gzip is cut short, which only shows when it is read to its end.
    noise = json.dumps([i * 2_654_435_761 % 2**32 for i in range(20_000)]).encode()
    path.write_bytes(gzip.compress(b'[{"a": oops, "b": "' + noise)[:-10])
    with pytest.raises(DatasetError, match="record 1 is not JSON: Expecting value"):
        read(path)
