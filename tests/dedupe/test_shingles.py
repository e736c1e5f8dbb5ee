from collections.abc import Set as AbstractSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe import character_shingles, jaccard, word_shingles
from memorata.model.errors import InvalidArgument

SETS = st.frozensets(st.sampled_from("abcdef"))


def test_characters() -> None:
    assert character_shingles("abcd") == {"abc", "bcd"}
    assert character_shingles("abcd", 1) == {"a", "b", "c", "d"}
    assert character_shingles("aaaa", 2) == {"aa"}
    assert character_shingles("a b", 2) == {"a ", " b"}


def test_words() -> None:
    assert word_shingles("the cat  sat\ndown") == {"the cat", "cat sat", "sat down"}
    assert word_shingles("the cat sat", 3) == {"the cat sat"}
    assert word_shingles("the cat the", 1) == {"the", "cat"}


@pytest.mark.parametrize("text", ["a", "ab", "\x00", "\ud800", "👍"])
def test_a_short_text_is_its_own_shingle(text: str) -> None:
    assert character_shingles(text) == {text}
    assert word_shingles(text, 3) == {text}


def test_a_text_of_just_the_size_is_its_own_shingle() -> None:
    assert character_shingles("abc") == {"abc"}
    assert word_shingles("a b") == {"a b"}


def test_nothing_has_no_shingles() -> None:
    assert character_shingles("") == frozenset()
    assert word_shingles("") == frozenset()
    assert word_shingles(" \n ") == frozenset()


@given(st.text(), st.integers(1, 6))
def test_characters_are_all_windows_of_the_size(text: str, size: int) -> None:
    slow = set()
    for start in range(len(text)):
        window = text[start : start + size]
        if len(window) == size:
            slow.add(window)
    if 0 < len(text) < size:
        slow.add(text)
    assert character_shingles(text, size) == slow


@given(st.lists(st.sampled_from(["to", "be", "or", "not"])), st.integers(1, 4))
def test_words_are_all_windows_of_the_size(words: list[str], size: int) -> None:
    windows = {" ".join(words[start : start + size]) for start in range(len(words))}
    slow = {window for window in windows if len(window.split()) == size}
    if 0 < len(words) < size:
        slow = {" ".join(words)}
    assert word_shingles(" ".join(words), size) == slow


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("abc", "abc", 1.0),
        ("abc", "xyz", 0.0),
        ("abc", "bcd", 0.5),
        ("a", "abcd", 0.25),
        ("", "abc", 0.0),
        ("", "", 1.0),
    ],
)
def test_jaccard_by_hand(a: str, b: str, expected: float) -> None:
    assert jaccard(frozenset(a), frozenset(b)) == expected


@given(SETS, SETS)
def test_jaccard_counts_members_one_by_one(a: frozenset[str], b: frozenset[str]) -> None:
    either = [letter for letter in "abcdef" if letter in a or letter in b]
    both = [letter for letter in either if letter in a and letter in b]
    assert jaccard(a, b) == (len(both) / len(either) if either else 1.0)
    assert jaccard(a, b) == jaccard(b, a)


def test_jaccard_takes_any_kind_of_set() -> None:
    assert jaccard({"a": 1}.keys(), {"a", "b"}) == 0.5


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", None, True])
def test_a_size_is_a_whole_number_from_one(size: int) -> None:
    for shingles in (character_shingles, word_shingles):
        with pytest.raises(InvalidArgument, match="size must be a whole number of at least 1"):
            shingles("some text", size)


@pytest.mark.parametrize("text", [None, 1, b"text", ["text"]])
def test_only_text_has_shingles(text: str) -> None:
    for shingles in (character_shingles, word_shingles):
        with pytest.raises(InvalidArgument, match="text must be a string"):
            shingles(text)


@pytest.mark.parametrize("value", ["abc", ["a"], None, 1.0])
def test_jaccard_compares_sets_only(value: AbstractSet[str]) -> None:
    with pytest.raises(InvalidArgument, match="a must be a set of shingles"):
        jaccard(value, {"a"})
    with pytest.raises(InvalidArgument, match="b must be a set of shingles"):
        jaccard({"a"}, value)
