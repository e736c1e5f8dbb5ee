"""Text, Markdown and JSONL as records with ids that do not depend on where they stand."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli.reading import Record, format_of, nearest_key, read


def records(text: str | bytes, form: str, **options: Any) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read(data, form, name=options.pop("name", "notes"), **options))


def said(text: str, form: str, **options: Any) -> list[tuple[int, str]]:
    return [(record.line, record.fields["content"]) for record in records(text, form, **options)]


def test_text_is_cut_at_blank_lines_or_at_every_line() -> None:
    text = "\none\ntwo\n\n \nthree\r\nfour"
    assert said(text, "text") == [(2, "one\ntwo"), (6, "three\nfour")]
    assert said(text, "text", split="lines") == [(2, "one"), (3, "two"), (6, "three"), (7, "four")]
    assert said("", "text") == said(" \n\n", "text") == []


def test_text_remembers_its_file_and_its_place_in_it() -> None:
    found = records("one\n\ntwo", "text", name="a.txt", link="/x/a.txt")
    assert [record.fields["source"] for record in found] == [
        {"session": "a.txt", "position": 0, "link": "/x/a.txt"},
        {"session": "a.txt", "position": 1, "link": "/x/a.txt"},
    ]


MARKDOWN = """\
---
title: not a memory
---
Before any heading.

# Trip
## 2026-05-07
We left early
and had breakfast.
- tickets
  for two
* passports

1. first
2) second

---
```python
# not a heading

x = 1
```
Packing
-------
Socks.
"""


def test_markdown_is_cut_at_paragraphs_items_and_code() -> None:
    assert said(MARKDOWN, "markdown") == [
        (4, "Before any heading."),
        (8, "We left early\nand had breakfast."),
        (10, "tickets\n  for two"),
        (12, "passports"),
        (14, "first"),
        (15, "second"),
        (18, "```python\n# not a heading\n\nx = 1\n```"),
        (25, "Socks."),
    ]


def test_markdown_headings_go_into_the_metadata_and_days_say_when() -> None:
    found = records(MARKDOWN, "markdown")
    assert "metadata" not in found[0].fields
    assert found[1].fields["metadata"] == {"heading": "Trip › 2026-05-07"}
    assert found[1].fields["valid_from"] == "2026-05-07"
    assert found[-1].fields["metadata"] == {"heading": "Trip › Packing"}
    assert "valid_from" not in found[-1].fields


def test_markdown_headings_may_be_underlined_and_end_what_is_below_the_last() -> None:
    found = records("Top\n===\none\n\nSub\n---\ntwo\n\n# Other #\nthree", "markdown")
    assert [(record.line, record.fields["metadata"]["heading"]) for record in found] == [
        (3, "Top"),
        (7, "Top › Sub"),
        (10, "Other"),
    ]


def test_a_fence_that_is_never_closed_ends_with_the_file() -> None:
    assert said("```\ncode", "markdown") == [(1, "```\ncode")]


def test_jsonl_is_an_object_or_a_text_for_each_line() -> None:
    found = records('{"content": "one", "tags": ["a"]}\n\n"two"\r\n', "jsonl")
    assert [(record.line, record.fields["content"]) for record in found] == [(1, "one"), (3, "two")]
    assert records('{"content": "one", "id": "m1"}', "jsonl")[0].fields["id"] == "m1"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"content": "one"', "not JSON: Expecting ',' delimiter at character 18"),
        (b"\xff", "not UTF-8"),
        (b"[1]", "neither a JSON object nor a text"),
        (b'{"text": "one"}', "no content; its key text should be content"),
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


def test_a_file_that_is_not_utf_8_says_where() -> None:
    found = records(b"one\n\ntwo \xff", "text")
    assert [(record.line, record.problem) for record in found] == [
        (3, "not UTF-8 at byte 10 of the file; nothing of it was read")
    ]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert said("\ufeffone", "text") == [(1, "one")]
    assert said('\ufeff"one"', "jsonl") == [(1, "one")]


@given(
    st.lists(st.sampled_from("abc"), max_size=8), st.sampled_from("abc"), st.sampled_from(["text", "jsonl"])
)
def test_what_was_there_keeps_its_id_when_something_new_is_written_anywhere(
    before: list[str], new: str, form: str
) -> None:
    def ids(words: list[str]) -> list[str]:
        lines = [json.dumps(word) for word in words] if form == "jsonl" else words
        return [record.fields["id"] for record in records("\n\n".join(lines), form)]

    old = ids(before)
    assert len(set(old)) == len(old)
    for place in range(len(before) + 1):
        assert set(old) <= set(ids([*before[:place], new, *before[place:]]))


def test_another_file_gives_other_ids() -> None:
    one, two = records("tea", "text", name="a.txt"), records("tea", "text", name="b.txt")
    assert one[0].fields["id"] != two[0].fields["id"]


def test_formats_by_suffix() -> None:
    assert [format_of(suffix) for suffix in (".txt", ".md", ".JSONL", ".ndjson", "", ".pdf")] == [
        *("text", "markdown", "jsonl", "jsonl"),
        *(None, None),
    ]


def test_a_key_that_should_be_content_is_pointed_out() -> None:
    assert nearest_key({"speaker": "A", "body": "x"}) == "; its key body should be content"
    assert nearest_key({"speaker": "A"}) == ""
