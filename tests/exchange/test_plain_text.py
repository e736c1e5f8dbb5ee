"""Plain text as records, and what is not UTF-8."""

from typing import Any

from memorata.exchange.formats import read
from memorata.exchange.record import Record


def records(text: str | bytes, form: str, **options: Any) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(read(data, form, name=options.pop("name", "notes"), **options).records)


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


def test_a_file_that_is_not_utf_8_says_where() -> None:
    found = records(b"one\n\ntwo \xff", "text")
    assert [(record.line, record.problem) for record in found] == [
        (3, "not UTF-8 at byte 10 of the file; nothing of it was read")
    ]
