"""Files that are one JSON value, and what is said of those that are not."""

import pytest

from memorata.exchange.whole_json import parsed


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
    value, wrong = parsed(data)
    assert value is None
    assert wrong is not None
    assert wrong.line == line
    assert words in wrong.problem


def test_a_value_comes_back_with_or_without_a_byte_order_mark() -> None:
    assert parsed(b"\xef\xbb\xbf[1]") == parsed(b"[1]") == ([1], None)
