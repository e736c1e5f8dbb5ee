import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import DatasetError
from memorata_lab.evaluate import files as module
from memorata_lab.evaluate.files import Record, json_records

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
        patch.setattr(module, "_BLOCK_CHARACTERS", block)
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
    monkeypatch.setattr(module, "_BLOCK_CHARACTERS", 64)
    path = tmp_path / "cut.json.gz"
    # The gzip is cut short, which only shows when it is read to its end.
    noise = json.dumps([i * 2_654_435_761 % 2**32 for i in range(20_000)]).encode()
    path.write_bytes(gzip.compress(b'[{"a": oops, "b": "' + noise)[:-10])
    with pytest.raises(DatasetError, match="record 1 is not JSON: Expecting value"):
        read(path)


def record(value: Any) -> Record:
    return Record(Path("set.json"), 7, 3, value)


@pytest.mark.parametrize(
    ("value", "ask", "reason"),
    [
        ({}, lambda r: r.text("question"), "has no 'question'; it has []"),
        ([], lambda r: r.text("question"), "must be an object with 'question', got []"),
        ({"a": 1}, lambda r: r.text("a"), "a must be text, got 1"),
        ({"a": None}, lambda r: r.text("a"), "a must be text, got None"),
        (
            {"a": "\ud83c"},
            lambda r: r.text("a"),
            r"a must be text without half surrogate pairs, got '\ud83c'",
        ),
        ({"a": {}}, lambda r: list(r.items_of("a")), "a must be a list, got {}"),
        ({"a": 1}, lambda r: r.flag("a", False), "a must be true or false, got 1"),
        ({"a": True}, lambda r: r.child("a").a(int), "a must be a whole number, got True"),
        ({"a": True}, lambda r: r.child("a").name(), "a must be text, got True"),
        ({"a": " "}, lambda r: r.child("a").name(), "a must be an identifier, got ' '"),
        ({"a": [[1], [2]]}, lambda r: list(r.items_of("a"))[1].at(0).a(str), "a[1][0] must be text, got 2"),
        ({"a": [1]}, lambda r: r.child("a").at(1), "a must have at least 2 items, got 1"),
        ({"a": "May"}, lambda r: r.child("a").moment(), "a must be a date as in '2023-05-08T13:56:00+00:00'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    value: Any, ask: Callable[[Record], object], reason: str
) -> None:
    with pytest.raises(DatasetError) as raised:
        ask(record(value))
    assert str(raised.value).startswith(f"set.json, line 7: record 3: {reason}")


def test_a_field_that_may_be_missing_has_a_default_and_null_counts_as_missing() -> None:
    assert record({}).text("title", "") == ""
    assert record({"title": None}).text("title", "") == ""
    assert record({"title": "Tea"}).text("title", "") == "Tea"
    assert record({}).flag("answerable", True) is True
    assert record({"answerable": False}).flag("answerable", True) is False


def test_an_identifier_may_be_a_whole_number() -> None:
    assert record(7).name() == "7"


def test_a_moment_without_a_zone_is_utc_and_another_zone_is_turned_into_it() -> None:
    assert record("2024-03-01").moment() == datetime(2024, 3, 1, tzinfo=UTC)
    shifted = record("2024-03-01T02:00:00+02:00").moment()
    assert (shifted, shifted.tzinfo) == (datetime(2024, 3, 1, tzinfo=UTC), UTC)
