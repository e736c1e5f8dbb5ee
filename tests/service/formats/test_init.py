"""Which format a file has, and ids that do not depend on where something stands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata import _satellites
from memorata.model.errors import InvalidArgument, MissingExtra
from memorata.service.formats import FORMATS, format_of, read
from memorata.service.formats.record import Record


def records(text: str | bytes, format: str, **options: Any) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read(data, format, name=options.pop("name", "notes"), **options).records)


def said(text: str, format: str, **options: Any) -> list[tuple[int, str]]:
    return [(record.line, record.fields["content"]) for record in records(text, format, **options)]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert said("\ufeffone", "text") == [(1, "one")]
    assert said('\ufeff"one"', "jsonl") == [(1, "one")]


@given(
    st.lists(st.sampled_from("abc"), max_size=8), st.sampled_from("abc"), st.sampled_from(["text", "jsonl"])
)
def test_what_was_there_keeps_its_id_when_something_new_is_written_anywhere(
    before: list[str], new: str, format: str
) -> None:
    def ids(words: list[str]) -> list[str]:
        lines = [json.dumps(word) for word in words] if format == "jsonl" else words
        return [record.fields["id"] for record in records("\n\n".join(lines), format)]

    old = ids(before)
    assert len(set(old)) == len(old)
    for place in range(len(before) + 1):
        assert set(old) <= set(ids([*before[:place], new, *before[place:]]))


def test_another_file_gives_other_ids() -> None:
    one, two = records("tea", "text", name="a.txt"), records("tea", "text", name="b.txt")
    assert one[0].fields["id"] != two[0].fields["id"]


@pytest.mark.parametrize(
    ("data", "suffix", "format"),
    [
        ("anything", ".txt", "text"),
        ('{"content": "Tea."}', ".txt", "text"),
        ("# Tea", ".md", "markdown"),
        ('{"content": "Tea."}\n{"content": "Milk."}', ".JSONL", "jsonl"),
        ("damaged", ".ndjson", "jsonl"),
        ('{"kind": "entity", "name": "Anna"}', ".json", "jsonl"),
        ('\n{"content": "Tea."}', "", "jsonl"),
        ('{"text": "Tea.", "time": "2026-05-07"}', "", "jsonl"),
        ('{"temperature": [1, 2]}', ".json", None),
        ("%PDF", ".pdf", None),
        ("", "", None),
    ],
)
def test_formats_are_told_by_what_a_file_says_and_by_its_suffix(
    data: str, suffix: str, format: str | None
) -> None:
    assert format_of(data.encode(), suffix) == format


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_falls_over_anything(format: str) -> None:
    for data in (b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null", b"[null]", b'{"a": 1}', b"\0"):
        for record in read(data, format, name="x").records:
            assert record.problem or record.skipped or record.fields, data[:10]


@given(st.binary(max_size=200), st.sampled_from(FORMATS))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes, format: str) -> None:
    found = list(read(data, format, name="x").records)
    assert all(bool(record.problem) + bool(record.skipped) + bool(record.fields) == 1 for record in found)


def test_an_example_of_read() -> None:
    assert (
        [record.fields["content"] for record in read(b"Tea.\n\nMilk.\n", "text", name="notes.txt").records]
    ) == ["Tea.", "Milk."]
    assert (
        next(read(b'{"content": "Tea."', "jsonl", name="x.jsonl").records).problem
    ) == "not JSON: Expecting ',' delimiter at character 19"


def test_an_example_of_format_of() -> None:
    assert (format_of(b"# Tea", ".MD"), format_of(b"%PDF", ".pdf")) == ("markdown", None)


def test_a_format_of_a_satellite_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_satellites, "declared", lambda kind: {})
    with pytest.raises(MissingExtra, match=r"pip install \. packages/memorata-agents"):
        records("[]", "chatgpt")
    with pytest.raises(InvalidArgument, match="one of 'text', 'markdown', 'jsonl', got 'pdf'"):
        records("[]", "pdf")
    assert format_of(b'[{"title": "Tea", "mapping": {"a": {}}}]', ".json") is None
