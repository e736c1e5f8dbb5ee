import pytest

from memorata.text.common_words import CALENDAR, NOT_NAMES, TITLES, common_words, has_common_words, is_common


@pytest.mark.parametrize("word", ["the", "thanks", "never", "dinner", "cooking", "usually", "happiness"])
def test_common_words_are_listed_or_built_like_one(word: str) -> None:
    assert is_common(word, "english")


@pytest.mark.parametrize("word", ["anna", "caroline", "berlin", "tesla", "king"])
def test_names_are_neither(word: str) -> None:
    assert not is_common(word, "english")


def test_a_language_without_a_list_has_its_stop_words() -> None:
    assert has_common_words("german")
    assert not has_common_words("dutch")
    assert "het" in common_words("dutch")
    assert common_words("none") == frozenset()


@pytest.mark.parametrize("words", [CALENDAR, NOT_NAMES, TITLES, common_words("english")])
def test_the_lists_are_in_lower_case(words: frozenset[str]) -> None:
    assert all(word == word.lower() for word in words)
