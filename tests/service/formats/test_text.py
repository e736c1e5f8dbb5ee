"""Plain text and Markdown as records: paragraphs, lines, items and code, below their headings."""

from typing import Any

from memorata.service.formats import read
from memorata.service.formats.record import Record, decoded, markdown_blocks, paragraphs


def records(text: str | bytes, format: str, **options: Any) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read(data, format, name=options.pop("name", "notes"), **options).records)


def said(text: str, format: str, **options: Any) -> list[tuple[int, str]]:
    return [(record.line, record.fields["content"]) for record in records(text, format, **options)]


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


def test_a_file_that_is_not_utf_8_says_where() -> None:
    found = records(b"one\n\ntwo \xff", "text")
    assert [(record.line, record.problem) for record in found] == [
        (3, "not UTF-8 at byte 10 of the file; nothing of it was read")
    ]


def test_an_example_of_decoded() -> None:
    assert decoded(b"tea\r\n") == ("tea\n", None)
    problem = decoded(b"caf\xe9")[1]
    assert problem is not None
    assert problem.problem == "not UTF-8 at byte 4 of the file; nothing of it was read"


def test_an_example_of_paragraphs() -> None:
    assert list(paragraphs("Tea.\n\nMilk.", "paragraphs")) == [
        (1, {"content": "Tea."}),
        (3, {"content": "Milk."}),
    ]


def test_an_example_of_markdown_blocks() -> None:
    assert list(markdown_blocks("# Drinks\n- Tea.")) == [
        (2, {"content": "Tea.", "metadata": {"heading": "Drinks"}})
    ]
