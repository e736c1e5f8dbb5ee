"""Our own format: lines that can be read, and lines that cannot."""

from typing import Any

import pytest

from memorata.service.formats import read
from memorata.service.formats.record import Record, json_lines, jsonl_records, nearest_key


def records(text: str | bytes, format: str, **options: Any) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read(data, format, name=options.pop("name", "notes"), **options).records)


def test_jsonl_is_an_object_or_a_text_for_each_line() -> None:
    found = records('{"content": "one", "tags": ["a"]}\n\n"two"\r\n', "jsonl")
    assert [(record.line, record.fields["content"]) for record in found] == [(1, "one"), (3, "two")]
    assert records('{"content": "one", "id": "m1"}', "jsonl")[0].fields["id"] == "m1"


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('{"text": "Tea.", "time": "2026-05-07"}', {"content": "Tea.", "created_at": "2026-05-07"}),
        ('{"content": "Tea.", "text": "Milk."}', {"content": "Tea.", "text": "Milk."}),
    ],
)
def test_text_and_time_are_read_as_content_and_created_at(line: str, fields: dict[str, str]) -> None:
    [record] = records(line, "jsonl")
    assert {name: record.fields[name] for name in fields} == fields
    assert record.fields.keys() - fields.keys() <= {"id"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"content": "one"', "not JSON: Expecting ',' delimiter at character 18"),
        (b"\xff", "not UTF-8"),
        (b"[1]", "neither a JSON object nor a text"),
        (b'{"body": "one"}', "no content; its key body should be content"),
        (b'{"x": "one"}', "no content"),
        (b"1" * 5000, "not JSON that can be read"),
        (b"[" * 100_000, "not JSON that can be read"),
    ],
)
def test_a_line_that_cannot_be_read_has_its_number_and_the_rest_goes_on(line: bytes, problem: str) -> None:
    found = records(b'"fine"\n' + line + b'\n"fine too"', "jsonl")
    assert [record.line for record in found] == [1, 2, 3]
    assert found[1].problem.startswith(problem)
    assert [bool(record.problem) for record in found] == [False, True, False]


def test_a_key_that_should_be_content_is_pointed_out() -> None:
    assert nearest_key({"speaker": "A", "body": "x"}) == "; its key body should be content"
    assert nearest_key({"speaker": "A"}) == ""


def test_an_example_of_lines() -> None:
    assert list(json_lines(b'{"a": 1}\n\nx')) == [
        (1, {"a": 1}, ""),
        (3, None, "not JSON: Expecting value at character 1"),
    ]


def test_an_example_of_records() -> None:
    assert next(jsonl_records(b'"Tea."')).fields == {"content": "Tea."}


def test_an_example_of_nearest_key() -> None:
    assert nearest_key({"contents": "Tea."}) == "; its key contents should be content"
