import pytest

from memorata.text.ordinary_words import CALENDAR, NOT_NAMES, TITLES, has_list, is_ordinary, ordinary_words


@pytest.mark.parametrize("word", ["the", "thanks", "never", "dinner", "cooking", "usually", "happiness"])
def test_ordinary_words_are_listed_or_built_like_one(word: str) -> None:
    assert is_ordinary(word, "english")


@pytest.mark.parametrize("word", ["anna", "caroline", "berlin", "tesla", "king"])
def test_names_are_neither(word: str) -> None:
    assert not is_ordinary(word, "english")


def test_a_language_without_a_list_has_its_stop_words() -> None:
    assert has_list("german")
    assert not has_list("dutch")
    assert "het" in ordinary_words("dutch")
    assert ordinary_words("none") == frozenset()


@pytest.mark.parametrize("words", [CALENDAR, NOT_NAMES, TITLES, ordinary_words("english")])
def test_the_lists_are_in_lower_case(words: frozenset[str]) -> None:
    assert all(word == word.lower() for word in words)
