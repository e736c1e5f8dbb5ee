"""Records: where they stand, and ids that stay."""

import pytest

from memorata.service.formats.record import Record, is_declaration, parse_json, stable_id, text_id


def test_a_record_says_where_it_stands() -> None:
    assert Record(7).place == "line 7"
    assert Record(7, where="conversation 7").place == "conversation 7"


def test_ids_are_the_same_for_ever() -> None:
    assert stable_id("mem0", "1") == "6dad0119-150f-5ea3-bac6-2d816e7e9795"
    assert text_id("a.txt", {"content": "tea"}, 1) == "e0a6f0b8-c99e-5cf5-894d-27be6a22aec0"
    assert text_id("a.txt", {"content": "tea"}, 2) != text_id("a.txt", {"content": "tea"}, 1)


def test_a_memory_may_have_a_kind_without_being_a_declaration() -> None:
    assert is_declaration({"kind": "relation"})
    assert not is_declaration({"kind": "entity", "content": "x"})
    assert not is_declaration({"kind": "else"})


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b'[{"a": 1},\n {"b": ', 2, "the file may be cut short, and nothing of it was read"),
        (b"[1,\n2,\nx]", 3, "not JSON: Expecting value at character 8; nothing of it was read"),
        (b"[1,\n\xff]", 2, "not UTF-8 at byte 5 of the file; nothing of it was read"),
        (b"", 1, "the file may be cut short"),
        (b"[" * 100_000, 1, "not JSON that can be read"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(data: bytes, line: int, words: str) -> None:
    value, wrong = parse_json(data)
    assert value is None
    assert wrong is not None
    assert wrong.line == line
    assert words in wrong.problem


def test_a_value_comes_back_with_or_without_a_byte_order_mark() -> None:
    assert parse_json(b"\xef\xbb\xbf[1]") == parse_json(b"[1]") == ([1], None)


def test_an_example_of_stable_id() -> None:
    assert stable_id("mem0", "1") == stable_id("mem0", "1") != stable_id("mem0", "2")


def test_an_example_of_is_declaration() -> None:
    assert is_declaration({"kind": "entity", "name": "Anna"})
    assert not is_declaration({"content": "Tea."})


def test_an_example_of_parse_json() -> None:
    assert parse_json(b"[1, 2]") == ([1, 2], None)
    cut_short = parse_json(b"[1,\n 2")[1]
    assert cut_short is not None
    assert cut_short.problem.endswith("the file may be cut short, and nothing of it was read")
    assert cut_short.problem.startswith("not JSON: Expecting ',' delimiter at character 7; ")
